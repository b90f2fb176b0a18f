"""A whole service per engine, spoken to over HTTP only."""

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sandbox_service.demo.server import running_service
from sandbox_service.doctor.engines import examine_docker, try_engine
from sandbox_service.doctor.finding import Finding, State
from sandbox_service.sandbox.local import LocalEngine
from sandbox_service.settings import Settings

REQUEST_TIMEOUT_S = 900
ENGINES = [pytest.param("docker", marks=pytest.mark.docker), "local"]


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """An engine that works on this machine."""
    name: str = request.param
    settings = Settings()
    findings = (
        examine_docker(settings)
        if name == "docker"
        else [try_engine("local engine", LocalEngine, settings, advice="see the doctor")]
    )
    missing = [finding for finding in findings if finding.state is State.MISSING]
    if missing:
        _skip_or_fail(name, missing)
    return name


@pytest.fixture(scope="session")
def client(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a service that runs on the engine."""
    folder: Path = tmp_path_factory.mktemp(f"service-{engine}")
    with (
        running_service(folder, os.environ, ("--engine", engine)) as address,
        httpx.Client(base_url=address, timeout=REQUEST_TIMEOUT_S, trust_env=False) as client,
    ):
        yield client


def _skip_or_fail(name: str, missing: list[Finding]) -> None:
    reason = "; ".join(f"{each.topic}: {each.found} ({each.advice})" for each in missing)
    if name in os.environ.get("SANDBOX_TEST_REQUIRE", "").split():
        pytest.fail(f"{name} is required: {reason}")
    pytest.skip(reason)
