"""A service on a port that stays, which can be killed with all of its processes and come back."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

_START_TIMEOUT_S = 90.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Service:
    """`serve` with a state that outlives it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._folder = folder
        self._port = port
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self._folder / "serve.log").open("ab") as log:
            self._child = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    "from sandbox_service.cli import app; app()",
                    "serve",
                    "--port",
                    str(self._port),
                    "--workers",
                    "2",
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | {"SANDBOX_STATE_DIR": str(self._folder / "state")},
                start_new_session=True,
            )
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not self._is_ready():
            assert self._child.poll() is None, (self._folder / "serve.log").read_text()[-2000:]
            assert time.monotonic() < deadline, "the service was not ready in time"
            time.sleep(0.2)

    def kill(self) -> None:
        """Ends every process of it at once, without a word."""
        assert self._child is not None
        os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()

    def stop(self) -> None:
        """Ends it in order."""
        assert self._child is not None
        self._child.terminate()
        self._child.wait(timeout=30)

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5.0, trust_env=False).is_success
        except httpx.TransportError:
            return False
