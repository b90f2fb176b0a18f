"""`/v1/rewards`: many submissions in, their rewards out, in the order sent."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sandbox_service.api.documents import problems, takes
from sandbox_service.api.routes.submissions import state_json
from sandbox_service.api.service import read_model, service_of
from sandbox_service.api.waiting import GONE, Wait, unless_gone
from sandbox_service.schema.job import RewardsPending, RewardsRequest, RewardsResponse

router = APIRouter(prefix="/v1/rewards", tags=["rewards"])


@router.post(
    "",
    response_model=RewardsResponse,
    responses={202: {"model": RewardsPending}, **problems(400, 409, 413, 415, 422, 429, 503)},
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
    states = await unless_gone(
        request, service.broker.submit(submissions, wait_s=service.wait_s(wait))
    )
    if states is None:
        return GONE
    results = [state.result for state in states if state.result is not None]
    if len(results) < len(states):
        pending = b",".join(map(state_json, states))
        return Response(b'{"submissions":[%s]}' % pending, 202, media_type="application/json")
    # The results go out as the bytes that the workers stored.
    body = b'{"rewards":[%s],"results":[%s]}' % (
        b",".join(state.reward for state in states),
        b",".join(results),
    )
    return Response(body, media_type="application/json")
