"""One request and what its answer means: the same for both clients, without any input or output.

A *flow* is a generator that yields calls and is sent their responses; its return value is what a
method of the clients returns. So whatever takes several requests is written once.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ValidationError

from sandbox_service.client.retry import RetryPolicy
from sandbox_service.errors import UnexpectedResponse

T = TypeVar("T")
ModelT = TypeVar("ModelT", bound=BaseModel)

_CONNECT_TIMEOUT_S = 5.0
# Answers come from Redis at once; what is above that is the network and a busy service.
_ANSWER_TIMEOUT_S = 30.0
_KEEP_ALIVE_S = 30.0


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """What can be tuned."""

    retry: RetryPolicy = field(default_factory=RetryPolicy)
    """How long and how often a call is tried while the service is away or full."""

    wait_slice_s: float = 30.0
    """Longest time that one request waits for results; longer waits are several requests."""

    answer_timeout_s: float = _ANSWER_TIMEOUT_S
    """Seconds for an answer, on top of the time that the request asks the service to wait."""

    max_connections: int = 64
    """Connections that one client holds at most."""

    request_bytes: int = 8 * 1024 * 1024
    """Many submissions are sent in several requests of about this size."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request; every call may be repeated, because submissions carry their ids."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    wait_s: float | None = None
    """Time that the service shall wait for results."""
    within_s: float | None = None
    """Time after which no further attempt is worth it; None leaves that to the policy."""

    def request(self, client: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """Makes the request of a client that has the timeout for an answer."""
        timeout = dict(client.timeout.as_dict())
        timeout["read"] = (timeout["read"] or 0.0) + (self.wait_s or 0.0)
        params = dict(self.params)
        if self.wait_s is not None:
            params["wait"] = f"{self.wait_s:g}"
        return client.build_request(
            self.method,
            self.path,
            params=params,
            content=self.content,
            headers={"Content-Type": "application/json"} if self.content is not None else None,
            timeout=httpx.Timeout(**timeout),
        )


Flow = Generator[Call, httpx.Response, T]


def connection_settings(
    base_url: str, api_key: str | None, options: ClientOptions
) -> dict[str, Any]:
    """Returns the arguments that both kinds of httpx client take."""
    return {
        "base_url": base_url,
        "headers": {"Authorization": f"Bearer {api_key}"} if api_key else None,
        "timeout": httpx.Timeout(options.answer_timeout_s, connect=_CONNECT_TIMEOUT_S),
        "limits": httpx.Limits(
            max_connections=options.max_connections,
            max_keepalive_connections=options.max_connections,
            keepalive_expiry=_KEEP_ALIVE_S,
        ),
        # A proxy of the environment cannot reach this machine's loopback.
        "trust_env": not _is_loopback(base_url),
    }


def parse(model: type[ModelT], content: bytes | str) -> ModelT:
    """Reads a model; fields of a newer service are passed over.

    Raises:
        UnexpectedResponse: it is something else.
    """
    try:
        return model.model_validate_json(content, extra="ignore")
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise UnexpectedResponse(f"not a {model.__name__}: {first['msg']}") from error


def _is_loopback(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
