"""How a result becomes a scalar; the arithmetic is in `rewards.policies` and `rewards.fusion`."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sandbox_service.schema.base import Model
from sandbox_service.schema.review import FlagKind
from sandbox_service.schema.verdict import Verdict

MAX_SOURCES = 64
MAX_STEPS = 10_000

_Rule = Annotated[str, Field(pattern=r"^[A-Z]{1,5}[0-9]{0,4}$")]
_Price = Annotated[float, Field(ge=-1e6, le=1e6)]


class PassRate(Model):
    """The score: weighted share of passed tests."""

    policy: Literal["pass_rate"] = "pass_rate"


class AllPass(Model):
    """One if every test passed, else zero."""

    policy: Literal["all_pass"]


class Weighted(Model):
    """The score, bent so that a share of the tests is worth less than a share of the reward."""

    policy: Literal["weighted"]

    exponent: Annotated[float, Field(gt=0, le=100)] = 1.0
    """The score is raised to it; above 1 a partial solution earns less than its share."""

    partial_max: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Partial solutions earn this part of it; all tests passed is always 1."""


class Threshold(Model):
    """One of two values, as the score reaches a bound or not."""

    policy: Literal["threshold"]

    at_least: Annotated[float, Field(gt=0, le=1)]
    """The bound."""

    reached: _Price = 1.0
    """Reward when the score reaches it."""

    missed: _Price = 0.0
    """Reward when it does not."""


class Shaped(Model):
    """A price for every verdict, and for every flag."""

    policy: Literal["shaped"]

    prices: dict[Verdict, _Price] = {}
    """Reward by the submission's verdict; a verdict without a price is worth the score."""

    partial: _Price = 0.0
    """Times the score, on top of a price: what a priced failure still earns for passed tests."""

    flag_prices: dict[FlagKind, _Price] = {}
    """Added once for every kind of flag that the submission has; usually negative."""

    minimum: _Price | None = None
    """The reward is never below it."""

    maximum: _Price | None = None
    """The reward is never above it."""

    @model_validator(mode="after")
    def _prices_only_what_is_the_programs(self) -> Self:
        if Verdict.INTERNAL_ERROR in self.prices:
            raise ValueError("internal_error has no price: it is no information")
        if None not in {self.minimum, self.maximum} and self.minimum > self.maximum:  # type: ignore[operator]
            raise ValueError("minimum is above maximum")
        return self


Policy = Annotated[
    PassRate | AllPass | Weighted | Threshold | Shaped, Field(discriminator="policy")
]


class Gate(Model):
    """A condition: another source has reached a bound."""

    source: str
    """Name of the other source."""

    at_least: float = 1.0
    """The bound, against the other source's own clipped score."""


class _Source(Model):
    name: Annotated[str, Field(max_length=200)] = ""
    """Name in gates and in the result; empty means the kind of the source."""

    weight: _Price = 1.0
    """Weight in the mean or the sum."""

    gates: Annotated[tuple[Gate, ...], Field(max_length=MAX_SOURCES)] = ()
    """The score counts as zero unless all of them hold."""

    minimum: _Price | None = None
    """The score is never below it."""

    maximum: _Price | None = None
    """The score is never above it."""


class TestsSource(_Source):
    """The tests, by a policy of their own."""

    source: Literal["tests"]

    policy: Policy = PassRate()
    """How the result becomes this source's score."""


class StyleSource(_Source):
    """What ruff finds in Python code: 1 for nothing, less for every finding in a line."""

    source: Literal["style"]

    select: Annotated[tuple[_Rule, ...], Field(min_length=1, max_length=100)] = (
        "E",
        "F",
        "W",
        "B",
        "C90",
        "N",
    )
    """Rules, as ruff names them."""


class AnswerSource(_Source):
    """Whether a completion's final mathematical answer equals the expected one."""

    source: Literal["answer"]

    expected: Annotated[str, Field(min_length=1, max_length=10_000)]
    """The right answer, as LaTeX or plain text."""


class ExternalSource(_Source):
    """A score that the caller brings: of a reward model, or of the steps of a process."""

    source: Literal["external"]

    score: _Price | None = None
    """The score; None means that it is missing, unless there are steps."""

    steps: Annotated[tuple[_Price, ...], Field(max_length=MAX_STEPS)] = ()
    """Scores of steps, in order, in place of a score."""

    reduce: Literal["mean", "sum", "min", "last", "product"] = "mean"
    """How the steps become one score."""


Source = Annotated[
    TestsSource | StyleSource | AnswerSource | ExternalSource, Field(discriminator="source")
]


class Fusion(Model):
    """Several sources mixed. A missing one is left out, never counted as zero."""

    policy: Literal["fusion"]

    sources: Annotated[tuple[Source, ...], Field(min_length=1, max_length=MAX_SOURCES)]
    """What is mixed."""

    combine: Literal["mean", "sum"] = "mean"
    """Weighted mean of the sources that are there, or weighted sum."""

    minimum: _Price | None = None
    """The reward is never below it."""

    maximum: _Price | None = None
    """The reward is never above it."""

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        names = [source.name or source.source for source in self.sources]
        if len(set(names)) != len(names):
            raise ValueError("two sources have the same name")
        for source in self.sources:
            for gate in source.gates:
                if gate.source not in names:
                    raise ValueError(f"a gate waits for {gate.source!r}, which is no source")
        if self.combine == "mean" and any(source.weight < 0 for source in self.sources):
            raise ValueError("a mean has no negative weights; use sum")
        return self


RewardSpec = Annotated[
    PassRate | AllPass | Weighted | Threshold | Shaped | Fusion, Field(discriminator="policy")
]


class RewardPart(Model):
    """What one source contributed to a reward."""

    name: str
    """Name of the source."""

    score: float | None
    """Its clipped score; None means that it was missing."""

    weight: float
    """Its weight."""

    counted: float | None
    """What went into the mean or sum: the score, zero behind a closed gate, None when missing."""

    detail: str = ""
    """Why it is missing, or which gate was closed."""
