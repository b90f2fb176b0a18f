"""What the shared counters say about a stretch of time: rates, shares, percentiles. Pure."""

from collections.abc import Mapping

from sandbox_service.schema.base import Model
from sandbox_service.telemetry.metrics import REWARD_BUCKETS, SECONDS_BUCKETS

Counters = Mapping[str, float]

_VERDICT = "verdict:"
_INTERNAL_ERROR = "internal_error"
_BEYOND = "+Inf"


class Percentiles(Model):
    """Estimated from a histogram; None where nothing was observed."""

    p50_s: float | None
    """Half took at most this long."""

    p90_s: float | None
    """Nine in ten took at most this long."""

    p99_s: float | None
    """All but one in a hundred took at most this long."""


class RewardBar(Model):
    """Rewards in one range."""

    above: float | None
    """Lower end, not part of the range; None where there is none."""

    upto: float | None
    """Upper end; None where there is none."""

    count: int
    """Rewards in it."""


class Figures(Model):
    """What happened in a stretch of time."""

    seconds: float | None
    """Its length; None means since the counters began."""

    accepted: int
    """Submissions accepted."""

    finished: int
    """Results stored."""

    canceled: int
    """Submissions canceled."""

    reused: int
    """Submissions that took the result of an equal one that was kept."""

    retried: int
    """Attempts that a broken sandbox made necessary."""

    verdicts: dict[str, int]
    """Results by verdict; those without any are left out."""

    internal_error_share: float | None
    """Results that are no information, as a share; None where there are no results."""

    rewards: tuple[RewardBar, ...]
    """Histogram of the rewards given."""

    wait: Percentiles
    """From acceptance to the start of work."""

    run: Percentiles
    """From the start of work to the result."""


def figures(now: Counters, before: Counters, seconds: float | None) -> Figures:
    """Returns what happened between two readings of the counters."""
    change = {name: max(0.0, value - before.get(name, 0.0)) for name, value in now.items()}
    verdicts = {
        name.removeprefix(_VERDICT): round(count)
        for name, count in sorted(change.items())
        if name.startswith(_VERDICT) and round(count)
    }
    finished = sum(verdicts.values())
    broken = verdicts.get(_INTERNAL_ERROR, 0)
    return Figures(
        seconds=seconds,
        accepted=round(change.get("accepted", 0)),
        finished=finished,
        canceled=round(change.get("canceled", 0)),
        reused=round(change.get("cache_hits", 0)),
        retried=round(change.get("retried", 0)),
        verdicts=verdicts,
        internal_error_share=broken / finished if finished else None,
        rewards=_rewards(change),
        wait=_percentiles(change, "queued_s"),
        run=_percentiles(change, "run_s"),
    )


def results(counters: Counters) -> int:
    """Returns how many results were stored so far."""
    return round(sum(value for name, value in counters.items() if name.startswith(_VERDICT)))


def _rewards(change: Counters) -> tuple[RewardBar, ...]:
    edges: list[float | None] = [None, *REWARD_BUCKETS, None]
    names = [*map(str, REWARD_BUCKETS), _BEYOND]
    return tuple(
        RewardBar(above=above, upto=upto, count=round(change.get(f"reward:bucket:{name}", 0)))
        for above, upto, name in zip(edges, edges[1:], names, strict=False)
    )


def _percentiles(change: Counters, metric: str) -> Percentiles:
    counts = [change.get(f"{metric}:bucket:{bound}", 0.0) for bound in SECONDS_BUCKETS]
    beyond = change.get(f"{metric}:bucket:{_BEYOND}", 0.0)
    return Percentiles(
        p50_s=quantile(counts, beyond, 0.5),
        p90_s=quantile(counts, beyond, 0.9),
        p99_s=quantile(counts, beyond, 0.99),
    )


def quantile(counts: list[float], beyond: float, share: float) -> float | None:
    """Returns the value below which a share of a histogram lies, linear within a bucket.

    What lies beyond the last bound counts as the last bound.
    """
    total = sum(counts) + beyond
    if total <= 0:
        return None
    wanted, below, low = share * total, 0.0, 0.0
    for bound, count in zip(SECONDS_BUCKETS, counts, strict=True):
        if count and below + count >= wanted:
            return low + (bound - low) * (wanted - below) / count
        below, low = below + count, bound
    return SECONDS_BUCKETS[-1]
