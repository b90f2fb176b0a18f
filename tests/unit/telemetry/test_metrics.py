import pytest

from sandbox_service.schema.job import QueueState
from sandbox_service.telemetry.metrics import HttpMetrics, judged, observed


def _text(**counters: float) -> str:
    queue = QueueState(name="default", depth=3, started=2, workers=1)
    return HttpMetrics().render(counters, [queue], 4).decode()


@pytest.mark.parametrize(
    ("value", "bound"), [(0.0, "0.005"), (0.005, "0.005"), (0.006, "0.01"), (999.0, "+Inf")]
)
def test_observation_falls_into_the_bucket_that_bounds_it(value: float, bound: str) -> None:
    assert observed("run_s", value) == {f"run_s:bucket:{bound}": 1, "run_s:sum": value}


def test_histogram_is_cumulative() -> None:
    text = _text(**{"run_s:bucket:0.005": 2, "run_s:bucket:0.01": 1, "run_s:sum": 0.02})

    assert 'sandbox_run_seconds_bucket{le="0.005"} 2.0' in text
    assert 'sandbox_run_seconds_bucket{le="+Inf"} 3.0' in text
    assert "sandbox_run_seconds_sum 0.02" in text


def test_verdicts_are_labels() -> None:
    assert 'sandbox_verdicts_total{verdict="accepted"} 1.0' in _text(**judged("accepted"))


def test_queues_are_gauges() -> None:
    text = _text()

    assert 'sandbox_queue_depth{queue="default"} 3.0' in text
    assert 'sandbox_queue_started{queue="default"} 2.0' in text
    assert 'sandbox_queue_workers{queue="default"} 1.0' in text


def test_pool_is_counted() -> None:
    text = _text(sandboxes_started=7, sandboxes_lost=2)

    assert "sandbox_pool_open 4.0" in text
    assert "sandbox_pool_started_total 7.0" in text
    assert "sandbox_pool_lost_total 2.0" in text


def test_what_never_happened_is_zero() -> None:
    assert "sandbox_submissions_canceled_total 0.0" in _text()


def test_oldest_submission_is_a_gauge() -> None:
    queue = QueueState(name="eval", depth=1, started=0, workers=1, oldest_s=2.5)
    text = HttpMetrics().render({}, [queue], 0).decode()

    assert 'sandbox_queue_oldest_seconds{queue="eval"} 2.5' in text


@pytest.mark.parametrize(("internal", "share"), [(0, "0.0"), (1, "0.25")])
def test_share_of_internal_errors_is_told(internal: int, share: str) -> None:
    counters = {"verdict:accepted": 3.0, "verdict:internal_error": float(internal)}

    assert f"sandbox_internal_error_ratio {share}" in _text(**counters)
