"""What came back for a case, and how it is shown."""

from dataclasses import dataclass
from typing import Any

from rich.table import Table

from sandbox_service.demo.cases import Case

_REWARD_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Outcome:
    """A case and the service's answer."""

    case: Case
    result: dict[str, Any]
    elapsed_ms: float

    @property
    def is_expected(self) -> bool:
        """Whether verdict and reward are the right ones."""
        reward = self.result.get("reward")
        return (
            self.result.get("verdict") in self.case.verdicts
            and reward is not None
            and abs(reward - self.case.reward) < _REWARD_TOLERANCE
        )


def engine_of(outcomes: list[Outcome]) -> str:
    """Returns the engine that the results name, `unknown` where none does."""
    sandboxes = [outcome.result.get("sandbox") or {} for outcome in outcomes]
    return next((str(each["engine"]) for each in sandboxes if "engine" in each), "unknown")


def table(outcomes: list[Outcome]) -> Table:
    """Lays the outcomes out; those that are not the expected ones are red."""
    rows = Table(title=f"Scored by the {engine_of(outcomes)} engine", title_justify="left")
    for heading in ("language", "submission", "verdict"):
        rows.add_column(heading)
    for heading in ("passed", "reward", "ms"):
        rows.add_column(heading, justify="right")
    for outcome in outcomes:
        result = outcome.result
        reward = result.get("reward")
        rows.add_row(
            outcome.case.submission["language"],
            outcome.case.title,
            str(result.get("verdict", result.get("status"))),
            f"{result.get('passed', '-')}/{result.get('total', '-')}",
            "none" if reward is None else f"{reward:.2f}",
            f"{outcome.elapsed_ms:.0f}",
            style="" if outcome.is_expected else "red",
        )
    return rows
