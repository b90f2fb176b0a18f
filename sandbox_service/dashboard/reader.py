"""Reads what a snapshot is made of: a few commands to Redis, however much work there is."""

from typing import NamedTuple

from sandbox_service.dashboard.history import History, Reading, Sample
from sandbox_service.dashboard.recent import RecentReader
from sandbox_service.dashboard.snapshot import Snapshot, WorkerState
from sandbox_service.queue import keys
from sandbox_service.queue.broker import Broker
from sandbox_service.queue.connection import redis_errors

_WORKERS_SHOWN = 100


class _Crew(NamedTuple):
    """Who works."""

    workers: tuple[WorkerState, ...]
    """At most as many as are shown."""
    alive: int
    """All of them."""


class Reader:
    """Reads for one feed."""

    def __init__(self, broker: Broker, period_s: float) -> None:
        self._broker = broker
        self._period_s = period_s
        self._recent = RecentReader(broker)

    async def read(self) -> Reading:
        """Returns what the charts need.

        Raises:
            QueueUnavailable: Redis does not answer.
        """
        with redis_errors():
            seconds, microseconds = await self._broker.redis.time()
        return Reading(
            at=seconds + microseconds / 1e6,
            lanes=tuple(await self._broker.queue_states()),
            counters=await self._broker.counters(),
        )

    async def look(self, reading: Reading, history: History, sample: Sample) -> Snapshot:
        """Returns all that the page shows; only wanted while somebody watches.

        Raises:
            QueueUnavailable: Redis does not answer.
        """
        with redis_errors():
            crew = await self._crew(reading.at)
            recent = await self._recent.read()
        return Snapshot(
            at=reading.at,
            period_s=self._period_s,
            lanes=reading.lanes,
            workers=crew.workers,
            worker_count=crew.alive,
            latest=history.latest(),
            total=history.total(),
            sample=sample,
            recent=recent,
        )

    async def _crew(self, now: float) -> _Crew:
        async with self._broker.redis.pipeline(transaction=False) as pipeline:
            pipeline.zcount(keys.WORKERS, now, "+inf")
            pipeline.zrangebyscore(keys.WORKERS, now, "+inf", 0, _WORKERS_SHOWN, withscores=True)
            pipeline.hgetall(keys.UNREADY)
            pipeline.hgetall(keys.BUSY)
            pipeline.hgetall(keys.SANDBOXES)
            alive, rows, unready, busy, sandboxes = await pipeline.execute()
        workers = [
            WorkerState(
                name=name.decode(),
                lease_s=lease_end - now,
                runs_for=busy.get(name, b"").decode(),
                trouble=unready.get(name, b"").decode(),
                sandboxes=int(sandboxes.get(name, 0)),
            )
            for name, lease_end in rows
        ]
        return _Crew(tuple(sorted(workers, key=lambda worker: worker.name)), alive)
