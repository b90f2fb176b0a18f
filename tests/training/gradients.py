"""Gradients of PPO's loss on this process's share of a batch: `gradients.py OUTPUT STRATEGY`."""

import gc
import sys
from pathlib import Path

import torch
from torch.distributed.tensor import DTensor

sys.path.insert(0, str(Path(__file__).parents[2]))

from sandbox_service.training.advantages import whiten
from sandbox_service.training.distributed import (
    joined_world,
    keeping_gradients,
    share_gradients,
)
from sandbox_service.training.losses import (
    clipped_policy_loss,
    clipped_value_loss,
)
from sandbox_service.training.masking import LossLevel, token_weights
from sandbox_service.training.model_config import (
    ModelConfig,
    ParallelConfig,
)
from sandbox_service.training.policy import ActorCritic
from sandbox_service.training.tiny import tiny_model
from sandbox_service.training.tokens import pack

ROWS = 8


def _batch():
    draw = torch.Generator().manual_seed(0)
    lengths = [3, 9, 5, 7, 2, 8, 6, 4]
    prompts = [torch.randint(4, 40, (5,), generator=draw).tolist() for _ in range(ROWS)]
    responses = [torch.randint(4, 40, (size,), generator=draw).tolist() for size in lengths]
    advantages, returns = torch.randn(2, ROWS, max(lengths), generator=draw)
    return pack(prompts, responses, 0), advantages, returns


def main(output: str, strategy: str) -> None:
    config = ModelConfig()
    with joined_world(ParallelConfig(strategy=strategy), is_cuda=False) as world:
        model = tiny_model(40, seed=0)
        policy = ActorCritic(model, config, temperature=1.0, with_critic=True)
        torch.nn.init.ones_(policy.value_head.weight)
        shared = share_gradients(policy, world, ParallelConfig(strategy=strategy))
        tokens, advantages, returns = _batch()
        mine = torch.tensor(world.share(range(ROWS)))
        mask = tokens.mask[mine]
        weights = token_weights(mask, LossLevel.TOKEN, total=world.total)
        advantages = whiten(advantages[mine], mask, total=world.total)
        parts = torch.arange(len(mine)).split(2)
        for number, part in enumerate(parts):
            micro = tokens.rows(mine[part])
            width = micro.mask.shape[1]
            with keeping_gradients(shared, is_last=number == len(parts) - 1):
                found = shared(micro)
                old = found.logprobs.detach() - 0.1
                loss = clipped_policy_loss(
                    found.logprobs, old, advantages[part, :width], clip_coef=0.2
                ).loss
                values = clipped_value_loss(
                    found.values,
                    found.values.detach(),
                    returns[mine[part], :width],
                    clip_coef=0.2,
                )
                total = ((loss + values) * weights[part, :width] * micro.mask).sum()
                (total * world.size).backward()
        gradients = {
            name.removeprefix("module."): _whole(parameter.grad)
            for name, parameter in shared.named_parameters()
        }
        if world.is_first:
            torch.save(gradients, output)
        # Freed later, it joins gloo's thread while that one waits for the interpreter's lock.
        del shared
        gc.collect()


def _whole(gradient):
    return gradient.full_tensor() if isinstance(gradient, DTensor) else gradient


if __name__ == "__main__":
    main(*sys.argv[1:])
