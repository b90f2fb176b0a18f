"""The record of what operators did with keys and dead letters, kept in Redis."""

import getpass
from typing import NamedTuple, cast

import redis

from sandbox_service.queue import keys
from sandbox_service.queue.connection import redis_errors

_MOST_KEPT = 10_000


class AuditEntry(NamedTuple):
    """One thing that was done."""

    at: float
    """Seconds since the epoch."""
    actor: str
    """The user of the machine on which the command ran."""
    action: str
    subject: str


def record(connection: redis.Redis, action: str, subject: str) -> None:
    """Notes that this user did something.

    Raises:
        QueueUnavailable: Redis does not answer.
    """
    entry = {"actor": getpass.getuser(), "action": action, "subject": subject}
    with redis_errors():
        connection.xadd(keys.AUDIT, entry, maxlen=_MOST_KEPT, approximate=True)  # type: ignore[arg-type]


def latest(connection: redis.Redis, most: int) -> list[AuditEntry]:
    """Returns what was done last, latest first.

    Raises:
        QueueUnavailable: Redis does not answer.
    """
    with redis_errors():
        rows = cast(
            "list[tuple[bytes, dict[bytes, bytes]]]",
            connection.xrevrange(keys.AUDIT, count=most),
        )
    return [
        AuditEntry(
            int(stamp.partition(b"-")[0]) / 1000,
            *(fields[name].decode() for name in (b"actor", b"action", b"subject")),
        )
        for stamp, fields in rows
    ]
