"""Measures two ways of doing the same work, turn by turn, so that both meet the same machine."""

import multiprocessing
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

Step = Callable[[], int]
"""Does some of the work and returns how many items that was."""

MakeStep = Callable[[], tuple[Step, Callable[[], None]]]
"""Makes a step in the process that will call it, and what cleans up after it."""


class Rate(NamedTuple):
    """Throughput of both ways and their ratio, medians over the rounds."""

    ours_per_s: float
    baseline_per_s: float
    ratio: float


def _loop(make: MakeStep, commands, results) -> None:
    step, close = make()
    step()  # not measured: caches fill, processes start
    results.put(0.0)
    try:
        while (seconds := commands.get()) is not None:
            began, items = time.perf_counter(), 0
            while time.perf_counter() - began < seconds:
                items += step()
            results.put(items / (time.perf_counter() - began))
    finally:
        close()


class Slots:
    """Processes that do one kind of work at the same time, one for each slot."""

    def __init__(self, make: MakeStep, slots: int) -> None:
        context = multiprocessing.get_context("fork")
        self._commands = [context.Queue() for _ in range(slots)]
        self._results = context.Queue()
        self._processes = [
            context.Process(target=_loop, args=(make, commands, self._results))
            for commands in self._commands
        ]
        for process in self._processes:
            process.start()
        self._gather()

    def _gather(self) -> float:
        return sum(self._results.get(timeout=120) for _ in self._processes)

    def rate(self, seconds: float) -> float:
        """Items per second of all slots together."""
        for commands in self._commands:
            commands.put(seconds)
        return self._gather()

    def close(self) -> None:
        for commands in self._commands:
            commands.put(None)
        for process in self._processes:
            process.join(timeout=60)


def compare(ours: MakeStep, baseline: MakeStep, *, slots: int, seconds: float, rounds: int) -> Rate:
    """Lets both take turns; whatever disturbs the machine disturbs both."""
    one, other = Slots(ours, slots), Slots(baseline, slots)
    try:
        pairs = [(one.rate(seconds), other.rate(seconds)) for _ in range(rounds)]
    finally:
        one.close()
        other.close()
    return Rate(
        statistics.median(pair[0] for pair in pairs),
        statistics.median(pair[1] for pair in pairs),
        statistics.median(pair[0] / pair[1] for pair in pairs),
    )
