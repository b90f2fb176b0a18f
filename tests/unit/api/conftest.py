"""An application whose Redis is not there: what it refuses, it refuses before it needs one."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
import pytest

from sandbox_service.api.app import create_app
from sandbox_service.settings import Settings
from tests.factories import make_languages

Connect = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def connect() -> Connect:
    """Makes a client of an application with the given settings."""

    @asynccontextmanager
    async def connected(**settings: Any) -> AsyncIterator[httpx.AsyncClient]:
        app = create_app(Settings(**settings), make_languages(), "unix:///no/such/redis.sock")
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client

    return connected


@pytest.fixture
async def client(connect: Connect) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application that takes bodies of up to 20,000 bytes."""
    async with connect(max_body_bytes=20_000) as client:
        yield client
