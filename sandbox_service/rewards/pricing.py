"""What a result is worth under one policy. Pure arithmetic, no surprises."""

from collections.abc import Collection
from typing import Protocol

from sandbox_service.schema.review import FlagKind
from sandbox_service.schema.reward import AllPass, PassRate, Policy, Shaped, Threshold, Weighted
from sandbox_service.schema.verdict import Verdict


class Judged(Protocol):
    """What a policy looks at; a `Result` has it, and so has a summary."""

    @property
    def verdict(self) -> Verdict: ...

    @property
    def score(self) -> float | None: ...


def clipped(value: float, minimum: float | None, maximum: float | None) -> float:
    """Returns the value, moved to the nearer bound if it is outside; None is no bound."""
    if minimum is not None and value < minimum:
        return minimum
    return maximum if maximum is not None and value > maximum else value


def price_of(policy: Policy, result: Judged, *, flags: Collection[FlagKind] = ()) -> float | None:
    """Returns the reward under one policy; None when there is no information, whatever it is."""
    score = result.score
    if result.verdict is Verdict.INTERNAL_ERROR or score is None:
        return None
    is_accepted = result.verdict is Verdict.ACCEPTED
    match policy:
        case PassRate():
            return score
        case AllPass():
            return 1.0 if is_accepted else 0.0
        case Weighted():
            return 1.0 if is_accepted else policy.partial_max * score**policy.exponent
        case Threshold():
            return policy.reached if score >= policy.at_least else policy.missed
        case _:
            return _shaped(policy, result.verdict, score, flags)


def _shaped(policy: Shaped, verdict: Verdict, score: float, flags: Collection[FlagKind]) -> float:
    price = policy.prices.get(verdict)
    worth = score if price is None else price + policy.partial * score
    worth += sum(policy.flag_prices.get(kind, 0.0) for kind in sorted(set(flags)))
    return clipped(worth, policy.minimum, policy.maximum)
