"""Everything that can fail on our side, as one tree.

What the submitted program does wrong is data (`Verdict`); what *we* fail at is one of these.

    SandboxServiceError
    ├── RequestError                 the caller's fault, 4xx
    │   ├── InvalidSubmission        a field does not fit
    │   ├── UnknownLanguage
    │   ├── PayloadTooLarge
    │   ├── UnsupportedEncoding
    │   ├── InvalidJson
    │   ├── BodyTimeout
    │   ├── NotAuthenticated
    │   ├── NotAllowed
    │   ├── NotFound
    │   ├── Conflict
    │   └── QueueFull                carries `retry_after_s`
    │       └── RateLimited
    └── ServiceError                 ours, 5xx
        ├── SettingsError            refuses to start
        ├── QueueUnavailable         Redis does not answer
        ├── NoWorkers                nobody takes jobs
        ├── TamperedData             Redis holds what we did not write
        ├── ServiceUnavailable       the client did not reach the service, for as long as it tried
        ├── UnexpectedResponse       what came back is not this service's answer
        ├── NotFinished              the client's time was over first; carries what is known
        └── SandboxError
            ├── EngineUnavailable    no Docker daemon, no bubblewrap
            │   └── InnerWallRefused no namespaces for a run inside a container
            ├── WallBroken           an attack of the self-test was not held
            ├── SandboxDied          the stream to a runner ended
            └── ProtocolViolation    a runner said something it may not say

Server and client share this table: the client raises the class the server meant, found by its
`code` and never by import.
"""

from collections.abc import Sequence
from typing import ClassVar


class SandboxServiceError(Exception):
    """Root of all errors raised by this package."""

    code: ClassVar[str] = "error"
    http_status: ClassVar[int] = 500


class RequestError(SandboxServiceError):
    """The request cannot be accepted as sent; `field` names the part that does not fit."""

    code = "request_error"
    http_status = 400

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class InvalidSubmission(RequestError):
    """A field of a submission is missing, unknown or out of range."""

    code = "invalid_submission"
    http_status = 422


class UnknownLanguage(InvalidSubmission):
    """No folder under `images/` carries this language name or alias."""

    code = "unknown_language"


class PayloadTooLarge(RequestError):
    """The body, or one field of it, is larger than the service takes."""

    code = "payload_too_large"
    http_status = 413


class UnsupportedEncoding(RequestError):
    """The body is not UTF-8 JSON, or it is compressed."""

    code = "unsupported_encoding"
    http_status = 415


class InvalidJson(RequestError):
    """The body is not JSON, or it is nested too deeply."""

    code = "invalid_json"


class BodyTimeout(RequestError):
    """The body did not arrive in time."""

    code = "body_timeout"
    http_status = 408


class NotAuthenticated(RequestError):
    """No API key, or one that is not known."""

    code = "not_authenticated"
    http_status = 401


class NotAllowed(RequestError):
    """The key is known but lacks the scope."""

    code = "not_allowed"
    http_status = 403


class NotFound(RequestError):
    """No such thing, or it belongs to another tenant."""

    code = "not_found"
    http_status = 404


class Conflict(RequestError):
    """The idempotency key was used before with other content."""

    code = "conflict"
    http_status = 409


class QueueFull(RequestError):
    """The queue is at its bound; try again after `retry_after_s` seconds."""

    code = "queue_full"
    http_status = 429

    def __init__(self, message: str, *, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class RateLimited(QueueFull):
    """The tenant sends more than it may; try again after `retry_after_s` seconds."""

    code = "rate_limited"


class ServiceError(SandboxServiceError):
    """The service failed; the same request may succeed later."""

    code = "service_error"


class SettingsError(ServiceError):
    """The configuration is contradictory or unsafe; the service refuses to start."""

    code = "settings_error"


class QueueUnavailable(ServiceError):
    """Redis does not answer."""

    code = "queue_unavailable"
    http_status = 503


class NoWorkers(ServiceError):
    """No worker is alive; what is accepted waits until one is."""

    code = "no_workers"
    http_status = 503


class ServiceUnavailable(ServiceError):
    """The client did not reach the service, for as long as it tried."""

    code = "service_unavailable"
    http_status = 503


class UnexpectedResponse(ServiceError):
    """What came back is not an answer of this service."""

    code = "unexpected_response"
    http_status = 502


class NotFinished(ServiceError):
    """The client's time was over before every result was there; the work goes on.

    `pending` names the submissions without a result, so that they can be asked for later.
    """

    code = "not_finished"
    http_status = 504

    def __init__(self, message: str, *, pending: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.pending = tuple(pending)


class TamperedData(ServiceError):
    """What Redis holds was not written by this service, or was changed since."""

    code = "tampered_data"


class SandboxError(ServiceError):
    """A sandbox could not do its work; the submission is `internal_error`, reward None."""

    code = "sandbox_error"


class EngineUnavailable(SandboxError):
    """The engine cannot start sandboxes on this machine."""

    code = "engine_unavailable"
    http_status = 503


class InnerWallRefused(EngineUnavailable):
    """The kernel or a security module refuses the namespaces of a jail."""

    code = "inner_wall_refused"


class WallBroken(SandboxError):
    """An attack of the self-test was not held; the service refuses to serve."""

    code = "wall_broken"
    http_status = 503


class SandboxDied(SandboxError):
    """The byte stream to a runner ended before its report."""

    code = "sandbox_died"


class ProtocolViolation(SandboxError):
    """A runner sent bytes that the contract does not allow."""

    code = "protocol_violation"
