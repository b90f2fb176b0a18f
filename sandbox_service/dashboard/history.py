"""The latest minutes: a bounded ring of readings, and the series that charts are drawn from."""

from collections import deque
from dataclasses import dataclass

from sandbox_service.dashboard.figures import Counters, Figures, figures, results
from sandbox_service.schema.base import Model
from sandbox_service.schema.job import QueueState

WINDOW_S = 300.0
"""Length of what is shown over time."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read at one time."""

    at: float
    """Seconds since 1970."""
    lanes: tuple[QueueState, ...]
    counters: Counters


class Sample(Model):
    """One point of the charts."""

    at: float
    """Seconds since 1970."""

    depths: dict[str, int]
    """Submissions waiting, by lane."""

    results_per_s: float | None
    """Results stored since the point before; None where there is none."""


class History:
    """Readings of the latest minutes, oldest first."""

    def __init__(self, window_s: float = WINDOW_S) -> None:
        self._window_s = window_s
        self._readings: deque[Reading] = deque()
        self._samples: deque[Sample] = deque()

    def add(self, reading: Reading) -> Sample:
        """Adds a reading and returns the point that it makes."""
        before = self._readings[-1] if self._readings else None
        sample = Sample(
            at=reading.at,
            depths={lane.name: lane.depth for lane in reading.lanes},
            results_per_s=_rate(before, reading),
        )
        self._readings.append(reading)
        self._samples.append(sample)
        while self._readings[0].at < reading.at - self._window_s:
            self._readings.popleft()
            self._samples.popleft()
        return sample

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The points, oldest first."""
        return tuple(self._samples)

    def latest(self) -> Figures:
        """Returns what happened since the oldest reading that is kept."""
        first, last = self._readings[0], self._readings[-1]
        return figures(last.counters, first.counters, last.at - first.at)

    def total(self) -> Figures:
        """Returns what happened since the counters began."""
        return figures(self._readings[-1].counters, {}, None)


def _rate(before: Reading | None, now: Reading) -> float | None:
    if before is None or now.at <= before.at:
        return None
    # Counters that begin anew, with a new Redis, are no negative rate.
    gained = max(0, results(now.counters) - results(before.counters))
    return gained / (now.at - before.at)
