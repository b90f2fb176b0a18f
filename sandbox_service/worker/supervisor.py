"""Keeps a number of worker processes alive: starts, restarts and ends them."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import redis
import structlog

from sandbox_service.queue import dispatch
from sandbox_service.queue.connection import connect
from sandbox_service.settings import Settings
from sandbox_service.worker.lease import release_lease
from sandbox_service.worker.process import worker_name

_log = structlog.get_logger(__name__)
_FIRST_BACKOFF_S = 0.1
_LONGEST_BACKOFF_S = 10.0
_HEALTHY_AFTER_S = 10.0


@dataclass(slots=True)
class _Seat:
    """One place in the crew and who fills it."""

    name: str = ""
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_at: float = 0.0
    backoff_s: float = field(default=_FIRST_BACKOFF_S)


class Crew:
    """Worker processes under supervision; `tend` it often."""

    def __init__(
        self,
        command: Callable[[str], Sequence[str]],
        environment: Mapping[str, str],
        *,
        size: int,
        redis_url: str,
    ) -> None:
        self._command = command
        self._environment = environment
        self._seats = [_Seat() for _ in range(size)]
        self._release = connect(redis_url).register_script(dispatch.RELEASE)

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers that were started and not yet found dead."""
        return [seat.process.pid for seat in self._seats if seat.process is not None]

    def tend(self) -> None:
        """Starts workers that are missing; frees at once the jobs of those that died."""
        now = time.monotonic()
        for seat in self._seats:
            if seat.process is not None and seat.process.poll() is not None:
                self._bury(seat, now)
            if seat.process is None and now >= seat.start_at:
                self._start(seat, now)

    def stop(self, timeout_s: float) -> None:
        """Asks every worker to end what it has begun, and ends those that do not."""
        processes = [seat.process for seat in self._seats if seat.process is not None]
        for process in processes:
            process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + timeout_s
        for process in processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self, seat: _Seat, now: float) -> None:
        seat.name = worker_name()
        seat.started_at = now
        # A session of its own, so that Ctrl-C in a terminal reaches the supervisor alone.
        seat.process = subprocess.Popen(
            list(self._command(seat.name)),
            env=dict(self._environment),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _bury(self, seat: _Seat, now: float) -> None:
        assert seat.process is not None
        _log.warning("worker_ended", worker=seat.name, code=seat.process.returncode)
        seat.process = None
        if now - seat.started_at > _HEALTHY_AFTER_S:
            seat.backoff_s = _FIRST_BACKOFF_S
        seat.start_at = now + seat.backoff_s
        seat.backoff_s = min(_LONGEST_BACKOFF_S, seat.backoff_s * 2)
        try:
            release_lease(self._release, seat.name)
        except redis.RedisError as error:
            # The lease ends by itself a little later.
            _log.warning("lease_not_released", reason=type(error).__name__)


def environment_of(settings: Settings, redis_url: str) -> dict[str, str]:
    """Returns the environment in which a child process reads the same settings."""
    # Keys are the API's business alone.
    dumped = settings.model_dump(
        mode="json", exclude_defaults=True, exclude={"api_keys", "signing_key"}
    )
    if settings.signing_key is not None:
        dumped["signing_key"] = settings.signing_key.get_secret_value()
    ours = {
        f"SANDBOX_{name.upper()}": value if isinstance(value, str) else json.dumps(value)
        for name, value in dumped.items()
    }
    inherited = {
        name: value for name, value in os.environ.items() if name.upper() != "SANDBOX_API_KEYS"
    }
    return inherited | ours | {"SANDBOX_REDIS_URL": redis_url}
