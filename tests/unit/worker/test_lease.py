import redis

from sandbox_service.queue import keys
from sandbox_service.queue.submissions import SubmissionStore, Ticket
from sandbox_service.worker.lease import Lease

_LONG_AGO = 1.0


def _take(connection: redis.Redis, worker: str) -> None:
    connection.lmove(keys.RQ_QUEUE, keys.in_flight(worker), "LEFT", "RIGHT")


def _queue(connection: redis.Redis) -> list[bytes]:
    return connection.lrange(keys.RQ_QUEUE, 0, -1)


def test_jobs_of_a_dead_worker_go_back_once_and_in_order(connection: redis.Redis) -> None:
    connection.rpush(keys.RQ_QUEUE, "a", "b", "c")
    connection.zadd(keys.WORKERS, {"dead": _LONG_AGO})
    _take(connection, "dead")
    _take(connection, "dead")
    first, second = Lease(connection, "first", 60), Lease(connection, "second", 60)

    assert [first.renew(), second.renew()] == [2, 0]
    assert _queue(connection) == [b"a", b"b", b"c"]


def test_jobs_of_a_living_worker_stay(connection: redis.Redis) -> None:
    connection.rpush(keys.RQ_QUEUE, "a")
    Lease(connection, "alive", 60).renew()
    _take(connection, "alive")

    assert Lease(connection, "other", 60).renew() == 0
    assert _queue(connection) == []


def test_end_of_a_lease_hands_back_what_was_taken(connection: redis.Redis) -> None:
    connection.rpush(keys.RQ_QUEUE, "a")
    lease = Lease(connection, "w", 60)
    lease.start()
    _take(connection, "w")
    lease.stop()

    assert _queue(connection) == [b"a"]
    assert connection.zcard(keys.WORKERS) == 0


def test_orphans_are_queued_once(connection: redis.Redis) -> None:
    store = SubmissionStore(connection)
    store.accept([Ticket("a", "", b"{}")], workers=1, largest=1)
    connection.delete(keys.RQ_QUEUE)
    store.begin("a", "gone")
    lease = Lease(connection, "w", 60)

    assert [lease.adopt_orphans(), lease.adopt_orphans()] == [1, 0]
    assert connection.hget(keys.submission("a"), "status") == b"queued"
    assert store.waiting() == 1


def test_started_submission_of_a_living_worker_is_no_orphan(connection: redis.Redis) -> None:
    store = SubmissionStore(connection)
    store.accept([Ticket("a", "", b"{}")], workers=1, largest=1)
    lease = Lease(connection, "w", 60)
    lease.renew()
    store.begin("a", "w")

    assert lease.adopt_orphans() == 0
