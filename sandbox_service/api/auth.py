"""Who may ask: API keys in `Authorization: Bearer …`, none needed on loopback."""

import re
from hashlib import sha256
from hmac import compare_digest
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from sandbox_service.api.errors import problem_of
from sandbox_service.errors import NotAllowed, NotAuthenticated, RequestError, SettingsError
from sandbox_service.settings import Settings

_PORT = re.compile(r"(?<!:):\d*$")
# What an orchestrator probes, and what says how to use the service.
_OPEN_PATHS = frozenset({"/healthz", "/readyz", "/docs", "/openapi.json"})


def is_loopback(host: str) -> bool:
    """Tells whether an address reaches this machine only."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_binding(settings: Settings) -> None:
    """Makes sure that nobody else's machine can ask without a key.

    Raises:
        SettingsError: the address is not loopback and there is no key.
    """
    if not is_loopback(settings.host) and not settings.api_keys:
        raise SettingsError(
            f"{settings.host} can be reached from other machines: set SANDBOX_API_KEYS, "
            "or listen on 127.0.0.1"
        )
    if any(not key.get_secret_value() for key in settings.api_keys):
        raise SettingsError("an API key is empty")


class Authentication:
    """Lets requests with a known key pass; without keys, those that this machine's user sends."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._digests = [_digest(key.get_secret_value()) for key in settings.api_keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in _OPEN_PATHS:
            try:
                self._check(Headers(scope=scope))
            except RequestError as error:
                await problem_of(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check(self, headers: Headers) -> None:
        if not self._digests:
            _check_same_origin(headers)
            return
        scheme, _, key = headers.get("authorization", "").partition(" ")
        offered = _digest(key.strip())
        # Every key is compared, so the time does not tell which one was near.
        matches = [compare_digest(offered, digest) for digest in self._digests]
        if scheme.lower() != "bearer" or not any(matches):
            raise NotAuthenticated("an API key is needed: Authorization: Bearer <key>")


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
