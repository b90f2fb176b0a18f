"""How far the policy is from another one, and the coefficient that holds it there."""

from enum import StrEnum
from typing import Protocol

import torch
from torch import Tensor

_LARGEST_ERROR = 0.2


class KLEstimator(StrEnum):
    """Estimates of KL(p || q) from samples of p (http://joschu.net/blog/kl-approx.html)."""

    K1 = "k1"
    """log p - log q: unbiased, of high variance, may be negative."""

    K2 = "k2"
    """(log p - log q)² / 2: biased, of low variance."""

    K3 = "k3"
    """q/p - 1 - log(q/p): unbiased, never negative, of low variance."""


def kl_estimate(logprobs: Tensor, other_logprobs: Tensor, kind: KLEstimator) -> Tensor:
    """Estimates KL per token, all (B, T), from what both give to tokens sampled by the first."""
    log_ratio = other_logprobs - logprobs
    if kind is KLEstimator.K1:
        return -log_ratio
    if kind is KLEstimator.K2:
        return log_ratio**2 / 2
    # expm1 keeps digits where the policies are close, which is nearly everywhere.
    return torch.expm1(log_ratio) - log_ratio


class KLController(Protocol):
    """Gives the coefficient of the KL penalty."""

    value: float

    def update(self, current_kl: float, n_steps: int) -> None:
        """Learns the KL that the last `n_steps` completions had on average."""


class FixedKLController:
    """Keeps the coefficient as it is."""

    def __init__(self, kl_coef: float) -> None:
        self.value = kl_coef

    def update(self, current_kl: float, n_steps: int) -> None:
        """Learns nothing."""


class AdaptiveKLController:
    """Steers the KL to a target (https://arxiv.org/abs/1909.08593, section 2.2).

    e = clip(KL / target - 1, -0.2, 0.2) and coefficient *= 1 + e * n_steps / horizon.
    """

    def __init__(self, init_kl_coef: float, target_kl: float, horizon: int) -> None:
        self.value = init_kl_coef
        self._target_kl = target_kl
        self._horizon = horizon

    def update(self, current_kl: float, n_steps: int) -> None:
        """Raises the coefficient when the KL is above its target, and lowers it below."""
        error = current_kl / self._target_kl - 1
        error = min(max(error, -_LARGEST_ERROR), _LARGEST_ERROR)
        self.value *= 1 + error * n_steps / self._horizon
