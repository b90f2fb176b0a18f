"""What can be tuned about a client."""

from dataclasses import dataclass, field

from sandbox_service.client.retry import RetryPolicy


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """What can be tuned."""

    retry: RetryPolicy = field(default_factory=RetryPolicy)
    """How long and how often a call is tried while the service is away or full."""

    wait_slice_s: float = 30.0
    """Longest time that one request waits for results; longer waits are several requests."""

    answer_timeout_s: float = 30.0
    """Seconds for an answer, on top of the time that the request asks the service to wait."""

    max_connections: int = 64
    """Connections that one client holds at most."""

    request_bytes: int = 8 * 1024 * 1024
    """Many submissions are sent in several requests of about this size."""
