"""What is written when a submission is done: its result, those of its equals, the counts."""

import time
from dataclasses import replace
from typing import NamedTuple

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


class Settled(NamedTuple):
    """A submission, and what came of it."""

    ref: str
    payload: Payload | None
    """None when it could not be read."""
    result: Result
    attempts: int


class Settling:
    """Stores results, several at a time, and what follows from them."""

    def __init__(self, store: SubmissionStore, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._waiting: list[Settled] = []

    def add(self, settled: Settled) -> None:
        """Takes a result, to be stored with others."""
        self._waiting.append(settled)

    def flush(self) -> None:
        """Stores what was added and gives it to those that wait for an equal one's."""
        settled, self._waiting = self._waiting, []
        if not settled:
            return
        entries = [(each.ref, self._done(each)) for each in settled]
        found = self._store.finish_all(entries, ttl_s=self._settings.result_ttl_s)
        for each, finished in zip(settled, found, strict=True):
            _log.debug(
                "job_finished",
                job_id=each.ref,
                verdict=each.result.verdict.value,
                run_s=round(each.result.timing.run_s, 4),
            )
            for follower in finished.followers:
                self._follow(follower, each.result)

    def _done(self, settled: Settled) -> Done:
        payload, result = settled.payload, settled.result
        data = result.model_dump_json().encode()
        metrics = _metrics_of(result)
        if payload is not None and payload.is_cacheable:
            metrics["cache_misses"] = 1
            if _is_cacheable(result):
                self._store.keep_for_equals(
                    settled.ref, payload.content_digest, data, self._settings.cache_ttl_s
                )
        if settled.attempts > 1:
            metrics["retried"] = settled.attempts - 1
        is_dead = result.verdict is Verdict.INTERNAL_ERROR
        return Done(data, result.reward, is_dead=is_dead, metrics=metrics)

    def cancel(self, ref: str, payload: Payload, reason: str) -> None:
        """Stores that a submission is not run; those that wait for its result are run instead."""
        finished = self._store.finish(
            ref,
            replace(canceled(ref, payload, reason), metrics={"canceled": 1, "late": 1}),
            ttl_s=self._settings.result_ttl_s,
        )
        _log.info("job_canceled", reason=reason)
        if finished.followers:
            self._store.hand_back(finished.followers)

    def _follow(self, follower: str, result: Result) -> None:
        sealed = self._store.payload(follower)
        if sealed is None:
            return
        try:
            opened = self._store.signer.open(sealed, "payload", follower)
            metadata = Payload.from_bytes(opened).metadata
        except (SandboxServiceError, ValueError) as error:
            # It is still waiting, and whoever takes it up will say what is wrong with it.
            _log.error("follower_not_read", follower=follower, reason=str(error))
            return
        own = result.model_copy(
            update={"id": keys.id_of(follower), "metadata": metadata, "reused": True}
        )
        self._store.finish(
            follower,
            Done(
                own.model_dump_json().encode(),
                own.reward,
                is_dead=own.verdict is Verdict.INTERNAL_ERROR,
                metrics=judged(own.verdict.value) | _reward_of(own) | {"shared": 1},
            ),
            ttl_s=self._settings.result_ttl_s,
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
