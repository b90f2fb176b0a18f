"""A pipeline per engine, without a service around it."""

from collections.abc import Iterator

import pytest

from sandbox_service.settings import Settings
from sandbox_service.worker.boot import build_pipeline
from sandbox_service.worker.pipeline import Pipeline
from tests.e2e.conftest import engine  # noqa: F401 - a fixture


@pytest.fixture(scope="session")
def pipeline(engine: str) -> Iterator[Pipeline]:  # noqa: F811 - the fixture above
    """Code in, result out, on an engine that works on this machine."""
    built = build_pipeline(Settings(engine=engine))
    yield built
    built.close()
