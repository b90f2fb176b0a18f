"""How much better an action was than expected: GAE and group-relative advantages.

Shapes: B completions, T response tokens, P problems, G completions of one problem.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from sandbox_service.training.masking import Total, alone, masked_sum

_EPSILON = 1e-8


class Estimate(NamedTuple):
    """What the policy and the critic are told, each (B, T)."""

    advantages: Tensor
    """Zero where the mask is."""
    returns: Tensor
    """`advantages + values`; zero where the mask is."""


def generalized_advantages(
    rewards: Tensor, values: Tensor, mask: Tensor, *, gamma: float, gae_lambda: float
) -> Estimate:
    """Estimates advantages from `rewards`, `values` and `mask`, each (B, T), left-aligned.

    delta_t = r_t + gamma * V_{t+1} - V_t and A_t = delta_t + gamma * lambda * A_{t+1}, where the
    value after the last token is zero (https://arxiv.org/abs/1506.02438, equations 11 and 16).
    """
    mask = mask.to(values.dtype)
    values = torch.where(mask.bool(), values, torch.zeros_like(values))
    after = torch.zeros_like(values[:, 0])
    next_values = torch.cat([values[:, 1:], after.unsqueeze(1)], dim=1)
    deltas = (rewards + gamma * next_values - values) * mask
    advantages = torch.zeros_like(values)
    for t in reversed(range(values.shape[1])):
        after = deltas[:, t] + gamma * gae_lambda * after * mask[:, t]
        advantages[:, t] = after
    return Estimate(advantages, (advantages + values) * mask)


def whiten(
    values: Tensor, mask: Tensor, *, shift_mean: bool = True, total: Total = alone
) -> Tensor:
    """Scales `values` (B, T) to variance one over `mask` (B, T), and to mean zero if shifted.

    The variance is the biased one, as in lm-human-preferences: the tokens are the whole
    population that the loss averages over, not a sample of it.
    """
    count = total(mask.sum().to(values.dtype)).clamp(min=1.0)
    mean = total(masked_sum(values, mask)) / count
    variance = total(masked_sum((values - mean) ** 2, mask)) / count
    whitened = (values - mean) * torch.rsqrt(variance + _EPSILON)
    if not shift_mean:
        whitened = whitened + mean
    return torch.where(mask.bool(), whitened, torch.zeros_like(whitened))


def group_relative(
    scores: Tensor, is_known: Tensor, *, scale_by_std: bool = True, epsilon: float = 1e-4
) -> Tensor:
    """Compares each of `scores` (P, G) with its group; zero where `is_known` (P, G) is false.

    A_i = (r_i - mean(r)) / (std(r) + epsilon) over the known scores of a group, with the unbiased
    standard deviation (https://arxiv.org/abs/2402.03300, section 4.1.2); without the division it
    is Dr. GRPO's (https://arxiv.org/abs/2503.20783), which does not favour easy and hard problems.
    """
    known = is_known.to(scores.dtype)
    scores = torch.where(is_known, scores, torch.zeros_like(scores))
    count = known.sum(dim=1, keepdim=True)
    centred = (scores - scores.sum(dim=1, keepdim=True) / count.clamp(min=1.0)) * known
    if not scale_by_std:
        return centred
    variance = (centred**2).sum(dim=1, keepdim=True) / (count - 1.0).clamp(min=1.0)
    return centred / (variance.sqrt() + epsilon)


def explained_variance(
    values: Tensor, returns: Tensor, mask: Tensor, total: Total = alone
) -> Tensor:
    """Returns 1 - Var(returns - values) / Var(returns) over `mask`, each (B, T).

    One is a perfect critic, zero one that knows no more than the mean; zero, too, when the returns
    do not vary (cleanrl's `explained_variance`).
    """
    count = total(mask.sum().to(values.dtype)).clamp(min=1.0)

    def variance(of: Tensor) -> Tensor:
        mean = total(masked_sum(of, mask)) / count
        return total(masked_sum((of - mean) ** 2, mask)) / count

    spread = variance(returns)
    if spread < _EPSILON:
        return torch.zeros_like(spread)
    return 1.0 - variance(returns - values) / spread
