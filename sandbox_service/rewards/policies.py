"""From a result to the scalar that a policy is told."""

from collections.abc import Collection, Mapping

from sandbox_service.rewards.fusion import Reward, fuse
from sandbox_service.rewards.measured import Measured
from sandbox_service.rewards.pricing import Judged, price_of
from sandbox_service.schema.review import FlagKind
from sandbox_service.schema.reward import Fusion, RewardSpec


def reward_of(spec: RewardSpec, result: Judged) -> float | None:
    """Returns the reward of a result alone; None means no information, never zero."""
    return explained_reward_of(spec, result).value


def explained_reward_of(
    spec: RewardSpec,
    result: Judged,
    *,
    flags: Collection[FlagKind] = (),
    measured: Mapping[str, Measured] | None = None,
) -> Reward:
    """Returns the reward and what each source contributed.

    `flags` are what the review found, `measured` what was found of `style` and `answer` sources
    by name; a source that is not in there is missing.
    """
    if isinstance(spec, Fusion):
        return fuse(spec, result, flags=flags, measured=measured)
    return Reward(price_of(spec, result, flags=flags))
