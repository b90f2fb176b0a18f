"""Scores of completions and how several sources become one reward. Needs no torch.

A source that is missing is left out, never counted as zero; without the tests' score there is
no reward at all, since the rest says little about whether a program works.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from sandbox_service.schema.verdict import Verdict
from sandbox_service.training.reward_config import RewardConfig, Schedule, SourceConfig


class StepScore(NamedTuple):
    """The score of one step of an answer."""

    end: int
    """Characters of the completion up to the end of the step."""
    score: float
    """How good it was."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What is known about one completion."""

    verdict: Verdict
    """What the service says; `internal_error` where it said nothing."""
    parts: Mapping[str, float | None] = field(default_factory=dict)
    """Score by source; None means no information."""
    steps: tuple[StepScore, ...] = ()
    """Scores of steps of the answer, from a source that gives them."""
    detail: str = ""
    """Why there is no information."""


@dataclass(frozen=True, slots=True)
class Reward:
    """What the policy is told about one completion."""

    score: float | None
    """At its end; None means no information: it is masked out."""
    steps: tuple[StepScore, ...] = ()
    """At the ends of steps, weighted."""


def weight_at(schedule: Schedule, step: int) -> float:
    """Returns a weight between the two points around a step, and the nearest outside of them."""
    points = sorted(schedule)
    if step <= points[0][0]:
        return points[0][1]
    for (start, low), (end, high) in pairwise(points):
        if step <= end:
            return low + (high - low) * (step - start) / (end - start)
    return points[-1][1]


def fuse(scored: Scored, config: RewardConfig, step: int) -> Reward:
    """Mixes the sources of one completion with the weights of a step."""
    tests = [source.label for source in config.sources if source.kind == "tests"]
    if any(scored.parts.get(label) is None for label in tests):
        return Reward(None)
    total, is_known = 0.0, bool(tests)
    step_weight = 0.0
    for source in config.sources:
        if source.kind == "steps":
            step_weight += weight_at(source.weight, step)
            continue
        score = _gated(source, scored.parts)
        if score is not None:
            total += weight_at(source.weight, step) * score
            is_known = True
    steps = tuple(StepScore(each.end, each.score * step_weight) for each in scored.steps)
    return Reward(total if is_known or steps else None, steps)


def _gated(source: SourceConfig, parts: Mapping[str, float | None]) -> float | None:
    score = parts.get(source.label)
    if source.gate is None or score is None:
        return score
    other = parts.get(source.gate.source)
    if other is None:
        return None
    return score if other >= source.gate.at_least else 0.0


def length_score(token_count: int, source: SourceConfig) -> float:
    """Falls from 0 at the soft limit to -1 at the hard one, as DAPO's overlong shaping.

    https://arxiv.org/abs/2503.14476, equation 13.
    """
    if token_count <= source.soft_limit:
        return 0.0
    over = token_count - source.soft_limit
    return -min(1.0, over / max(1, source.hard_limit - source.soft_limit))


def masked_share(scored: Sequence[Reward]) -> float:
    """Returns the share of completions without a reward."""
    return sum(each.score is None for each in scored) / len(scored) if scored else 0.0
