"""Writes what arrives into Redis: one writer, one transaction at a time.

Whatever arrives while a transaction is in flight goes into the next one, so a single submission
waits for nothing and many share the cost.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sandbox_service.queue.connection import redis_errors
from sandbox_service.queue.submissions import SubmissionStore
from sandbox_service.queue.tickets import Acceptance, Outcome, Ticket

# Redis does nothing else during a transaction, so it must not be long.
_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class _Parcel:
    tickets: Sequence[Ticket]
    outcomes: asyncio.Future[tuple[Outcome, ...]]


class Enqueuer:
    """The one writer of an API process."""

    def __init__(self, store: SubmissionStore, *, largest_chunk: int, ttl_s: int) -> None:
        self._store = store
        self._largest_chunk = largest_chunk
        self._ttl_s = ttl_s
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="enqueuer")
        self._parcels: list[_Parcel] = []
        self._flushing: asyncio.Task[None] | None = None
        self._workers = 1
        self.known_depth = 0
        """Submissions waiting after the latest write."""

    async def put(self, tickets: Sequence[Ticket]) -> tuple[Outcome, ...]:
        """Returns once Redis has stored the tickets, or knows them.

        Raises:
            QueueUnavailable: some were not stored.
        """
        loop = asyncio.get_running_loop()
        parcels = [
            _Parcel(tickets[at : at + _AT_ONCE], loop.create_future())
            for at in range(0, len(tickets), _AT_ONCE)
        ]
        self._parcels += parcels
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        parts = await asyncio.gather(*(parcel.outcomes for parcel in parcels))
        return tuple(outcome for part in parts for outcome in part)

    def close(self) -> None:
        """Waits for the write in flight."""
        self._thread.shutdown(wait=True)

    async def _flush(self) -> None:
        try:
            while self._parcels:
                await self._write(self._next_parcels())
        finally:
            self._flushing = None

    def _next_parcels(self) -> list[_Parcel]:
        count = 1
        size = len(self._parcels[0].tickets)
        for parcel in self._parcels[1:]:
            size += len(parcel.tickets)
            if size > _AT_ONCE:
                break
            count += 1
        parcels, self._parcels = self._parcels[:count], self._parcels[count:]
        return parcels

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
        self.known_depth, self._workers = acceptance.depth, max(1, acceptance.workers)
        at = 0
        for parcel in parcels:
            upto = at + len(parcel.tickets)
            if not parcel.outcomes.done():
                parcel.outcomes.set_result(acceptance.outcomes[at:upto])
            at = upto

    def _accept(self, tickets: list[Ticket]) -> Acceptance:
        with redis_errors():
            return self._store.accept(
                tickets,
                workers=self._workers,
                largest=self._largest_chunk,
                ttl_s=self._ttl_s,
            )
