"""Losses per token, which `masking.token_weights` makes one number.

Shapes: B completions, T response tokens, V words of the vocabulary.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from sandbox_service.training.kl import KLEstimator, kl_estimate


class PolicyLoss(NamedTuple):
    """The loss of the policy and what to look at, each (B, T)."""

    loss: Tensor
    """What is minimised."""
    ratio: Tensor
    """New over old probability of each token; without gradient."""
    is_clipped: Tensor
    """1 where the clipped term decides, and the gradient is zero; else 0."""


def clipped_policy_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    *,
    clip_coef: float,
    clip_coef_high: float | None = None,
) -> PolicyLoss:
    """Returns -min(ratio * A, clip(ratio, 1 - low, 1 + high) * A); all inputs are (B, T).

    PPO clips alike on both sides (https://arxiv.org/abs/1707.06347, equation 7); clip-higher gives
    unlikely tokens more room to grow (https://arxiv.org/abs/2503.14476, equation 10). GRPO uses the
    same term (https://arxiv.org/abs/2402.03300, equation 3).
    """
    high = clip_coef if clip_coef_high is None else clip_coef_high
    ratio = torch.exp(logprobs - old_logprobs)
    plain = -advantages * ratio
    clipped = -advantages * ratio.clamp(1.0 - clip_coef, 1.0 + high)
    return PolicyLoss(
        loss=torch.maximum(plain, clipped),
        ratio=ratio.detach(),
        is_clipped=(clipped > plain).to(ratio.dtype).detach(),
    )


def clipped_value_loss(
    values: Tensor, old_values: Tensor, returns: Tensor, *, clip_coef: float | None
) -> Tensor:
    """Returns half the squared error of the critic, all (B, T), never less than the clipped one.

    0.5 * max((V - R)², (V_old + clip(V - V_old, -c, c) - R)²), as in lm-human-preferences
    and cleanrl; None does not clip.
    """
    plain = (values - returns) ** 2
    if clip_coef is None:
        return 0.5 * plain
    near = old_values + (values - old_values).clamp(-clip_coef, clip_coef)
    return 0.5 * torch.maximum(plain, (near - returns) ** 2)


def entropy_of(logits: Tensor) -> Tensor:
    """Returns -sum p log p in nats, (B, T), of the distributions that `logits` (B, T, V) are."""
    logprobs = torch.log_softmax(logits.float(), dim=-1)
    return -(logprobs.exp() * logprobs).sum(dim=-1)


def grpo_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    ref_logprobs: Tensor | None,
    advantages: Tensor,
    *,
    clip_coef: float,
    clip_coef_high: float | None = None,
    kl_coef: float = 0.0,
) -> PolicyLoss:
    """Returns the clipped policy loss plus `kl_coef` times KL to the reference; inputs (B, T).

    The KL is the k3 estimate, inside the loss and not in the reward
    (https://arxiv.org/abs/2402.03300, equations 3 and 4). No reference means no such term.
    """
    policy = clipped_policy_loss(
        logprobs,
        old_logprobs,
        advantages,
        clip_coef=clip_coef,
        clip_coef_high=clip_coef_high,
    )
    if ref_logprobs is None or kl_coef == 0.0:
        return policy
    penalty = kl_coef * kl_estimate(logprobs, ref_logprobs, KLEstimator.K3)
    return policy._replace(loss=policy.loss + penalty)
