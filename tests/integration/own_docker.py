"""A Docker daemon of the tests' own, to be killed and started again."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import docker

_START_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 60.0
_POLL_S = 0.1


def why_not() -> str | None:
    """Returns what is missing for a daemon of one's own."""
    if os.geteuid() != 0:
        return "a Docker daemon of its own needs root"
    return None if shutil.which("dockerd") else "no dockerd"


class OwnDocker:
    """A daemon with its state in one folder."""

    def __init__(self, folder: Path) -> None:
        self._data = folder / "docker"
        self._run = Path(tempfile.mkdtemp(prefix="docker-"))  # its sockets need a short path
        self._log = (folder / "dockerd.log").open("ab")
        self._process = self._start()
        self._client: docker.APIClient | None = None

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"unix://{self._run}/docker.sock"

    @property
    def pid(self) -> int:
        """Process id of the daemon."""
        return self._process.pid

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [
                *("dockerd", "--data-root", str(self._data), "--exec-root", f"{self._run}/exec"),
                *("--pidfile", f"{self._run}/docker.pid", "--host", self.address),
                *("--bridge", "none", "--iptables=false", "--ip6tables=false"),
            ],
            stdout=self._log,
            stderr=self._log,
        )

    def ensure_alive(self) -> None:
        """Starts it again when it is dead, and its containerd, which dies a little later, too."""
        if self._process.poll() is not None and not self._has_containerd():
            self._process = self._start()

    def _has_containerd(self) -> bool:
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((self._run / "exec/containerd/containerd.pid").read_text()), 0)
            return True
        return False

    def client(self) -> docker.APIClient:
        """Returns a client once it answers.

        Raises:
            TimeoutError: it does not.
        """
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not self._answers():
            if time.monotonic() > deadline:
                raise TimeoutError("the daemon does not answer")
            time.sleep(_POLL_S)
        return docker.APIClient(base_url=self.address, version="auto", timeout=60)

    def _answers(self) -> bool:
        """Knocks: a client of the library that finds nobody leaves its socket open."""
        with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
            probe.connect(f"{self._run}/docker.sock")
            return True
        return False

    def take_image(self, source: docker.DockerClient, name: str) -> None:
        """Copies an image from another daemon."""
        client = self.client()
        client.load_image(source.images.get(name).save(named=True))
        client.close()

    def container_pids(self) -> list[int]:
        """Returns the processes that its containers began with, also while it is down."""
        parents, shims = {}, set()
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                parents[int(process.name)] = int(fields[1])
                line = (process / "cmdline").read_bytes().decode(errors="replace")
                if "containerd-shim" in line and str(self._run) in line:
                    shims.add(int(process.name))
        return [pid for pid, parent in parents.items() if parent in shims]

    def containers(self) -> list[str]:
        """Returns the names of all containers, running or not."""
        client = self.client()
        found = client.containers(all=True)
        client.close()
        return [each["Names"][0] for each in found]

    def close(self) -> None:
        """Ends it and what it started, and removes its files."""
        self.client().close()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(_STOP_TIMEOUT_S)
        pid_file = self._run / "exec/containerd/containerd.pid"
        if pid_file.exists():  # one that a daemon before this one had started
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid_file.read_text()), signal.SIGTERM)
        self._log.close()
        # Every daemon binds its folder to itself; one that was killed leaves that behind.
        while (
            subprocess.run(["umount", self._data], capture_output=True, check=False).returncode == 0
        ):
            pass
        shutil.rmtree(self._data)
        shutil.rmtree(self._run)
