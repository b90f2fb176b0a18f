"""Who may ask: API keys in `Authorization: Bearer …`, none needed on loopback."""

import re
from hashlib import sha256
from hmac import compare_digest
from ipaddress import ip_address

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox_service.api import access
from sandbox_service.api.access import Caller
from sandbox_service.api.errors import problem_of
from sandbox_service.errors import (
    NotAllowed,
    NotAuthenticated,
    SandboxServiceError,
    SettingsError,
)
from sandbox_service.queue.api_keys import ApiKeyReader
from sandbox_service.settings import Settings

_PORT = re.compile(r"(?<!:):\d*$")
_log = structlog.get_logger("audit")


def is_loopback(host: str) -> bool:
    """Tells whether an address reaches this machine only."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_binding(settings: Settings, *, has_stored_keys: bool = False) -> None:
    """Makes sure that nobody else's machine can ask without a key.

    Raises:
        SettingsError: the address is not loopback and there is no key.
    """
    if not (is_loopback(settings.host) or settings.api_keys or has_stored_keys):
        raise SettingsError(
            f"{settings.host} can be reached from other machines: set SANDBOX_API_KEYS, "
            "make a key with `sandbox-service keys create`, or listen on 127.0.0.1"
        )
    if any(not key.get_secret_value() for key in settings.api_keys):
        raise SettingsError("an API key is empty")


class Authentication:
    """Lets requests with a key that allows them pass.

    Without keys in the settings, those that this machine's user sends on loopback pass, too.
    """

    def __init__(self, app: ASGIApp, settings: Settings, stored: ApiKeyReader) -> None:
        self._app = app
        self._digests = [_digest(key.get_secret_value()) for key in settings.api_keys]
        self._is_open = is_loopback(settings.host) and not settings.api_keys
        self._stored = stored

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or access.is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._caller(Headers(scope=scope))
            _check_scope(caller, scope)
        except SandboxServiceError as error:
            _log.warning(
                "request_refused", method=scope["method"], path=scope["path"], reason=error.code
            )
            await problem_of(error)(scope, receive, send)
            return
        scope["caller"] = caller
        is_audited = caller is not access.ANONYMOUS and scope["method"] != "GET"
        await self._app(scope, receive, _audited(scope, caller, send) if is_audited else send)

    async def _caller(self, headers: Headers) -> Caller:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        offered = key.strip()
        if scheme.lower() == "bearer" and offered:
            digest = _digest(offered)
            # Every key is compared, so the time does not tell which one was near.
            matches = [compare_digest(digest, known) for known in self._digests]
            if any(matches):
                return access.CONFIGURED
            stored = await self._stored.find(offered)
            if stored is not None:
                return access.caller_with(stored)
        elif self._is_open:
            _check_same_origin(headers)
            return access.ANONYMOUS
        raise NotAuthenticated("an API key is needed: Authorization: Bearer <key>")


def _check_scope(caller: Caller, scope: Scope) -> None:
    needed = access.scope_for(scope["method"], scope["path"])
    if needed not in caller.scopes:
        raise NotAllowed(f"the key lacks the scope {needed.value!r}")


def _audited(scope: Scope, caller: Caller, send: Send) -> Send:
    async def audited_send(message: Message) -> None:
        if message["type"] == "http.response.start":
            _log.info(
                "request_taken",
                key=caller.key_id,
                tenant=caller.tenant,
                method=scope["method"],
                path=scope["path"],
                status=message["status"],
            )
        await send(message)

    return audited_send


def _digest(key: str) -> bytes:
    return sha256(key.encode()).digest()


def _check_same_origin(headers: Headers) -> None:
    """Refuses web pages of other sites, which a browser on this machine may have open.

    Raises:
        NotAllowed: the request comes from elsewhere, or believes to be elsewhere.
    """
    host = headers.get("host", "")
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != host:
        raise NotAllowed(f"requests from {origin} are not taken without an API key")
    if host and not is_loopback(_PORT.sub("", host)):
        raise NotAllowed(f"requests for {host!r} are not taken without an API key")
