"""Bounds on request bodies, held while they are read: size as received, encoding, patience."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox_service.api.errors import problem_of
from sandbox_service.errors import BodyTimeout, PayloadTooLarge, RequestError, UnsupportedEncoding
from sandbox_service.settings import Settings

_BODY_DEADLINE_S = 60.0
# A body that is still coming after that must come at least this fast.
_SLOWEST_BYTES_PER_S = 16_384
_BATCHES = "/v1/batches"
_NDJSON = "application/x-ndjson"


class BodyLimits:
    """Refuses bodies that are too large, compressed, or that do not arrive."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        largest = self._largest(scope["path"], headers)
        try:
            _check_headers(headers, largest)
        except RequestError as error:
            await problem_of(error)(scope, receive, send)
            return
        await self._app(scope, _bounded(receive, largest), send)

    def _largest(self, path: str, headers: Headers) -> int:
        # What is stored line by line needs no memory.
        if path == _BATCHES and headers.get("content-type", "").startswith(_NDJSON):
            return self._settings.max_batch_bytes
        return self._settings.max_body_bytes


def _check_headers(headers: Headers, largest: int) -> None:
    encoding = headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        raise UnsupportedEncoding(f"bodies are not taken compressed ({encoding})", field="body")
    declared = headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > largest:
        raise _too_large(largest)


def _bounded(receive: Receive, largest: int) -> Receive:
    received = 0
    has_ended = False
    deadline = asyncio.get_running_loop().time() + _BODY_DEADLINE_S

    async def bounded_receive() -> Message:
        nonlocal received, has_ended
        if has_ended:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline + received / _SLOWEST_BYTES_PER_S):
                message: MutableMapping[str, Any] = await receive()
        except TimeoutError as error:
            raise BodyTimeout(
                f"the body did not arrive within {_BODY_DEADLINE_S:g} s", field="body"
            ) from error
        received += len(message.get("body", b""))
        if received > largest:
            raise _too_large(largest)
        has_ended = not message.get("more_body", False)
        return message

    return bounded_receive


def _too_large(largest: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"the body has more than {largest} bytes", field="body")
