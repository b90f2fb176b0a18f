import json

import httpx
import pytest
import structlog
from fastapi import FastAPI

from sandbox_service import errors
from sandbox_service.api.errors import field_path, install_error_handlers, problem_of
from sandbox_service.errors import QueueFull, SandboxServiceError


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ((), "body"),
        (("code",), "code"),
        (("limits", "cpu_time_s"), "limits.cpu_time_s"),
        (("tests", 0, "stdio", "expected_stdout"), "tests[0].expected_stdout"),
        (("tests", 2, "stdio", "checker", "float", "abs_tol"), "tests[2].checker.abs_tol"),
        (("reward", "pass_rate", "policy"), "reward.policy"),
        (("reward", "fusion", "sources", 0, "style", "weight"), "reward.sources[0].weight"),
        (("submissions", 3, "code"), "submissions[3].code"),
        (("submissions", 3, "tests", 1, "call", "args"), "submissions[3].tests[1].args"),
    ],
)
def test_location_is_written_as_the_caller_would(location: tuple, path: str) -> None:
    assert field_path(location) == path


def _tree(root: type[SandboxServiceError]) -> list[type[SandboxServiceError]]:
    return [root, *(leaf for child in root.__subclasses__() for leaf in _tree(child))]


def test_codes_are_unique_among_the_errors_of_the_service() -> None:
    codes = [leaf.code for leaf in _tree(SandboxServiceError) if leaf.__module__ == errors.__name__]

    assert len(codes) == len(set(codes))


def test_retry_after_is_in_whole_seconds() -> None:
    answer = problem_of(QueueFull("full", retry_after_s=1.2))

    assert answer.headers["retry-after"] == "2"


def test_field_of_an_error_is_listed() -> None:
    answer = problem_of(errors.Conflict("used", field="id"))

    assert json.loads(answer.body)["errors"] == [{"field": "id", "message": "used"}]


async def test_crash_is_500_without_its_text() -> None:
    app = FastAPI()
    install_error_handlers(app)

    @app.get("/")
    async def crash() -> None:
        raise RuntimeError("secret")

    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        with structlog.testing.capture_logs() as logs:
            answer = await client.get("/")

    assert [line["event"] for line in logs] == ["request_crashed"]
    assert (answer.status_code, answer.json()["code"]) == (500, "error")
    assert "secret" not in answer.text
