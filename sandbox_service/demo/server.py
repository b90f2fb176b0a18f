"""A service of the demo's own: a child process on a free port, ended when done."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from sandbox_service.errors import ServiceError

_START_TIMEOUT_S = 90.0
_STOP_TIMEOUT_S = 20.0
_POLL_S = 0.1
_HOST = "127.0.0.1"
_SERVE = (sys.executable, "-c", "from sandbox_service.cli import app; app()", "serve")


@contextmanager
def running_service(
    folder: Path, environment: Mapping[str, str], arguments: tuple[str, ...] = ()
) -> Iterator[str]:
    """Starts `serve` with its state and log in the folder; gives its address once it is ready.

    Raises:
        ServiceError: it ended, or was not ready in time; the message ends with its log.
    """
    port = _free_port()
    address = f"http://{_HOST}:{port}"
    log = folder / "serve.log"
    with log.open("wb") as output:
        child = subprocess.Popen(
            [*_SERVE, "--host", _HOST, "--port", str(port), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**environment, "SANDBOX_STATE_DIR": str(folder / "state")},
        )
    try:
        _wait_until_ready(address, child, log)
        yield address
    finally:
        _stop(child)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(address: str, child: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < deadline and child.poll() is None:
        try:
            if httpx.get(f"{address}/readyz", timeout=5.0, trust_env=False).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(_POLL_S)
    state = "was not ready in time" if child.poll() is None else "ended at start"
    raise ServiceError(f"the service {state}:\n{log.read_text(errors='replace')[-4000:]}")


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGTERM)
    try:
        child.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
