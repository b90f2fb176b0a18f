"""Lists of tests that are stored once and referred to by the digest of their content."""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, cast

import redis
import redis.asyncio
from pydantic import Field

from sandbox_service.errors import NotFound, TamperedData
from sandbox_service.queue import keys
from sandbox_service.schema.base import Model
from sandbox_service.schema.submission import MAX_TESTS
from sandbox_service.schema.testcase import TestCase

_SUITES_KEPT_PARSED = 64


class Suite(Model):
    """Tests that many submissions share."""

    tests: Annotated[tuple[TestCase, ...], Field(min_length=1, max_length=MAX_TESTS)]
    """At least one test."""


class SuiteRef(Model):
    """What a submission says instead of its tests."""

    suite: str
    """`sha256:` and the digest of the tests."""


async def store_suite(connection: redis.asyncio.Redis, suite: Suite) -> SuiteRef:
    """Stores tests under the digest of their content; the same tests are stored once."""
    content = suite.model_dump_json(exclude_unset=True).encode()
    digest = _digest(content)
    await connection.set(keys.suite(digest), content, ex=keys.SUITE_TTL_S)
    return SuiteRef(suite=digest)


async def missing_suites(connection: redis.asyncio.Redis, digests: Iterable[str]) -> set[str]:
    """Returns the digests that are not stored, and renews the lifetime of the others."""
    wanted = list(dict.fromkeys(digests))
    if not wanted:
        return set()
    async with connection.pipeline(transaction=False) as pipeline:
        for digest in wanted:
            pipeline.expire(keys.suite(digest), keys.SUITE_TTL_S)
        found = await pipeline.execute()
    return {digest for digest, is_there in zip(wanted, found, strict=True) if not is_there}


class SuiteReader:
    """Reads suites for a worker and keeps the latest ones parsed."""

    def __init__(self, connection: redis.Redis) -> None:
        self._redis = connection
        self._cached = lru_cache(maxsize=_SUITES_KEPT_PARSED)(self._read)

    def tests(self, digest: str) -> tuple[TestCase, ...]:
        """Returns the tests of a suite.

        Raises:
            NotFound: it is not stored, or no longer.
            TamperedData: it is not what was stored.
        """
        return self._cached(digest)

    def _read(self, digest: str) -> tuple[TestCase, ...]:
        content = cast("bytes | None", self._redis.get(keys.suite(digest)))
        if content is None:
            raise NotFound(f"suite {digest} is not stored", field="suite")
        if _digest(content) != digest:
            raise TamperedData(f"suite {digest} was changed in Redis")
        return Suite.model_validate_json(content).tests


def _digest(content: bytes) -> str:
    return f"sha256:{sha256(content).hexdigest()}"
