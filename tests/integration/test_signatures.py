"""Whoever can write to Redis, but has no key, can neither be run nor forge a result."""

import httpx
import pytest
import redis
from pydantic import SecretStr

from sandbox_service.queue import keys
from sandbox_service.queue.payload import Payload
from sandbox_service.queue.signing import Signer
from sandbox_service.queue.submissions import SubmissionStore
from sandbox_service.queue.tickets import Done, Ticket
from tests.factories import make_body, make_submission
from tests.integration.conftest import Connect, StartWorker

_KEY = "k" * 32


def _plant(connection: redis.Redis, payload: bytes) -> None:
    store = SubmissionStore(connection, Signer(None))
    store.accept([Ticket("default/planted", "", payload)], workers=1, largest=1, ttl_s=60)


def _signed(connect: Connect) -> object:
    return connect(signing_key=SecretStr(_KEY))


def _moved(connection: redis.Redis) -> bytes:
    """A payload that was signed for another submission."""
    return Signer(_KEY.encode()).seal(
        Payload.of(make_submission()).to_bytes(), "payload", "default/other"
    )


@pytest.mark.parametrize("is_moved", [False, True])
async def test_planted_submission_is_refused_and_the_worker_goes_on(
    connect: Connect, start_worker: StartWorker, connection: redis.Redis, is_moved: bool
) -> None:
    plain = Payload.of(make_submission()).to_bytes()
    _plant(connection, _moved(connection) if is_moved else plain)
    start_worker("first", SANDBOX_SIGNING_KEY=_KEY)
    async with _signed(connect) as client:
        state = (await client.get("/v1/submissions/planted?wait=20")).json()
        good = await client.post("/v1/submissions?wait=20", json=make_body())

    assert (state["result"]["verdict"], state["result"]["reward"]) == ("internal_error", None)
    assert "not signed" in state["result"]["detail"]
    assert good.json()["reward"] == 1.0
    assert connection.llen("test:begun") == 1


@pytest.mark.parametrize("field", ["result", "reward", "status"])
async def test_changed_result_is_not_given_out(
    connect: Connect, start_worker: StartWorker, connection: redis.Redis, field: str
) -> None:
    start_worker("first", SANDBOX_SIGNING_KEY=_KEY)
    async with _signed(connect) as client:
        await client.post("/v1/submissions?wait=20", json=make_body(id="mine"))
        key = keys.submission("default/mine")
        value = {"result": b"{}", "reward": b"0.5", "status": b"canceled"}[field]
        connection.hset(key, field, value)
        answer: httpx.Response = await client.get("/v1/submissions/mine")

    assert (answer.status_code, answer.json()["code"]) == (500, "tampered_data")


async def test_planted_result_is_not_given_out(connect: Connect, connection: redis.Redis) -> None:
    _plant(connection, b"")
    store = SubmissionStore(connection, Signer(b"guess"))
    store.finish("default/planted", Done(b'{"reward":1}', 1.0), ttl_s=60)
    async with _signed(connect) as client:
        answer = await client.get("/v1/submissions/planted")

    assert answer.status_code == 500


async def test_suite_changed_in_redis_is_no_information(
    connect: Connect, start_worker: StartWorker, connection: redis.Redis
) -> None:
    async with connect() as client:
        suite = (await client.put("/v1/suites", json={"tests": make_body()["tests"]})).json()
        connection.set(keys.suite(suite["suite"]), b'{"tests":[{"expected_stdout":"x"}]}')
        start_worker("first")
        answer = await client.post("/v1/submissions?wait=20", json=make_body(tests=None) | suite)

    assert answer.json()["reward"] is None
    assert "was changed" in answer.json()["detail"]
