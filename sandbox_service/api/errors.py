"""Every error as problem+json: `type`, `title`, `status`, `detail`, `code`, `errors` by field."""

import math
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from sandbox_service.errors import (
    InvalidSubmission,
    NotAuthenticated,
    NoWorkers,
    QueueFull,
    RequestError,
    SandboxServiceError,
    ServiceError,
)

_log = structlog.get_logger(__name__)
_MOST_ERRORS_TOLD = 100
# After these pydantic puts the branch of a union that it took, which is no field.
_AN_ITEM = "an item"
_LISTS_OF_KINDS = {"tests", "sources"}
_BRANCHING = {"checker", "reward", _AN_ITEM}


class FieldError(NamedTuple):
    """One field that does not fit."""

    field: str
    """Path as the caller would write it: `tests[0].expected_stdout`."""
    message: str
    """Why it does not fit."""


class InvalidBody(InvalidSubmission):
    """One or more fields of the body do not fit."""

    def __init__(self, fields: Sequence[FieldError], code: str | None = None) -> None:
        first = fields[0]
        super().__init__(f"{first.field}: {first.message}", field=first.field)
        self.fields = fields[:_MOST_ERRORS_TOLD]
        self.specific_code = code or self.code


def field_path(location: Sequence[str | int]) -> str:
    """Writes pydantic's location as a path, without the branches of unions."""
    path = ""
    before: str | int = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
            before = _AN_ITEM if before in _LISTS_OF_KINDS else ""
            continue
        if before not in _BRANCHING:
            path += f".{part}" if path else part
        before = part if before not in _BRANCHING else ""
    return path or "body"


def field_errors(errors: Iterable[Any]) -> list[FieldError]:
    """Turns pydantic's errors into ours, without those that only follow from others."""
    listed = list(errors)
    locations = [tuple(error["loc"]) for error in listed]

    def follows_from_another(error: Any) -> bool:
        # A list with an invalid item is also called too short.
        at = tuple(error["loc"])
        return error["type"] == "too_short" and any(
            len(other) > len(at) and other[: len(at)] == at for other in locations
        )

    return [
        FieldError(field_path(error["loc"]), error["msg"].removeprefix("Value error, "))
        for error in listed
        if not follows_from_another(error)
    ]


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    fields: Sequence[FieldError] = (),
    headers: dict[str, str] | None = None,
) -> Response:
    """Returns an error as problem+json."""
    body: dict[str, Any] = {
        "type": f"urn:sandbox-service:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if fields:
        body["errors"] = [field._asdict() for field in fields]
    return JSONResponse(body, status, headers, media_type="application/problem+json")


def problem_of(error: SandboxServiceError) -> Response:
    """Returns one of our errors as problem+json."""
    headers: dict[str, str] = {}
    if isinstance(error, QueueFull):
        headers["Retry-After"] = str(math.ceil(error.retry_after_s))
    if isinstance(error, NotAuthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, InvalidBody):
        return problem(
            error.http_status, error.specific_code, str(error), fields=error.fields, headers=headers
        )
    field = error.field if isinstance(error, RequestError) else None
    fields = [FieldError(field, str(error))] if field else []
    return problem(error.http_status, error.code, str(error), fields=fields, headers=headers)


async def _ours(_: Request, error: Exception) -> Response:
    assert isinstance(error, SandboxServiceError)
    # A probe that asks before the first worker is up is no news.
    if isinstance(error, ServiceError) and not isinstance(error, NoWorkers):
        _log.warning("request_failed", code=error.code, reason=str(error))
    return problem_of(error)


async def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    headers = dict(error.headers or {})
    return problem(error.status_code, code, str(error.detail), headers=headers)


async def _parameters(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fields = [FieldError(field_path(item["loc"][1:]), item["msg"]) for item in error.errors()]
    return problem_of(InvalidBody(fields))


async def _unforeseen(request: Request, error: Exception) -> Response:
    _log.error("request_crashed", path=request.url.path, exc_info=error)
    return problem(500, SandboxServiceError.code, "the service failed; the request may be repeated")


def install_error_handlers(app: FastAPI) -> None:
    """Makes every answer that is an error problem+json."""
    app.add_exception_handler(SandboxServiceError, _ours)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _parameters)
    app.add_exception_handler(Exception, _unforeseen)
