"""The page and its stream over HTTP."""

from collections.abc import AsyncIterator
from types import SimpleNamespace

import httpx
import pytest

from sandbox_service.api.app import create_app
from sandbox_service.api.routes.events import events
from sandbox_service.dashboard.page import page_files
from sandbox_service.settings import Settings
from tests.factories import make_languages


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings(api_keys=("secret",))
    app = create_app(settings, make_languages(), "unix:///no/such/redis.sock")
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


async def test_page_needs_no_key_and_has_a_policy(client):
    answer = await client.get("/dashboard")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("name", page_files())
async def test_every_file_of_the_page_is_given(client, name):
    answer = await client.get(f"/dashboard/{name}")
    assert answer.content == page_files()[name].content
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["nothing.js", "..%2Fpage.py", "__init__.py"])
async def test_nothing_else_is_given(client, name):
    assert (await client.get(f"/dashboard/{name}")).status_code == 404


@pytest.mark.parametrize("path", ["/v1/events", "/v1/recent/default/a"])
async def test_figures_need_a_key(client, path):
    assert (await client.get(path)).status_code == 401


async def test_stream_is_not_kept_or_gathered_on_its_way():
    feed = SimpleNamespace(events=lambda: iter(()))
    app = SimpleNamespace(state=SimpleNamespace(feed=feed))
    answer = await events(SimpleNamespace(app=app))
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.media_type == "text/event-stream"
