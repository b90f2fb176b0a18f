"""The one function that an RQ job may call, and what it does with each submission."""

import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
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
from sandbox_service.schema.result import Result, Timing
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import Verdict
from sandbox_service.settings import Settings
from sandbox_service.telemetry.tracing import Tracing
from sandbox_service.worker.readiness import Readiness
from sandbox_service.worker.settling import Settling, since

_log = structlog.get_logger(__name__)

# A chunk is for work that is over at once; when it is not, others may take the rest.
_CHUNK_BUDGET_S = 0.5
_RETRY_AFTER_S = (0.1, 0.5, 2.0)


class Pipeline(Protocol):
    """What turns a submission into a result."""

    def run(self, submission_id: str, submission: Submission) -> Result:
        """Compiles, runs, judges and scores.

        Raises:
            EngineUnavailable: nothing can be run here for the moment.
            SandboxError: no sandbox could do it; another try may succeed.
        """

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
    sleep: Callable[[float], None] = time.sleep

    def run(self, refs: Sequence[str]) -> None:
        """Runs them in order; the rest goes back when the worker drains or one takes long."""
        began = time.monotonic()
        claim: Claim | None = None
        is_claimed = False
        for index, ref in enumerate(refs):
            is_late = index > 0 and since(began) > _CHUNK_BUDGET_S
            if self.is_draining() or (is_late and self.store.is_idle()):
                begun = [ref] if claim is not None and claim.attempt else []
                self.store.hand_back(refs[index:], begun=begun)
                return
            if not is_claimed:
                claim = self.store.begin(ref, self.worker)
            is_claimed = False
            if claim is None:
                continue
            # The next one is claimed in the step that stores this one's result.
            next_ref = refs[index + 1] if index + 1 < len(refs) else ""
            try:
                with bound_contextvars(job_id=ref):
                    claim = self._run_one(ref, claim, next_ref)
            except EngineUnavailable as error:
                self.store.hand_back(refs[index:], begun=[ref])
                self.readiness.pause(str(error))
                return
            is_claimed = True

    def _run_one(self, ref: str, claim: Claim, next_ref: str) -> Claim | None:
        began = time.monotonic()
        settling = Settling(self.store, self.settings, self.worker)
        payload: Payload | None = None
        try:
            opened = self.store.signer.open(claim.payload, "payload", ref)
            payload = Payload.from_bytes(opened)
            if claim.attempt == 0:
                settling.cancel(ref, payload, "its deadline passed before it was run")
                return self.store.begin(next_ref, self.worker) if next_ref else None
            result, attempts = self._result(ref, payload, claim)
        except (TamperedData, ValueError) as error:
            _log.error("payload_refused", reason=type(error).__name__)
            reason = str(error) if isinstance(error, TamperedData) else "its payload is broken"
            result, attempts = _internal_error(ref, None, reason), claim.attempt
        timing = Timing(queued_s=claim.queued_s, run_s=since(began))
        timed = result.model_copy(update={"timing": timing})
        return settling.finish(ref, payload, timed, attempts, next_ref)

    def _result(self, ref: str, payload: Payload, claim: Claim) -> tuple[Result, int]:
        if claim.attempt > self.settings.max_attempts:
            reason = f"{claim.attempt - 1} workers ended while they ran it"
            return _internal_error(ref, payload, reason), claim.attempt
        self.tracing.past("queue", payload.trace, claim.queued_s)
        try:
            with self.tracing.span("worker", payload.trace, submission_id=ref):
                return self._try(ref, payload, claim.attempt)
        except (EngineUnavailable, redis.RedisError):
            raise
        except (RequestError, TamperedData, ValueError) as error:
            reason = f"it cannot be run: {error}"
        except Exception as error:  # noqa: BLE001 - whatever it is, there is an answer
            _log.exception("job_failed")
            reason = f"the worker failed: {type(error).__name__}"
        return _internal_error(ref, payload, reason), claim.attempt

    def _try(self, ref: str, payload: Payload, attempt: int) -> tuple[Result, int]:
        submission = self._with_tests(payload.submission())
        while True:
            try:
                with self.tracing.span("run", attempt=attempt):
                    result = self.pipeline.run(keys.id_of(ref), submission)
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
