"""The optimiser: one AdamW, with rates and schedules of their own for actor and critic."""

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from sandbox_service.training.algorithm_config import OptimConfig
from sandbox_service.training.policy import ActorCritic

_LEAST = 0.1


def make_optimizer(policy: ActorCritic, config: OptimConfig) -> torch.optim.AdamW:
    """Makes the optimiser; its first group is the actor, the second, if any, the critic."""
    groups = [{"params": _trained(policy.model), "lr": config.actor_lr}]
    critic = [part for part in (policy.value_head, policy.critic) if part is not None]
    if critic:
        parameters = [parameter for part in critic for parameter in _trained(part)]
        groups.append({"params": parameters, "lr": config.critic_lr})
    return torch.optim.AdamW(groups, betas=config.betas, weight_decay=config.weight_decay)


def make_scheduler(optimizer: torch.optim.Optimizer, config: OptimConfig, steps: int) -> LambdaLR:
    """Makes the schedules, which count steps of the run and not of the optimiser."""
    kinds = (config.actor_schedule, config.critic_schedule)
    factors = [schedule(kind, config.warmup_steps, steps) for kind in kinds]
    return LambdaLR(optimizer, factors[: len(optimizer.param_groups)])


def schedule(kind: str, warmup_steps: int, steps: int) -> Callable[[int], float]:
    """Returns the factor of a rate by step: up during the warm-up, then flat or down to a tenth."""

    def factor(step: int) -> float:
        if step < warmup_steps:
            return (step + 1) / warmup_steps
        if kind == "constant":
            return 1.0
        done = min(1.0, (step - warmup_steps) / max(1, steps - warmup_steps))
        fall = done if kind == "linear" else (1 - math.cos(math.pi * done)) / 2
        return 1.0 - (1.0 - _LEAST) * fall

    return factor


def move_state(optimizer: torch.optim.Optimizer, device: torch.device) -> None:
    """Moves the optimiser's moments, to host memory and back."""
    for state in optimizer.state.values():
        for name, value in state.items():
            # AdamW's step count stays where it is; it is a single number.
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                state[name] = value.to(device)


def _trained(module: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in module.parameters() if parameter.requires_grad]
