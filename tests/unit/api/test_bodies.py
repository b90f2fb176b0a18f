from typing import Any

import httpx
import pytest

from sandbox_service.api.bodies import with_defaults
from sandbox_service.api.errors import InvalidBody
from sandbox_service.schema.submission import Submission
from tests.factories import make_body

_CALL = '{"function": "f", "args": [%s], "expected": %s}'


def _with_test(test: str) -> bytes:
    return f'{{"language": "python", "code": "x", "tests": [{test}]}}'.encode()


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "-1E+400"])
@pytest.mark.parametrize(
    ("test", "field"),
    [
        (_CALL % ("1", "%s"), "tests[0].expected"),
        (_CALL % ("[1, %s]", "1"), "tests[0].args[0][1]"),
        (_CALL % ("1", '{"a": {"b": %s}}'), "tests[0].expected.a.b"),
    ],
)
async def test_number_that_is_not_finite_is_422_naming_it(
    client: httpx.AsyncClient, word: str, test: str, field: str
) -> None:
    answer = await client.post("/v1/submissions", content=_with_test(test % word))

    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]


@pytest.mark.parametrize("code", ["NaN", "Infinity", "1e999"])
async def test_text_may_say_what_numbers_may_not(client: httpx.AsyncClient, code: str) -> None:
    answer = await client.post("/v1/submissions", json=make_body(code=code))

    assert answer.json()["code"] == "queue_unavailable"


def test_defaults_stand_in_for_what_is_not_there() -> None:
    value: dict[str, Any] = {"code": "x", "metadata": {"a": 1}}
    defaults = make_body(code="y", metadata={"b": 2})

    submission = with_defaults(Submission, value, defaults, "")

    assert (submission.code, submission.metadata) == ("x", {"a": 1, "b": 2})
    assert submission.language == "python"


def test_field_that_does_not_fit_is_named_with_its_place() -> None:
    with pytest.raises(InvalidBody) as refusal:
        with_defaults(Submission, make_body(language=5), {}, "submissions[3].")

    assert refusal.value.field == "submissions[3].language"
