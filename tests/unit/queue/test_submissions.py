import pytest
import redis

from sandbox_service.queue import keys
from sandbox_service.queue.submissions import Outcome, SubmissionStore, Ticket
from sandbox_service.schema.verdict import JobStatus
from sandbox_service.worker.lease import Lease


@pytest.fixture
def store(connection: redis.Redis) -> SubmissionStore:
    return SubmissionStore(connection)


def _ticket(name: str, digest: str = "d") -> Ticket:
    return Ticket(id=name, digest=digest, payload=b"{}")


def _accept(store: SubmissionStore, *tickets: Ticket) -> tuple[Outcome, ...]:
    return store.accept(tickets, workers=1, largest=16).outcomes


def _finish(store: SubmissionStore, name: str, result: str = "{}") -> bool:
    return store.finish(
        name,
        status=JobStatus.FINISHED,
        result=result,
        reward=1.0,
        ttl_s=60,
        metrics={"verdict:accepted": 1},
    )


def test_submission_is_stored_and_carried_by_an_rq_job(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    acceptance = store.accept([_ticket("a"), _ticket("b")], workers=1, largest=16)

    assert acceptance.outcomes == (Outcome.NEW, Outcome.NEW)
    assert acceptance.depth == 2
    assert connection.llen(keys.RQ_QUEUE) == store.waiting() == 2


def test_same_id_is_the_same_only_with_the_same_content(store: SubmissionStore) -> None:
    _accept(store, _ticket("a"))

    assert _accept(store, _ticket("a"), _ticket("a", "other")) == (Outcome.SAME, Outcome.CONFLICT)


def test_claim_counts_attempts(store: SubmissionStore) -> None:
    _accept(store, _ticket("a"))
    first, again = store.begin("a", "w"), store.begin("a", "w")

    assert first is not None
    assert again is not None
    assert (first.payload, first.attempt, again.attempt) == (b"{}", 1, 2)


def test_submission_of_a_living_worker_is_not_claimed(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    _accept(store, _ticket("a"))
    Lease(connection, "alive", 60).renew()
    store.begin("a", "alive")

    assert store.begin("a", "other") is None


def test_submission_of_a_dead_worker_is_claimed(store: SubmissionStore) -> None:
    _accept(store, _ticket("a"))
    store.begin("a", "dead")

    claim = store.begin("a", "other")

    assert claim is not None
    assert claim.attempt == 2


def test_first_result_wins(store: SubmissionStore, connection: redis.Redis) -> None:
    _accept(store, _ticket("a"))

    assert _finish(store, "a", "first") is True
    assert _finish(store, "a", "second") is False
    assert connection.hget(keys.submission("a"), "result") == b"first"
    assert connection.hget(keys.METRICS, "verdict:accepted") == b"1"


def test_finished_submission_is_not_claimed_and_counts_no_longer(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    _accept(store, _ticket("a"))
    store.begin("a", "w")
    _finish(store, "a")

    assert store.begin("a", "w") is None
    assert (connection.zcard(keys.WAITING), connection.zcard(keys.STARTED)) == (0, 0)


def test_result_expires_and_the_payload_goes(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    _accept(store, _ticket("a"))
    before = connection.ttl(keys.submission("a"))
    _finish(store, "a")

    assert before == -1
    assert 0 < connection.ttl(keys.submission("a")) <= 60
    assert not connection.hexists(keys.submission("a"), "payload")


def test_unknown_submission_is_not_claimed(store: SubmissionStore) -> None:
    assert store.begin("nobody", "w") is None


def test_handed_back_submissions_come_first_and_in_order(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    _accept(store, _ticket("later"))
    store.hand_back(["a", "b"])

    jobs = [job.submission_ids for job in store._queue.jobs]

    assert jobs == [["a"], ["b"], ["later"]]
