"""A finished submission is noticed, also when its message is not."""

from collections.abc import AsyncIterator

import pytest
import redis
import redis.asyncio

from sandbox_service.queue import keys, waiter
from sandbox_service.queue.connection import connect_async
from sandbox_service.queue.waiter import Waiter


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[redis.asyncio.Redis]:
    async with connect_async(redis_url) as client:
        yield client


@pytest.fixture
async def listening(client: redis.asyncio.Redis) -> AsyncIterator[Waiter]:
    listening = Waiter(client)
    await listening.start()
    yield listening
    await listening.stop()


async def _subscribed(client: redis.asyncio.Redis) -> None:
    while not (await client.pubsub_numsub(keys.FINISHED))[0][1]:
        pass


async def test_message_wakes_every_watch(
    listening: Waiter, client: redis.asyncio.Redis, connection: redis.Redis
) -> None:
    await _subscribed(client)
    async with listening.watch(["a", "b"]) as both, listening.watch(["a"]) as one:
        connection.publish(keys.FINISHED, "a")

        assert await one.wait(10)
        assert both.pending == {"b"}


async def test_lost_message_is_made_up_for_by_looking(
    listening: Waiter, connection: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiter, "_POLL_S", 0.01)
    async with listening.watch(["a"]) as watch:
        connection.hset(keys.submission("a"), "status", "finished")

        assert await watch.wait(10)


async def test_lost_connection_is_made_up_for(
    listening: Waiter, client: redis.asyncio.Redis, connection: redis.Redis
) -> None:
    await _subscribed(client)
    async with listening.watch(["a"]) as watch:
        connection.client_kill_filter(_type="pubsub")
        connection.hset(keys.submission("a"), "status", "canceled")

        assert await watch.wait(10)


async def test_wait_that_is_over_leaves_nothing_behind(client: redis.asyncio.Redis) -> None:
    waiting = Waiter(client)
    async with waiting.watch(["a"]) as watch:
        assert not await watch.wait(0.001)

    assert waiting._watches == {}


async def test_watch_of_nothing_is_done(client: redis.asyncio.Redis) -> None:
    async with Waiter(client).watch([]) as watch:
        assert await watch.wait(0)


async def test_watch_that_ends_spares_a_later_one_of_the_same_id(
    client: redis.asyncio.Redis,
) -> None:
    waiting = Waiter(client)
    async with waiting.watch(["a"]):
        waiting._tell("a")
        later = waiting.watch(["a"])
        watch = await later.__aenter__()
    waiting._tell("a")

    assert not watch.pending
    await later.__aexit__(None, None, None)
