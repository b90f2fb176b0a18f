"""Fixtures for every kind of test."""

from collections.abc import Iterator

import pytest
import redis

from sandbox_service.queue.embedded import EmbeddedRedis, find_redis_server


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a real Redis that lives as long as the test session."""
    if find_redis_server() is None:
        pytest.skip("no redis-server: install it, or the extra `embedded`")
    server = EmbeddedRedis(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server.url
    server.stop()


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """Address of a real and empty Redis."""
    with redis.Redis.from_url(redis_server) as client:
        client.flushall()
    return redis_server


@pytest.fixture
def connection(redis_url: str) -> Iterator[redis.Redis]:
    """A client of the real and empty Redis."""
    # Longer than any blocking call of a test.
    with redis.Redis.from_url(redis_url, socket_timeout=40) as client:
        yield client
