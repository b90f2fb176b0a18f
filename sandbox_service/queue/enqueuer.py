"""Writes what arrives into Redis: one writer, one transaction at a time.

Whatever arrives while a transaction is in flight goes into the next one, so a single submission
waits for nothing and many share the cost.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sandbox_service.errors import QueueFull
from sandbox_service.queue.connection import redis_errors
from sandbox_service.queue.submissions import Acceptance, Outcome, SubmissionStore, Ticket

_LARGEST_RETRY_AFTER_S = 30.0
_ASSUMED_PER_WORKER_PER_S = 20.0


@dataclass(frozen=True, slots=True)
class _Parcel:
    tickets: Sequence[Ticket]
    outcomes: asyncio.Future[tuple[Outcome, ...]]


class Enqueuer:
    """The one writer of an API process."""

    def __init__(self, store: SubmissionStore, *, largest_chunk: int, max_depth: int) -> None:
        self._store = store
        self._largest_chunk = largest_chunk
        self._max_depth = max_depth
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="enqueuer")
        self._parcels: list[_Parcel] = []
        self._flushing: asyncio.Task[None] | None = None
        self._depth = 0
        self._workers = 1

    async def put(self, tickets: Sequence[Ticket]) -> tuple[Outcome, ...]:
        """Returns once Redis has stored the tickets, or knows them.

        Raises:
            QueueUnavailable: nothing was stored.
        """
        parcel = _Parcel(tickets, asyncio.get_running_loop().create_future())
        self._parcels.append(parcel)
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        return await parcel.outcomes

    def check_room(self, count: int, depth: int) -> None:
        """Refuses what would exceed the bound.

        Raises:
            QueueFull: with the time after which the queue may have room.
        """
        if depth + count <= self._max_depth:
            return
        drain_s = (depth + count - self._max_depth) / (self._workers * _ASSUMED_PER_WORKER_PER_S)
        raise QueueFull(
            f"{depth} submissions are waiting and {count} more are too many",
            retry_after_s=min(_LARGEST_RETRY_AFTER_S, max(1.0, drain_s)),
        )

    @property
    def known_depth(self) -> int:
        """Submissions waiting after the latest write."""
        return self._depth

    def close(self) -> None:
        """Waits for the write in flight."""
        self._thread.shutdown(wait=True)

    async def _flush(self) -> None:
        try:
            while self._parcels:
                parcels, self._parcels = self._parcels, []
                await self._write(parcels)
        finally:
            self._flushing = None

    async def _write(self, parcels: list[_Parcel]) -> None:
        tickets = [ticket for parcel in parcels for ticket in parcel.tickets]
        loop = asyncio.get_running_loop()
        try:
            acceptance = await loop.run_in_executor(self._thread, self._accept, tickets)
        except Exception as error:  # noqa: BLE001 - every waiting request is told, none is lost
            for parcel in parcels:
                if not parcel.outcomes.done():
                    parcel.outcomes.set_exception(error)
            return
        self._depth, self._workers = acceptance.depth, max(1, acceptance.workers)
        at = 0
        for parcel in parcels:
            upto = at + len(parcel.tickets)
            if not parcel.outcomes.done():
                parcel.outcomes.set_result(acceptance.outcomes[at:upto])
            at = upto

    def _accept(self, tickets: list[Ticket]) -> Acceptance:
        with redis_errors():
            return self._store.accept(tickets, workers=self._workers, largest=self._largest_chunk)
