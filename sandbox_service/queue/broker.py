"""The queue as the API sees it: submit, look, wait, cancel, count. Nothing here blocks the loop."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import redis
import redis.asyncio

from sandbox_service.errors import Conflict, NotFound
from sandbox_service.queue import keys
from sandbox_service.queue.admission import Admission
from sandbox_service.queue.connection import connect, connect_async, redis_errors
from sandbox_service.queue.enqueuer import Enqueuer
from sandbox_service.queue.payload import Payload
from sandbox_service.queue.reader import StateReader
from sandbox_service.queue.signing import Signer
from sandbox_service.queue.submissions import SubmissionStore
from sandbox_service.queue.tickets import Done, Membership, Outcome
from sandbox_service.queue.waiter import Waiter
from sandbox_service.schema.job import QueueState
from sandbox_service.schema.result import Result
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import JobStatus, Lane, Verdict
from sandbox_service.settings import Settings


@dataclass(frozen=True, slots=True)
class StoredState:
    """What Redis holds of a submission; the result as the bytes that the worker wrote."""

    id: str
    status: JobStatus
    result: bytes | None
    reward: bytes
    """As JSON; `null` is no information."""


class Submitted(NamedTuple):
    """Submissions that were stored."""

    refs: list[str]
    is_done: bool
    """Whether all are done."""
    is_new: bool
    """Whether none of them was known before."""


class Broker:
    """One for each API process; `start` before use, `stop` at the end."""

    def __init__(self, settings: Settings, url: str, signer: Signer) -> None:
        self.settings = settings
        self._sync = connect(url)
        self.redis: redis.asyncio.Redis = connect_async(url)
        self.store = SubmissionStore(self._sync, signer)
        self.admission = Admission(settings, self.redis, signer)
        self._signer = signer
        self._enqueuer = Enqueuer(
            self.store, largest_chunk=settings.chunk_size, ttl_s=settings.result_ttl_s
        )
        self._reader = StateReader(self.redis)
        self._waiter = Waiter(self.redis)

    async def start(self) -> None:
        """Begins to listen for finished submissions."""
        await self._waiter.start()

    async def stop(self) -> None:
        """Closes every connection."""
        await self._waiter.stop()
        await asyncio.to_thread(self._enqueuer.close)
        await self.redis.aclose()
        self._sync.close()

    async def submit(
        self,
        tenant: str,
        submissions: Sequence[Submission],
        *,
        wait_s: float = 0.0,
        trace: dict[str, str] | None = None,
    ) -> Submitted:
        """Stores submissions and waits until all are done or the time is over.

        Raises:
            Conflict: an id was used before with other content; the others are accepted.
            QueueFull: too many are waiting; none is accepted.
            QueueUnavailable: Redis does not answer.
        """
        await self.check_room(tenant, len(submissions))
        tickets = await self.admission.tickets(tenant, submissions, trace=trace)
        refs = [ticket.ref for ticket in tickets]
        async with AsyncExitStack() as stack:
            watch = await stack.enter_async_context(self._waiter.watch(refs)) if wait_s else None
            outcomes = await self._enqueuer.put(tickets)
            _refuse_conflicts(refs, outcomes)
            with redis_errors():
                known = [
                    ticket.ref
                    for ticket, outcome in zip(tickets, outcomes, strict=True)
                    if outcome is Outcome.SAME or ticket.result
                ]
                if watch is None:
                    return Submitted(refs, is_done=False, is_new=not known)
                await self._waiter.look_up(known)
                return Submitted(refs, await watch.wait(wait_s), is_new=not known)

    async def add(
        self,
        tenant: str,
        submissions: Sequence[Submission],
        memberships: Sequence[Membership],
        trace: dict[str, str] | None = None,
    ) -> list[tuple[str, Outcome]]:
        """Stores submissions as members of a batch and says what became of each.

        Raises:
            QueueFull: too many are waiting; none is accepted.
            QueueUnavailable: Redis does not answer.
        """
        await self.check_room(tenant, len(submissions))
        tickets = await self.admission.tickets(tenant, submissions, memberships, trace)
        outcomes = await self._enqueuer.put(tickets)
        return [(ticket.ref, outcome) for ticket, outcome in zip(tickets, outcomes, strict=True)]

    async def check_room(self, tenant: str, count: int) -> None:
        """Refuses what would exceed a bound.

        Raises:
            QueueFull: too many are waiting, or the tenant sends too fast.
        """
        await self.admission.check_room(tenant, count, self._enqueuer.known_depth)

    async def check_depth(self, tenant: str, count: int) -> None:
        """Refuses early what would find no room later.

        Raises:
            QueueFull: too many are waiting.
        """
        await self.admission.check_depth(tenant, count, self._enqueuer.known_depth)

    async def wait(self, ref: str, wait_s: float) -> StoredState:
        """Returns how a submission stands once it is done or the time is over.

        Raises:
            NotFound: no such submission, or it has expired.
            QueueUnavailable: Redis does not answer.
        """
        with redis_errors():
            async with self._waiter.watch([ref]) as watch:
                state = (await self.states([ref]))[0]
                if state.result is not None or wait_s <= 0:
                    return state
                await watch.wait(wait_s)
            return (await self.states([ref]))[0]

    async def states(self, refs: Sequence[str]) -> list[StoredState]:
        """Reads submissions in the order asked.

        Raises:
            NotFound: one is not there, or has expired.
            TamperedData: one was not written by this service.
        """
        rows = await self._reader.rows(refs)
        return [self._state(ref, *row) for ref, row in zip(refs, rows, strict=True)]

    async def cancel(self, ref: str) -> StoredState:
        """Cancels what is not done; a program that runs already runs to its end in vain.

        Raises:
            NotFound: no such submission.
            QueueUnavailable: Redis does not answer.
        """
        with redis_errors():
            key = keys.submission(ref)
            # Both at once: what is accepted between two reads would look done.
            status, payload = await self.redis.hmget(key, "status", "payload")
            if status is None:
                raise _missing(ref)
            if isinstance(payload, bytes):
                await asyncio.to_thread(self.cancel_now, ref, payload)
            return (await self.states([ref]))[0]

    def cancel_now(self, ref: str, payload: bytes) -> None:
        """Stores that a submission was canceled; blocks."""
        opened = Payload.from_bytes(self._signer.open(payload, "payload", ref))
        done = replace(canceled(ref, opened, "canceled"), metrics={"canceled": 1})
        finished = self.store.finish(ref, done, ttl_s=self.settings.result_ttl_s)
        if finished.followers:
            self.store.hand_back(finished.followers)

    async def queue_states(self) -> list[QueueState]:
        """Counts what waits, what runs and who works, lane by lane.

        Raises:
            QueueUnavailable: Redis does not answer.
        """
        with redis_errors():
            seconds, microseconds = await self.redis.time()
            now = seconds + microseconds / 1e6
            async with self.redis.pipeline(transaction=False) as pipeline:
                pipeline.zcount(keys.WORKERS, now, "+inf")
                pipeline.hlen(keys.UNREADY)
                for lane in Lane:
                    pipeline.zcard(keys.waiting(lane))
                    pipeline.zcard(keys.started(lane))
                    pipeline.zrange(keys.waiting(lane), 0, 0, withscores=True)
                alive, unready, *rows = await pipeline.execute()
        return [
            QueueState(
                name=lane.value,
                depth=rows[at],
                started=rows[at + 1],
                workers=max(0, alive - unready),
                oldest_s=max(0.0, now - rows[at + 2][0][1]) if rows[at + 2] else 0.0,
            )
            for at, lane in zip(range(0, len(rows), 3), Lane, strict=True)
        ]

    async def unready_reason(self) -> str | None:
        """Returns why a worker cannot run anything; None if none says so."""
        with redis_errors():
            reasons = cast("list[bytes]", await self.redis.hvals(keys.UNREADY))
        return reasons[0].decode() if reasons else None

    async def sandboxes(self) -> int:
        """Counts the sandboxes of all workers."""
        with redis_errors():
            raw = cast("list[bytes]", await self.redis.hvals(keys.SANDBOXES))
        return sum(map(int, raw))

    async def counters(self) -> dict[str, float]:
        """Returns the counters that workers and API replicas share."""
        with redis_errors():
            raw = cast("dict[bytes, bytes]", await self.redis.hgetall(keys.METRICS))
        return {name.decode(): float(value) for name, value in raw.items()}

    def _state(
        self, ref: str, status: bytes | None, result: bytes | None, reward: bytes | None
    ) -> StoredState:
        if status is None:
            raise _missing(ref)
        word, worth = status.decode(), reward or b"null"
        if result is not None:
            result = self._signer.open(result, "result", ref, word, worth.decode())
        return StoredState(keys.id_of(ref), JobStatus(word), result, worth)


def canceled(ref: str, payload: Payload, reason: str) -> Done:
    """Returns what is stored about a submission that is not run."""
    submission = payload.submission()
    result = Result(
        id=keys.id_of(ref),
        status=JobStatus.CANCELED,
        verdict=Verdict.SKIPPED,
        score=None,
        reward=None,
        passed=0,
        total=len(submission.tests or ()),
        detail=reason,
        metadata=submission.metadata,
    )
    return Done(result.model_dump_json().encode(), None, JobStatus.CANCELED)


def _refuse_conflicts(refs: Sequence[str], outcomes: Sequence[Outcome]) -> None:
    for ref, outcome in zip(refs, outcomes, strict=True):
        if outcome is Outcome.CONFLICT:
            name = keys.id_of(ref)
            raise Conflict(f"id {name!r} was used before with other content", field="id")


def _missing(ref: str) -> NotFound:
    return NotFound(f"no submission {keys.id_of(ref)!r}", field="id")
