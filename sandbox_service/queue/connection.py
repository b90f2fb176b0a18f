"""Connections to Redis, and its failures in our own words."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import ExponentialWithJitterBackoff
from redis.retry import Retry

from sandbox_service.errors import QueueUnavailable

_CONNECT_TIMEOUT_S = 5.0
_ANSWER_TIMEOUT_S = 10.0
# A restart of Redis is over within this many tries; beyond it the caller is told.
_WORKER_RETRIES = 12
_API_RETRIES = 3


def _backoff() -> ExponentialWithJitterBackoff:
    return ExponentialWithJitterBackoff(cap=1.0, base=0.02)


def connect(url: str, *, retries: int = _WORKER_RETRIES) -> redis.Redis:
    """Returns a blocking connection pool that outlives a restart of Redis.

    Without retries the caller learns of every answer that was lost.
    """
    connection: redis.Redis = redis.Redis.from_url(
        url,
        socket_timeout=_ANSWER_TIMEOUT_S,
        socket_connect_timeout=_CONNECT_TIMEOUT_S,
        retry=Retry(_backoff(), retries),
    )
    return connection


def connect_async(url: str) -> redis.asyncio.Redis:
    """Returns a connection pool for the event loop."""
    connection: redis.asyncio.Redis = redis.asyncio.Redis.from_url(
        url,
        socket_timeout=_ANSWER_TIMEOUT_S,
        socket_connect_timeout=_CONNECT_TIMEOUT_S,
        retry=AsyncRetry(_backoff(), _API_RETRIES),
    )
    return connection


@contextmanager
def redis_errors() -> Iterator[None]:
    """Turns what Redis raises into `QueueUnavailable`.

    Raises:
        QueueUnavailable: Redis does not answer, or refuses.
    """
    try:
        yield
    except redis.RedisError as error:
        raise QueueUnavailable(f"Redis does not answer: {error}") from error
