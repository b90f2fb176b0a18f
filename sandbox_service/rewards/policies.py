"""From a result to the scalar that a policy is told. Pure arithmetic, no surprises."""

from typing import Protocol

from sandbox_service.schema.reward import AllPass, PassRate, RewardSpec
from sandbox_service.schema.verdict import Verdict


class Judged(Protocol):
    """What a policy looks at; a `Result` has it, and so has a summary."""

    @property
    def verdict(self) -> Verdict: ...

    @property
    def score(self) -> float | None: ...

    @property
    def passed(self) -> int: ...

    @property
    def total(self) -> int: ...


def reward_of(spec: RewardSpec, result: Judged) -> float | None:
    """Returns the reward; None, whatever the policy, when there is no information."""
    if result.verdict is Verdict.INTERNAL_ERROR or result.score is None:
        return None
    match spec:
        case PassRate():
            return result.score
        case AllPass():
            return 1.0 if result.verdict is Verdict.ACCEPTED else 0.0
