"""What went wrong with a request, as one of our errors, and whether a repeat may help."""

import math

import httpx
from pydantic import BaseModel, ValidationError

from sandbox_service import errors
from sandbox_service.errors import (
    QueueFull,
    RequestError,
    SandboxServiceError,
    ServiceError,
    ServiceUnavailable,
    UnexpectedResponse,
)

# The request did not get through, or not all of it, or the service says so itself.
_TRANSIENT_STATUS = frozenset({408, 429, 502, 503, 504})
_LONGEST_TEXT = 500


class _ProblemField(BaseModel):
    field: str = ""


class _Problem(BaseModel):
    code: str
    detail: str = ""
    errors: tuple[_ProblemField, ...] = ()


class Failed(Exception):
    """One attempt failed; `error` is what the caller gets if no other attempt succeeds."""

    def __init__(
        self,
        error: SandboxServiceError,
        *,
        is_transient: bool,
        retry_after_s: float | None = None,
        is_crash: bool = False,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.is_transient = is_transient
        self.retry_after_s = retry_after_s
        self.is_crash = is_crash
        """The service answered that it crashed: worth few repeats, not many."""


def failure_of_transport(error: httpx.HTTPError) -> Failed:
    """Returns what it means that there was no answer."""
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return Failed(RequestError(reason), is_transient=False)
    if isinstance(error, httpx.DecodingError | httpx.TooManyRedirects):
        return Failed(UnexpectedResponse(reason), is_transient=False)
    return Failed(
        ServiceUnavailable(f"the service did not answer: {reason}"),
        is_transient=True,
    )


def raise_for_failure(response: httpx.Response) -> None:
    """Looks at an answer that is read.

    Raises:
        Failed: it is an error.
    """
    if response.is_success:
        return
    retry_after_s = _retry_after_s(response)
    is_crash = response.status_code == httpx.codes.INTERNAL_SERVER_ERROR
    raise Failed(
        _error(response, retry_after_s),
        is_transient=is_crash or response.status_code in _TRANSIENT_STATUS,
        retry_after_s=retry_after_s,
        is_crash=is_crash,
    )


def _error(response: httpx.Response, retry_after_s: float | None) -> SandboxServiceError:
    try:
        problem = _Problem.model_validate_json(response.content)
    except ValidationError:
        return _foreign(response)
    known = _BY_CODE.get(problem.code) or _by_status(response.status_code)
    if issubclass(known, QueueFull):
        return known(problem.detail, retry_after_s=retry_after_s or 1.0)
    if issubclass(known, RequestError):
        field = problem.errors[0].field if problem.errors else None
        return known(problem.detail, field=field or None)
    return known(problem.detail)


def _foreign(response: httpx.Response) -> SandboxServiceError:
    """Returns an error for an answer that is not ours, such as a proxy's."""
    text = f"HTTP {response.status_code}: {response.text[:_LONGEST_TEXT]}"
    if response.status_code in _TRANSIENT_STATUS:
        return ServiceUnavailable(text)
    if response.is_client_error:
        return RequestError(text)
    return UnexpectedResponse(text)


def _by_status(status: int) -> type[SandboxServiceError]:
    return RequestError if status < 500 else ServiceError


def _retry_after_s(response: httpx.Response) -> float | None:
    try:
        seconds = float(response.headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


_BY_CODE: dict[str, type[SandboxServiceError]] = {
    each.code: each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, SandboxServiceError)
}
