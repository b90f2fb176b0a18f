"""Counts requests and measures how long they take."""

import time

from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox_service.telemetry.metrics import HttpMetrics


class Instrumentation:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, metrics: HttpMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500

        async def counting_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, counting_send)
        finally:
            # The pattern, not the path: ids would make a time series each.
            matched = scope.get("route")
            route = matched.path if isinstance(matched, Route) else "unmatched"
            method = scope["method"] if route != "unmatched" else "any"
            self._metrics.requests.labels(method, route, str(status)).inc()
            self._metrics.seconds.labels(method, route).observe(time.perf_counter() - began)
