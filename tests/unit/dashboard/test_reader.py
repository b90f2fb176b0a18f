"""What is read from a real Redis."""

from collections.abc import AsyncIterator

import pytest
import redis

from sandbox_service.dashboard.history import History
from sandbox_service.dashboard.reader import Reader
from sandbox_service.dashboard.recent import RecentReader
from sandbox_service.queue import keys
from sandbox_service.queue.broker import Broker
from sandbox_service.queue.signing import Signer
from sandbox_service.queue.tickets import Done
from sandbox_service.settings import Settings
from tests.factories import make_result, make_submission


@pytest.fixture
async def broker(redis_url: str) -> AsyncIterator[Broker]:
    broker = Broker(Settings(), redis_url, Signer(b"secret"))
    await broker.start()
    yield broker
    await broker.stop()


@pytest.fixture
def recent(broker: Broker) -> RecentReader:
    return RecentReader(broker)


async def finish(broker: Broker, name: str, tenant: str = "default", **fields: object) -> None:
    await broker.submit(tenant, [make_submission(id=name)])
    result = make_result(id=name, **fields)
    data = result.model_dump_json().encode()
    done = Done(data, result.reward, metrics={"verdict:accepted": 1})
    broker.store.finish(keys.reference(tenant, name), done, ttl_s=60)


async def test_recent_are_listed_latest_first(broker, recent):
    await finish(broker, "a", verdict="wrong_answer", reward=0.5, passed=1, total=2)
    await finish(broker, "b", tenant="team")

    latest, first = await recent.read()

    assert (latest.tenant, latest.id) == ("team", "b")
    assert (first.verdict, first.reward, first.passed, first.total) == ("wrong_answer", 0.5, 1, 2)


async def test_recent_without_information_has_no_reward(broker, recent):
    await finish(broker, "a", verdict="internal_error", reward=None, score=None)
    assert (await recent.read())[0].reward is None


async def test_recent_canceled_is_listed(broker, recent):
    await broker.submit("default", [make_submission(id="a")])
    await broker.cancel("default/a")
    assert (await recent.read())[0].status == "canceled"


async def test_large_result_is_not_read_in_passing(broker, recent):
    tests = [{"verdict": "accepted", "stdout": "x" * 300_000}]
    await finish(broker, "large", tests=tests)
    await finish(broker, "small")

    small, large = await recent.read()

    assert small.verdict == "accepted"
    assert (large.verdict, large.reward) == (None, 1.0)


async def test_results_beyond_the_room_of_one_reading_follow_in_the_next(broker, recent):
    tests = [{"verdict": "accepted", "stdout": "x" * 200_000}]
    for name in "abc":
        await finish(broker, name, tests=tests)
    seen = [[each.verdict is not None for each in await recent.read()] for _ in range(3)]
    assert seen == [[True, False, False], [True, True, False], [True, True, True]]


async def test_forged_result_spoils_only_itself(broker, recent, connection: redis.Redis):
    await finish(broker, "honest")
    await finish(broker, "forged")
    connection.hset(keys.submission("default/forged"), "result", make_result().model_dump_json())

    forged, honest = await recent.read()

    assert honest.verdict == "accepted"
    assert forged.verdict is None


async def test_expired_submission_is_left_out(broker, recent, connection: redis.Redis):
    await finish(broker, "a")
    connection.delete(keys.submission("default/a"))
    assert await recent.read() == ()


async def test_result_is_read_once(broker, recent, connection: redis.Redis):
    await finish(broker, "a")
    await recent.read()
    connection.hset(keys.submission("default/a"), "result", "changed")
    assert (await recent.read())[0].verdict == "accepted"


async def test_snapshot_shows_queues_and_workers(broker, connection: redis.Redis):
    await broker.submit("default", [make_submission()])
    now = connection.time()[0]
    connection.zadd(keys.WORKERS, {"alive": now + 50, "down": now + 50, "dead": now - 50})
    connection.hset(keys.UNREADY, "down", "no Docker")
    connection.hset(keys.BUSY, "alive", "team")
    reader, history = Reader(broker, 2.0), History()

    reading = await reader.read()
    snapshot = await reader.look(reading, history, history.add(reading))

    assert {lane.name: lane.depth for lane in snapshot.lanes}["train"] == 1
    assert snapshot.worker_count == 2
    assert [(each.name, each.trouble, each.runs_for) for each in snapshot.workers] == [
        ("alive", "", "team"),
        ("down", "no Docker", ""),
    ]
    assert snapshot.total.accepted == 1
