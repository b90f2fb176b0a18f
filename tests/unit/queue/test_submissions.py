import pytest
import redis

from sandbox_service.queue import keys
from sandbox_service.queue.pinned_job import pinned_queue
from sandbox_service.queue.signing import Signer
from sandbox_service.queue.submissions import SubmissionStore
from sandbox_service.queue.tickets import Claim, Done, Outcome, Ticket
from sandbox_service.worker.lease import Lease

_QUEUE = "rq:queue:train:t"


@pytest.fixture
def store(connection: redis.Redis) -> SubmissionStore:
    return SubmissionStore(connection, Signer(None))


def _ticket(name: str, digest: str = "d") -> Ticket:
    return Ticket(ref=f"t/{name}", digest=digest, payload=b"{}")


def _accept(store: SubmissionStore, *tickets: Ticket) -> tuple[Outcome, ...]:
    return store.accept(tickets, workers=1, largest=16, ttl_s=60).outcomes


def _begin(store: SubmissionStore, ref: str, worker: str) -> Claim | None:
    return store.begin([ref], worker)[0]


def _finish(store: SubmissionStore, name: str, result: bytes = b"{}") -> bool:
    done = Done(result, 1.0, metrics={"verdict:accepted": 1.0})
    return store.finish(f"t/{name}", done, ttl_s=60).is_stored


def test_submission_is_stored_and_carried_by_an_rq_job(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    acceptance = store.accept([_ticket("a"), _ticket("b")], workers=1, largest=16, ttl_s=60)

    assert acceptance.outcomes == (Outcome.NEW, Outcome.NEW)
    assert acceptance.depth == 2
    assert connection.llen(_QUEUE) == 2
    assert not store.is_idle()


def test_same_id_is_the_same_only_with_the_same_content(store: SubmissionStore) -> None:
    _accept(store, _ticket("a"))

    assert _accept(store, _ticket("a"), _ticket("a", "other")) == (Outcome.SAME, Outcome.CONFLICT)


def test_claim_counts_attempts(store: SubmissionStore) -> None:
    _accept(store, _ticket("a"))
    first, again = _begin(store, "t/a", "w"), _begin(store, "t/a", "x")

    assert first is not None
    assert again is not None
    assert (first.payload, first.attempt, again.attempt) == (b"{}", 1, 2)


def test_claim_whose_answer_was_lost_is_no_other_attempt(store: SubmissionStore) -> None:
    _accept(store, _ticket("a"))
    claims = [_begin(store, "t/a", "w") for _ in range(4)]

    assert [claim and claim.attempt for claim in claims] == [1, 1, 1, 1]


def test_submission_of_a_living_worker_is_not_claimed(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    _accept(store, _ticket("a"))
    Lease(store, "alive", 60).renew()
    _begin(store, "t/a", "alive")

    assert _begin(store, "t/a", "other") is None


def test_submission_of_a_dead_worker_is_claimed(store: SubmissionStore) -> None:
    _accept(store, _ticket("a"))
    _begin(store, "t/a", "dead")

    claim = _begin(store, "t/a", "other")

    assert claim is not None
    assert claim.attempt == 2


def test_first_result_wins(store: SubmissionStore, connection: redis.Redis) -> None:
    _accept(store, _ticket("a"))

    assert _finish(store, "a", b"first") is True
    assert _finish(store, "a", b"second") is False
    assert connection.hget(keys.submission("t/a"), "result") == b"first"
    assert connection.hget(keys.METRICS, "verdict:accepted") == b"1"


def test_finished_submission_is_not_claimed_and_counts_no_longer(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    _accept(store, _ticket("a"))
    _begin(store, "t/a", "w")
    _finish(store, "a")

    assert _begin(store, "t/a", "w") is None
    assert (connection.zcard(keys.waiting("train")), connection.zcard(keys.started("train"))) == (
        0,
        0,
    )


def test_result_expires_and_the_payload_goes(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    _accept(store, _ticket("a"))
    before = connection.ttl(keys.submission("t/a"))
    _finish(store, "a")

    assert before == -1
    assert 0 < connection.ttl(keys.submission("t/a")) <= 60
    assert not connection.hexists(keys.submission("t/a"), "payload")


def test_unknown_submission_is_not_claimed(store: SubmissionStore) -> None:
    assert _begin(store, "t/nobody", "w") is None


def test_handed_back_submissions_come_first_and_in_order(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    _accept(store, _ticket("a"), _ticket("b"))
    connection.delete(_QUEUE)
    _accept(store, _ticket("later"))
    store.hand_back(["t/a", "t/b"])

    jobs = [job.submission_ids for job in pinned_queue(connection, "train:t").jobs]

    assert jobs == [["t/a"], ["t/b"], ["t/later"]]


def test_submission_that_has_gone_is_not_handed_back(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    store.hand_back(["t/gone"])

    assert connection.keys("*") == []


def test_claim_that_is_handed_back_does_not_count(store: SubmissionStore) -> None:
    _accept(store, _ticket("a"))
    _begin(store, "t/a", "w")
    store.hand_back(["t/a"], begun=["t/a"])

    claim = _begin(store, "t/a", "w")

    assert claim is not None
    assert claim.attempt == 1


def test_submissions_are_claimed_together(store: SubmissionStore) -> None:
    _accept(store, _ticket("a"), _ticket("b"))
    _finish(store, "b")

    claims = store.begin(["t/a", "t/b", "t/nobody"], "w")

    assert [claim and claim.attempt for claim in claims] == [1, None, None]


def test_results_are_stored_together_each_with_its_own_counts(
    store: SubmissionStore, connection: redis.Redis
) -> None:
    _accept(store, _ticket("a"), _ticket("b"), _ticket("c"))
    _finish(store, "b", b"first")
    done = Done(b"{}", 1.0, metrics={"x": 1.0, "y": 2.0})

    found = store.finish_all(
        [("t/a", done), ("t/b", done), ("t/c", Done(b"{}", None, is_dead=True))], ttl_s=60
    )

    assert [each.is_stored for each in found] == [True, False, True]
    assert connection.hget(keys.submission("t/b"), "result") == b"first"
    assert connection.hmget(keys.METRICS, "x", "y") == [b"1", b"2"]
    assert connection.zscore("sandbox:dead", "t/c")
