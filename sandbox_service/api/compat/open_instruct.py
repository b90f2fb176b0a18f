"""open-instruct's `POST /test_program`, `/test_program_stdio` and `GET /health`.

Forced by the wire: tests may come as a compressed pickle, of which only the opcodes that make
plain values are read, so that nothing is ever called; and a failure of ours is HTTP 500, which
the client scores as 0.
"""

import base64
import json
import pickle
import pickletools
import zlib
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox_service.api.compat.running import NotInTime, judged, limits_within
from sandbox_service.api.errors import InvalidBody
from sandbox_service.api.service import service_of
from sandbox_service.schema.result import Result
from sandbox_service.schema.submission import Submission
from sandbox_service.schema.testcase import AssertTest, StdioTest, TestCase
from sandbox_service.schema.verdict import Verdict

router = APIRouter(tags=["compat"], include_in_schema=False)

_LANGUAGE = "python"
# The client gives up after max(30, min(300, 10 * t)) seconds.
_HOLD_S = (28.0, 298.0)
_MOST_MEMO = 1_000_000
_PLAIN_OPCODES: Final = frozenset(
    {
        "PROTO", "FRAME", "MARK", "STOP", "NONE", "NEWTRUE", "NEWFALSE", "MEMOIZE",
        "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT",
        "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8",
        "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_DICT", "SETITEM", "SETITEMS",
        "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3",
        "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET",
    }
)  # fmt: skip


class TestProgram(BaseModel):
    """The request; the time is that of each test, in seconds."""

    __test__ = False
    model_config = ConfigDict(frozen=True)

    program: str
    tests: list[Any] | str
    max_execution_time: float = Field(1.0, gt=0)


@router.get("/health")
async def health() -> JSONResponse:
    """Answer that the service is there."""
    return JSONResponse({"status": "healthy"})


@router.post("/test_program")
async def test_program(request: Request) -> Response:
    """Run asserts against a program."""
    return await _answer(request, AssertTest, {})


@router.post("/test_program_stdio")
async def test_program_stdio(request: Request) -> Response:
    """Run a program with each input and compare what it prints."""
    return await _answer(request, StdioTest, {"input": "stdin", "output": "expected_stdout"})


async def _answer(
    request: Request, kind: type[AssertTest | StdioTest], names: dict[str, str]
) -> Response:
    try:
        asked = TestProgram.model_validate(json.loads(await request.body()))
        most = service_of(request).settings.max_body_bytes
        tests = tuple(_test(each, kind, names) for each in listed(asked.tests, most))
        hold_s = max(_HOLD_S[0], min(_HOLD_S[1], 10 * asked.max_execution_time))
        result = await judged(request, _submission(request, asked, tests, hold_s), hold_s)
    except ValidationError as error:
        details = json.loads(error.json(include_url=False))
        return JSONResponse({"detail": details}, 422)
    except (InvalidBody, ValueError) as error:
        return JSONResponse({"detail": str(error)}, 500)
    except NotInTime:
        return JSONResponse({"detail": "no result in time"}, 500)
    if result.verdict is Verdict.INTERNAL_ERROR:
        return JSONResponse({"detail": result.detail}, 500)
    return JSONResponse(_told(result, len(tests)))


def _submission(
    request: Request, asked: TestProgram, tests: tuple[TestCase, ...], hold_s: float
) -> Submission:
    return Submission(
        language=_LANGUAGE,
        code=asked.program,
        tests=tests,
        limits=limits_within(service_of(request).settings, asked.max_execution_time),
        deadline_s=hold_s,
    )


def _test(each: Any, kind: type[AssertTest | StdioTest], names: dict[str, str]) -> TestCase:
    if isinstance(each, str) and kind is AssertTest:
        return AssertTest(test_code=each)
    if not isinstance(each, dict):
        raise ValueError("tests: each is an assert, or an object with input and output")  # noqa: TRY004
    return kind.model_validate({new: each.get(old) for old, new in names.items()})


def listed(tests: list[Any] | str, most_bytes: int) -> list[Any]:
    """Returns the tests of a list, of a JSON text, or of base64 of a compressed pickle.

    Raises:
        ValueError: it is none of them, has other than plain values, or is too large.
    """
    value: Any = tests
    if isinstance(tests, str):
        try:
            value = json.loads(tests)
        except json.JSONDecodeError:
            value = _unpickled(base64.b64decode(tests, validate=True), most_bytes)
    if isinstance(value, str):
        value = json.loads(value)
    if not isinstance(value, list):
        raise ValueError("tests: not a list")  # noqa: TRY004
    # One text may stand there many times, as a pickle needs it only once.
    if sum(_size(each) for each in value) > most_bytes:
        raise ValueError("tests: too large")
    return value


def _size(test: Any) -> int:
    texts = test.values() if isinstance(test, dict) else [test]
    return sum(len(each) for each in texts if isinstance(each, str))


def _unpickled(packed: bytes, most_bytes: int) -> Any:
    unpacking = zlib.decompressobj()
    try:
        plain = unpacking.decompress(packed, most_bytes)
    except zlib.error as error:
        raise ValueError(f"tests: {error}") from error
    if not unpacking.eof:
        raise ValueError("tests: too large, or cut off")
    for opcode, argument, _ in pickletools.genops(plain):
        if opcode.name not in _PLAIN_OPCODES:
            raise ValueError(f"tests: {opcode.name} is more than plain values")
        if opcode.name == "LONG_BINPUT" and (argument or 0) > _MOST_MEMO:
            raise ValueError("tests: too large")
    try:
        return pickle.loads(plain)  # noqa: S301  # plain values only, see above
    except (pickle.UnpicklingError, AttributeError, EOFError, LookupError, TypeError) as error:
        raise ValueError(f"tests: {error}") from error


def _told(result: Result, count: int) -> dict[str, Any]:
    if not result.tests:
        return {"results": [0] * count, "runtimes": [-1.0] * count}
    passed = [each.verdict is Verdict.ACCEPTED for each in result.tests]
    times = [each.usage.wall_time_s for each in result.tests]
    return {
        "results": [int(each) for each in passed],
        "runtimes": [time if ok else -1.0 for ok, time in zip(passed, times, strict=True)],
    }
