"""The one function that an RQ job may call, and what it does with each submission."""

import contextlib
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

import redis
import structlog
from structlog.contextvars import bound_contextvars

from sandbox_service.errors import (
    EngineUnavailable,
    RequestError,
    SandboxError,
    TamperedData,
)
from sandbox_service.queue import keys
from sandbox_service.queue.payload import Payload
from sandbox_service.queue.submissions import SubmissionStore
from sandbox_service.queue.suites import SuiteReader
from sandbox_service.queue.tickets import Claim
from sandbox_service.sandbox.base import PoolFigures
from sandbox_service.schema.result import Result, Timing
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import Verdict
from sandbox_service.settings import Settings
from sandbox_service.telemetry.tracing import Tracing
from sandbox_service.worker.parts import QUICK_S, Job, Pace, Part, Stop
from sandbox_service.worker.pipeline import Ahead
from sandbox_service.worker.readiness import Readiness
from sandbox_service.worker.settling import Settled, Settling, since

_log = structlog.get_logger(__name__)

# A chunk is for work that is over at once; when it is not, others may take the rest.
_CHUNK_BUDGET_S = 0.5
_RETRY_AFTER_S = (0.1, 0.5, 2.0)


class Pipeline(Protocol):
    """What turns a submission into a result."""

    def look_ahead(self, submissions: Sequence[Submission]) -> Callable[[], list[Ahead | None]]:
        """Begins to run what can be run without a pause between; what waits for it is returned."""

    def run(self, submission_id: str, submission: Submission, ahead: Ahead | None = None) -> Result:
        """Compiles, runs, judges and scores; what was run `ahead` is not run again.

        Raises:
            EngineUnavailable: nothing can be run here for the moment.
            SandboxError: no sandbox could do it; another try may succeed.
        """

    def figures(self) -> PoolFigures:
        """Counts the sandboxes; may be called by another thread."""

    def tidy(self) -> None:
        """Removes what is not needed any more; called when there is no work."""

    def close(self) -> None:
        """Closes every sandbox."""


@dataclass(frozen=True, slots=True)
class SubmissionRunner:
    """Takes submissions one after the other and stores what became of each."""

    pipeline: Pipeline
    store: SubmissionStore
    suites: SuiteReader
    settings: Settings
    worker: str
    is_draining: Callable[[], bool]
    readiness: Readiness
    tracing: Tracing
    pace: Pace = field(default_factory=Pace)
    sleep: Callable[[float], None] = time.sleep

    def run(self, refs: Sequence[str]) -> None:
        """Runs them in order; the rest goes back when the worker drains or they take long.

        While some are judged, the sandbox runs the next.
        """
        began = time.monotonic()
        rest = list(refs)
        part: Part | None = None
        while part or rest:
            is_late = len(rest) < len(refs) and since(began) > _CHUNK_BUDGET_S
            if self.is_draining() or (is_late and self.store.is_idle()):
                self._hand_back(Stop([]), part, rest)
                return
            part = part or self._begin(rest)
            part_began, are_known = time.monotonic(), part.gather()
            if are_known:
                self.pace.took(since(part_began) / len(part.jobs))
            following = self._begin(rest) if are_known and rest else None
            stop = self._run_jobs(part.jobs)
            if stop is not None:
                self._hand_back(stop, following, rest)
                return
            took_s = since(part_began) / max(1, len(part.jobs))
            if not are_known or took_s > QUICK_S:
                self.pace.took(took_s)
            part = following

    def _hand_back(self, stop: Stop, part: Part | None, rest: Sequence[str]) -> None:
        begun = [*stop.left, *([job.ref for job in part.jobs] if part else [])]
        self.store.hand_back([*begun, *rest], begun=begun)
        if stop.reason:
            self.readiness.pause(stop.reason)

    def _begin(self, rest: list[str]) -> Part:
        """Claims as many as are taken at a time, and lets the sandbox begin."""
        refs = rest[: self.pace.count]
        del rest[: self.pace.count]
        claims = zip(refs, self.store.begin(refs, self.worker), strict=True)
        jobs = [self._open(ref, claim) for ref, claim in claims if claim is not None]
        return Part(jobs, self._look_ahead(jobs))

    def _run_jobs(self, jobs: Sequence[Job]) -> Stop | None:
        """Runs them and stores the results; returns where it had to stop."""
        settling = Settling(self.store, self.settings)
        try:
            return self._run_each(jobs, settling)
        finally:
            settling.flush()

    def _run_each(self, jobs: Sequence[Job], settling: Settling) -> Stop | None:
        began = time.monotonic()
        for index, job in enumerate(jobs):
            left = [each.ref for each in jobs[index:]]
            if job.ahead is None:
                settling.flush()  # it may take long, and nobody shall wait for it
            is_late = job.ahead is None and since(began) > _CHUNK_BUDGET_S
            if index and (self.is_draining() or (is_late and self.store.is_idle())):
                return Stop(left)
            try:
                with bound_contextvars(job_id=job.ref):
                    self._run_one(job, settling)
            except EngineUnavailable as error:
                return Stop(left, str(error))
        return None

    def _open(self, ref: str, claim: Claim) -> Job:
        job = Job(ref, claim)
        try:
            job.payload = Payload.from_bytes(self.store.signer.open(claim.payload, "payload", ref))
        except (TamperedData, ValueError) as error:
            _log.error("payload_refused", job_id=ref, reason=type(error).__name__)
            job.refusal = str(error) if isinstance(error, TamperedData) else "its payload is broken"
        return job

    def _look_ahead(self, jobs: Sequence[Job]) -> "Callable[[], list[Ahead | None]]":
        """Lets the sandbox run those without a pause that nobody has tried before.

        One that ended a worker must not take others with it a second time.
        """
        able = [job for job in jobs if job.payload is not None and job.claim.attempt == 1]
        if len(able) < 2:
            return list
        for job in able:
            with contextlib.suppress(RequestError, TamperedData, ValueError):
                job.submission = self._with_tests(job.payload.submission()) if job.payload else None
        return self.pipeline.look_ahead([job.submission for job in jobs if job.submission])

    def _run_one(self, job: Job, settling: Settling) -> None:
        began = time.monotonic()
        claim, payload = job.claim, job.payload
        if payload is None:
            result, attempts = _internal_error(job.ref, None, job.refusal), claim.attempt
        elif claim.attempt == 0:
            reason = "its deadline passed before it was run"
            settling.cancel(job.ref, payload, reason)
            return
        else:
            result, attempts = self._result(job, payload)
        timing = Timing(queued_s=claim.queued_s, run_s=job.ahead_s + since(began))
        timed = result.model_copy(update={"timing": timing})
        settling.add(Settled(job.ref, payload, timed, attempts))

    def _result(self, job: Job, payload: Payload) -> tuple[Result, int]:
        ref, claim = job.ref, job.claim
        if claim.attempt > self.settings.max_attempts:
            reason = f"{claim.attempt - 1} workers ended while they ran it"
            return _internal_error(ref, payload, reason), claim.attempt
        self.tracing.past("queue", payload.trace, claim.queued_s)
        try:
            with self.tracing.span("worker", payload.trace, submission_id=ref):
                return self._try(job, payload)
        except (EngineUnavailable, redis.RedisError):
            raise
        except (RequestError, TamperedData, ValueError) as error:
            reason = f"it cannot be run: {error}"
        except Exception as error:  # noqa: BLE001 - whatever it is, there is an answer
            _log.exception("job_failed")
            reason = f"the worker failed: {type(error).__name__}"
        return _internal_error(ref, payload, reason), claim.attempt

    def _try(self, job: Job, payload: Payload) -> tuple[Result, int]:
        ref, attempt = job.ref, job.claim.attempt
        submission = job.submission or self._with_tests(payload.submission())
        while True:
            try:
                with self.tracing.span("run", attempt=attempt):
                    result = self.pipeline.run(keys.id_of(ref), submission, job.ahead)
            except EngineUnavailable:
                raise
            except SandboxError as error:
                _log.warning("attempt_failed", reason=str(error))
                if attempt >= self.settings.max_attempts:
                    reason = f"{attempt} attempts failed, the last with: {error}"
                    return _internal_error(ref, payload, reason), attempt
            else:
                self.readiness.resume()
                return result, attempt
            self.sleep(_RETRY_AFTER_S[min(attempt, len(_RETRY_AFTER_S)) - 1])
            attempt = self.store.add_attempt(ref)

    def _with_tests(self, submission: Submission) -> Submission:
        if submission.suite is None:
            return submission
        tests = self.suites.tests(submission.suite)
        return submission.model_copy(update={"tests": tests, "suite": None})


def _internal_error(ref: str, payload: Payload | None, reason: str) -> Result:
    return Result(
        id=keys.id_of(ref),
        verdict=Verdict.INTERNAL_ERROR,
        score=None,
        reward=None,
        passed=0,
        total=_tests_in(payload),
        detail=reason,
        metadata=payload.metadata if payload else {},
    )


def _tests_in(payload: Payload | None) -> int:
    if payload is None:
        return 0
    try:
        return len(payload.submission().tests or ())
    except ValueError:
        return 0


RUNNER: ContextVar[SubmissionRunner] = ContextVar("RUNNER")
"""Set once by the process that takes jobs; RQ calls `run_submissions` by its name."""


def run_submissions(refs: list[str]) -> None:
    """Runs the submissions that one RQ job carries."""
    RUNNER.get().run(refs)
