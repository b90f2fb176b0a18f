import io
from dataclasses import dataclass, field

import pytest
from rich.console import Console

from sandbox_service.doctor import engines
from sandbox_service.doctor.command import run_doctor
from sandbox_service.doctor.finding import State
from sandbox_service.errors import EngineUnavailable, SandboxDied
from sandbox_service.schema.result import SandboxInfo
from sandbox_service.settings import Settings


@dataclass
class FakeSandbox:
    info: SandboxInfo
    is_closed: bool = False

    def close(self):
        self.is_closed = True


@dataclass
class FakeEngine:
    error: Exception | None = None
    started: list = field(default_factory=list)
    is_closed: bool = False

    def start(self, image, *, memory_bytes):
        if self.error is not None:
            raise self.error
        self.started.append(FakeSandbox(SandboxInfo(engine="fake", isolation="nested")))
        return self.started[-1]

    def close(self):
        self.is_closed = True


def unavailable(settings):
    raise EngineUnavailable("no bubblewrap")


@pytest.fixture
def without_docker(tmp_path):
    return Settings(docker_host=f"unix://{tmp_path}/docker.sock")


@pytest.fixture
def local_works(monkeypatch):
    monkeypatch.setattr(engines, "LocalEngine", lambda settings: FakeEngine())


@pytest.fixture
def local_fails(monkeypatch):
    monkeypatch.setattr(engines, "LocalEngine", unavailable)


@pytest.mark.usefixtures("local_works")
def test_examine_without_docker_takes_local(without_docker):
    assert engines.examine(without_docker).choice == "local"


@pytest.mark.usefixtures("local_fails")
def test_examine_without_anything_takes_none(without_docker):
    assert engines.examine(without_docker).choice is None


@pytest.mark.usefixtures("local_works")
def test_examine_keeps_to_the_engine_of_the_settings(without_docker):
    settings = without_docker.model_copy(update={"engine": "docker"})
    assert engines.examine(settings).choice is None


def test_try_engine_that_works_says_how_it_isolates_and_leaves_nothing():
    engine = FakeEngine()
    finding = engines.try_engine("fake", lambda _: engine, Settings(), advice="")
    assert finding.state is State.GOOD
    assert "nested" in finding.found
    assert engine.started[0].is_closed
    assert engine.is_closed


def test_try_engine_whose_sandbox_dies_says_why_and_is_closed():
    engine = FakeEngine(SandboxDied("no permission"))
    finding = engines.try_engine("fake", lambda _: engine, Settings(), advice="look here")
    assert (finding.state, finding.found, finding.advice) == (
        State.MISSING,
        "no permission",
        "look here",
    )
    assert engine.is_closed


@pytest.mark.usefixtures("local_fails")
def test_doctor_without_any_engine_exits_with_1(without_docker):
    output = io.StringIO()
    assert run_doctor(without_docker, Console(file=output)) == 1
    assert "No engine works here" in output.getvalue()


@pytest.mark.usefixtures("local_works")
def test_doctor_with_an_engine_says_which(without_docker):
    output = io.StringIO()
    assert run_doctor(without_docker, Console(file=output)) == 0
    assert "serve takes the local engine" in output.getvalue()
