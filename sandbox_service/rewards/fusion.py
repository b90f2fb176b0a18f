"""A reward out of several sources.

* A source that is missing is left out: out of the sum, and out of the weights of the mean.
* A source behind a closed gate counts as zero and keeps its weight, so that opening the gate never
  lowers a reward. A gate looks at the other source's own score, not at that one's gates; when the
  other source is missing, nobody can tell, and the gated source is missing too.
* When the tests gave no information there is no reward, whatever the other sources say.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from sandbox_service.rewards.measured import Measured
from sandbox_service.rewards.pricing import Judged, clipped, price_of
from sandbox_service.schema.review import FlagKind
from sandbox_service.schema.reward import (
    ExternalSource,
    Fusion,
    RewardPart,
    Source,
    TestsSource,
)
from sandbox_service.schema.verdict import Verdict

_MISSING = Measured(None)


class Reward(NamedTuple):
    """What the policy is told, and why."""

    value: float | None
    """None means no information."""

    parts: tuple[RewardPart, ...] = ()
    """What each source contributed; empty when a single policy decided."""


def fuse(
    spec: Fusion,
    result: Judged,
    *,
    flags: Collection[FlagKind] = (),
    measured: Mapping[str, Measured] | None = None,
) -> Reward:
    """Mixes the sources; `measured` has what was found of `style` and `answer` ones by name."""
    found = measured or {}
    scores = {name_of(source): _score_of(source, result, flags, found) for source in spec.sources}
    parts = tuple(_part_of(source, scores, found) for source in spec.sources)
    if result.verdict is Verdict.INTERNAL_ERROR or result.score is None:
        return Reward(None, parts)
    value = _combined(spec, parts)
    if value is not None:
        value = clipped(value, spec.minimum, spec.maximum)
    return Reward(value, parts)


def name_of(source: Source) -> str:
    """Returns the name of a source, which is its kind if it has no other."""
    return source.name or source.source


def _score_of(
    source: Source, result: Judged, flags: Collection[FlagKind], measured: Mapping[str, Measured]
) -> float | None:
    if isinstance(source, TestsSource):
        score = price_of(source.policy, result, flags=flags)
    elif isinstance(source, ExternalSource):
        score = _reduced(source.steps, source.reduce) if source.steps else source.score
    else:
        score = measured.get(name_of(source), _MISSING).score
    if score is None or not math.isfinite(score):
        return None
    return clipped(score, source.minimum, source.maximum)


def _reduced(steps: Sequence[float], reduce: str) -> float:
    return {
        "mean": math.fsum(steps) / len(steps),
        "sum": math.fsum(steps),
        "min": min(steps),
        "last": steps[-1],
        "product": math.prod(steps),
    }[reduce]


def _part_of(
    source: Source, scores: Mapping[str, float | None], measured: Mapping[str, Measured]
) -> RewardPart:
    score, detail = scores[name_of(source)], measured.get(name_of(source), _MISSING).detail
    counted = score
    for gate in source.gates:
        other = scores[gate.source]
        if other is None:
            counted, detail = None, f"{gate.source} is missing"
            break
        if other < gate.at_least and counted is not None:
            counted, detail = 0.0, f"{gate.source} is below {gate.at_least:g}"
    if score is None:
        detail = f"missing: {detail}" if detail else "missing"
    return RewardPart(
        name=name_of(source), score=score, weight=source.weight, counted=counted, detail=detail
    )


def _combined(spec: Fusion, parts: Sequence[RewardPart]) -> float | None:
    present = [(part.weight, part.counted) for part in parts if part.counted is not None]
    if not present:
        return None
    total = math.fsum(weight * score for weight, score in present)
    if spec.combine == "sum":
        return total
    weights = math.fsum(weight for weight, _ in present)
    return total / weights if weights else None
