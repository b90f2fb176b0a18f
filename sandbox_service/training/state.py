"""Weights and optimiser state in one form, whether a model is whole, copied or in shards."""

from typing import Any

import torch
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_state_dict,
)


def saved(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Returns what is trained and the optimiser's state; frozen weights are loaded anyway."""
    options = StateDictOptions(full_state_dict=True, cpu_offload=True, ignore_frozen_params=True)
    weights, moments = get_state_dict(model, optimizer, options=options)
    return {"model": weights, "optimizer": moments}


def restored(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Any]) -> None:
    """Puts a saved state into a model and its optimiser."""
    set_state_dict(
        model,
        optimizer,
        model_state_dict=tensors["model"],
        optim_state_dict=tensors["optimizer"],
        options=StateDictOptions(full_state_dict=True, strict=False),
    )
