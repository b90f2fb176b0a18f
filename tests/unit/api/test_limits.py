import asyncio

import pytest

from sandbox_service.api import limits
from sandbox_service.api.limits import BodyLimits
from sandbox_service.errors import BodyTimeout
from sandbox_service.settings import Settings


async def test_body_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_BODY_DEADLINE_S", 0.0)

    async def app(scope: object, receive: object, send: object) -> None:
        await receive()

    async def never() -> dict:
        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(BodyTimeout):
        await BodyLimits(app, Settings())(
            {"type": "http", "path": "/", "headers": []}, never, never
        )


async def test_other_than_http_passes_untouched() -> None:
    seen = []

    async def app(scope: dict, receive: object, send: object) -> None:
        seen.append((scope, receive, send))

    await BodyLimits(app, 10)({"type": "lifespan"}, "receive", "send")

    assert seen == [({"type": "lifespan"}, "receive", "send")]
