"""Submissions as the worker and the enqueuer see them: blocking calls, each one atomic."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast
from uuid import uuid4

import redis
from rq import Queue

from sandbox_service.queue import keys, scripts
from sandbox_service.queue.pinned_job import pinned_queue
from sandbox_service.schema.verdict import JobStatus


class Outcome(StrEnum):
    """What became of a submission that was to be stored."""

    NEW = "new"
    SAME = "same"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Ticket:
    """A submission on its way into Redis."""

    id: str
    digest: str
    """Of the content; empty when we made the id."""
    payload: bytes


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What Redis said to a batch of tickets."""

    outcomes: tuple[Outcome, ...]
    depth: int
    """Submissions waiting afterwards."""
    workers: int
    """Workers registered."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A submission that a worker has begun."""

    payload: bytes
    attempt: int
    """Counts from one."""
    queued_s: float


def chunks(ids: Sequence[str], size: int) -> list[list[str]]:
    """Cuts a sequence into lists of at most `size`."""
    return [list(ids[at : at + size]) for at in range(0, len(ids), size)]


def chunk_size(count: int, workers: int, largest: int) -> int:
    """Returns how many submissions one RQ job shall carry, so that every worker gets some."""
    return max(1, min(largest, -(-count // (max(workers, 1) * 2))))


class SubmissionStore:
    """Writes submissions and their results."""

    def __init__(self, connection: redis.Redis) -> None:
        self._redis = connection
        self._queue = pinned_queue(connection)
        self._begin = connection.register_script(scripts.BEGIN)
        self._finish = connection.register_script(scripts.FINISH)

    def accept(self, tickets: Sequence[Ticket], *, workers: int, largest: int) -> Acceptance:
        """Stores submissions and the RQ jobs that carry them, in one transaction."""
        ids = list(dict.fromkeys(ticket.id for ticket in tickets))
        arguments = [
            part for ticket in tickets for part in (ticket.id, ticket.digest, ticket.payload)
        ]
        names = [keys.submission(ticket.id) for ticket in tickets]
        with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.eval(
                scripts.ACCEPT, len(names) + 2, keys.WAITING, keys.METRICS, *names, *arguments
            )
            self._enqueue(chunks(ids, chunk_size(len(ids), workers, largest)), pipeline)
            pipeline.zcard(keys.WAITING)
            pipeline.zcard(keys.WORKERS)
            replies = pipeline.execute()
        outcomes = tuple(Outcome(word.decode()) for word in replies[0])
        return Acceptance(outcomes, depth=replies[-2], workers=replies[-1])

    def hand_back(self, ids: Sequence[str]) -> None:
        """Puts submissions that were not begun at the head of the queue, one in each RQ job."""
        with self._redis.pipeline(transaction=True) as pipeline:
            self._enqueue([[submission_id] for submission_id in reversed(ids)], pipeline, True)
            pipeline.execute()

    def begin(self, submission_id: str, worker: str) -> Claim | None:
        """Claims a submission; None when it is done or in other hands."""
        reply = cast(
            "list[Any] | None",
            self._begin(
                keys=[
                    keys.submission(submission_id),
                    keys.WAITING,
                    keys.STARTED,
                    keys.WORKERS,
                ],
                args=[submission_id, worker],
            ),
        )
        if not reply:
            return None
        return Claim(payload=reply[0], attempt=int(reply[1]), queued_s=max(0.0, float(reply[2])))

    def add_attempt(self, submission_id: str) -> int:
        """Counts one more try and returns how many there were."""
        return self._redis.hincrby(keys.submission(submission_id), "attempts", 1)

    def finish(
        self,
        submission_id: str,
        *,
        status: JobStatus,
        result: str,
        reward: float | None,
        ttl_s: int,
        metrics: Mapping[str, float],
    ) -> bool:
        """Stores a result and tells who waits; False when there was one already."""
        amounts = [part for item in metrics.items() for part in item]
        stored = self._finish(
            keys=[keys.submission(submission_id), keys.WAITING, keys.STARTED, keys.METRICS],
            args=[
                submission_id,
                status.value,
                result,
                "null" if reward is None else repr(reward),
                ttl_s,
                keys.FINISHED,
                *amounts,
            ],
        )
        return bool(stored)

    def waiting(self) -> int:
        """Returns how many RQ jobs wait."""
        return self._redis.llen(keys.RQ_QUEUE)

    def _enqueue(self, lists: Iterable[list[str]], pipeline: Any, at_front: bool = False) -> None:
        self._queue.enqueue_many(
            [
                Queue.prepare_data(
                    keys.TASK,
                    args=[ids],
                    job_id=uuid4().hex,
                    timeout=-1,
                    description=f"{len(ids)} submissions",
                    at_front=at_front,
                )
                for ids in lists
            ],
            pipeline=pipeline,
        )
