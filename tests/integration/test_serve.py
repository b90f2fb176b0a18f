"""`serve` as a person starts it: everything up by one command, everything down by one signal."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from sandbox_service.errors import EngineUnavailable
from sandbox_service.queue.embedded import find_redis_server
from sandbox_service.settings import Settings
from sandbox_service.worker.boot import find_engine
from tests.factories import make_body

Serve = Callable[[], "tuple[subprocess.Popen[str], str]"]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a service with one worker; gives its process and its address."""
    if find_redis_server() is None:
        pytest.skip("no redis-server")
    try:
        find_engine(Settings(engine="local")).close()
    except EngineUnavailable as error:
        pytest.skip(f"no local engine: {error}")
    started: list[subprocess.Popen[str]] = []

    def start() -> "tuple[subprocess.Popen[str], str]":
        arguments = ["serve", "--port", "0", "--workers", "1", "--engine", "local"]
        process = subprocess.Popen(
            [sys.executable, "-m", "sandbox_service.cli", *arguments],
            env={**os.environ, "SANDBOX_STATE_DIR": str(tmp_path / "state")},
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        ready = next(line for line in lines if line.startswith("ready"))
        return process, ready.split()[1]

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        assert process.stdout is not None
        process.stdout.close()


def _living() -> dict[int, int]:
    """Parents of all processes that are not zombies."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state != "Z":
            parents[int(stat.parent.name)] = int(parent)
    return parents


def _family(pid: int) -> set[int]:
    """A process and all that descend from it."""
    parents = _living()
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return family


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_service_scores_and_leaves_no_process_behind(serve: Serve, number: signal.Signals) -> None:
    process, address = serve()
    answer = httpx.post(f"{address}/v1/submissions?wait=40", json=make_body(), timeout=60)
    family = _family(process.pid)
    process.send_signal(number)

    assert answer.json()["reward"] == 1.0
    assert process.wait(30) == 0
    assert len(family) >= 4, "service, Redis, worker and its sandbox"
    assert not family & _living().keys()


def test_what_was_accepted_is_scored_after_a_restart(serve: Serve) -> None:
    process, address = serve()
    name = httpx.post(f"{address}/v1/submissions", json=make_body()).json()["id"]
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    _, address = serve()

    state = httpx.get(f"{address}/v1/submissions/{name}?wait=40", timeout=60).json()

    assert state["result"]["reward"] == 1.0
