"""Worker processes with a pipeline of the tests' own, and an application in this process."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandbox_service.api.app import create_app
from sandbox_service.settings import Settings
from tests.factories import make_languages

_FAKE_WORKER = Path(__file__).parent / "fake_worker.py"
_ROOT = Path(__file__).parents[2]

StartWorker = Callable[..., "subprocess.Popen[bytes]"]
Connect = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def start_worker(redis_url: str) -> Iterator[StartWorker]:
    """Starts workers by name; those that live at the end of the test are killed."""
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, url: str = redis_url, **environment: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, str(_FAKE_WORKER), url, name],
            env={**os.environ, "PYTHONPATH": str(_ROOT), **environment},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def connect(redis_url: str) -> Connect:
    """Makes a client of an application with the given settings, whose Redis is real."""

    @asynccontextmanager
    async def connected(**settings: Any) -> AsyncIterator[httpx.AsyncClient]:
        app = create_app(Settings(**settings), make_languages(), redis_url)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
        ):
            yield client

    return connected


@pytest.fixture
async def client(connect: Connect) -> AsyncIterator[httpx.AsyncClient]:
    """An HTTP client of an application that takes little at once."""
    async with connect(max_body_bytes=100_000, max_queue_depth=50) as client:
        yield client
