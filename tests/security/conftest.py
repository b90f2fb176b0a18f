"""Fixtures of the attacks: engines that work here, and secrets planted where they must not be found."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_service.doctor.engines import examine_docker, try_engine
from sandbox_service.doctor.finding import State
from sandbox_service.sandbox.local import LocalEngine
from sandbox_service.settings import Settings
from tests.security.service import Service, honest

CANARY = "SBX-CANARY-7d1c"


@pytest.fixture(scope="session")
def canaries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A secret in the environment, in a file and in the command line's reach of this process."""
    folder: Path = tmp_path_factory.mktemp("canary")
    (folder / "sbx_host_canary").write_text(CANARY)
    os.environ["SBX_CANARY_ENV"] = CANARY
    yield CANARY
    del os.environ["SBX_CANARY_ENV"]


@pytest.fixture(scope="session", params=[pytest.param("docker", marks=pytest.mark.docker), "local"])
def settings(request: pytest.FixtureRequest) -> Settings:
    """Settings of an engine that works on this machine."""
    settings = Settings(engine=request.param)
    findings = (
        examine_docker(settings)
        if request.param == "docker"
        else [try_engine("local engine", LocalEngine, settings, advice="see the doctor")]
    )
    missing = [each for each in findings if each.state is State.MISSING]
    if missing:
        reason = "; ".join(f"{each.topic}: {each.found} ({each.advice})" for each in missing)
        if request.param in os.environ.get("SANDBOX_TEST_REQUIRE", "").split():
            pytest.fail(f"{request.param} is required: {reason}")
        pytest.skip(reason)
    return settings


@pytest.fixture(scope="session")
def service(settings: Settings, canaries: str) -> Iterator[Service]:
    """One worker's pipeline on the engine."""
    with Service(settings) as service:
        service.run(honest("python"))
        yield service


@pytest.fixture(scope="session")
def neighbour(settings: Settings, service: Service) -> Iterator[Service]:
    """Another worker's pipeline on the same engine: another tenant's."""
    with Service(settings) as neighbour:
        neighbour.run(honest("python"))
        yield neighbour
