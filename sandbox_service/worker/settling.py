"""What is written when a submission is done: its result, those of its equals, the counts."""

import time
from dataclasses import dataclass

import structlog

from sandbox_service.errors import SandboxServiceError
from sandbox_service.queue import keys
from sandbox_service.queue.broker import canceled
from sandbox_service.queue.payload import Payload
from sandbox_service.queue.submissions import SubmissionStore
from sandbox_service.queue.tickets import Done
from sandbox_service.schema.result import Result
from sandbox_service.schema.verdict import Verdict
from sandbox_service.settings import Settings
from sandbox_service.telemetry.metrics import judged, observed

_log = structlog.get_logger(__name__)
# Another try may end differently.
_NOT_CACHED = frozenset({Verdict.INTERNAL_ERROR, Verdict.TIME_LIMIT_EXCEEDED})


@dataclass(frozen=True, slots=True)
class Settling:
    """Stores results and what follows from them."""

    store: SubmissionStore
    settings: Settings

    def finish(self, ref: str, payload: Payload | None, result: Result, attempts: int) -> None:
        """Stores a result and gives it to those that wait for an equal one's."""
        data = result.model_dump_json().encode()
        if payload is not None and payload.is_cacheable and _is_cacheable(result):
            self.store.keep_for_equals(ref, payload.content_digest, data, self.settings.cache_ttl_s)
        metrics = _metrics_of(result)
        if payload is not None and payload.is_cacheable:
            metrics["cache_misses"] = 1
        if attempts > 1:
            metrics["retried"] = attempts - 1
        finished = self.store.finish(
            ref,
            Done(data, result.reward, is_dead=result.verdict is Verdict.INTERNAL_ERROR),
            ttl_s=self.settings.result_ttl_s,
            metrics=metrics,
        )
        _log.debug(
            "job_finished", verdict=result.verdict.value, run_s=round(result.timing.run_s, 4)
        )
        for follower in finished.followers:
            self._follow(follower, result)

    def cancel(self, ref: str, payload: Payload, reason: str) -> None:
        """Stores that a submission is not run; those that wait for its result are run instead."""
        finished = self.store.finish(
            ref,
            canceled(ref, payload, reason),
            ttl_s=self.settings.result_ttl_s,
            metrics={"canceled": 1, "late": 1},
        )
        _log.info("job_canceled", reason=reason)
        if finished.followers:
            self.store.hand_back(finished.followers)

    def _follow(self, follower: str, result: Result) -> None:
        sealed = self.store.payload(follower)
        if sealed is None:
            return
        try:
            opened = self.store.signer.open(sealed, "payload", follower)
            metadata = Payload.from_bytes(opened).metadata
        except (SandboxServiceError, ValueError) as error:
            # It is still waiting, and whoever takes it up will say what is wrong with it.
            _log.error("follower_not_read", follower=follower, reason=str(error))
            return
        own = result.model_copy(
            update={"id": keys.id_of(follower), "metadata": metadata, "reused": True}
        )
        self.store.finish(
            follower,
            Done(
                own.model_dump_json().encode(),
                own.reward,
                is_dead=own.verdict is Verdict.INTERNAL_ERROR,
            ),
            ttl_s=self.settings.result_ttl_s,
            metrics=judged(own.verdict.value) | _reward_of(own) | {"shared": 1},
        )


def _is_cacheable(result: Result) -> bool:
    verdicts = {result.verdict, *(test.verdict for test in result.tests)}
    if result.compile is not None:
        # A compiler that ran out of time says so in the detail only.
        verdicts.add(result.compile.verdict)
        if result.compile.verdict is Verdict.COMPILE_ERROR and result.compile.exit_code is None:
            return False
    return not verdicts & _NOT_CACHED


def _reward_of(result: Result) -> dict[str, float]:
    return {} if result.reward is None else observed("reward", result.reward)


def _metrics_of(result: Result) -> dict[str, float]:
    timing = result.timing
    return (
        judged(result.verdict.value)
        | observed("queued_s", timing.queued_s)
        | observed("run_s", timing.run_s)
        | _reward_of(result)
    )


def since(began: float) -> float:
    """Returns the seconds since a moment of the monotonic clock."""
    return time.monotonic() - began
