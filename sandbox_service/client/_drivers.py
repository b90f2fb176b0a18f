"""Drives flows: sends their calls, tries again as the policy says, hands the answers back."""

from types import TracebackType
from typing import Self, TypeVar

import httpx
import tenacity

from sandbox_service.client._failures import Failed, failure_of_transport, raise_for_failure
from sandbox_service.client._transport import (
    Call,
    Flow,
    Patience,
    connection_settings,
)
from sandbox_service.client.options import ClientOptions
from sandbox_service.errors import SandboxServiceError

T = TypeVar("T")


class BlockingDriver:
    """Sends from the thread that calls."""

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8000",
        *,
        api_key: str | None = None,
        options: ClientOptions | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._options = options or ClientOptions()
        settings = connection_settings(base_url, api_key, self._options)
        self._http = httpx.Client(**settings, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes every connection."""
        self._http.close()

    def _patience(self, timeout_s: float | None) -> Patience:
        return Patience(timeout_s, self._options.wait_slice_s)

    def _run(self, flow: Flow[T]) -> T:
        try:
            call = next(flow)
            while True:
                try:
                    response = self._answer(call)
                except SandboxServiceError as error:
                    call = flow.throw(error)
                else:
                    call = flow.send(response)
        except StopIteration as end:
            returned: T = end.value
            return returned

    def _answer(self, call: Call) -> httpx.Response:
        attempts = tenacity.Retrying(**self._options.retry.arguments(call.within_s))
        try:
            return attempts(self._attempt, call)
        except Failed as failed:
            raise failed.error from failed.__cause__

    def _attempt(self, call: Call) -> httpx.Response:
        try:
            response = self._http.send(call.request(self._http), stream=call.is_stream)
            if response.is_error:
                response.read()
        except httpx.HTTPError as error:
            raise failure_of_transport(error) from error
        raise_for_failure(response)
        return response


class LoopDriver:
    """Sends from an event loop."""

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8000",
        *,
        api_key: str | None = None,
        options: ClientOptions | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._options = options or ClientOptions()
        settings = connection_settings(base_url, api_key, self._options)
        self._http = httpx.AsyncClient(**settings, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes every connection."""
        await self._http.aclose()

    def _patience(self, timeout_s: float | None) -> Patience:
        return Patience(timeout_s, self._options.wait_slice_s)

    async def _run(self, flow: Flow[T]) -> T:
        try:
            call = next(flow)
            while True:
                try:
                    response = await self._answer(call)
                except SandboxServiceError as error:
                    call = flow.throw(error)
                else:
                    call = flow.send(response)
        except StopIteration as end:
            returned: T = end.value
            return returned

    async def _answer(self, call: Call) -> httpx.Response:
        attempts = tenacity.AsyncRetrying(**self._options.retry.arguments(call.within_s))
        try:
            return await attempts(self._attempt, call)
        except Failed as failed:
            raise failed.error from failed.__cause__

    async def _attempt(self, call: Call) -> httpx.Response:
        try:
            response = await self._http.send(call.request(self._http), stream=call.is_stream)
            if response.is_error:
                await response.aread()
        except httpx.HTTPError as error:
            raise failure_of_transport(error) from error
        raise_for_failure(response)
        return response
