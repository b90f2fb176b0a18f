"""Where scores come from, how they are mixed, and what is done while there are none."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sandbox_service.schema.base import Model
from sandbox_service.schema.limits import Limits

_Share = Annotated[float, Field(ge=0, le=1)]
Schedule = Annotated[tuple[tuple[int, float], ...], Field(min_length=1)]


class GateConfig(Model):
    """A condition: another source has reached a bound."""

    source: str
    """Name of the other source."""

    at_least: float = 1.0
    """The bound, against that source's score."""


class SourceConfig(Model):
    """One source of scores."""

    kind: Literal["tests", "style", "length", "model", "http", "steps"]
    """`tests` and `style` come from the service, `length` is counted here, `model` is a reward
    model on this machine, `http` one behind a URL, `steps` scores each step of an answer."""

    name: str = ""
    """Name in metrics and gates; empty means the kind."""

    weight: Schedule = ((0, 1.0),)
    """Weight by step: points between which it changes linearly."""

    gate: GateConfig | None = None
    """The score counts as zero until the condition holds."""

    url: str = ""
    """Of `http` and `steps`: where prompts and completions are posted."""

    path: str = ""
    """Of `model`: a sequence classifier with one output."""

    soft_limit: Annotated[int, Field(gt=0)] = 256
    """Of `length`: tokens from which the score falls linearly."""

    hard_limit: Annotated[int, Field(gt=0)] = 512
    """Of `length`: tokens at which it has reached -1."""

    @property
    def label(self) -> str:
        """Name in metrics and gates."""
        return self.name or self.kind


class RewardConfig(Model):
    """Where scores come from."""

    service_url: str = "http://127.0.0.1:8000"
    """Address of the service."""

    api_key: str | None = None
    """Key of the service, if it asks for one."""

    sources: Annotated[tuple[SourceConfig, ...], Field(min_length=1)] = (
        SourceConfig(kind="tests"),
    )
    """What is mixed, as a weighted sum over the sources that are there."""

    policy: Literal["pass_rate", "all_pass"] = "pass_rate"
    """What `tests` gives for a part of the tests passed."""

    limits: Limits = Limits()
    """What each run is allowed, where a problem does not say."""

    cache: bool | None = True
    """Whether equal programs are run once; null and false are as in the service's contract."""

    overlap: bool = True
    """Send completions while others are being sampled; false is for measurements."""

    attempts: Annotated[int, Field(gt=0)] = 3
    """How often a completion without a reward is sent before it is masked out."""

    max_masked_share: _Share = 0.1
    """Share of completions without a reward above which training pauses."""

    pause_s: Annotated[float, Field(gt=0)] = 5.0
    """Seconds between looks at the service during a pause."""

    longest_pause_s: Annotated[float, Field(gt=0)] | None = None
    """Seconds of a pause after which the run ends, to go on from its last checkpoint; None waits
    for as long as it takes."""

    shuffle: bool = False
    """Give each completion the score of another one: a control, in which nothing may improve."""

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        labels = [source.label for source in self.sources]
        if len(set(labels)) != len(labels):
            raise ValueError("two sources have the same name")
        for source in self.sources:
            if source.gate is not None and source.gate.source not in labels:
                raise ValueError(f"a gate waits for {source.gate.source!r}, which is no source")
        return self

    def has(self, kind: str) -> bool:
        """Tells whether a source of this kind is used."""
        return any(source.kind == kind for source in self.sources)
