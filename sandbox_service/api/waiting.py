"""Requests that wait, and callers that go away meanwhile."""

import asyncio
from collections.abc import Awaitable
from typing import Annotated, TypeVar

from fastapi import Query, Request
from fastapi.responses import Response

ResultT = TypeVar("ResultT")

Wait = Annotated[
    float | None,
    Query(
        ge=0,
        allow_inf_nan=False,
        description="Seconds to wait for the result, at most the service's own maximum.",
    ),
]

GONE = Response(status_code=499)
"""For the logs: nobody reads it."""


async def unless_gone(request: Request, work: Awaitable[ResultT]) -> ResultT | None:
    """Returns what the work gives, or None once the caller has gone; what is accepted stays so."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_until_gone(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        working.cancel()
        leaving.cancel()


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
