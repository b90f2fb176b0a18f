"""The queue as the API sees it: submit, look, wait, cancel, count. Nothing here blocks the loop."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from typing import cast

import redis
import redis.asyncio

from sandbox_service.errors import Conflict, NotFound
from sandbox_service.queue import keys
from sandbox_service.queue.connection import connect, connect_async, redis_errors
from sandbox_service.queue.enqueuer import Enqueuer
from sandbox_service.queue.submissions import Outcome, SubmissionStore, Ticket
from sandbox_service.queue.waiter import Waiter
from sandbox_service.schema.job import QueueState
from sandbox_service.schema.result import Result
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import JobStatus, Verdict
from sandbox_service.settings import Settings

_READ_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class StoredState:
    """What Redis holds of a submission; the result as the bytes that the worker wrote."""

    id: str
    status: JobStatus
    result: bytes | None
    reward: bytes
    """As JSON; `null` is no information."""


class Broker:
    """One for each API process; `start` before use, `stop` at the end."""

    def __init__(self, settings: Settings, url: str) -> None:
        self._settings = settings
        self._sync = connect(url)
        self.redis: redis.asyncio.Redis = connect_async(url)
        self.store = SubmissionStore(self._sync)
        self._enqueuer = Enqueuer(
            self.store, largest_chunk=settings.chunk_size, max_depth=settings.max_queue_depth
        )
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
        self, submissions: Sequence[Submission], *, wait_s: float = 0.0
    ) -> list[StoredState]:
        """Stores submissions, waits until all are done or the time is over, says how they stand.

        Raises:
            Conflict: an id was used before with other content; the others are accepted.
            QueueFull: too many are waiting; none is accepted.
            QueueUnavailable: Redis does not answer.
        """
        with redis_errors():
            await self._check_room(len(submissions))
        tickets = [_ticket(submission) for submission in submissions]
        ids = [ticket.id for ticket in tickets]
        async with self._waiter.watch(ids) as watch:
            outcomes = await self._enqueuer.put(tickets)
            _refuse_conflicts(ids, outcomes)
            with redis_errors():
                known = [
                    submission_id
                    for submission_id, outcome in zip(ids, outcomes, strict=True)
                    if outcome is Outcome.SAME
                ]
                await self._waiter.look_up(known)
                is_done = await watch.wait(wait_s)
                if not is_done and wait_s == 0 and not known:
                    return [_queued(submission_id) for submission_id in ids]
                return await self.states(ids)

    async def wait(self, submission_id: str, wait_s: float) -> StoredState:
        """Returns how a submission stands once it is done or the time is over.

        Raises:
            NotFound: no such submission, or it has expired.
            QueueUnavailable: Redis does not answer.
        """
        with redis_errors():
            async with self._waiter.watch([submission_id]) as watch:
                state = (await self.states([submission_id]))[0]
                if state.result is not None or wait_s <= 0:
                    return state
                await watch.wait(wait_s)
            return (await self.states([submission_id]))[0]

    async def states(self, ids: Sequence[str]) -> list[StoredState]:
        """Reads submissions in the order asked.

        Raises:
            NotFound: one is not there, or has expired.
        """
        states: list[StoredState] = []
        for at in range(0, len(ids), _READ_AT_ONCE):
            part = ids[at : at + _READ_AT_ONCE]
            async with self.redis.pipeline(transaction=False) as pipeline:
                for submission_id in part:
                    pipeline.hmget(keys.submission(submission_id), "status", "result", "reward")
                rows = await pipeline.execute()
            states.extend(_state(name, *row) for name, row in zip(part, rows, strict=True))
        return states

    async def cancel(self, submission_id: str) -> StoredState:
        """Cancels what is not done; a program that runs already runs to its end in vain.

        Raises:
            NotFound: no such submission.
            QueueUnavailable: Redis does not answer.
        """
        with redis_errors():
            key = keys.submission(submission_id)
            # Both at once: what is accepted between two reads would look done.
            status, payload = await self.redis.hmget(key, "status", "payload")
            if status is None:
                raise _missing(submission_id)
            if isinstance(payload, bytes):
                await asyncio.to_thread(self._cancel, submission_id, payload)
            return (await self.states([submission_id]))[0]

    async def queue_states(self) -> list[QueueState]:
        """Counts what waits, what runs and who works.

        Raises:
            QueueUnavailable: Redis does not answer.
        """
        with redis_errors():
            seconds, microseconds = await self.redis.time()
            async with self.redis.pipeline(transaction=False) as pipeline:
                pipeline.zcard(keys.WAITING)
                pipeline.zcard(keys.STARTED)
                pipeline.zcount(keys.WORKERS, seconds + microseconds / 1e6, "+inf")
                depth, started, workers = await pipeline.execute()
        return [QueueState(name=keys.QUEUE, depth=depth, started=started, workers=workers)]

    async def counters(self) -> dict[str, float]:
        """Returns the counters that workers and API replicas share."""
        with redis_errors():
            raw = cast("dict[bytes, bytes]", await self.redis.hgetall(keys.METRICS))
        return {name.decode(): float(value) for name, value in raw.items()}

    async def _check_room(self, count: int) -> None:
        # The depth after the latest write is enough until it comes near the bound.
        depth = self._enqueuer.known_depth
        if depth + count > self._settings.max_queue_depth:
            depth = await self.redis.zcard(keys.WAITING)
        self._enqueuer.check_room(count, depth)

    def _cancel(self, submission_id: str, payload: bytes) -> None:
        submission = Submission.model_validate_json(payload)
        result = Result(
            id=submission_id,
            status=JobStatus.CANCELED,
            verdict=Verdict.SKIPPED,
            score=None,
            reward=None,
            passed=0,
            total=len(submission.tests or ()),
            detail="canceled",
            metadata=submission.metadata,
        )
        self.store.finish(
            submission_id,
            status=JobStatus.CANCELED,
            result=result.model_dump_json(),
            reward=None,
            ttl_s=self._settings.result_ttl_s,
            metrics={"canceled": 1},
        )


def _ticket(submission: Submission) -> Ticket:
    payload = submission.model_dump_json(exclude_unset=True).encode()
    if submission.id is None:
        return Ticket(id=token_hex(16), digest="", payload=payload)
    return Ticket(id=submission.id, digest=sha256(payload).hexdigest(), payload=payload)


def _refuse_conflicts(ids: Sequence[str], outcomes: Sequence[Outcome]) -> None:
    for submission_id, outcome in zip(ids, outcomes, strict=True):
        if outcome is Outcome.CONFLICT:
            raise Conflict(f"id {submission_id!r} was used before with other content", field="id")


def _missing(submission_id: str) -> NotFound:
    return NotFound(f"no submission {submission_id!r}", field="id")


def _queued(submission_id: str) -> StoredState:
    return StoredState(submission_id, JobStatus.QUEUED, None, b"null")


def _state(
    submission_id: str, status: bytes | None, result: bytes | None, reward: bytes | None
) -> StoredState:
    if status is None:
        raise _missing(submission_id)
    return StoredState(submission_id, JobStatus(status.decode()), result, reward or b"null")
