"""Every Prometheus metric of the service.

What happens in workers is counted in one Redis hash, in the same step that stores a result; the
API reads it when it is asked for metrics. What happens in an API process is counted there.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from sandbox_service.schema.job import QueueState

SECONDS_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
REWARD_BUCKETS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)

_HISTOGRAMS: dict[str, tuple[str, Sequence[float]]] = {
    "queued_s": ("Seconds from acceptance to the start of work", SECONDS_BUCKETS),
    "run_s": ("Seconds from the start of work to the result", SECONDS_BUCKETS),
    "reward": ("Rewards given", REWARD_BUCKETS),
}
_COUNTERS = {
    "accepted": "Submissions accepted",
    "canceled": "Submissions canceled",
    "retried": "Attempts that a broken sandbox made necessary",
    "late": "Submissions not run because their deadline had passed",
    "shared": "Submissions that took the result of an equal one, run once for both",
    "cache_hits": "Submissions that found a result in the cache",
    "cache_misses": "Submissions that asked the cache and were run",
}
_GAUGES = {
    "depth": "Submissions waiting",
    "started": "Submissions being run",
    "workers": "Workers that take submissions",
    "oldest_s": "Seconds for which the oldest submission has been waiting",
}
_POOL = {
    "sandboxes_started": "Sandboxes started by workers",
    "sandboxes_lost": "Sandboxes that broke",
}
_VERDICT = "verdict:"


def observed(name: str, value: float) -> dict[str, float]:
    """Returns the amounts by which one observation changes the shared hash."""
    _, buckets = _HISTOGRAMS[name]
    index = bisect_left(buckets, value)
    bound = str(buckets[index]) if index < len(buckets) else "+Inf"
    return {f"{name}:bucket:{bound}": 1, f"{name}:sum": value}


def judged(verdict: str) -> dict[str, float]:
    """Returns the amounts by which one verdict changes the shared hash."""
    return {_VERDICT + verdict: 1}


class HttpMetrics:
    """What one API process counts itself."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "sandbox_http_requests",
            "Requests answered",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "sandbox_http_request_seconds",
            "Seconds from request to answer",
            ["method", "route"],
            buckets=SECONDS_BUCKETS,
            registry=self.registry,
        )

    def render(
        self, counters: Mapping[str, float], queues: Sequence[QueueState], sandboxes: int
    ) -> bytes:
        """Returns the text that Prometheus reads."""
        shared = CollectorRegistry()
        shared.register(_Shared(counters, queues, sandboxes))
        return generate_latest(self.registry) + generate_latest(shared)


class _Shared:
    """The shared hash and the queues at one moment, as metrics."""

    def __init__(
        self, counters: Mapping[str, float], queues: Sequence[QueueState], sandboxes: int
    ) -> None:
        self._counters = counters
        self._queues = queues
        self._sandboxes = sandboxes

    def collect(self) -> Iterator[Metric]:
        for name, text in _COUNTERS.items():
            value = self._counters.get(name, 0)
            yield CounterMetricFamily(f"sandbox_submissions_{name}", text, value=value)
        for name, text in _POOL.items():
            value = self._counters.get(name, 0)
            title = f"sandbox_pool_{name.removeprefix('sandboxes_')}"
            yield CounterMetricFamily(title, text, value=value)
        verdicts = CounterMetricFamily("sandbox_verdicts", "Results stored", labels=["verdict"])
        for field, value in sorted(self._counters.items()):
            if field.startswith(_VERDICT):
                verdicts.add_metric([field.removeprefix(_VERDICT)], value)
        yield verdicts
        for name in _HISTOGRAMS:
            yield self._histogram(name)
        yield from self._gauges()

    def _histogram(self, name: str) -> Metric:
        text, buckets = _HISTOGRAMS[name]
        running = 0.0
        rows: list[tuple[str, float]] = []
        for bound in [*map(str, buckets), "+Inf"]:
            running += self._counters.get(f"{name}:bucket:{bound}", 0)
            rows.append((bound, running))
        title = f"sandbox_{name.removesuffix('_s')}_seconds" if name.endswith("_s") else name
        return HistogramMetricFamily(
            title if title != name else f"sandbox_{name}",
            text,
            buckets=rows,
            sum_value=self._counters.get(f"{name}:sum", 0.0),
        )

    def _gauges(self) -> Iterator[Metric]:
        for attribute, text in _GAUGES.items():
            name = attribute.replace("_s", "_seconds") if attribute.endswith("_s") else attribute
            gauge = GaugeMetricFamily(f"sandbox_queue_{name}", text, labels=["queue"])
            for queue in self._queues:
                gauge.add_metric([queue.name], queue.model_dump()[attribute])
            yield gauge
        yield GaugeMetricFamily(
            "sandbox_pool_open", "Sandboxes that workers have", value=self._sandboxes
        )
        yield GaugeMetricFamily(
            "sandbox_internal_error_ratio",
            "Share of all results that carry no information because the service failed",
            value=self._internal_error_share(),
        )

    def _internal_error_share(self) -> float:
        total = sum(value for field, value in self._counters.items() if field.startswith(_VERDICT))
        return self._counters.get(f"{_VERDICT}internal_error", 0) / total if total else 0.0
