"""How fast the queue drains, as measured over the last minutes."""

import math
import time
from typing import Final

import redis.asyncio

from sandbox_service.queue import keys

_BUCKET_S: Final = 10
_BUCKETS: Final = 6
_REMEMBERED_S: Final = 1.0
_LARGEST_RETRY_AFTER_S: Final = 60.0
# Nothing has been done lately: workers may be starting, or there are none.
_UNKNOWN_RETRY_AFTER_S: Final = 5.0


class DrainRate:
    """Submissions done a second; asked often, read from Redis once a second."""

    def __init__(self, connection: redis.asyncio.Redis) -> None:
        self._redis = connection
        self._read_at = -math.inf
        self._per_s = 0.0

    async def per_s(self) -> float:
        """Returns the mean over the last minute in which something was done."""
        if time.monotonic() - self._read_at > _REMEMBERED_S:
            self._per_s = await self._read()
            self._read_at = time.monotonic()
        return self._per_s

    async def retry_after_s(self, excess: int) -> float:
        """Returns the time after which so many fewer submissions will be waiting."""
        per_s = await self.per_s()
        if per_s == 0:
            return _UNKNOWN_RETRY_AFTER_S
        return min(_LARGEST_RETRY_AFTER_S, max(1.0, excess / per_s))

    async def _read(self) -> float:
        seconds, microseconds = await self._redis.time()
        now = seconds + microseconds / 1e6
        latest = int(now // _BUCKET_S)
        names = [keys.drained(latest - back) for back in range(_BUCKETS)]
        counts = [int(count or 0) for count in await self._redis.mget(names)]
        while counts and counts[-1] == 0:
            counts.pop()
        if not counts:
            return 0.0
        # The bucket of this moment is not over yet.
        return sum(counts) / max(1.0, (len(counts) - 1) * _BUCKET_S + now % _BUCKET_S)
