"""How often and how long a call is tried: with jitter, as the service asks, up to a deadline."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tenacity

from sandbox_service.client._failures import Failed

_MOST_CRASHES = 4
# Clients that were refused together shall not come back together.
_SPREAD = 0.25


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Waits between attempts grow from the first to the longest; `Retry-After` replaces them."""

    deadline_s: float = 120.0
    """Seconds after its first failure for which a call is tried again."""

    first_wait_s: float = 0.05
    """Longest wait before the second attempt."""

    longest_wait_s: float = 5.0
    """Longest wait before any attempt, unless the service asks for more."""

    jitter: Callable[[], float] = random.random
    """Draws from 0 to 1."""

    def wait_s(self, attempt: int, retry_after_s: float | None) -> float:
        """Returns the seconds to wait after a failed attempt; attempts count from one."""
        if retry_after_s is not None:
            return retry_after_s * (1 + _SPREAD * self.jitter())
        # The exponent is bounded because a float is.
        bound = min(self.longest_wait_s, self.first_wait_s * 2.0 ** min(attempt - 1, 60))
        return bound * (1 + self.jitter()) / 2

    def arguments(self, within_s: float | None = None) -> dict[str, Any]:
        """Returns what both kinds of tenacity controller take, for one call."""
        deadline_s = self.deadline_s if within_s is None else min(self.deadline_s, within_s)
        return {
            "retry": tenacity.retry_if_exception(_is_transient),
            "wait": self._wait,
            "stop": _Deadline(deadline_s),
            "reraise": True,
        }

    def _wait(self, state: tenacity.RetryCallState) -> float:
        return self.wait_s(state.attempt_number, _failed(state).retry_after_s)


class _Deadline:
    """Counts from the first failure, since an attempt may rightly have waited for long."""

    def __init__(self, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self._since: float | None = None
        self._crashes = 0

    def __call__(self, state: tenacity.RetryCallState) -> bool:
        now = state.outcome_timestamp or state.start_time
        self._since = now if self._since is None else self._since
        self._crashes += _failed(state).is_crash
        is_over = now + state.upcoming_sleep - self._since >= self._deadline_s
        return is_over or self._crashes >= _MOST_CRASHES


def _failed(state: tenacity.RetryCallState) -> Failed:
    assert state.outcome is not None
    error = state.outcome.exception()
    assert isinstance(error, Failed)
    return error


def _is_transient(error: BaseException) -> bool:
    return isinstance(error, Failed) and error.is_transient
