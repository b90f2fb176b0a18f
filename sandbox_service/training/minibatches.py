"""A batch cut into minibatches of one optimiser step, and those into what fits in memory."""

from collections.abc import Iterator

import torch
from torch import Tensor


def minibatches(count: int, number: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Yields the rows of each of `number` minibatches, shuffled, every row once."""
    order = torch.randperm(count, generator=generator)
    yield from (part for part in order.tensor_split(number) if len(part))


def micro_batches(rows: Tensor, lengths: Tensor, size: int) -> list[Tensor]:
    """Cuts rows into micro-batches of similar lengths, so that little of them is padding."""
    by_length = rows[lengths[rows].argsort(stable=True)]
    return list(by_length.split(size))
