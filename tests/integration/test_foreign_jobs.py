"""Whoever can write to Redis cannot make a worker run code."""

import httpx
import pytest
import redis
from rq import Queue
from rq.job import Callback
from rq.serializers import JSONSerializer

from sandbox_service.queue import keys
from tests.factories import make_body
from tests.integration.conftest import StartWorker


async def _worker_answers(client: httpx.AsyncClient) -> bool:
    answer = await client.post("/v1/submissions?wait=20", json=make_body())
    return answer.status_code == 200 and answer.json()["reward"] == 1.0


@pytest.mark.parametrize("serializer", ["json", "pickle"])
async def test_planted_function_is_refused_and_the_worker_goes_on(
    client: httpx.AsyncClient,
    start_worker: StartWorker,
    connection: redis.Redis,
    tmp_path: object,
    serializer: str,
) -> None:
    folder = f"{tmp_path}/planted"
    job = Queue("train:default", connection=connection, serializer=serializer).enqueue(
        "os.mkdir", folder
    )
    start_worker("first")

    assert await _worker_answers(client)
    assert not __import__("os").path.exists(folder)
    assert job.get_status() == "failed"


async def test_planted_callback_is_not_called(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis, tmp_path: object
) -> None:
    folder = f"{tmp_path}/planted"
    Queue("train:default", connection=connection, serializer=JSONSerializer).enqueue(
        keys.TASK, [folder], on_success=Callback("os.mkdir"), on_failure=Callback("os.mkdir")
    )
    start_worker("first")

    assert await _worker_answers(client)
    assert not __import__("os").path.exists(folder)


async def test_planted_garbage_does_not_stop_the_worker(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    for name, fields in {"no-data": {"x": "y"}, "bad": {"data": b"\xff", "status": "?"}}.items():
        connection.hset(keys.rq_job(name), mapping=fields)
        connection.rpush("rq:queue:train:default", name)
    connection.rpush("rq:queue:train:default", "no-such-job")
    start_worker("first")

    assert await _worker_answers(client)
