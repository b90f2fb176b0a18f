"""Submissions as the worker and the enqueuer see them: blocking calls, each one atomic."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, cast
from uuid import uuid4

import redis
from rq import Queue

from sandbox_service.queue import dispatch, keys, scripts
from sandbox_service.queue.keys import Place
from sandbox_service.queue.pinned_job import pinned_queue
from sandbox_service.queue.signing import Signer
from sandbox_service.queue.tickets import (
    Acceptance,
    CarryingJob,
    Claim,
    Done,
    Finished,
    Outcome,
    Ticket,
    arguments_of,
    claim_from,
    jobs_for,
)
from sandbox_service.schema.verdict import Lane


class SubmissionStore:
    """Writes submissions and their results."""

    def __init__(self, connection: redis.Redis, signer: Signer) -> None:
        self.redis = connection
        self.signer = signer
        self._begin = connection.register_script(scripts.BEGIN)
        self._finish = connection.register_script(scripts.FINISH)

    def accept(
        self, tickets: Sequence[Ticket], *, workers: int, largest: int, ttl_s: int
    ) -> Acceptance:
        """Stores submissions and the RQ jobs that carry them, in one transaction."""
        jobs = list(jobs_for(tickets, workers, largest))
        carrier = {ref: job.id for job in jobs for ref in job.refs}
        arguments = [part for each in tickets for part in arguments_of(each, carrier)]
        with self.redis.pipeline(transaction=True) as pipeline:
            pipeline.eval(scripts.ACCEPT, 0, ttl_s, *arguments)
            for place, group in groupby(jobs, key=lambda job: job.place):
                self._enqueue(place, list(group), pipeline)
            for lane in Lane:
                pipeline.zcard(keys.waiting(lane))
            pipeline.zcard(keys.WORKERS)
            replies = pipeline.execute()
        outcomes = tuple(Outcome(word.decode()) for word in replies[0])
        depth = sum(replies[-1 - len(Lane) : -1])
        return Acceptance(outcomes, depth=depth, workers=replies[-1])

    def hand_back(self, refs: Sequence[str], *, begun: Sequence[str] = ()) -> None:
        """Puts submissions at the head of their queues, one in each RQ job.

        Those that were begun count as if they had not been.
        """
        lanes = self._lanes(refs)
        with self.redis.pipeline(transaction=True) as pipeline:
            for ref in begun:
                pipeline.eval(scripts.UNBEGIN, 1, keys.submission(ref), ref)
            for ref in reversed(refs):
                if ref in lanes:
                    self._requeue(ref, Place(lanes[ref], keys.tenant_of(ref)), pipeline)
            pipeline.execute()

    def begin(self, refs: Sequence[str], worker: str) -> list[Claim | None]:
        """Claims submissions; None for one that is done, in other hands, or like one before."""
        replies = cast("list[list[Any] | None]", self._begin(args=[worker, *refs]))
        return [claim_from(reply) for reply in replies]

    def add_attempt(self, ref: str) -> int:
        """Counts one more try and returns how many there were."""
        return self.redis.hincrby(keys.submission(ref), "attempts", 1)

    def payload(self, ref: str) -> bytes | None:
        """Returns the sealed payload of what is not done; None when it is."""
        return cast("bytes | None", self.redis.hget(keys.submission(ref), "payload"))

    def finish(self, ref: str, done: Done, *, ttl_s: int) -> Finished:
        """Stores a result unless there is one, and tells who waits for an equal one's."""
        return self.finish_all([(ref, done)], ttl_s=ttl_s)[0]

    def finish_all(self, results: Sequence[tuple[str, Done]], *, ttl_s: int) -> list[Finished]:
        """Stores results, all of them in one step; see `finish`."""
        arguments: list[Any] = [ttl_s]
        for ref, done in results:
            status, reward = done.status.value, done.reward_json
            result = self.signer.seal(done.result, "result", ref, status, reward)
            arguments += [ref, status, result, reward, int(done.is_dead), len(done.metrics)]
            arguments += [part for item in done.metrics.items() for part in item]
        replies = cast("list[list[Any]]", self._finish(args=arguments))
        return [
            Finished(bool(stored), [each.decode() for each in followers])
            for stored, followers in replies
        ]

    def keep_for_equals(self, ref: str, content: str, result: bytes, ttl_s: int) -> None:
        """Keeps a result for equal submissions of the same tenant."""
        key = keys.cached(keys.tenant_of(ref), content)
        self.redis.set(key, self.signer.seal(result, "cached result", key), ex=ttl_s)

    def is_idle(self) -> bool:
        """Tells whether no RQ job waits."""
        return not self.redis.exists(keys.LANES)

    def _lanes(self, refs: Sequence[str]) -> dict[str, str]:
        with self.redis.pipeline(transaction=False) as pipeline:
            for ref in refs:
                pipeline.hget(keys.submission(ref), "lane")
            lanes = pipeline.execute()
        return {ref: lane.decode() for ref, lane in zip(refs, lanes, strict=True) if lane}

    def _requeue(self, ref: str, place: Place, pipeline: Any) -> None:
        job = CarryingJob(keys.job_id(uuid4().hex, place), place, [ref])
        self._enqueue(place, [job], pipeline, at_front=True)
        pipeline.eval(dispatch.REQUEUE, 0, place.lane, place.tenant, ref, job.id)

    def _enqueue(
        self, place: Place, jobs: Sequence[CarryingJob], pipeline: Any, *, at_front: bool = False
    ) -> None:
        pinned_queue(self.redis, place.queue).enqueue_many(
            [
                Queue.prepare_data(
                    keys.TASK,
                    args=[job.refs],
                    job_id=job.id,
                    timeout=-1,
                    description=f"{len(job.refs)} submissions",
                    at_front=at_front,
                )
                for job in jobs
            ],
            pipeline=pipeline,
        )
