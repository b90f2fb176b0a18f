"""Log-probabilities and entropy of chosen words, without all logits in memory at one time.

Shapes: N tokens, D width of the hidden states, V words of the vocabulary.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint


class TokenScores(NamedTuple):
    """What a policy says about tokens, each (N,)."""

    logprobs: Tensor
    """Log-probability of the token that was chosen."""
    entropy: Tensor
    """Entropy in nats of the distribution that it was chosen from."""


class _Chunk(NamedTuple):
    """What a part of the vocabulary contributes, each (N,)."""

    logsumexp: Tensor
    mean_logit: Tensor
    target_logit: Tensor


def chunked_logprobs(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    *,
    temperature: float = 1.0,
    chunk: int = 0,
) -> TokenScores:
    """Scores `targets` (N,) given `hidden` (N, D) and the head's `weight` (V, D) and `bias` (V,).

    The vocabulary is gone through in chunks that the backward pass computes again, so that logits
    take N * chunk numbers and not N * V. Zero means one chunk. With z the logits of a chunk c:
    log Z = logsumexp_c(logsumexp z_c), and H = log Z - sum_c Z_c / Z * E_c[z].
    """
    size = chunk or weight.shape[0]
    weights = weight.split(size)
    biases: tuple[Tensor | None, ...] = (None,) * len(weights)
    if bias is not None:
        biases = bias.split(size)
    is_recomputed = torch.is_grad_enabled() and len(weights) > 1
    parts = []
    for number, (part_weight, part_bias) in enumerate(zip(weights, biases, strict=True)):
        arguments = (hidden, part_weight, part_bias, targets - number * size, temperature)
        if is_recomputed:
            parts.append(checkpoint(_score_chunk, *arguments, use_reentrant=False))
        else:
            parts.append(_score_chunk(*arguments))
    logsumexps = torch.stack([part.logsumexp for part in parts])
    total = torch.logsumexp(logsumexps, dim=0)
    means = torch.stack([part.mean_logit for part in parts])
    mean_logit = (torch.exp(logsumexps - total) * means).sum(dim=0)
    target_logit = torch.stack([part.target_logit for part in parts]).sum(dim=0)
    return TokenScores(logprobs=target_logit - total, entropy=total - mean_logit)


def _score_chunk(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, temperature: float
) -> _Chunk:
    logits = torch.nn.functional.linear(hidden, weight, bias).float() / temperature
    logsumexp = torch.logsumexp(logits, dim=-1)
    mean_logit = (torch.exp(logits - logsumexp.unsqueeze(-1)) * logits).sum(dim=-1)
    is_here = (targets >= 0) & (targets < weight.shape[0])
    inside = torch.where(is_here, targets, torch.zeros_like(targets))
    chosen = logits.gather(-1, inside.unsqueeze(-1)).squeeze(-1)
    return _Chunk(logsumexp, mean_logit, torch.where(is_here, chosen, torch.zeros_like(chosen)))
