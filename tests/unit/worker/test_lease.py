import pytest
import redis

from sandbox_service.queue import keys
from sandbox_service.queue.signing import Signer
from sandbox_service.queue.submissions import SubmissionStore
from sandbox_service.queue.tickets import Ticket
from sandbox_service.sandbox.base import PoolFigures
from sandbox_service.worker.lease import Lease

_LONG_AGO = 1.0
_QUEUE = "rq:queue:train:t"
_JOBS = [f"{n}-train-t".rjust(40, "0") for n in (1, 2, 3)]


@pytest.fixture
def store(connection: redis.Redis) -> SubmissionStore:
    return SubmissionStore(connection, Signer(None))


def _accept(store: SubmissionStore) -> None:
    store.accept([Ticket("t/a", "", b"{}")], workers=1, largest=1, ttl_s=60)


def _take(connection: redis.Redis, worker: str) -> None:
    connection.lmove(_QUEUE, keys.in_flight(worker), "LEFT", "RIGHT")


def _queue(connection: redis.Redis) -> list[bytes]:
    return connection.lrange(_QUEUE, 0, -1)


def test_jobs_of_a_dead_worker_go_back_once_and_in_order(
    connection: redis.Redis, store: SubmissionStore
) -> None:
    connection.rpush(_QUEUE, *_JOBS)
    connection.zadd(keys.WORKERS, {"dead": _LONG_AGO})
    _take(connection, "dead")
    _take(connection, "dead")
    first, second = Lease(store, "first", 60), Lease(store, "second", 60)

    assert [first.renew(), second.renew()] == [2, 0]
    assert _queue(connection) == [job.encode() for job in _JOBS]


def test_jobs_of_a_living_worker_stay(connection: redis.Redis, store: SubmissionStore) -> None:
    connection.rpush(_QUEUE, _JOBS[0])
    Lease(store, "alive", 60).renew()
    _take(connection, "alive")

    assert Lease(store, "other", 60).renew() == 0
    assert _queue(connection) == []


def test_end_of_a_lease_hands_back_what_was_taken(
    connection: redis.Redis, store: SubmissionStore
) -> None:
    connection.rpush(_QUEUE, _JOBS[0])
    lease = Lease(store, "w", 60)
    lease.start()
    _take(connection, "w")
    lease.stop()

    assert _queue(connection) == [_JOBS[0].encode()]
    assert connection.zcard(keys.WORKERS) == 0


def test_orphans_are_queued_once(connection: redis.Redis, store: SubmissionStore) -> None:
    _accept(store)
    connection.delete(_QUEUE)
    store.begin(["t/a"], "gone")
    lease = Lease(store, "w", 60)

    assert [lease.adopt_orphans(), lease.adopt_orphans()] == [1, 0]
    assert connection.hget(keys.submission("t/a"), "status") == b"queued"
    assert connection.llen(_QUEUE) == 1


def test_started_submission_of_a_living_worker_is_no_orphan(
    connection: redis.Redis, store: SubmissionStore
) -> None:
    _accept(store)
    lease = Lease(store, "w", 60)
    lease.renew()
    store.begin(["t/a"], "w")

    assert lease.adopt_orphans() == 0


def test_waiting_submission_that_no_job_carries_is_queued_again(
    connection: redis.Redis, store: SubmissionStore
) -> None:
    _accept(store)
    (job,) = connection.lrange(_QUEUE, 0, -1)
    connection.delete(_QUEUE, keys.rq_job(job.decode()))
    connection.zadd(keys.waiting("train"), {"t/a": _LONG_AGO})
    lease = Lease(store, "w", 60)

    assert [lease.adopt_orphans(), lease.adopt_orphans()] == [1, 0]
    assert connection.llen(_QUEUE) == 1


def test_waiting_submission_that_a_job_carries_stays(
    connection: redis.Redis, store: SubmissionStore
) -> None:
    _accept(store)
    connection.zadd(keys.waiting("train"), {"t/a": _LONG_AGO})

    assert Lease(store, "w", 60).adopt_orphans() == 0


def test_sandboxes_are_told_with_each_renewal_and_forgotten_at_the_end(
    connection: redis.Redis, store: SubmissionStore
) -> None:
    figures = iter([PoolFigures(1, 1, 0), PoolFigures(2, 4, 1), PoolFigures(2, 4, 1)])
    lease = Lease(store, "w", 60, lambda: next(figures))
    for _ in range(3):
        lease.renew()

    assert connection.hgetall(keys.SANDBOXES) == {b"w": b"2"}
    told = connection.hmget(keys.METRICS, "sandboxes_started", "sandboxes_lost")
    assert told == [b"4", b"1"]
    lease.stop()
    assert connection.exists(keys.SANDBOXES) == 0
