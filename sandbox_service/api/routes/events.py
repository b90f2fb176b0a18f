"""`/v1/events`: what the dashboard shows, as server-sent events for whoever watches.

`/v1/recent` opens any tenant's submission for it; both need the scope `admin`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import cast

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response, StreamingResponse

from sandbox_service.api.documents import problems
from sandbox_service.api.routes.submissions import state_json
from sandbox_service.api.service import Service, service_of
from sandbox_service.dashboard.reader import Reader
from sandbox_service.dashboard.stream import PERIOD_S, Feed
from sandbox_service.queue.connection import redis_errors
from sandbox_service.queue.keys import reference
from sandbox_service.schema.job import JobState

_CANCEL_AGAIN_S = 0.1


def end_streams(app: FastAPI) -> None:
    """Ends the streams of an application that stops; by themselves they never would."""
    cast("Feed", app.state.feed).close()


@asynccontextmanager
async def _reading(app: FastAPI) -> AsyncIterator[None]:
    """Reads as long as the application lives, so that a page that opens has a past to show."""
    service = cast("Service", app.state.service)
    reader = Reader(service.broker, PERIOD_S)
    feed = Feed(reader.read, reader.look)
    app.state.feed = feed
    reading = asyncio.create_task(feed.run(PERIOD_S))
    yield
    while not reading.done():
        # A cancellation that meets the end of a read from Redis can get lost.
        reading.cancel()
        await asyncio.wait((reading,), timeout=_CANCEL_AGAIN_S)
    with suppress(asyncio.CancelledError):
        reading.result()


router = APIRouter(tags=["dashboard"], lifespan=_reading)


# An endless answer is nothing that tools which try out a schema can deal with.
@router.get("/v1/events", include_in_schema=False)
async def events(request: Request) -> StreamingResponse:
    """Tell every few seconds how the service is.

    The first event is `past`, then come `snapshot`, or `trouble` where there are no figures.
    """
    feed = cast("Feed", request.app.state.feed)
    return StreamingResponse(
        feed.events(),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


@router.get(
    "/v1/recent/{tenant}/{submission_id}",
    response_model=JobState,
    responses=problems(401, 403, 404, 503),
)
async def recent(request: Request, tenant: str, submission_id: str) -> Response:
    """Tell where a submission of any tenant is, with its result once it is finished."""
    with redis_errors():
        states = await service_of(request).broker.states([reference(tenant, submission_id)])
    return Response(state_json(states[0]), media_type="application/json")
