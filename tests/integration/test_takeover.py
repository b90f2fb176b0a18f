"""What happens to submissions whose worker dies, drains or cannot work."""

import signal

import httpx
import redis

from sandbox_service.queue import keys
from tests.factories import make_body
from tests.integration.conftest import StartWorker


def _begun(connection: redis.Redis, name: str) -> None:
    assert connection.blpop("test:begun", 20) == (b"test:begun", name.encode())


async def test_worker_killed_in_a_run_leads_to_one_result_by_another(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    first = start_worker("first")
    await client.post("/v1/submissions", json=make_body(id="long", code="sleep 1"))
    _begun(connection, "long")
    first.kill()
    second = start_worker("second")

    state = (await client.get("/v1/submissions/long?wait=20")).json()

    assert state["result"]["reward"] == 1.0
    assert state["result"]["detail"] == str(second.pid)
    assert connection.hget(keys.METRICS, "verdict:accepted") == b"1"


async def test_rest_of_a_killed_workers_chunk_is_run(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    bodies = [make_body(id=f"s{n}", code="sleep 0.3" if n == 0 else "x") for n in range(8)]
    await client.post("/v1/rewards?wait=0", json={"submissions": bodies})
    first = start_worker("first")
    _begun(connection, "s0")
    first.kill()
    start_worker("second")

    answer = await client.post("/v1/rewards?wait=20", json={"submissions": bodies})

    assert answer.json()["rewards"] == [1.0] * 8


async def test_submission_that_kills_its_workers_is_an_internal_error(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    for name in ("first", "second", "third", "fourth"):
        start_worker(name)

    result = (await client.post("/v1/submissions?wait=30", json=make_body(code="die"))).json()

    assert (result["verdict"], result["reward"]) == ("internal_error", None)
    assert "3 workers ended" in result["detail"]


async def test_broken_sandbox_is_retried_and_then_an_internal_error(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    start_worker("first")

    result = (await client.post("/v1/submissions?wait=30", json=make_body(code="break"))).json()

    assert (result["verdict"], result["reward"]) == ("internal_error", None)
    assert "3 attempts failed" in result["detail"]
    assert connection.hget(keys.METRICS, "retried") == b"2"


async def test_terminated_worker_ends_its_run_and_hands_back_the_rest(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    bodies = [make_body(id=f"s{n}", code="sleep 0.4" if n == 0 else "x") for n in range(4)]
    await client.post("/v1/rewards?wait=0", json={"submissions": bodies})
    worker = start_worker("first")
    _begun(connection, "s0")
    worker.send_signal(signal.SIGTERM)

    code = worker.wait(timeout=20)

    states = [(await client.get(f"/v1/submissions/s{n}")).json()["status"] for n in range(4)]
    assert code == 0
    assert states == ["finished", "queued", "queued", "queued"]
    assert connection.llen(keys.in_flight("first")) == 0
    assert connection.zcard(keys.WORKERS) == 0


async def test_idle_worker_ends_on_a_signal(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    worker = start_worker("first")
    await client.post("/v1/submissions?wait=20", json=make_body())
    assert (await client.get("/readyz")).status_code == 200
    worker.send_signal(signal.SIGTERM)

    assert worker.wait(timeout=20) == 0
    assert (await client.get("/readyz")).json()["code"] == "no_workers"
