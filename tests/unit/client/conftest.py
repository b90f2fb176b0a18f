"""Clients of a service that is a function of the test."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from sandbox_service.client.options import ClientOptions
from sandbox_service.client.sync import SandboxClient
from tests.unit.client.fake_service import NO_WAITS

Handler = Callable[[httpx.Request], httpx.Response]
Connect = Callable[[Handler], SandboxClient]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Makes clients that do not pause between attempts."""
    clients: list[SandboxClient] = []

    def connected(handler: Handler, options: ClientOptions = NO_WAITS) -> SandboxClient:
        client = SandboxClient(
            "http://sandbox.test", options=options, transport=httpx.MockTransport(handler)
        )
        clients.append(client)
        return client

    yield connected
    for client in clients:
        client.close()
