"""Judge0's submissions: one or a batch, waited for or looked at later by their tokens.

Forced by the wire: texts are plain unless `base64_encoded=true`, since clients rely on it. A
full queue refuses with 503 what is not waited for; what is waited for is held.
"""

import base64
import binascii
import json
import uuid
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from sandbox_service.api.access import caller_of
from sandbox_service.api.compat import judge0_info
from sandbox_service.api.compat.running import NotInTime, Program, limits_within, run, step_of
from sandbox_service.api.errors import FieldError, InvalidBody
from sandbox_service.api.service import service_of
from sandbox_service.errors import NotFound, QueueFull, QueueUnavailable, UnknownLanguage
from sandbox_service.queue.broker import StoredState
from sandbox_service.queue.keys import reference
from sandbox_service.schema.result import Result
from sandbox_service.schema.verdict import JobStatus, Verdict

router = APIRouter(tags=["compat"], include_in_schema=False)
router.include_router(judge0_info.router)

_KIB = 1024
_SLACK_S = 30.0
_DEADLINE_S = 3600.0
_BY_SIGNAL = {11: 7, 25: 8, 8: 9, 6: 10}
# In the metadata of a submission, as its result is compared only when it is asked for.
_EXPECTED = "judge0_expected_output"
_RESULTS = ("time", "memory", "stdout", "stderr", "compile_output", "message")


class Submitted(BaseModel):
    """The request; times in seconds, memory in KiB."""

    model_config = ConfigDict(frozen=True)

    source_code: str
    language_id: int
    stdin: str | None = None
    expected_output: str | None = None
    cpu_time_limit: float = Field(judge0_info.DEFAULT_CPU_S, gt=0)
    wall_time_limit: float = Field(judge0_info.DEFAULT_WALL_S, gt=0)
    memory_limit: float = Field(judge0_info.DEFAULT_MEMORY_KIB, gt=0)


@router.post("/submissions")
@router.post("/submissions/")
async def submit(
    request: Request, wait: bool = False, base64_encoded: bool = False, fields: str = ""
) -> Response:
    """Run one program; wait for it where that is asked for."""
    try:
        asked = _read(json.loads(await request.body()), base64_encoded)
        program = _program(request, asked)
        if not wait:
            return JSONResponse({"token": await _queued(request, program)}, 201)
        result = await run(request, program, asked.wall_time_limit + _SLACK_S)
    except (ValidationError, InvalidBody) as error:
        return JSONResponse(_by_field(error), 422)
    except ValueError as error:
        return JSONResponse({"error": str(error)}, 400)
    except NotInTime:
        return JSONResponse({"error": "no result in time"}, 504)
    except (QueueFull, QueueUnavailable):
        return JSONResponse({"error": "queue is full"}, 503)
    return JSONResponse(_only(_told(result, base64_encoded), fields), 201)


@router.post("/submissions/batch")
async def submit_batch(request: Request, base64_encoded: bool = False) -> Response:
    """Store several programs; each is answered by its token or by what does not fit."""
    try:
        listed = list(json.loads(await request.body())["submissions"])
    except (ValueError, KeyError, TypeError):
        return JSONResponse({"error": "there should be at least one submission in a batch"}, 400)
    if not 1 <= len(listed) <= judge0_info.MAX_BATCH:
        most = f"number of submissions in a batch should be between 1 and {judge0_info.MAX_BATCH}"
        return JSONResponse({"error": most}, 400)
    told: list[Any] = []
    for each in listed:
        try:
            program = _program(request, _read(each, base64_encoded))
            told.append({"token": await _queued(request, program)})
        except (ValidationError, InvalidBody) as error:
            told.append(_by_field(error))
        except ValueError as error:
            told.append({"error": [str(error)]})
        except (QueueFull, QueueUnavailable):
            return JSONResponse({"error": "queue is full"}, 503)
    return JSONResponse(told, 201)


@router.get("/submissions/batch")
async def look_at_batch(
    request: Request, tokens: str, base64_encoded: bool = False, fields: str = ""
) -> Response:
    """Tell how several programs stand; null for tokens that are not known."""
    told = [await _looked(request, each, base64_encoded) for each in tokens.split(",")]
    return JSONResponse({"submissions": [each and _only(each, fields) for each in told]})


@router.get("/submissions/{token}")
async def look(
    request: Request, token: str, base64_encoded: bool = False, fields: str = ""
) -> Response:
    """Tell how one program stands."""
    told = await _looked(request, token, base64_encoded)
    return JSONResponse({}, 404) if told is None else JSONResponse(_only(told, fields))


async def _queued(request: Request, program: Program) -> str:
    service = service_of(request)
    submission = program.submission(_DEADLINE_S)
    await service.check([submission], [""])
    await service.submit(request, [submission], 0.0)
    return program.id or ""


async def _looked(request: Request, token: str, is_base64: bool) -> dict[str, Any] | None:
    ref = reference(caller_of(request).tenant, token)
    try:
        state = await service_of(request).broker.wait(ref, 0.0)
    except NotFound:
        return None
    if state.result is None:
        return _waiting(state)
    return _told(Result.model_validate_json(state.result), is_base64)


def _only(told: dict[str, Any], fields: str) -> dict[str, Any]:
    if not fields or fields == "*":
        return told
    return {name: told[name] for name in fields.split(",") if name in told}


def _program(request: Request, asked: Submitted) -> Program:
    service = service_of(request)
    try:
        language = service.languages.get(judge0_info.LANGUAGE_IDS.get(asked.language_id, ""))
    except UnknownLanguage as error:
        what = f"language with id {asked.language_id} doesn't exist"
        raise InvalidBody([FieldError("language_id", what)]) from error
    limits = limits_within(service.settings, asked.wall_time_limit, int(asked.memory_limit * _KIB))
    cpu_s = min(asked.cpu_time_limit, service.settings.max_cpu_time_s)
    return Program(
        language,
        asked.source_code,
        asked.stdin or "",
        limits=limits.model_copy(update={"cpu_time_s": cpu_s}),
        id=str(uuid.uuid4()),
        metadata={_EXPECTED: asked.expected_output},
    )


def _by_field(error: ValidationError | InvalidBody) -> dict[str, list[str]]:
    if isinstance(error, InvalidBody):
        return {each.field: [each.message] for each in error.fields}
    return {".".join(map(str, each["loc"])) or "body": [each["msg"]] for each in error.errors()}


def _read(body: Any, is_base64: bool) -> Submitted:
    asked = Submitted.model_validate(body)
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


def _waiting(state: StoredState) -> dict[str, Any]:
    status = judge0_info.status(1 if state.status is JobStatus.QUEUED else 2)
    return {"token": state.id, **dict.fromkeys(_RESULTS), "status": status}


def _told(result: Result, is_base64: bool) -> dict[str, Any]:
    step = step_of(result)
    number = _number(result, result.metadata.get(_EXPECTED))
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
        "token": result.id,
        "time": None if is_compile else f"{step.usage.cpu_time_s:.3f}",
        "memory": None if is_compile else step.usage.memory_bytes // _KIB,
        **texts,
        "status": judge0_info.status(number),
    }


def _number(result: Result, expected: JsonValue) -> int:
    step = step_of(result)
    if result.status is JobStatus.CANCELED or result.verdict is Verdict.INTERNAL_ERROR:
        return 13
    if result.verdict is Verdict.COMPILE_ERROR:
        return 6
    if step.verdict is Verdict.TIME_LIMIT_EXCEEDED:
        return 5
    if step.verdict is Verdict.OUTPUT_LIMIT_EXCEEDED:
        return 8
    if step.verdict is not Verdict.ACCEPTED:
        return 11 if step.exit_code else _BY_SIGNAL.get(step.signal or 0, 12)
    return 3 if not isinstance(expected, str) or _lines(step.stdout) == _lines(expected) else 4


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
