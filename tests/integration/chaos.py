"""A service in parts, each of them killed at random and started again as an operator would."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from random import Random
from typing import Self

from sandbox_service.queue.embedded import EmbeddedRedis
from sandbox_service.worker.supervisor import Crew
from tests.integration.own_docker import OwnDocker

_HERE = Path(__file__).parent
_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(_HERE.parents[1])}
_TEND_S = 0.05


class Village:
    """Redis, two API replicas and some workers; use it as a context.

    With a Docker daemon the workers are real, and the daemon and its containers die, too.
    """

    def __init__(self, folder: Path, workers: int, docker: OwnDocker | None = None) -> None:
        self._redis = EmbeddedRedis(folder)
        self._redis.start()
        self._docker = docker
        fake = [str(_HERE / "fake_worker.py"), self._redis.url]
        real = ["-m", "sandbox_service.worker"]
        self._crew = Crew(
            lambda name: [sys.executable, *(real if docker else fake), name],
            _ENVIRONMENT if docker is None else self._real_environment(docker),
            size=workers,
            redis_url=self._redis.url,
        )
        self._ports = [_free_port(), _free_port()]
        self._replicas = [self._replica(port) for port in self._ports]
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._tend)]
        self.killed: list[str] = []

    def _real_environment(self, docker: OwnDocker) -> dict[str, str]:
        return {
            **_ENVIRONMENT,
            "SANDBOX_REDIS_URL": self._redis.url,
            "SANDBOX_ENGINE": "docker",
            "SANDBOX_DOCKER_HOST": docker.address,
            "SANDBOX_WORKER_LEASE_S": "2.0",
            "SANDBOX_LOG_LEVEL": "error",
        }

    @property
    def addresses(self) -> list[str]:
        return [f"http://127.0.0.1:{port}" for port in self._ports]

    def __enter__(self) -> Self:
        self._crew.tend()
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self.calm()
        self._crew.stop(10)
        for replica in self._replicas:
            replica.kill()
            replica.wait()
        self._redis.stop()

    def attack(self, seed: int, times: int, every_s: float) -> None:
        """Kills something now and then, from now on and in the background."""
        self._threads.append(threading.Thread(target=self._kill, args=(seed, times, every_s)))
        self._threads[-1].start()

    def wait_for_attack(self) -> None:
        self._threads[-1].join()

    def calm(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _kill(self, seed: int, times: int, every_s: float) -> None:
        random = Random(seed)
        kinds = ["worker", "worker", "worker", "api", "redis"]
        kinds += ["docker", "container", "container"] if self._docker else []
        while len(self.killed) < times:
            if self._stopped.wait(every_s * random.uniform(0.5, 1.5)):
                return
            kind = random.choice(kinds)
            pids = self._pids(kind)
            if pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(random.choice(pids), signal.SIGKILL)
                    self.killed.append(kind)

    def _pids(self, kind: str) -> list[int]:
        if kind == "worker":
            return self._crew.pids
        if kind == "api":
            return [replica.pid for replica in self._replicas]
        if kind == "redis":
            return [self._redis.pid] if self._redis.pid else []
        assert self._docker is not None
        return [self._docker.pid] if kind == "docker" else self._docker.container_pids()

    def _tend(self) -> None:
        while not self._stopped.wait(_TEND_S):
            self._redis.ensure_alive()
            if self._docker:
                self._docker.ensure_alive()
            self._crew.tend()
            for at, replica in enumerate(self._replicas):
                if replica.poll() is not None:
                    self._replicas[at] = self._replica(self._ports[at])

    def _replica(self, port: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, str(_HERE / "served.py"), self._redis.url, str(port)],
            env=_ENVIRONMENT,
            stdout=subprocess.DEVNULL,
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
