"""The one function that an RQ job may call, and what it does with each submission."""

import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import structlog
from pydantic import ValidationError

from sandbox_service.errors import RequestError, SandboxError
from sandbox_service.queue.submissions import Claim, SubmissionStore
from sandbox_service.queue.suites import SuiteReader
from sandbox_service.schema.result import Result, Timing
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.verdict import JobStatus, Verdict
from sandbox_service.settings import Settings
from sandbox_service.telemetry.metrics import judged, observed

_log = structlog.get_logger(__name__)

# A chunk is for work that is over at once; when it is not, others may take the rest.
_CHUNK_BUDGET_S = 0.5
_RETRY_AFTER_S = (0.1, 0.5, 2.0)


class Pipeline(Protocol):
    """What turns a submission into a result."""

    def run(self, submission_id: str, submission: Submission) -> Result:
        """Compiles, runs, judges and scores.

        Raises:
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
    sleep: Callable[[float], None] = time.sleep

    def run(self, ids: Sequence[str]) -> None:
        """Runs them in order; the rest goes back when the worker drains or one takes long."""
        began = time.monotonic()
        for index, submission_id in enumerate(ids):
            is_late = index > 0 and time.monotonic() - began > _CHUNK_BUDGET_S
            if self.is_draining() or (is_late and self.store.waiting() == 0):
                self.store.hand_back(ids[index:])
                return
            claim = self.store.begin(submission_id, self.worker)
            if claim is not None:
                self._run_one(submission_id, claim)

    def _run_one(self, submission_id: str, claim: Claim) -> None:
        log = _log.bind(job_id=submission_id)
        began = time.monotonic()
        result, attempts = self._result(submission_id, claim)
        timing = Timing(queued_s=claim.queued_s, run_s=time.monotonic() - began)
        result = result.model_copy(update={"timing": timing})
        metrics = judged(result.verdict.value)
        metrics |= observed("queued_s", timing.queued_s) | observed("run_s", timing.run_s)
        if result.reward is not None:
            metrics |= observed("reward", result.reward)
        if attempts > 1:
            metrics["retried"] = attempts - 1
        self.store.finish(
            submission_id,
            status=JobStatus.FINISHED,
            result=result.model_dump_json(),
            reward=result.reward,
            ttl_s=self.settings.result_ttl_s,
            metrics=metrics,
        )
        log.debug("job_finished", verdict=result.verdict.value, run_s=round(timing.run_s, 4))

    def _result(self, submission_id: str, claim: Claim) -> tuple[Result, int]:
        if claim.attempt > self.settings.max_attempts:
            reason = f"{claim.attempt - 1} workers ended while they ran it"
            return _internal_error(submission_id, None, reason), claim.attempt
        submission: Submission | None = None
        try:
            submission = self._submission(claim.payload)
            return self._try(submission_id, submission, claim.attempt)
        except (RequestError, ValidationError) as error:
            reason = f"it cannot be run: {error}"
        except Exception as error:  # noqa: BLE001 - whatever it is, there is an answer
            _log.exception("job_failed", job_id=submission_id)
            reason = f"the worker failed: {type(error).__name__}"
        return _internal_error(submission_id, submission, reason), claim.attempt

    def _try(self, submission_id: str, submission: Submission, attempt: int) -> tuple[Result, int]:
        while True:
            try:
                return self.pipeline.run(submission_id, submission), attempt
            except SandboxError as error:
                _log.warning("attempt_failed", job_id=submission_id, reason=str(error))
                if attempt >= self.settings.max_attempts:
                    reason = f"{attempt} attempts failed, the last with: {error}"
                    return _internal_error(submission_id, submission, reason), attempt
            self.sleep(_RETRY_AFTER_S[min(attempt, len(_RETRY_AFTER_S)) - 1])
            attempt = self.store.add_attempt(submission_id)

    def _submission(self, payload: bytes) -> Submission:
        submission = Submission.model_validate_json(payload)
        if submission.suite is None:
            return submission
        tests = self.suites.tests(submission.suite)
        return submission.model_copy(update={"tests": tests, "suite": None})


def _internal_error(submission_id: str, submission: Submission | None, reason: str) -> Result:
    return Result(
        id=submission_id,
        verdict=Verdict.INTERNAL_ERROR,
        score=None,
        reward=None,
        passed=0,
        total=len(submission.tests or ()) if submission else 0,
        detail=reason,
        metadata=submission.metadata if submission else {},
    )


RUNNER: ContextVar[SubmissionRunner] = ContextVar("RUNNER")
"""Set once by the process that takes jobs; RQ calls `run_submissions` by its name."""


def run_submissions(ids: list[str]) -> None:
    """Runs the submissions that one RQ job carries."""
    RUNNER.get().run(ids)
