"""Judge0's `POST /submissions?wait=true`, `/languages` and `/statuses`.

Forced by the wire: texts are plain unless `base64_encoded=true`, since clients rely on it.
"""

import base64
import binascii
import json
import uuid
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox_service.api.compat.running import NotInTime, Program, limits_within, run, step_of
from sandbox_service.api.errors import InvalidBody
from sandbox_service.api.service import service_of
from sandbox_service.errors import UnknownLanguage
from sandbox_service.schema.result import Result
from sandbox_service.schema.verdict import Verdict

router = APIRouter(tags=["compat"], include_in_schema=False)

_KIB = 1024
_SLACK_S = 30.0
_STATUSES = (
    "In Queue", "Processing", "Accepted", "Wrong Answer", "Time Limit Exceeded",
    "Compilation Error", "Runtime Error (SIGSEGV)", "Runtime Error (SIGXFSZ)",
    "Runtime Error (SIGFPE)", "Runtime Error (SIGABRT)", "Runtime Error (NZEC)",
    "Runtime Error (Other)", "Internal Error", "Exec Format Error",
)  # fmt: skip
_BY_SIGNAL = {11: 7, 25: 8, 8: 9, 6: 10}
# Judge0's own numbers, old and new, for the languages that may be here.
_LANGUAGE_IDS = {
    46: "bash", 48: "c", 49: "c", 50: "c", 52: "cpp", 53: "cpp", 54: "cpp", 71: "python",
    92: "python", 100: "python", 103: "c", 105: "cpp", 109: "python",
}  # fmt: skip


class Submitted(BaseModel):
    """The request; times in seconds, memory in KiB."""

    model_config = ConfigDict(frozen=True)

    source_code: str
    language_id: int
    stdin: str | None = None
    expected_output: str | None = None
    cpu_time_limit: float = Field(5.0, gt=0)
    wall_time_limit: float = Field(10.0, gt=0)
    memory_limit: int = Field(128_000, gt=0)


@router.get("/statuses")
async def statuses() -> JSONResponse:
    """List the statuses."""
    return JSONResponse([_status(number) for number in range(1, len(_STATUSES) + 1)])


@router.get("/languages")
async def languages(request: Request) -> JSONResponse:
    """List the languages by Judge0's numbers."""
    table = service_of(request).languages
    titles = {each.name: each.title for each in table.languages}
    return JSONResponse(
        [
            {"id": number, "name": titles[name]}
            for number, name in _LANGUAGE_IDS.items()
            if name in titles
        ]
    )


@router.post("/submissions")
@router.post("/submissions/")
async def submit(
    request: Request, wait: bool = False, base64_encoded: bool = False, fields: str = ""
) -> Response:
    """Run one program and wait for it."""
    if not wait:
        return JSONResponse({"error": "wait not allowed to be false here"}, 400)
    try:
        asked = _read(await request.body(), base64_encoded)
        result = await _ran(request, asked)
    except (ValidationError, InvalidBody) as error:
        return JSONResponse(_by_field(error), 422)
    except ValueError as error:
        return JSONResponse({"error": str(error)}, 400)
    except NotInTime:
        return JSONResponse({"error": "no result in time"}, 504)
    if result is None:
        what = f"language with id {asked.language_id} doesn't exist"
        return JSONResponse({"language_id": [what]}, 422)
    told = _told(result, asked.expected_output, base64_encoded)
    if fields and fields != "*":
        told = {name: told[name] for name in fields.split(",") if name in told}
    return JSONResponse(told, 201)


async def _ran(request: Request, asked: Submitted) -> Result | None:
    service = service_of(request)
    try:
        language = service.languages.get(_LANGUAGE_IDS.get(asked.language_id, ""))
    except UnknownLanguage:
        return None
    limits = limits_within(
        service.settings, asked.wall_time_limit, asked.memory_limit * _KIB
    ).model_copy(update={"cpu_time_s": asked.cpu_time_limit})
    program = Program(language, asked.source_code, asked.stdin or "", limits=limits)
    return await run(request, program, asked.wall_time_limit + _SLACK_S)


def _by_field(error: ValidationError | InvalidBody) -> dict[str, list[str]]:
    if isinstance(error, InvalidBody):
        return {each.field: [each.message] for each in error.fields}
    return {".".join(map(str, each["loc"])) or "body": [each["msg"]] for each in error.errors()}


def _read(body: bytes, is_base64: bool) -> Submitted:
    asked = Submitted.model_validate(json.loads(body))
    if not is_base64:
        return asked
    try:
        texts = {
            name: base64.b64decode(text).decode()
            for name in ("source_code", "stdin", "expected_output")
            if (text := getattr(asked, name)) is not None
        }
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError(f"not base64 of UTF-8: {error}") from error
    return asked.model_copy(update=texts)


def _told(result: Result, expected: str | None, is_base64: bool) -> dict[str, Any]:
    step = step_of(result)
    number = _number(result, expected)
    is_compile = not result.tests
    texts = {
        "stdout": None if is_compile else step.stdout or None,
        "stderr": None if is_compile else step.stderr or None,
        "compile_output": (step.stderr or step.detail) if is_compile else None,
        "message": step.detail or None,
    }
    if is_base64:
        texts = {name: text and _encoded(text) for name, text in texts.items()}
    return {
        "token": str(uuid.uuid4()),
        "time": None if is_compile else f"{step.usage.cpu_time_s:.3f}",
        "memory": None if is_compile else step.usage.memory_bytes // _KIB,
        **texts,
        "status": _status(number),
    }


def _number(result: Result, expected: str | None) -> int:
    step = step_of(result)
    if result.verdict is Verdict.INTERNAL_ERROR:
        return 13
    if result.verdict is Verdict.COMPILE_ERROR:
        return 6
    if step.verdict is Verdict.TIME_LIMIT_EXCEEDED:
        return 5
    if step.verdict is Verdict.OUTPUT_LIMIT_EXCEEDED:
        return 8
    if step.verdict is not Verdict.ACCEPTED:
        return 11 if step.exit_code else _BY_SIGNAL.get(step.signal or 0, 12)
    return 3 if expected is None or _lines(step.stdout) == _lines(expected) else 4


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _status(number: int) -> dict[str, Any]:
    return {"id": number, "description": _STATUSES[number - 1]}
