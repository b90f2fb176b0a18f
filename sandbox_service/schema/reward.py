"""How a result becomes a scalar; the arithmetic is in `rewards.policies`."""

from typing import Annotated, Literal

from pydantic import Field

from sandbox_service.schema.base import Model


class PassRate(Model):
    """The score: weighted share of passed tests."""

    policy: Literal["pass_rate"] = "pass_rate"


class AllPass(Model):
    """One if every test passed, else zero."""

    policy: Literal["all_pass"]


RewardSpec = Annotated[PassRate | AllPass, Field(discriminator="policy")]
