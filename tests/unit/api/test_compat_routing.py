"""Which foreign wire formats are answered."""

import httpx
import pytest
from fastapi import FastAPI

from sandbox_service.api.compat.routing import routers_on
from sandbox_service.settings import Settings


async def is_answered(path, *names):
    app = FastAPI()
    for router in routers_on(Settings(compat=names)):
        app.include_router(router)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        # All of them are posted to: the path is known where GET is not allowed.
        return (await client.get(path)).status_code == 405


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("sandboxfusion", "/run_code"),
        ("piston", "/api/v2/execute"),
        ("judge0", "/submissions"),
        ("open_instruct", "/test_program"),
        ("openrlhf", "/openrlhf/reward"),
        ("slime", "/slime/reward"),
    ],
)
async def test_each_format_can_be_switched_off_and_on_alone(name, path):
    others = [each for each in Settings().compat if each != name]
    assert await is_answered(path, name)
    assert not await is_answered(path, *others)


async def test_no_format_needs_to_be_on():
    assert not await is_answered("/run_code")
