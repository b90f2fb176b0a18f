import pytest
import redis

from sandbox_service.errors import NotFound
from sandbox_service.queue import keys
from sandbox_service.queue.connection import connect_async
from sandbox_service.queue.suites import Suite, SuiteReader, missing_suites, store_suite
from tests.factories import make_submission

_SUITE = Suite(tests=make_submission().tests)


async def test_stored_suite_is_read_back(connection: redis.Redis, redis_url: str) -> None:
    async with connect_async(redis_url) as client:
        reference = await store_suite(client, _SUITE)

    assert SuiteReader(connection).tests(reference.suite) == _SUITE.tests


async def test_use_renews_the_lifetime(connection: redis.Redis, redis_url: str) -> None:
    async with connect_async(redis_url) as client:
        digest = (await store_suite(client, _SUITE)).suite
        connection.expire(keys.suite(digest), 10)

        assert await missing_suites(client, [digest, digest]) == set()

    assert connection.ttl(keys.suite(digest)) > 10


async def test_suite_that_is_not_stored_is_missing(redis_url: str) -> None:
    async with connect_async(redis_url) as client:
        assert await missing_suites(client, ["sha256:0"]) == {"sha256:0"}


def test_suite_that_is_not_stored_cannot_be_read(connection: redis.Redis) -> None:
    with pytest.raises(NotFound):
        SuiteReader(connection).tests("sha256:0")
