"""Lanes, shares of tenants, deadlines, equal submissions, dead letters and a broken engine."""

import asyncio

import httpx
import pytest
import redis

from sandbox_service.queue import keys
from sandbox_service.queue.dead_letters import DeadLetters
from sandbox_service.queue.signing import Signer
from sandbox_service.queue.submissions import SubmissionStore
from tests.factories import make_body
from tests.integration.conftest import Connect, StartWorker


def _begun(connection: redis.Redis, count: int) -> list[str]:
    return [connection.blpop("test:begun", 20)[1].decode() for _ in range(count)]


async def test_interactive_submission_passes_what_waits_in_train(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    for n in range(6):
        await client.post("/v1/submissions", json=make_body(id=f"t{n}", code=f"{n}"))
    body = make_body(id="now", code="i", lane="interactive")
    await client.post("/v1/submissions", json=body)
    start_worker("first")

    assert "now" in _begun(connection, 2)


async def test_no_lane_starves(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    for lane, count in (("interactive", 20), ("eval", 1), ("train", 1)):
        for n in range(count):
            body = make_body(id=f"{lane}{n}", code=f"{lane}{n}", lane=lane)
            await client.post("/v1/submissions", json=body)
    start_worker("first")

    begun = _begun(connection, 22)

    assert begun.index("eval0") < 21
    assert begun.index("train0") < 21


async def test_late_submission_is_canceled_and_not_run(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    await client.post("/v1/submissions", json=make_body(id="late", deadline_s=0.001))
    start_worker("first")
    await client.post("/v1/submissions?wait=20", json=make_body(code="other"))

    state = (await client.get("/v1/submissions/late?wait=20")).json()

    assert state["status"] == "canceled"
    assert state["result"]["reward"] is None
    assert "deadline" in state["result"]["detail"]
    assert connection.llen("test:begun") == 1


async def test_equal_submissions_in_flight_run_once(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    bodies = [make_body(id=f"s{n}", metadata={"n": n}) for n in range(5)]
    await client.post("/v1/rewards?wait=0", json={"submissions": bodies})
    start_worker("first")

    answer = (await client.post("/v1/rewards?wait=20", json={"submissions": bodies})).json()

    assert connection.llen("test:begun") == 1
    assert [(r["id"], r["metadata"]["n"]) for r in answer["results"]] == [
        (f"s{n}", n) for n in range(5)
    ]
    assert sum(result["reused"] for result in answer["results"]) == 4


@pytest.mark.parametrize(
    ("first", "second"),
    [({}, {"cache": False}), ({"lane": "train"}, {"lane": "eval"}), ({}, {"code": "other"})],
)
async def test_what_is_not_equal_is_run_by_itself(
    client: httpx.AsyncClient,
    start_worker: StartWorker,
    connection: redis.Redis,
    first: dict[str, object],
    second: dict[str, object],
) -> None:
    bodies = [make_body(**first), make_body(**second)]
    await client.post("/v1/rewards?wait=0", json={"submissions": bodies})
    start_worker("first")

    assert len(_begun(connection, 2)) == 2


async def test_follower_runs_itself_when_its_leader_is_canceled(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    bodies = [make_body(id="leader"), make_body(id="follower")]
    await client.post("/v1/rewards?wait=0", json={"submissions": bodies})
    await client.delete("/v1/submissions/leader")
    start_worker("first")

    state = (await client.get("/v1/submissions/follower?wait=20")).json()

    assert state["result"]["reward"] == 1.0
    assert _begun(connection, 1) == ["follower"]


async def test_follower_of_a_dead_workers_leader_gets_a_result(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    bodies = [make_body(id="leader", code="sleep 1"), make_body(id="follower", code="sleep 1")]
    await client.post("/v1/rewards?wait=0", json={"submissions": bodies})
    first = start_worker("first")
    _begun(connection, 1)
    first.kill()
    start_worker("second")

    state = (await client.get("/v1/submissions/follower?wait=25")).json()

    assert state["result"]["reward"] == 1.0


async def test_cached_result_is_given_only_to_who_asks(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    start_worker("first")
    cached = make_body(cache=True)
    await client.post("/v1/submissions?wait=20", json=cached)

    hit = (
        await client.post("/v1/submissions?wait=20", json=cached | {"metadata": {"k": 1}})
    ).json()
    miss = (await client.post("/v1/submissions?wait=20", json=make_body())).json()

    assert (hit["reused"], hit["metadata"], hit["reward"]) == (True, {"k": 1}, 1.0)
    assert miss["reused"] is False
    assert connection.llen("test:begun") == 2
    assert connection.hget(keys.METRICS, "cache_hits") == b"1"


async def test_internal_error_is_not_cached(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    start_worker("first")
    await client.post("/v1/submissions?wait=30", json=make_body(code="break", cache=True))

    assert connection.keys("sandbox:cache:*") == []


async def test_dead_letter_is_retried_on_demand(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    start_worker("first")
    body = make_body(id="mine", code="break")
    await client.post("/v1/submissions?wait=30", json=body)
    letters = DeadLetters(SubmissionStore(connection, Signer(None)))
    (letter,) = letters.list(10)
    connection.delete("test:begun")

    assert (letter.ref, "3 attempts" in letter.reason) == ("default/mine", True)
    assert letters.retry([letter.ref]) == 1
    assert _begun(connection, 1) == ["mine"]
    assert letters.list(10) == []


async def test_engine_that_is_down_costs_no_attempt_and_the_worker_says_so(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    start_worker("first")
    await client.post("/v1/submissions", json=make_body(id="mine", code="down"))
    _begun(connection, 2)
    unready = await client.get("/readyz")
    connection.set("test:engine", 1)

    state = (await client.get("/v1/submissions/mine?wait=30")).json()

    assert (unready.status_code, "no daemon answers" in unready.text) == (503, True)
    assert state["result"]["reward"] == 1.0
    assert connection.hget(keys.submission("default/mine"), "attempts") == b"1"
    assert (await client.get("/readyz")).status_code == 200


async def test_two_replicas_are_one_service(connect: Connect, start_worker: StartWorker) -> None:
    start_worker("first")
    async with connect() as one, connect() as other:
        body = make_body(id="mine", code="sleep 0.2")
        answers = await asyncio.gather(
            one.post("/v1/submissions?wait=20", json=body),
            other.post("/v1/submissions?wait=20", json=body),
        )
        state = await other.get("/v1/submissions/mine")

    assert answers[0].content == answers[1].content
    assert state.json()["result"] == answers[0].json()


async def test_retry_after_follows_the_measured_rate(
    connect: Connect, connection: redis.Redis
) -> None:
    now = connection.time()[0]
    connection.set(keys.drained(now // 10 - 1), 20)
    bodies = {"submissions": [make_body(code=f"c{n}") for n in range(30)]}
    async with connect(max_queue_depth=30) as client:
        await client.post("/v1/rewards?wait=0", json=bodies)
        answer = await client.post("/v1/rewards?wait=0", json=bodies)

    # 30 too many, and between one and two of them are done in a second.
    assert 15 <= int(answer.headers["retry-after"]) <= 31


async def test_tenant_keeps_no_more_workers_than_it_may(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    for name in ("first", "second"):
        start_worker(name, SANDBOX_TENANT_MAX_RUNNING="1")
    for n in range(3):
        await client.post("/v1/submissions", json=make_body(code=f"sleep 0.{n}1", id=f"s{n}"))
    for n in range(3):
        await client.get(f"/v1/submissions/s{n}?wait=20")
        assert connection.hlen("sandbox:busy") <= 1

    assert len(_begun(connection, 3)) == 3
