"""Requests that cannot be accepted: 4xx problem+json that names the field, and life goes on."""

import json
from typing import Any

import httpx
import pytest

from tests.factories import make_body
from tests.unit.api.conftest import Connect

_NESTED: Any = json.loads("[" * 60 + "]" * 60)


def _field(answer: httpx.Response) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == answer.status_code
    assert {"type", "title", "detail", "code"} <= problem.keys()
    return problem["errors"][0]["field"]


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"tests": []}, "tests"),
        ({"tests": [{"stdin": ""}, {"expected_stdout": 5}]}, "tests[0]"),
        ({"tests": [{"expected_stdout": 5}]}, "tests[0].expected_stdout"),
        ({"tests": [{"expected_stdout": "", "weight": -1}]}, "tests[0].weight"),
        ({"tests": [{"function": "f", "args": 1, "expected": 1}]}, "tests[0].args"),
        ({"tests": [{"expected_stdout": "", "checker": {"type": "no"}}]}, "tests[0].checker"),
        ({"language": "klingon"}, "language"),
        ({"language": None}, "language"),
        ({"limits": {"cpu_time_s": -1}}, "limits.cpu_time_s"),
        ({"limits": {"cpu_time_s": 121}}, "limits.cpu_time_s"),
        ({"limits": {"wall_time_s": 601}}, "limits.wall_time_s"),
        ({"limits": {"memory_bytes": 2**33}}, "limits.memory_bytes"),
        ({"limits": {"output_bytes": 2**27}}, "limits.output_bytes"),
        ({"reward": {"policy": "no"}}, "reward"),
        ({"unknown": 1}, "unknown"),
        ({"id": "not an id"}, "id"),
        ({"code": None}, "body"),
    ],
)
async def test_submission_with_a_field_that_does_not_fit_is_422_naming_it(
    client: httpx.AsyncClient, overrides: dict[str, Any], field: str
) -> None:
    answer = await client.post("/v1/submissions", json=make_body(**overrides))

    assert answer.status_code == 422
    assert _field(answer) == field
    assert (await client.get("/healthz")).status_code == 200


async def test_invalid_test_is_the_only_error_told(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/submissions", json=make_body(tests=[{"stdin": ""}]))

    assert [error["field"] for error in answer.json()["errors"]] == ["tests[0]"]
    assert "expected_stdout is required" in answer.json()["detail"]


async def test_unknown_checker_language_is_named(client: httpx.AsyncClient) -> None:
    checker = {"type": "interactive", "language": "klingon", "code": "x"}
    answer = await client.post("/v1/submissions", json=make_body(tests=[{"checker": checker}]))

    assert _field(answer) == "tests[0].checker.language"


async def test_one_bad_submission_of_many_is_named_with_its_place(
    client: httpx.AsyncClient,
) -> None:
    bodies = [make_body(), make_body(language="klingon")]
    answer = await client.post("/v1/rewards", json={"submissions": bodies})

    assert _field(answer) == "submissions[1].language"
    assert answer.json()["code"] == "unknown_language"


async def test_schema_error_in_one_of_many_is_named_with_its_place(
    client: httpx.AsyncClient,
) -> None:
    bodies = [make_body(), make_body(tests=[{"expected_stdout": 5}])]
    answer = await client.post("/v1/rewards", json={"submissions": bodies})

    assert _field(answer) == "submissions[1].tests[0].expected_stdout"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "invalid_json"),
        (b"{", 400, "invalid_json"),
        (b"[]", 422, "invalid_submission"),
        (b'{"code": "\xff"}', 415, "unsupported_encoding"),
        (b'{"code": "\\ud800"}', 400, "invalid_json"),
        (b'{"code": ' + b"9" * 5000 + b"}", 400, "invalid_json"),
        (b'{"metadata": ' + b"[" * 9000 + b"]" * 9000 + b"}", 400, "invalid_json"),
    ],
)
async def test_body_that_is_not_json_is_4xx(
    client: httpx.AsyncClient, body: bytes, status: int, code: str
) -> None:
    answer = await client.post("/v1/submissions", content=body)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert _field(answer) == "body"
    assert (await client.get("/healthz")).status_code == 200


async def test_body_over_the_limit_is_413(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/submissions", content=b" " * 20_001)

    assert (answer.status_code, _field(answer)) == (413, "body")


async def test_body_over_the_limit_without_a_declared_length_is_413(
    client: httpx.AsyncClient,
) -> None:
    async def endless() -> Any:
        for _ in range(1000):
            yield b" " * 1000

    answer = await client.post("/v1/submissions", content=endless())

    assert (answer.status_code, _field(answer)) == (413, "body")


async def test_compressed_body_is_415(client: httpx.AsyncClient) -> None:
    headers = {"content-encoding": "gzip"}
    answer = await client.post("/v1/submissions", content=b"x", headers=headers)

    assert (answer.status_code, _field(answer)) == (415, "body")


@pytest.mark.parametrize("wait", ["-1", "nan", "inf", "soon"])
async def test_wait_that_is_no_time_is_422(client: httpx.AsyncClient, wait: str) -> None:
    answer = await client.post(f"/v1/submissions?wait={wait}", json=make_body())

    assert (answer.status_code, _field(answer)) == (422, "wait")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nothing", 404), ("PATCH", "/v1/submissions", 405)],
)
async def test_unknown_route_or_method_is_a_problem(
    client: httpx.AsyncClient, method: str, path: str, status: int
) -> None:
    answer = await client.request(method, path)

    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code == status


async def test_absent_redis_is_503(client: httpx.AsyncClient) -> None:
    answer = await client.get("/readyz")

    assert (answer.status_code, answer.json()["code"]) == (503, "queue_unavailable")


@pytest.mark.parametrize("path", ["/v1/submissions", "/v1/rewards", "/v1/suites"])
async def test_test_of_a_refused_kind_is_422_naming_it(connect: Connect, path: str) -> None:
    body = make_body(tests=[{"stdin": "", "expected_stdout": ""}, {"exit_code": 0}])
    sent = {
        "/v1/submissions": body,
        "/v1/rewards": {"submissions": [body]},
        "/v1/suites": {"tests": body["tests"]},
    }[path]
    prefix = "submissions[0]." if path == "/v1/rewards" else ""
    async with connect(allow_exit_code_tests=False) as client:
        answer = await client.request("PUT" if path == "/v1/suites" else "POST", path, json=sent)

    assert answer.status_code == 422
    assert _field(answer) == f"{prefix}tests[1].exit_code"
