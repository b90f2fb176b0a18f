"""What a request needs to be allowed, and who sent it."""

from typing import Final, NamedTuple, cast

from fastapi import Request

from sandbox_service.queue.keys import DEFAULT_TENANT
from sandbox_service.schema.access import ApiKey, Scope

# What an orchestrator probes, what says how to use the service, and a page without any data.
_OPEN_PATHS: Final = frozenset({"/healthz", "/readyz", "/docs", "/openapi.json", "/dashboard"})
_OPEN_FOLDERS: Final = ("/dashboard/",)
# These show all tenants at once.
_ADMIN_PATHS: Final = ("/v1/events", "/v1/recent", "/v1/dead-letters")
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Caller(NamedTuple):
    """Who sent a request."""

    key_id: str
    """Names the key in logs; `anonymous` on loopback without keys."""
    tenant: str
    scopes: frozenset[Scope]


ANONYMOUS: Final = Caller("anonymous", DEFAULT_TENANT, frozenset(Scope))
"""Whoever is on this machine, where no key is needed."""

CONFIGURED: Final = Caller("configured", DEFAULT_TENANT, frozenset(Scope))
"""Who has a key from the settings."""


def caller_with(key: ApiKey) -> Caller:
    """Returns who has a key."""
    scopes = frozenset(scope for scope in Scope if key.allows(scope))
    return Caller(key.id, key.tenant, scopes)


def is_open(path: str) -> bool:
    """Tells whether a path needs no key."""
    return path in _OPEN_PATHS or path.startswith(_OPEN_FOLDERS)


def scope_for(method: str, path: str) -> Scope:
    """Returns what a request needs."""
    if path.startswith(_ADMIN_PATHS):
        return Scope.ADMIN
    return Scope.READ if method in _READING else Scope.SUBMIT


def caller_of(request: Request) -> Caller:
    """Returns who sent a request."""
    return cast("Caller", request.scope["caller"])
