import io
from pathlib import Path

import pytest
from rich.console import Console

from sandbox_service.doctor import engines
from sandbox_service.doctor.command import run_doctor
from sandbox_service.doctor.finding import State
from sandbox_service.settings import Settings


@pytest.fixture
def without_docker(tmp_path):
    return Settings(docker_host=f"unix://{tmp_path}/docker.sock")


@pytest.fixture
def jail_that_starts(tmp_path):
    return make_program(tmp_path, "exit 0")


def make_program(folder: Path, line: str) -> Path:
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    for parent in list(path.parents)[:3]:
        parent.chmod(0o755)
    return path


def test_examine_without_docker_takes_local(without_docker, jail_that_starts):
    assert engines.examine(without_docker, jail_that_starts).choice == "local"


def test_examine_without_anything_takes_none(without_docker):
    assert engines.examine(without_docker, None).choice is None


def test_examine_keeps_to_the_engine_of_the_settings(without_docker, jail_that_starts):
    settings = without_docker.model_copy(update={"engine": "docker"})
    assert engines.examine(settings, jail_that_starts).choice is None


def test_examine_local_jail_that_fails_says_why(tmp_path):
    finding = engines.examine_local(make_program(tmp_path, "echo no permission >&2; exit 1"))
    assert finding.state is State.MISSING
    assert "no permission" in finding.found


def test_examine_local_program_that_cannot_start_is_missing(tmp_path):
    assert engines.examine_local(tmp_path / "absent").state is State.MISSING


def test_doctor_without_any_engine_exits_with_1(without_docker, monkeypatch):
    monkeypatch.setattr("sandbox_service.doctor.command.locate", lambda *_, **__: None)
    output = io.StringIO()
    assert run_doctor(without_docker, Console(file=output)) == 1
    assert "No engine works here" in output.getvalue()


def test_doctor_with_an_engine_says_which(without_docker, jail_that_starts, monkeypatch):
    monkeypatch.setattr("sandbox_service.doctor.command.locate", lambda *_, **__: jail_that_starts)
    output = io.StringIO()
    assert run_doctor(without_docker, Console(file=output)) == 0
    assert "serve takes the local engine" in output.getvalue()
