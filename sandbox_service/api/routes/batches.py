"""`/v1/batches`: many submissions in, their results out as they are done."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import JsonValue

from sandbox_service.api.access import caller_of
from sandbox_service.api.bodies import lines, parse, read_model, with_defaults
from sandbox_service.api.documents import problems, takes
from sandbox_service.api.service import Service, service_of
from sandbox_service.errors import PayloadTooLarge, SandboxServiceError
from sandbox_service.queue.batches import BatchLine, OpenBatch
from sandbox_service.schema.base import Model
from sandbox_service.schema.job import (
    BatchCreated,
    BatchId,
    BatchRequest,
    BatchResult,
    BatchState,
)
from sandbox_service.schema.submission import Submission

NDJSON = "application/x-ndjson"
_STORED_AT_ONCE = 256
_HEADER_FIELDS = ({"defaults"}, {"id"}, {"id", "defaults"})

router = APIRouter(prefix="/v1/batches", tags=["batches"])


class BatchHeader(Model):
    """What the first line of a batch in NDJSON may be instead of a submission."""

    defaults: dict[str, JsonValue] = {}
    """Fields of a submission for all that do not have them."""

    id: BatchId | None = None
    """Idempotency key."""


@router.post(
    "",
    status_code=202,
    responses=problems(400, 408, 409, 413, 415, 422, 429, 503),
    openapi_extra=takes(BatchRequest, NDJSON),
)
async def create(request: Request) -> BatchCreated:
    """Take many submissions; their results are read from `/v1/batches/{id}/results`.

    The body is JSON, or one submission a line (`application/x-ndjson`), which is stored while it
    arrives. The first line may be `{"id": …, "defaults": {…}}`. If anything in it is refused, the
    whole batch is, and what was stored of it is canceled.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type == NDJSON:
        return await _from_lines(request)
    service = service_of(request)
    body = await read_model(request, BatchRequest)
    _check_size(service, len(body.submissions))
    submissions: list[Submission] = []
    for at, each in enumerate(body.submissions):
        submissions.append(with_defaults(Submission, each, body.defaults, f"submissions[{at}]."))
        if len(submissions) % _STORED_AT_ONCE == 0:
            # Many at once must not keep everybody else waiting.
            await asyncio.sleep(0)
    await _check(service, submissions, 0)
    tenant = caller_of(request).tenant
    await service.broker.check_depth(tenant, len(submissions))
    async with service.batches.receiving(tenant, body.id) as batch:
        for at in range(0, len(submissions), _STORED_AT_ONCE):
            await _add(service, batch, submissions[at : at + _STORED_AT_ONCE])
    return BatchCreated(id=batch.id, count=batch.count)


@router.get("/{batch_id}", responses=problems(404, 503))
async def look(request: Request, batch_id: str) -> BatchState:
    """Count the submissions of a batch by status."""
    return await service_of(request).batches.state(caller_of(request).tenant, batch_id)


@router.get(
    "/{batch_id}/results",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "One result a line, in the order in which they are done.",
            "content": {NDJSON: {"schema": BatchResult.model_json_schema()}},
        },
        **problems(404, 422, 503),
    },
)
async def results(
    request: Request,
    batch_id: str,
    after: Annotated[
        int, Query(ge=0, le=2**53, description="The `cursor` of the last line that was read.")
    ] = 0,
) -> Response:
    """Give results as they are done, one a line, until the batch is.

    Whoever loses the connection goes on with `after`.
    """
    service, tenant = service_of(request), caller_of(request).tenant
    await service.batches.state(tenant, batch_id)
    pages = service.batches.lines(tenant, batch_id, after)
    return StreamingResponse(_ndjson(pages), media_type=NDJSON)


@router.delete("/{batch_id}", responses=problems(404, 503))
async def cancel(request: Request, batch_id: str) -> BatchState:
    """Cancel the submissions of a batch that are not finished."""
    return await service_of(request).batches.cancel(caller_of(request).tenant, batch_id)


async def _ndjson(pages: AsyncIterator[list[BatchLine]]) -> AsyncIterator[bytes]:
    async for page in pages:
        yield b"".join(map(_line, page))


def _line(line: BatchLine) -> bytes:
    state = line.state
    return b'{"cursor":%d,"index":%d,"id":"%s","status":"%s","result":%s}\n' % (
        line.cursor,
        line.index,
        state.id.encode(),
        state.status.value.encode(),
        state.result or b"null",
    )


async def _from_lines(request: Request) -> BatchCreated:
    service, tenant = service_of(request), caller_of(request).tenant
    reader = lines(request, service.settings.max_body_bytes)
    first = await anext(reader, b"")
    header = _header(first)
    async with service.batches.receiving(tenant, header.id if header else None) as batch:
        await _store(service, batch, _submissions(reader, first, header))
        if batch.count == 0:
            # The same words as for an empty list.
            parse(BatchRequest, b'{"submissions":[]}')
    return BatchCreated(id=batch.id, count=batch.count)


async def _submissions(
    reader: AsyncIterator[bytes], first: bytes, header: BatchHeader | None
) -> AsyncIterator[Submission]:
    defaults = header.defaults if header else {}
    at = 0
    if header is None and first:
        yield _submission(first, {}, at)
        at += 1
    async for line in reader:
        yield _submission(line, defaults, at)
        at += 1


async def _store(
    service: Service, batch: OpenBatch, submissions: AsyncIterator[Submission]
) -> None:
    part: list[Submission] = []
    async for submission in submissions:
        part.append(submission)
        if len(part) == _STORED_AT_ONCE:
            _check_size(service, batch.count + len(part))
            await _check(service, part, batch.count)
            await _add(service, batch, part)
            part = []
    if part:
        _check_size(service, batch.count + len(part))
        await _check(service, part, batch.count)
        await _add(service, batch, part)


async def _add(service: Service, batch: OpenBatch, part: list[Submission]) -> None:
    await service.batches.add(batch, part, service.tracing.context())


def _header(first: bytes) -> BatchHeader | None:
    try:
        parsed: Any = parse(_AnyObject, first).model_extra
    except SandboxServiceError:
        return None
    return parse(BatchHeader, first) if set(parsed or {}) in _HEADER_FIELDS else None


def _submission(line: bytes, defaults: dict[str, JsonValue], at: int) -> Submission:
    prefix = f"submissions[{at}]."
    if not defaults:
        return parse(Submission, line, prefix)
    value = parse(_AnyObject, line, prefix).model_extra
    return with_defaults(Submission, value or {}, defaults, prefix)


class _AnyObject(Model, extra="allow"):
    __pydantic_extra__: dict[str, JsonValue]


def _check_size(service: Service, count: int) -> None:
    most = service.settings.max_batch_size
    if count > most:
        raise PayloadTooLarge(f"a batch has at most {most} submissions here", field="submissions")


async def _check(service: Service, submissions: list[Submission], first: int) -> None:
    await service.check(
        submissions, [f"submissions[{first + at}]." for at in range(len(submissions))]
    )
