"""The API over a real Redis and a real worker process."""

import asyncio

import httpx
import redis

from tests.factories import make_body
from tests.integration.conftest import StartWorker


async def test_rewards_come_in_the_order_sent(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    start_worker("first")
    start_worker("second")
    bodies = [make_body(id=f"s{n}", metadata={"n": n}) for n in range(40)]

    answer = (await client.post("/v1/rewards", json={"submissions": bodies})).json()

    assert answer["rewards"] == [1.0] * 40
    assert [result["metadata"]["n"] for result in answer["results"]] == list(range(40))


async def test_rewards_that_take_too_long_are_202_with_ids(client: httpx.AsyncClient) -> None:
    bodies = [make_body(id="a"), make_body(id="b")]

    answer = await client.post("/v1/rewards?wait=0.05", json={"submissions": bodies})

    assert answer.status_code == 202
    assert [(s["id"], s["status"]) for s in answer.json()["submissions"]] == [
        ("a", "queued"),
        ("b", "queued"),
    ]


async def test_submission_without_wait_is_202_and_can_be_read_later(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    accepted = await client.post("/v1/submissions", json=make_body())
    start_worker("first")

    state = (await client.get(f"/v1/submissions/{accepted.json()['id']}?wait=20")).json()

    assert accepted.status_code == 202
    assert (state["status"], state["result"]["reward"]) == ("finished", 1.0)


async def test_same_id_and_content_is_one_submission(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    start_worker("first")
    first = await client.post("/v1/submissions?wait=20", json=make_body(id="mine"))
    second = await client.post("/v1/submissions?wait=20", json=make_body(id="mine"))

    assert first.content == second.content


async def test_same_id_in_flight_twice_at_once_is_one_submission(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    start_worker("first")
    body = make_body(id="mine", code="sleep 0.1")
    answers = await asyncio.gather(
        *(client.post("/v1/submissions?wait=20", json=body) for _ in range(4))
    )

    assert len({answer.content for answer in answers}) == 1


async def test_same_id_with_other_content_is_a_conflict(client: httpx.AsyncClient) -> None:
    await client.post("/v1/submissions", json=make_body(id="mine"))

    answer = await client.post("/v1/submissions", json=make_body(id="mine", code="other"))

    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


async def test_canceled_submission_is_not_run(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    await client.post("/v1/submissions", json=make_body(id="mine"))
    canceled = (await client.delete("/v1/submissions/mine")).json()
    start_worker("first")
    await client.post("/v1/submissions?wait=20", json=make_body())

    later = (await client.get("/v1/submissions/mine")).json()

    assert canceled["status"] == later["status"] == "canceled"
    assert later["result"]["reward"] is None


async def test_cancel_wakes_who_waits(client: httpx.AsyncClient) -> None:
    waiting = asyncio.create_task(client.post("/v1/submissions?wait=20", json=make_body(id="mine")))
    while (await client.delete("/v1/submissions/mine")).status_code == 404:
        pass

    assert (await waiting).json()["status"] == "canceled"


async def test_canceled_while_running_stays_canceled(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    start_worker("first")
    await client.post("/v1/submissions", json=make_body(id="mine", code="sleep 0.3"))
    connection.blpop("test:begun", 20)
    await client.delete("/v1/submissions/mine")
    await client.post("/v1/submissions?wait=20", json=make_body())

    assert (await client.get("/v1/submissions/mine")).json()["status"] == "canceled"


async def test_suite_stands_in_for_tests(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    start_worker("first")
    suite = (await client.put("/v1/suites", json={"tests": make_body()["tests"]})).json()

    answer = await client.post("/v1/submissions?wait=20", json=make_body(tests=None) | suite)

    assert answer.json()["reward"] == 1.0


async def test_same_tests_have_the_same_digest(client: httpx.AsyncClient) -> None:
    tests = {"tests": make_body()["tests"]}

    first, second = [await client.put("/v1/suites", json=tests) for _ in range(2)]

    assert first.json() == second.json()


async def test_suite_that_is_not_stored_is_named(client: httpx.AsyncClient) -> None:
    body = make_body(tests=None, suite=f"sha256:{'0' * 64}")

    answer = await client.post("/v1/submissions", json=body)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "suite")


async def test_full_queue_is_429_with_retry_after(client: httpx.AsyncClient) -> None:
    bodies = {"submissions": [make_body() for _ in range(50)]}
    await client.post("/v1/rewards?wait=0", json=bodies)

    answer = await client.post("/v1/submissions", json=make_body())

    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) >= 1


async def test_queue_state_counts_what_waits(client: httpx.AsyncClient) -> None:
    await client.post("/v1/rewards?wait=0", json={"submissions": [make_body()] * 3})

    queues = (await client.get("/v1/queues")).json()["queues"]

    assert [(queue["name"], queue["depth"]) for queue in queues] == [
        ("interactive", 0),
        ("train", 3),
        ("eval", 0),
    ]


async def test_metrics_count_verdicts(client: httpx.AsyncClient, start_worker: StartWorker) -> None:
    start_worker("first")
    await client.post("/v1/submissions?wait=20", json=make_body())

    text = (await client.get("/metrics")).text

    assert 'sandbox_verdicts_total{verdict="accepted"} 1.0' in text
    assert "sandbox_submissions_accepted_total 1.0" in text
