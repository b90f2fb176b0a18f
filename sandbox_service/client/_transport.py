"""One request and what its answer means: the same for both clients, without any input or output.

A *flow* is a generator that yields calls and is sent their responses; its return value is what a
method of the clients returns. So whatever takes several requests is written once.
"""

import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ValidationError

from sandbox_service.client.options import ClientOptions
from sandbox_service.errors import UnexpectedResponse

T = TypeVar("T")
ModelT = TypeVar("ModelT", bound=BaseModel)

_CONNECT_TIMEOUT_S = 5.0
_KEEP_ALIVE_S = 30.0
# What a busy service reads and stores of a large body before it answers.
_BYTES_PER_S = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Call:
    """One request; every call may be repeated, because submissions carry their ids."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    content_type: str = "application/json"
    wait_s: float | None = None
    """Time that the service shall wait for results."""
    within_s: float | None = None
    """Time after which no further attempt is worth it; None leaves that to the policy."""
    is_stream: bool = False
    """Whether the answer is read while it arrives."""

    def request(self, client: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """Makes the request of a client that has the timeout for an answer."""
        timeout = dict(client.timeout.as_dict())
        reading_s = len(self.content or b"") / _BYTES_PER_S
        timeout["read"] = (timeout["read"] or 0.0) + (self.wait_s or 0.0) + reading_s
        params = dict(self.params)
        if self.wait_s is not None:
            params["wait"] = f"{self.wait_s:g}"
        return client.build_request(
            self.method,
            self.path,
            params=params,
            content=self.content,
            headers={"Content-Type": self.content_type} if self.content is not None else None,
            timeout=httpx.Timeout(**timeout),
        )


Flow = Generator[Call, httpx.Response, T]


class Patience:
    """The time that a caller gives, in slices that one request waits."""

    def __init__(
        self, timeout_s: float | None, slice_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._slice_s = slice_s
        self._until = None if timeout_s is None else clock() + timeout_s

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self._until is not None and self._clock() >= self._until

    @property
    def left_s(self) -> float | None:
        """Seconds left; None when the caller has all the time that it takes."""
        return None if self._until is None else max(0.0, self._until - self._clock())

    def slice_s(self) -> float:
        """Returns how long the next request may wait."""
        left_s = self.left_s
        return self._slice_s if left_s is None else min(self._slice_s, left_s)


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
