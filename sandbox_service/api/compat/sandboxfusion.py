"""SandboxFusion's `POST /run_code` and `GET /v1/ping`.

Forced by the wire: a lone surrogate in the code is HTTP 500, and output that is not UTF-8 is a
`Success` whose text begins with `[DecodeError]`. A printed U+FFFD is taken for such output.
"""

import base64
import binascii
import json
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox_service.api.compat.running import (
    NotInTime,
    Program,
    code_of,
    limits_within,
    run,
    step_of,
)
from sandbox_service.api.errors import InvalidBody
from sandbox_service.api.service import service_of
from sandbox_service.errors import UnknownLanguage
from sandbox_service.languages import Language
from sandbox_service.schema.limits import MIB
from sandbox_service.schema.result import Result, StepResult
from sandbox_service.schema.verdict import Verdict

router = APIRouter(tags=["compat"], include_in_schema=False)

_SLACK_S = 5.0
_LANGUAGES = Literal[
    "python", "cpp", "nodejs", "go", "go_test", "java", "php", "csharp", "bash", "typescript",
    "sql", "rust", "cuda", "lua", "R", "perl", "D_ut", "ruby", "scala", "julia", "pytest", "junit",
    "kotlin_script", "jest", "verilog", "python_gpu", "lean", "swift", "racket",
]  # fmt: skip


class RunCode(BaseModel):
    """The request; unknown fields are ignored and numeric strings taken, as in the original."""

    model_config = ConfigDict(frozen=True)

    compile_timeout: float = 10
    run_timeout: float = 10
    memory_limit_mb: int = Field(-1, alias="memory_limit_MB")
    code: str
    stdin: str | None = ""
    language: _LANGUAGES
    files: dict[str, str | None] = {}
    fetch_files: list[str] = []


@router.get("/v1/ping")
async def ping() -> JSONResponse:
    """Answer that the service is there."""
    return JSONResponse("pong")


@router.post("/run_code")
async def run_code(request: Request) -> Response:
    """Run one program."""
    try:
        asked = RunCode.model_validate(json.loads(await request.body()))
        asked.code.encode()
        (asked.stdin or "").encode()
    except ValidationError as error:
        details = json.loads(error.json(include_url=False))
        return JSONResponse(
            {"detail": [{**each, "loc": ["body", *each["loc"]]} for each in details]}, 422
        )
    except UnicodeEncodeError as error:
        return JSONResponse({"detail": str(error)}, 500)
    except ValueError as error:
        detail = {"type": "json_invalid", "loc": ["body"], "msg": f"JSON decode error: {error}"}
        return JSONResponse({"detail": [detail]}, 422)
    return await _answer(request, asked)


async def _answer(request: Request, asked: RunCode) -> Response:
    try:
        language = service_of(request).languages.get(asked.language)
    except UnknownLanguage:
        return _sandbox_error(asked, f"'{asked.language}'")
    if asked.fetch_files:
        return _sandbox_error(asked, "fetch_files is not available here")
    return _without_time(asked, language) or await _ran(request, asked, language)


def _without_time(asked: RunCode, language: Language) -> Response | None:
    if language.compile is not None and asked.compile_timeout <= 0:
        return _reply("Failed", compile_result=_timed_out())
    if asked.run_timeout <= 0:
        return _reply("Failed", run_result=_timed_out())
    return None


async def _ran(request: Request, asked: RunCode, language: Language) -> Response:
    try:
        result = await run(
            request,
            _program(request, asked, language),
            asked.compile_timeout + asked.run_timeout + _SLACK_S,
        )
    except NotInTime:
        return JSONResponse({"detail": "no result in time"}, 504)
    except (InvalidBody, ValidationError, binascii.Error) as error:
        return _sandbox_error(asked, str(error))
    if result.verdict is Verdict.INTERNAL_ERROR:
        return _sandbox_error(asked, result.detail)
    return _told(result, language)


def _program(request: Request, asked: RunCode, language: Language) -> Program:
    files = {}
    for path, content in asked.files.items():
        if content is not None:
            plain = base64.b64decode(content)
            files[path] = "base64:" + base64.b64encode(plain).decode()
    memory = asked.memory_limit_mb * MIB if asked.memory_limit_mb > 0 else None
    limits = limits_within(service_of(request).settings, asked.run_timeout, memory)
    return Program(language, asked.code, asked.stdin or "", files=files, limits=limits)


def _told(result: Result, language: Language) -> Response:
    ran = step_of(result)
    compiled = result.compile if language.compile is not None else None
    return _reply(
        "Success" if result.verdict is Verdict.ACCEPTED else "Failed",
        compile_result=None if compiled is None else _step(compiled),
        run_result=None if compiled is not None and not result.tests else _step(ran),
    )


def _step(step: StepResult) -> dict[str, Any]:
    is_late = step.verdict is Verdict.TIME_LIMIT_EXCEEDED
    return {
        "status": "TimeLimitExceeded" if is_late else "Finished",
        "execution_time": step.usage.wall_time_s,
        "return_code": None if is_late else code_of(step),
        "stdout": _text(step.stdout),
        "stderr": _text(
            step.stderr or (step.detail if step.verdict is Verdict.COMPILE_ERROR else "")
        ),
    }


def _text(text: str) -> str:
    at = text.find("\ufffd")
    if at < 0:
        return text
    position = len(text[:at].encode())
    return f"[DecodeError] 'utf-8' codec can't decode byte in position {position}: invalid byte"


def _timed_out() -> dict[str, Any]:
    return _step(StepResult(verdict=Verdict.TIME_LIMIT_EXCEEDED))


def _sandbox_error(asked: RunCode, reason: str) -> Response:
    return _reply("SandboxError", f"exception on running code {asked.code}: {reason} None")


def _reply(
    status: str,
    message: str = "",
    *,
    compile_result: dict[str, Any] | None = None,
    run_result: dict[str, Any] | None = None,
) -> Response:
    return JSONResponse(
        {
            "status": status,
            "message": message,
            "compile_result": compile_result,
            "run_result": run_result,
            "executor_pod_name": None,
            "files": {},
        }
    )
