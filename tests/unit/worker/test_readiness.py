import fakeredis
import pytest

from sandbox_service.queue import keys
from sandbox_service.worker.readiness import Readiness


@pytest.fixture
def connection() -> fakeredis.FakeRedis:
    return fakeredis.FakeRedis()


def test_worker_whose_engine_is_down_says_why(connection: fakeredis.FakeRedis) -> None:
    Readiness(connection, "w", lambda: False, lambda _: None).pause("no daemon")

    assert connection.hgetall(keys.UNREADY) == {b"w": b"no daemon"}


def test_pauses_grow_up_to_minutes(connection: fakeredis.FakeRedis) -> None:
    slept: list[float] = []
    readiness = Readiness(connection, "w", lambda: False, slept.append)
    pauses = []
    for _ in range(10):
        slept.clear()
        readiness.pause("no daemon")
        pauses.append(sum(slept))

    assert pauses[:3] == [1.0, 2.0, 4.0]
    assert pauses[-1] == 120.0


def test_worker_that_drains_does_not_wait(connection: fakeredis.FakeRedis) -> None:
    slept: list[float] = []
    Readiness(connection, "w", lambda: True, slept.append).pause("no daemon")

    assert slept == []


def test_engine_that_works_again_is_told_and_the_next_pause_is_short(
    connection: fakeredis.FakeRedis,
) -> None:
    slept: list[float] = []
    readiness = Readiness(connection, "w", lambda: False, slept.append)
    readiness.pause("no daemon")
    readiness.pause("no daemon")
    readiness.resume()
    slept.clear()
    is_ready = not connection.exists(keys.UNREADY)
    readiness.pause("no daemon")

    assert is_ready
    assert sum(slept) == 1.0
