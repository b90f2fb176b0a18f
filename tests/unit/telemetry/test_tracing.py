import pytest

from sandbox_service.errors import SettingsError
from sandbox_service.telemetry import tracing
from sandbox_service.telemetry.tracing import NoTracing, OpenTelemetry, tracing_to

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="the extra `tracing` is not installed")
export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
simple = pytest.importorskip("opentelemetry.sdk.trace.export")
context = pytest.importorskip("opentelemetry.trace.propagation.tracecontext")


def test_nothing_is_traced_without_an_endpoint() -> None:
    tracer = tracing_to(None, "api")
    with tracer.span("submit"):
        assert tracer.context() == {}
    assert isinstance(tracer, NoTracing)


def test_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        __import__("sys").modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None
    )
    with pytest.raises(SettingsError, match="tracing"):
        tracing_to("http://127.0.0.1:4318/v1/traces", "api")


def test_spans_of_api_queue_worker_and_run_are_one_trace() -> None:
    exporter = export.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(simple.SimpleSpanProcessor(exporter))
    tracer = OpenTelemetry(provider, context.TraceContextTextMapPropagator())
    with tracer.span("submit"):
        carried = tracer.context()
    tracer.past("queue", carried, 0.5)
    with tracer.span("worker", carried, submission_id="t/a"), tracer.span("run"):
        pass

    spans = {span.name: span for span in exporter.get_finished_spans()}

    assert set(spans) == {"submit", "queue", "worker", "run"}
    assert len({span.context.trace_id for span in spans.values()}) == 1
    assert spans["run"].parent.span_id == spans["worker"].context.span_id
    assert spans["queue"].end_time - spans["queue"].start_time >= 0.4e9


def test_endpoint_makes_spans_for_a_collector() -> None:
    assert isinstance(tracing_to("http://127.0.0.1:9/v1/traces", "api"), tracing.OpenTelemetry)
