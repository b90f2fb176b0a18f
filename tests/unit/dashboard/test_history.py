"""The ring of readings."""

from sandbox_service.dashboard.history import History, Reading
from sandbox_service.schema.job import QueueState


def reading(at, finished=0, depth=0):
    lanes = (QueueState(name="train", depth=depth, started=0, workers=1),)
    return Reading(at, lanes, {"verdict:accepted": float(finished)})


def test_rate_is_results_per_second():
    history = History()
    history.add(reading(10.0, finished=5))
    assert history.add(reading(12.0, finished=9)).results_per_s == 2.0


def test_rate_of_the_first_reading_is_unknown():
    assert History().add(reading(1.0, finished=5)).results_per_s is None


def test_rate_of_counters_that_began_anew_is_zero():
    history = History()
    history.add(reading(1.0, finished=100))
    assert history.add(reading(2.0, finished=3)).results_per_s == 0.0


def test_rate_of_a_clock_that_went_back_is_unknown():
    history = History()
    history.add(reading(5.0))
    assert history.add(reading(4.0)).results_per_s is None


def test_readings_older_than_the_window_are_dropped():
    history = History(window_s=10.0)
    for at in range(100):
        history.add(reading(float(at), finished=at, depth=at))
    assert [sample.at for sample in history.samples] == [float(at) for at in range(89, 100)]
    assert history.latest().finished == 10
    assert history.latest().seconds == 10.0
    assert history.total().finished == 99


def test_sample_has_the_depth_of_each_lane():
    assert History().add(reading(1.0, depth=7)).depths == {"train": 7}
