"""Submissions that ended as internal errors, for an operator to look at and to have retried."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import redis
from pydantic import ValidationError

from sandbox_service.errors import NotFound, TamperedData
from sandbox_service.queue import keys, scripts
from sandbox_service.queue.connection import redis_errors
from sandbox_service.queue.submissions import SubmissionStore
from sandbox_service.schema.result import Result


class DeadLetter(NamedTuple):
    """A submission without information."""

    ref: str
    """Tenant and id."""
    at: float
    """Seconds since the epoch."""
    reason: str


class DeadLetters:
    """The list and what can be done with it; blocks."""

    def __init__(self, store: SubmissionStore) -> None:
        self._store = store
        self._redis: redis.Redis = store.redis

    def list(self, most: int) -> list[DeadLetter]:
        """Returns the latest ones, latest first.

        Raises:
            QueueUnavailable: Redis does not answer.
        """
        with redis_errors():
            rows = cast(
                "list[tuple[bytes, float]]",
                self._redis.zrevrange(keys.DEAD, 0, most - 1, withscores=True),
            )
            return [DeadLetter(ref.decode(), at, self._reason(ref.decode())) for ref, at in rows]

    def retry(self, refs: Sequence[str]) -> int:
        """Queues submissions again, with all their attempts; returns how many.

        Raises:
            NotFound: one is no dead letter.
            QueueUnavailable: Redis does not answer.
        """
        with redis_errors():
            for ref in refs:
                if self._redis.zscore(keys.DEAD, ref) is None:
                    raise NotFound(f"{ref!r} is no dead letter", field="id")
            revived = [
                ref for ref in refs if self._redis.eval(scripts.RETRY, 1, keys.submission(ref), ref)
            ]
            if revived:
                self._store.hand_back(revived)
        return len(revived)

    def _reason(self, ref: str) -> str:
        status, sealed, reward = cast(
            "list[bytes | None]",
            self._redis.hmget(keys.submission(ref), "status", "result", "reward"),
        )
        if status is None or sealed is None or reward is None:
            return "expired"
        try:
            result = self._store.signer.open(
                sealed, "result", ref, status.decode(), reward.decode()
            )
            return Result.model_validate_json(result).detail
        except (TamperedData, ValidationError) as error:
            return f"cannot be read: {type(error).__name__}"
