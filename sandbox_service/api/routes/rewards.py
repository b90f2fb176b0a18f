"""`/v1/rewards`: many submissions in, their rewards out, in the order sent."""

from collections.abc import AsyncIterator, Sequence

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from sandbox_service.api.bodies import read_model
from sandbox_service.api.documents import problems, takes
from sandbox_service.api.routes.submissions import state_json
from sandbox_service.api.service import service_of
from sandbox_service.api.waiting import GONE, Wait, unless_gone
from sandbox_service.queue.broker import Broker
from sandbox_service.queue.connection import redis_errors
from sandbox_service.queue.reader import READ_AT_ONCE
from sandbox_service.schema.job import RewardsPending, RewardsRequest, RewardsResponse

_JSON = "application/json"
# Results beyond it are read a second time rather than kept.
_KEPT_BYTES = 8 * 1024 * 1024

router = APIRouter(prefix="/v1/rewards", tags=["rewards"])


@router.post(
    "",
    response_model=RewardsResponse,
    responses={202: {"model": RewardsPending}, **problems(400, 408, 409, 413, 415, 422, 429, 503)},
    openapi_extra=takes(RewardsRequest),
)
async def rewards(request: Request, wait: Wait = None) -> Response:
    """Take submissions and answer with their rewards once all are done.

    Without `wait` it is the service's maximum. When it is over before all are done the answer is
    202 with ids and states; the results follow under `/v1/submissions/{id}`. When an `id` was
    used before with other content the answer is 409, and the other submissions are accepted.
    """
    service = service_of(request)
    submissions = (await read_model(request, RewardsRequest)).submissions
    await service.check(submissions, [f"submissions[{at}]." for at in range(len(submissions))])
    submitted = await unless_gone(request, service.submit(request, submissions, wait))
    if submitted is None:
        return GONE
    if submitted.is_done:
        return await _done(service.broker, submitted.refs)
    states = await service.states(submitted)
    if all(state.result is not None for state in states):
        return await _done(service.broker, submitted.refs)
    return Response(
        b'{"submissions":[%s]}' % b",".join(map(state_json, states)), 202, media_type=_JSON
    )


async def _done(broker: Broker, refs: Sequence[str]) -> Response:
    """Answers with results as the bytes that the workers stored."""
    rewards: list[bytes] = []
    kept: list[bytes] = []
    size = 0
    for at in range(0, len(refs), READ_AT_ONCE):
        with redis_errors():
            states = await broker.states(refs[at : at + READ_AT_ONCE])
        rewards += [state.reward for state in states]
        page = b",".join(state.result or b"null" for state in states)
        size += len(page)
        if size <= _KEPT_BYTES:
            kept.append(page)
    head = b'{"rewards":[%s],"results":[' % b",".join(rewards)
    if size <= _KEPT_BYTES:
        return Response(b"%s%s]}" % (head, b",".join(kept)), media_type=_JSON)
    return StreamingResponse(_streamed(broker, refs, head, kept), media_type=_JSON)


async def _streamed(
    broker: Broker, refs: Sequence[str], head: bytes, kept: Sequence[bytes]
) -> AsyncIterator[bytes]:
    yield head
    for page in kept:
        yield page + b","
    first = len(kept) * READ_AT_ONCE
    for at in range(first, len(refs), READ_AT_ONCE):
        states = await broker.states(refs[at : at + READ_AT_ONCE])
        page = b",".join(state.result or b"null" for state in states)
        yield (b"," if at > first else b"") + page
    yield b"]}"
