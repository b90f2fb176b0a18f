"""The one function that an RQ job may call, and what it does with each submission."""

import contextlib
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

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
from sandbox_service.schema.result import Result, Timing
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import Verdict
from sandbox_service.settings import Settings
from sandbox_service.telemetry.tracing import Tracing
from sandbox_service.worker.pipeline import Ahead
from sandbox_service.worker.readiness import Readiness
from sandbox_service.worker.settling import Settled, Settling, since

_log = structlog.get_logger(__name__)

# A chunk is for work that is over at once; when it is not, others may take the rest.
_CHUNK_BUDGET_S = 0.5
# Submissions this quick are claimed and run several at a time.
_QUICK_S = 0.05
_MOST_AHEAD = 8
_RETRY_AFTER_S = (0.1, 0.5, 2.0)


class Pipeline(Protocol):
    """What turns a submission into a result."""

    def look_ahead(self, submissions: Sequence[Submission]) -> list[Ahead | None]:
        """Runs what can be run without a pause between; None is no loss."""

    def run(self, submission_id: str, submission: Submission, ahead: Ahead | None = None) -> Result:
        """Compiles, runs, judges and scores; what was run `ahead` is not run again.

        Raises:
            EngineUnavailable: nothing can be run here for the moment.
            SandboxError: no sandbox could do it; another try may succeed.
        """

    def tidy(self) -> None:
        """Removes what is not needed any more; called when there is no work."""

    def close(self) -> None:
        """Closes every sandbox."""


class Pace:
    """How many submissions are claimed and run at a time: more of them while they are quick."""

    def __init__(self) -> None:
        self.count = 1

    def took(self, seconds: float) -> None:
        """Notes what each of the latest took."""
        self.count = min(2 * self.count, _MOST_AHEAD) if seconds < _QUICK_S else 1


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
        """Runs them in order; the rest goes back when the worker drains or they take long."""
        began = time.monotonic()
        rest = list(refs)
        while rest:
            is_late = len(rest) < len(refs) and since(began) > _CHUNK_BUDGET_S
            if self.is_draining() or (is_late and self.store.is_idle()):
                self.store.hand_back(rest)
                return
            part, rest = rest[: self.pace.count], rest[self.pace.count :]
            part_began = time.monotonic()
            stop = self._run_part(part)
            if stop is not None:
                self.store.hand_back([*stop.left, *rest], begun=stop.left)
                if stop.reason:
                    self.readiness.pause(stop.reason)
                return
            self.pace.took(since(part_began) / len(part))

    def _run_part(self, refs: Sequence[str]) -> "_Stop | None":
        """Claims and runs them; returns where it had to stop."""
        claims = zip(refs, self.store.begin(refs, self.worker), strict=True)
        jobs = [self._open(ref, claim) for ref, claim in claims if claim is not None]
        self._look_ahead(jobs)
        settling = Settling(self.store, self.settings)
        try:
            return self._run_jobs(jobs, settling)
        finally:
            settling.flush()

    def _run_jobs(self, jobs: "Sequence[_Job]", settling: Settling) -> "_Stop | None":
        began = time.monotonic()
        for index, job in enumerate(jobs):
            left = [each.ref for each in jobs[index:]]
            if job.ahead is None:
                settling.flush()  # it may take long, and nobody shall wait for it
            is_late = job.ahead is None and since(began) > _CHUNK_BUDGET_S
            if index and (self.is_draining() or (is_late and self.store.is_idle())):
                return _Stop(left)
            try:
                with bound_contextvars(job_id=job.ref):
                    self._run_one(job, settling)
            except EngineUnavailable as error:
                return _Stop(left, str(error))
        return None

    def _open(self, ref: str, claim: Claim) -> "_Job":
        job = _Job(ref, claim)
        try:
            job.payload = Payload.from_bytes(self.store.signer.open(claim.payload, "payload", ref))
        except (TamperedData, ValueError) as error:
            _log.error("payload_refused", job_id=ref, reason=type(error).__name__)
            job.refusal = str(error) if isinstance(error, TamperedData) else "its payload is broken"
        return job

    def _look_ahead(self, jobs: "Sequence[_Job]") -> None:
        """Lets the sandbox run those without a pause that nobody has tried before.

        One that ended a worker must not take others with it a second time.
        """
        began = time.monotonic()
        able = [job for job in jobs if job.payload is not None and job.claim.attempt == 1]
        if len(able) < 2:
            return
        for job in able:
            with contextlib.suppress(RequestError, TamperedData, ValueError):
                job.submission = self._with_tests(job.payload.submission()) if job.payload else None
        able = [job for job in able if job.submission is not None]
        found = self.pipeline.look_ahead([job.submission for job in able if job.submission])
        share_s = since(began) / max(1, len(able))
        for job, ahead in zip(able, found, strict=True):
            job.ahead, job.ahead_s = ahead, share_s

    def _run_one(self, job: "_Job", settling: Settling) -> None:
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

    def _result(self, job: "_Job", payload: Payload) -> tuple[Result, int]:
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

    def _try(self, job: "_Job", payload: Payload) -> tuple[Result, int]:
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


@dataclass(slots=True)
class _Job:
    """A submission that this worker has claimed."""

    ref: str
    claim: Claim
    payload: Payload | None = None
    refusal: str = ""
    """Why there is no payload."""
    submission: Submission | None = None
    """With its tests, when it was looked at before its turn."""
    ahead: Ahead | None = None
    ahead_s: float = 0.0
    """Its share of the seconds that the look ahead took."""


class _Stop(NamedTuple):
    """Where a worker stopped because it drains, others are idle, or the engine is down."""

    left: list[str]
    reason: str = ""
    """Why nothing can be run here."""


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
