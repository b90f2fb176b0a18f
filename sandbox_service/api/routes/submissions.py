"""`/v1/submissions`: one submission in, its result out."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sandbox_service.api.access import caller_of
from sandbox_service.api.bodies import read_model
from sandbox_service.api.documents import problems, takes
from sandbox_service.api.service import service_of
from sandbox_service.api.waiting import GONE, Wait, unless_gone
from sandbox_service.queue.broker import StoredState
from sandbox_service.queue.keys import reference
from sandbox_service.schema.job import JobState
from sandbox_service.schema.result import Result
from sandbox_service.schema.submission import Submission

router = APIRouter(prefix="/v1/submissions", tags=["submissions"])


def state_json(state: StoredState) -> bytes:
    """Writes a state around the stored bytes of its result."""
    result = state.result or b"null"
    # Ids are of a narrow alphabet, so they need no escaping.
    return b'{"id":"%s","status":"%s","result":%s}' % (
        state.id.encode(),
        state.status.value.encode(),
        result,
    )


def _json(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type="application/json")


@router.post(
    "",
    response_model=Result,
    responses={202: {"model": JobState}, **problems(400, 409, 413, 415, 422, 429, 503)},
    openapi_extra=takes(Submission),
)
async def submit(request: Request, wait: Wait = 0.0) -> Response:
    """Take one submission; answer with its result if it is there before `wait` is over.

    The same `id` with the same content is the same submission. Accepted means stored.
    """
    service = service_of(request)
    submission = await read_model(request, Submission)
    await service.check([submission], [""])
    submitted = await unless_gone(request, service.submit(request, [submission], wait))
    if submitted is None:
        return GONE
    state = (await service.states(submitted))[0]
    if state.result is None:
        return _json(state_json(state), 202)
    return _json(state.result)


@router.get("/{submission_id}", response_model=JobState, responses=problems(404, 503))
async def look(request: Request, submission_id: str, wait: Wait = 0.0) -> Response:
    """Tell where a submission is, with its result once it is finished."""
    service = service_of(request)
    ref = reference(caller_of(request).tenant, submission_id)
    state = await unless_gone(request, service.broker.wait(ref, service.wait_s(wait)))
    return GONE if state is None else _json(state_json(state))


@router.delete("/{submission_id}", response_model=JobState, responses=problems(404, 503))
async def cancel(request: Request, submission_id: str) -> Response:
    """Cancel a submission unless it is finished.

    A program that runs already runs to its end, and what comes of it is dropped.
    """
    state = await service_of(request).broker.cancel(
        reference(caller_of(request).tenant, submission_id)
    )
    return _json(state_json(state))
