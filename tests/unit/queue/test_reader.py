"""Many who ask how submissions stand share their round trips to Redis."""

import asyncio
from typing import Any, Self

import pytest
import redis

from sandbox_service.queue.reader import READ_AT_ONCE, StateReader


class CountingRedis:
    """Answers each read with its own number, and keeps the sizes of the round trips."""

    def __init__(self, error: Exception | None = None) -> None:
        self.trips: list[int] = []
        self._error = error
        self._asked: list[str] = []

    def pipeline(self, *, transaction: bool) -> Self:
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._asked = []

    def hmget(self, key: str, *fields: str) -> None:
        self._asked.append(key)

    async def execute(self) -> list[list[bytes | None]]:
        self.trips.append(len(self._asked))
        asked = self._asked
        await asyncio.sleep(0)
        if self._error is not None:
            raise self._error
        return [[key.encode(), None, None] for key in asked]


def _statuses(rows: list[Any]) -> list[str]:
    return [row[0].decode().rpartition("/")[2] for row in rows]


async def test_whoever_asks_while_a_read_is_under_way_shares_the_next() -> None:
    connection = CountingRedis()
    reader = StateReader(connection)
    first = asyncio.create_task(reader.rows(["t/0"]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    answers = await asyncio.gather(first, *(reader.rows([f"t/{n}"]) for n in range(1, 9)))

    assert [_statuses(rows) for rows in answers] == [[str(n)] for n in range(9)]
    assert connection.trips == [1, 8]


async def test_no_round_trip_is_larger_than_its_bound() -> None:
    connection = CountingRedis()
    names = [str(n) for n in range(2 * READ_AT_ONCE + 1)]
    reader = StateReader(connection)
    many, few = await asyncio.gather(
        reader.rows([f"t/{name}" for name in names]), reader.rows(["t/a", "t/b"])
    )

    assert (_statuses(many), _statuses(few)) == (names, ["a", "b"])
    assert max(connection.trips) <= READ_AT_ONCE


async def test_everybody_is_told_when_redis_does_not_answer() -> None:
    reader = StateReader(CountingRedis(redis.ConnectionError("gone")))
    outcomes = await asyncio.gather(
        reader.rows(["t/a"]), reader.rows(["t/b"]), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes] == [redis.ConnectionError] * 2


async def test_one_who_leaves_does_not_take_the_others_answer_along() -> None:
    reader = StateReader(CountingRedis())
    leaving = asyncio.create_task(reader.rows(["t/a"]))
    staying = asyncio.create_task(reader.rows(["t/b"]))
    await asyncio.sleep(0)
    leaving.cancel()

    assert _statuses(await staying) == ["b"]
    with pytest.raises(asyncio.CancelledError):
        await leaving
