"""What both loops need around their updates: passes in parts, and averages over a step."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from sandbox_service.training.masking import LossLevel, Total, masked_sum, token_weights
from sandbox_service.training.tokens import Tokens


def score_in_parts(score: Callable[[Tokens], Tensor], tokens: Tokens, size: int) -> Tensor:
    """Applies a pass to micro-batches and joins what it returns, (B, T), zero in the padding."""
    whole = torch.zeros(tokens.mask.shape, device=tokens.ids.device)
    for rows in torch.arange(len(tokens.ids), device=tokens.ids.device).split(size):
        micro = tokens.rows(rows)
        found = score(micro).float() * micro.mask
        whole[rows, : found.shape[1]] = found
    return whole


def minibatch_weights(
    mask: Tensor, rows: Tensor, level: LossLevel, *, longest: int = 0, total: Total
) -> Tensor:
    """Returns the weights of a minibatch's tokens in the shape of the whole batch, (B, T)."""
    weights = torch.zeros(mask.shape, device=mask.device)
    weights[rows] = token_weights(mask[rows], level, longest=longest, total=total)
    return weights


class Figures:
    """Averages over the tokens of a step, and over its optimiser steps."""

    def __init__(self, total: Total) -> None:
        self._total = total
        self._sums: dict[str, Tensor] = {}
        self._noted: dict[str, list[float]] = {}
        self._kl: list[Tensor] = []

    def add(self, mask: Tensor, values: Mapping[str, Tensor]) -> None:
        """Adds values per token, each (B, T)."""
        count = mask.sum().float()
        for name, value in values.items():
            pair = torch.stack([masked_sum(value.detach().float(), mask), count])
            self._sums[name] = self._sums[name] + pair if name in self._sums else pair
            if name == "policy/approx_kl":
                self._kl.append(pair)

    def note(self, name: str, value: float) -> None:
        """Adds a value of one optimiser step."""
        self._noted.setdefault(name, []).append(value)

    def recent_kl(self) -> float:
        """Returns the KL to the sampling policy since this was last asked, over all processes."""
        value, count = self._total(torch.stack(self._kl).sum(dim=0)).tolist()
        self._kl = []
        return float(value / max(1.0, count))

    def means(self) -> dict[str, float]:
        """Returns the averages; of tokens, over all processes."""
        names = list(self._sums)
        pairs = self._total(torch.stack([self._sums[name] for name in names])).tolist()
        per_token = {
            name: value / max(1.0, count) for name, (value, count) in zip(names, pairs, strict=True)
        }
        per_step = {name: sum(values) / len(values) for name, values in self._noted.items()}
        return per_token | per_step
