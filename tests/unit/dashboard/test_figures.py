"""Arithmetic of the shared counters, checked by hand."""

import pytest

from sandbox_service.dashboard.figures import figures, quantile, results
from sandbox_service.telemetry.metrics import SECONDS_BUCKETS, judged, observed


def counts(**by_bound):
    return [by_bound.get(f"b{at}", 0.0) for at in range(len(SECONDS_BUCKETS))]


def added(*changes):
    total = {}
    for change in changes:
        for name, amount in change.items():
            total[name] = total.get(name, 0) + amount
    return total


def test_quantile_of_nothing_is_unknown():
    assert quantile(counts(), 0, 0.5) is None


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0.005), (0.5, 0.0075), (1.0, 0.01)])
def test_quantile_is_linear_within_a_bucket(share, expected):
    # Everything lies between 5 and 10 ms.
    assert quantile(counts(b1=10), 0, share) == pytest.approx(expected)


def test_quantile_crosses_buckets():
    # Half of ten is the fifth: the first of six between 5 and 10 ms.
    assert quantile(counts(b0=4, b1=6), 0, 0.5) == pytest.approx(0.005 + 0.005 / 6)


def test_quantile_beyond_the_last_bound_is_that_bound():
    assert quantile(counts(b0=1), 9, 0.99) == SECONDS_BUCKETS[-1]


def test_figures_count_what_workers_observe():
    now = added(judged("accepted"), judged("accepted"), judged("internal_error"))
    now = added(now, observed("reward", 1.0), observed("reward", 0.3), {"accepted": 4})
    found = figures(now, {}, None)

    assert found.verdicts == {"accepted": 2, "internal_error": 1}
    assert (found.accepted, found.finished) == (4, 3)
    assert found.internal_error_share == pytest.approx(1 / 3)
    assert {(bar.above, bar.upto): bar.count for bar in found.rewards if bar.count} == {
        (0.9, 1.0): 1,
        (0.25, 0.5): 1,
    }


def test_rewards_beyond_the_buckets_are_counted():
    found = figures(added(observed("reward", -1.0), observed("reward", 5.0)), {}, None)
    assert found.rewards[0].count == 1
    assert found.rewards[-1].count == 1


def test_figures_of_a_stretch_leave_out_what_was_before():
    before = judged("accepted")
    found = figures(added(before, judged("wrong_answer")), before, 10.0)
    assert found.verdicts == {"wrong_answer": 1}


def test_counters_that_began_anew_are_not_negative():
    found = figures({"accepted": 1.0}, {"accepted": 100.0}, 10.0)
    assert found.accepted == 0


def test_share_of_nothing_is_unknown():
    assert figures({}, {}, None).internal_error_share is None


def test_results_are_the_verdicts():
    assert results({"verdict:accepted": 2, "verdict:wrong_answer": 1, "accepted": 9}) == 3
