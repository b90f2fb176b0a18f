"""Bounds on request bodies, held while they are read: size as received, encoding, patience."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox_service.api.errors import problem_of
from sandbox_service.errors import BodyTimeout, PayloadTooLarge, RequestError, UnsupportedEncoding

_BODY_DEADLINE_S = 60.0


class BodyLimits:
    """Refuses bodies that are too large, compressed, or that do not arrive."""

    def __init__(self, app: ASGIApp, max_body_bytes: int) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._check_headers(Headers(scope=scope))
        except RequestError as error:
            await problem_of(error)(scope, receive, send)
            return
        await self._app(scope, self._bounded(receive), send)

    def _check_headers(self, headers: Headers) -> None:
        encoding = headers.get("content-encoding", "identity")
        if encoding.lower() != "identity":
            raise UnsupportedEncoding(f"bodies are not taken compressed ({encoding})", field="body")
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > self._max_body_bytes:
            raise self._too_large()

    def _bounded(self, receive: Receive) -> Receive:
        received = 0
        has_ended = False
        deadline = asyncio.get_running_loop().time() + _BODY_DEADLINE_S

        async def bounded_receive() -> Message:
            nonlocal received, has_ended
            if has_ended:
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message: MutableMapping[str, Any] = await receive()
            except TimeoutError as error:
                raise BodyTimeout(
                    f"the body did not arrive within {_BODY_DEADLINE_S:g} s", field="body"
                ) from error
            received += len(message.get("body", b""))
            if received > self._max_body_bytes:
                raise self._too_large()
            has_ended = not message.get("more_body", False)
            return message

        return bounded_receive

    def _too_large(self) -> PayloadTooLarge:
        return PayloadTooLarge(f"the body has more than {self._max_body_bytes} bytes", field="body")
