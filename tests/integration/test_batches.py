"""Batches over a real Redis: in as JSON or lines, out as they are done."""

import asyncio
import json
from typing import Any

import httpx
import pytest
import redis

from sandbox_service.queue import keys
from tests.factories import make_body
from tests.integration.conftest import Connect, StartWorker

_NDJSON = {"content-type": "application/x-ndjson"}


def _lines(*values: Any) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values)


async def _results(client: httpx.AsyncClient, batch: str, after: int = 0) -> list[dict[str, Any]]:
    answer = await client.get(f"/v1/batches/{batch}/results?after={after}", timeout=30)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


async def _create(client: httpx.AsyncClient, bodies: list[Any], **fields: Any) -> httpx.Response:
    return await client.post("/v1/batches", json={"submissions": bodies, **fields})


async def test_every_submission_of_a_batch_comes_back_once(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    created = await _create(client, [make_body(code=f"c{n}") for n in range(20)])
    start_worker("first")

    results = await _results(client, created.json()["id"])

    assert (created.status_code, created.json()["count"]) == (202, 20)
    assert sorted(line["index"] for line in results) == list(range(20))
    assert [line["cursor"] for line in results] == list(range(1, 21))
    assert {line["result"]["reward"] for line in results} == {1.0}


async def test_results_go_on_after_a_cursor(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    created = (await _create(client, [make_body(code=f"c{n}") for n in range(5)])).json()
    start_worker("first")
    everything = await _results(client, created["id"])

    assert await _results(client, created["id"], after=3) == everything[3:]


async def test_lines_are_a_batch_with_defaults(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    tests = make_body()["tests"]
    header = {"id": "mine", "defaults": {"language": "python", "tests": tests}}
    body = _lines(header, {"code": "a"}, {"code": "b", "metadata": {"k": 1}}) + b"\n\n"
    created = (await client.post("/v1/batches", content=body, headers=_NDJSON)).json()
    start_worker("first")

    results = await _results(client, "mine")

    assert created == {"id": "mine", "count": 2}
    assert {line["index"]: line["result"]["metadata"] for line in results} == {0: {}, 1: {"k": 1}}


async def test_defaults_of_limits_are_mixed(
    client: httpx.AsyncClient, connection: redis.Redis
) -> None:
    defaults = {"limits": {"cpu_time_s": 1.0, "processes": 3}}
    await _create(client, [make_body(limits={"cpu_time_s": 5.0})], defaults=defaults, id="mine")

    payload = connection.hget(keys.submission("default/mine.0"), "payload")

    assert json.loads(payload.split(b"\n")[1])["limits"] == {"cpu_time_s": 5.0, "processes": 3}


async def test_batch_sent_again_is_the_same_batch(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    bodies = [make_body(code="a"), make_body(code="b")]
    await _create(client, bodies, id="mine")
    start_worker("first")
    first = await _results(client, "mine")
    again = await _create(client, bodies, id="mine")

    assert again.json() == {"id": "mine", "count": 2}
    assert await _results(client, "mine") == first


async def test_same_batch_id_with_other_content_is_a_conflict_and_changes_nothing(
    client: httpx.AsyncClient,
) -> None:
    await _create(client, [make_body(code="a")], id="mine")

    answer = await _create(client, [make_body(code="b")], id="mine")

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (409, "submissions[0].id")
    assert (await client.get("/v1/batches/mine")).json()["queued"] == 1


async def test_state_counts_by_status(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    bodies = [make_body(code=code) for code in ("a", "sleep 1.0", "b", "c")]
    await _create(client, bodies, id="mine")
    start_worker("first")
    connection.blpop("test:begun", 20)
    connection.blpop("test:begun", 20)

    state = (await client.get("/v1/batches/mine")).json()

    assert state["count"] == 4
    assert state["is_complete"] is True
    assert (state["started"], state["finished"], state["queued"]) == (1, 1, 2)


async def test_canceled_batch_is_over_and_not_run(
    client: httpx.AsyncClient, start_worker: StartWorker, connection: redis.Redis
) -> None:
    await _create(client, [make_body(code=f"c{n}") for n in range(3)], id="mine")
    state = (await client.delete("/v1/batches/mine")).json()
    start_worker("first")
    await client.post("/v1/submissions?wait=20", json=make_body())

    results = await _results(client, "mine")

    assert state["canceled"] == 3
    assert [line["status"] for line in results] == ["canceled"] * 3
    assert connection.llen("test:begun") == 1


@pytest.mark.parametrize("as_lines", [True, False])
async def test_bad_submission_is_named_and_nothing_remains(
    client: httpx.AsyncClient, connection: redis.Redis, monkeypatch: Any, as_lines: bool
) -> None:
    monkeypatch.setattr("sandbox_service.api.routes.batches._STORED_AT_ONCE", 1)
    bodies = [make_body(), make_body(language="klingon")]
    if as_lines:
        answer = await client.post("/v1/batches", content=_lines(*bodies), headers=_NDJSON)
    else:
        answer = await _create(client, bodies)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "submissions[1].language"
    assert connection.keys("sandbox:batch*") == []
    assert connection.zcard(keys.waiting("train")) == 0


async def test_refused_batch_can_be_sent_again_and_is_run(
    client: httpx.AsyncClient, start_worker: StartWorker, monkeypatch: Any
) -> None:
    # The fault is behind what is stored at once, so that something is taken back.
    monkeypatch.setattr("sandbox_service.api.routes.batches._STORED_AT_ONCE", 16)
    bodies = [make_body(code=f"c{n}") for n in range(40)]
    await client.post("/v1/batches", content=_lines({"id": "b"}, *bodies, {}), headers=_NDJSON)
    again = await client.post("/v1/batches", content=_lines({"id": "b"}, *bodies), headers=_NDJSON)
    start_worker("first")

    results = await _results(client, again.json()["id"])

    assert [line["result"]["reward"] for line in results] == [1.0] * 40


@pytest.mark.parametrize(
    ("body", "status"), [(b"", 422), (b"{", 400), (b"[]", 422), (b'{"id":"x"}', 422)]
)
async def test_lines_that_are_no_submissions_are_refused(
    client: httpx.AsyncClient, connection: redis.Redis, body: bytes, status: int
) -> None:
    answer = await client.post("/v1/batches", content=body, headers=_NDJSON)

    assert answer.status_code == status
    assert connection.keys("sandbox:batch*") == []


async def test_batch_that_finds_no_room_is_429_as_a_whole(
    client: httpx.AsyncClient, connection: redis.Redis
) -> None:
    answer = await _create(client, [make_body(code=f"c{n}") for n in range(51)])

    assert answer.status_code == 429
    assert connection.zcard(keys.waiting("train")) == 0


async def test_batch_over_its_size_is_413(connect: Connect) -> None:
    async with connect(max_batch_size=2) as client:
        answer = await _create(client, [make_body(code=f"c{n}") for n in range(3)])

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (413, "submissions")


async def test_line_over_the_body_limit_is_413(client: httpx.AsyncClient) -> None:
    body = _lines(make_body(), make_body(code="x" * 100_001))

    answer = await client.post("/v1/batches", content=body, headers=_NDJSON)

    assert answer.status_code == 413


async def test_lines_together_may_exceed_the_body_limit(client: httpx.AsyncClient) -> None:
    body = _lines(*(make_body(code=f"{n}" * 30_000) for n in range(5)))

    answer = await client.post("/v1/batches", content=body, headers=_NDJSON)

    assert answer.json()["count"] == 5


@pytest.mark.parametrize("path", ["", "/results"])
async def test_unknown_batch_is_404(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(f"/v1/batches/nothing{path}")).status_code == 404


async def test_results_wait_for_what_is_not_done(
    client: httpx.AsyncClient, start_worker: StartWorker
) -> None:
    created = (await _create(client, [make_body(code="sleep 0.2")])).json()
    reading = asyncio.create_task(_results(client, created["id"]))
    start_worker("first")

    assert [line["status"] for line in await reading] == ["finished"]
