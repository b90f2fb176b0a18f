"""Traces from the request to the run, if the extra `tracing` is installed and asked for.

The context of a trace travels inside the signed payload of a submission. Code, inputs and outputs
are no attributes of any span.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

from sandbox_service.errors import SettingsError


class Tracing(Protocol):
    """What the stages ask for."""

    def span(
        self, name: str, parent: Mapping[str, str] | None = None, **attributes: str | float
    ) -> AbstractContextManager[None]:
        """Measures what happens inside; `parent` is the context that came with a submission."""

    def past(self, name: str, parent: Mapping[str, str], seconds: float) -> None:
        """Notes what took so long and ends now."""

    def context(self) -> dict[str, str]:
        """Returns the context of the current span, as it travels; empty when there is none."""


class NoTracing:
    """Measures nothing."""

    def span(
        self, name: str, parent: Mapping[str, str] | None = None, **attributes: str | float
    ) -> AbstractContextManager[None]:
        return nullcontext()

    def past(self, name: str, parent: Mapping[str, str], seconds: float) -> None:
        pass

    def context(self) -> dict[str, str]:
        return {}


class OpenTelemetry:
    """Sends spans to a collector over OTLP."""

    def __init__(self, provider: Any, propagator: Any) -> None:
        self._tracer = provider.get_tracer("sandbox_service")
        self._propagator = propagator

    @contextmanager
    def span(
        self, name: str, parent: Mapping[str, str] | None = None, **attributes: str | float
    ) -> Iterator[None]:
        context = self._propagator.extract(dict(parent)) if parent else None
        with self._tracer.start_as_current_span(name, context=context, attributes=attributes):
            yield

    def past(self, name: str, parent: Mapping[str, str], seconds: float) -> None:
        began_ns = time.time_ns() - int(seconds * 1e9)
        context = self._propagator.extract(dict(parent)) if parent else None
        self._tracer.start_span(name, context=context, start_time=began_ns).end()

    def context(self) -> dict[str, str]:
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier


def tracing_to(endpoint: str | None, stage: str) -> Tracing:
    """Returns what measures; nothing without an endpoint.

    Raises:
        SettingsError: there is an endpoint, but the extra `tracing` is not installed.
    """
    if endpoint is None:
        return NoTracing()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - an extra
            TraceContextTextMapPropagator,
        )
    except ImportError as error:
        raise SettingsError("SANDBOX_OTLP_ENDPOINT needs the extra `tracing`") from error
    provider = TracerProvider(resource=Resource.create({"service.name": f"sandbox-{stage}"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    return OpenTelemetry(provider, TraceContextTextMapPropagator())
