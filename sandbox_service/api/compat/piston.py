"""Piston's `execute` and `runtimes`, under `/api/v2` and, for `execute`, at the root.

Forced by the wire: a failure of ours is an empty HTTP 500, and a compile step that failed is told
a second time as `run`.
"""

import base64
import json
import re
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
from sandbox_service.schema.result import Result, StepResult
from sandbox_service.schema.verdict import Verdict
from sandbox_service.settings import Settings

router = APIRouter(tags=["compat"], include_in_schema=False)

_SLACK_S = 15.0
_STATUS = {
    Verdict.TIME_LIMIT_EXCEEDED: "TO",
    Verdict.OUTPUT_LIMIT_EXCEEDED: "OL",
    Verdict.MEMORY_LIMIT_EXCEEDED: "SG",
}
_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV", 15: "SIGTERM"}


class File(BaseModel):
    """One file; the first one is the program."""

    model_config = ConfigDict(frozen=True)

    name: str = ""
    content: str
    encoding: Literal["utf8", "base64", "hex"] = "utf8"

    def bytes(self) -> bytes:
        """Returns what the file holds."""
        if self.encoding == "utf8":
            return self.content.encode()
        if self.encoding == "hex":
            return bytes.fromhex(self.content)
        return base64.b64decode(self.content)


class Execute(BaseModel):
    """The request; times in milliseconds, memory in bytes or -1."""

    model_config = ConfigDict(frozen=True)

    language: str
    version: str
    files: list[File] = Field(min_length=1)
    stdin: str = ""
    args: list[str] = []
    run_timeout: float = Field(3000, gt=0)
    run_memory_limit: int = -1


@router.get("/api/v2/runtimes")
async def runtimes(request: Request) -> JSONResponse:
    """List the languages, each with its one version."""
    return JSONResponse(
        [
            {"language": each.name, "version": _version(each), "aliases": each.aliases}
            for each in service_of(request).languages.languages
        ]
    )


@router.post("/api/v2/execute")
@router.post("/execute")
async def execute(request: Request) -> Response:
    """Run one program."""
    if "application/json" not in request.headers.get("content-type", ""):
        return _message("requests must be of type application/json", 415)
    try:
        return await _answer(request)
    except ValidationError as error:
        first = error.errors()[0]
        return _message(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", 400)
    except (InvalidBody, ValueError) as error:
        return _message(str(error), 400)
    except NotInTime:
        return _message("no result in time", 504)


async def _answer(request: Request) -> Response:
    asked = Execute.model_validate(json.loads(await request.body()))
    try:
        language = service_of(request).languages.get(asked.language)
    except UnknownLanguage:
        return _message(f"{asked.language}-{asked.version} runtime is unknown", 400)
    program = _program(service_of(request).settings, language, asked)
    result = await run(request, program, asked.run_timeout / 1000 + _SLACK_S)
    if result.verdict is Verdict.INTERNAL_ERROR:
        return Response(status_code=500)
    return JSONResponse(_told(result, language))


def _program(settings: Settings, language: Language, asked: Execute) -> Program:
    if not _is_version(language, asked.version):
        raise ValueError(f"{asked.language}-{asked.version} runtime is unknown")
    run_s = asked.run_timeout / 1000
    if run_s > settings.max_wall_time_s:
        most = settings.max_wall_time_s * 1000
        raise ValueError(f"run_timeout cannot exceed the configured limit of {most:g}")
    if asked.run_memory_limit > settings.max_memory_bytes:
        most = settings.max_memory_bytes
        raise ValueError(f"run_memory_limit cannot exceed the configured limit of {most:g}")
    memory = asked.run_memory_limit if asked.run_memory_limit > 0 else None
    main, *others = asked.files
    return Program(
        language,
        main.bytes().decode(),
        asked.stdin + "\n",
        tuple(asked.args),
        {
            each.name or f"file{at}.code": "base64:" + base64.b64encode(each.bytes()).decode()
            for at, each in enumerate(others, 1)
        },
        limits_within(settings, run_s, memory),
    )


def _told(result: Result, language: Language) -> dict[str, Any]:
    told = {
        "run": _step(step_of(result)),
        "language": language.name,
        "version": _version(language),
    }
    if language.compile is not None and result.compile is not None:
        told["compile"] = _step(result.compile)
    return told


def _step(step: StepResult) -> dict[str, Any]:
    code = code_of(step)
    status = _STATUS.get(step.verdict) or ("SG" if code < 0 else "RE" if code else None)
    is_killed = status in {"TO", "OL"}
    stderr = step.stderr or (step.detail if step.verdict is Verdict.COMPILE_ERROR else "")
    signal = "SIGKILL" if is_killed else None if code >= 0 else _SIGNALS.get(-code, "SIGKILL")
    return {
        "stdout": step.stdout,
        "stderr": stderr,
        "output": step.stdout + stderr,
        "code": None if signal else code,
        "signal": signal,
        "memory": step.usage.memory_bytes,
        "message": step.detail if status else None,
        "status": status,
        "cpu_time": round(step.usage.cpu_time_s * 1000),
        "wall_time": round(step.usage.wall_time_s * 1000),
    }


def _version(language: Language) -> str:
    found = re.search(r"\d+(\.\d+)*", language.title.partition("(")[0])
    parts = found[0].split(".") if found else ["1"]
    return ".".join([*parts, "0", "0"][:3])


def _is_version(language: Language, asked: str) -> bool:
    return asked == "*" or f"{_version(language)}.".startswith(asked.rstrip(".x*") + ".")


def _message(text: str, status: int) -> Response:
    return JSONResponse({"message": text}, status)
