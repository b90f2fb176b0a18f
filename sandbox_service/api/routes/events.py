"""`/v1/events`: what the dashboard shows, as server-sent events for whoever watches."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import cast

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import StreamingResponse

from sandbox_service.api.service import Service
from sandbox_service.dashboard.reader import Reader
from sandbox_service.dashboard.stream import PERIOD_S, Feed


@asynccontextmanager
async def _reading(app: FastAPI) -> AsyncIterator[None]:
    """Reads as long as the application lives, so that a page that opens has a past to show."""
    service = cast("Service", app.state.service)
    reader = Reader(service.broker, PERIOD_S)
    feed = Feed(reader.read, reader.look)
    app.state.feed = feed
    reading = asyncio.create_task(feed.run(PERIOD_S))
    yield
    reading.cancel()
    with suppress(asyncio.CancelledError):
        await reading


# An endless answer is nothing that tools which try out a schema can deal with.
router = APIRouter(tags=["dashboard"], lifespan=_reading, include_in_schema=False)


@router.get("/v1/events")
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
