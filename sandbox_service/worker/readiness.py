"""A worker whose engine is down says so, takes nothing for a while, and tries again."""

import time
from collections.abc import Callable

import redis
import structlog

from sandbox_service.queue import keys

_log = structlog.get_logger(__name__)
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 120.0
_STEP_S = 0.5


class Readiness:
    """Whether a worker's engine can start sandboxes, as everybody sees it."""

    def __init__(
        self,
        connection: redis.Redis,
        worker: str,
        is_draining: Callable[[], bool],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._redis = connection
        self._worker = worker
        self._is_draining = is_draining
        self._sleep = sleep
        self._pause_s = 0.0

    def pause(self, reason: str) -> None:
        """Tells why nothing can be run, and waits; twice as long each time, or until the end."""
        self._pause_s = min(_LONGEST_PAUSE_S, self._pause_s * 2 or _FIRST_PAUSE_S)
        _log.error("engine_unavailable", reason=reason, pause_s=self._pause_s)
        self._redis.hset(keys.UNREADY, self._worker, reason)
        left_s = self._pause_s
        while left_s > 0 and not self._is_draining():
            self._sleep(min(_STEP_S, left_s))
            left_s -= _STEP_S

    def resume(self) -> None:
        """Notes that the engine works."""
        if self._pause_s:
            self._pause_s = 0.0
            self._redis.hdel(keys.UNREADY, self._worker)
            _log.info("engine_available")
