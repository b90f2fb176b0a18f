"""Sums and averages over the tokens that count, on one process or over all of them.

Shapes: B completions, T response tokens; a mask is 1 where a token counts and 0 elsewhere.
"""

from collections.abc import Callable
from enum import StrEnum

import torch
from torch import Tensor

Total = Callable[[Tensor], Tensor]
"""Sums a tensor over all processes; the identity on a single one."""


def alone(tensor: Tensor) -> Tensor:
    """Is the total of a single process."""
    return tensor


def masked_sum(values: Tensor, mask: Tensor) -> Tensor:
    """Sums `values` (B, T) where `mask` (B, T) is 1; elsewhere may be anything, even nan."""
    return torch.where(mask.bool(), values, torch.zeros_like(values)).sum()


def masked_mean(values: Tensor, mask: Tensor, total: Total = alone) -> Tensor:
    """Averages `values` (B, T) where `mask` (B, T) is 1; zero when nothing counts."""
    count = total(mask.sum().to(values.dtype))
    return total(masked_sum(values, mask)) / count.clamp(min=1.0)


class LossLevel(StrEnum):
    """What is averaged over when a loss per token becomes one number."""

    TOKEN = "token"  # noqa: S105 - a level, no secret
    """All tokens alike, as PPO and DAPO (https://arxiv.org/abs/2503.14476, equation 8)."""

    SEQUENCE = "sequence"
    """All completions alike, as GRPO (https://arxiv.org/abs/2402.03300, equation 3)."""

    FIXED = "fixed"
    """Divided by a constant length, as Dr. GRPO (https://arxiv.org/abs/2503.20783, section 3.2)."""


def token_weights(
    mask: Tensor, level: LossLevel, *, longest: int = 0, total: Total = alone
) -> Tensor:
    """Returns weights (B, T) such that a loss is the sum of weight times loss per token.

    The weights are fixed before a batch is cut into micro-batches or shared between processes, so
    that neither changes the gradient. `longest` is the constant length of `FIXED`.
    """
    mask = mask.float()
    lengths = mask.sum(dim=1, keepdim=True)
    if level is LossLevel.TOKEN:
        return mask / total(lengths.sum()).clamp(min=1.0)
    sequences = total((lengths > 0).float().sum()).clamp(min=1.0)
    if level is LossLevel.FIXED:
        return mask / (sequences * longest)
    return mask / (sequences * lengths.clamp(min=1.0))
