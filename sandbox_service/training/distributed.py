"""One process or several: sums over all of them, and models that share their gradients."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule, fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from sandbox_service.training.model_config import ParallelConfig
from sandbox_service.training.policy import ActorCritic, trunk_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class World:
    """The processes of a run."""

    rank: int = 0
    """Which of them this is."""
    size: int = 1
    """How many there are."""
    local_rank: int = 0
    """Which of those on this machine this is."""

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes."""
        return self.rank == 0

    def total(self, tensor: Tensor) -> Tensor:
        """Sums a tensor over all processes."""
        if self.size == 1:
            return tensor
        summed = tensor.detach().clone()
        dist.all_reduce(summed)
        return summed

    def gather(self, value: T) -> list[T]:
        """Collects a value of every process, in the order of ranks."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value)
        return values

    def share(self, values: Sequence[T]) -> list[T]:
        """Returns this process's part of what all of them know."""
        return list(values[self.rank :: self.size])

    def mean(self, metrics: Mapping[str, float]) -> dict[str, float]:
        """Averages each metric over the processes that have it."""
        if self.size == 1:
            return dict(metrics)
        found: dict[str, list[float]] = {}
        for each in self.gather(dict(metrics)):
            for name, value in each.items():
                found.setdefault(name, []).append(value)
        return {name: sum(values) / len(values) for name, values in found.items()}


@contextmanager
def joined_world(config: ParallelConfig, *, is_cuda: bool) -> Iterator[World]:
    """Joins the processes that torchrun started; alone there is nothing to join."""
    if "WORLD_SIZE" not in os.environ or int(os.environ["WORLD_SIZE"]) == 1:
        yield World()
        return
    dist.init_process_group(
        "nccl" if is_cuda else "gloo", timeout=timedelta(seconds=config.timeout_s)
    )
    try:
        yield World(dist.get_rank(), dist.get_world_size(), int(os.environ.get("LOCAL_RANK", "0")))
    finally:
        dist.destroy_process_group()


def share_gradients(policy: ActorCritic, world: World, config: ParallelConfig) -> nn.Module:
    """Returns what is called in place of the policy where gradients are wanted.

    Copies send gradients in buckets while the backward pass still computes others; shards do the
    same with each layer's.
    """
    if world.size == 1:
        return policy
    if config.strategy == "fsdp":
        return _sharded(policy)
    device = next(policy.parameters()).device
    return DistributedDataParallel(
        policy,
        device_ids=None if device.type == "cpu" else [device.index],
        gradient_as_bucket_view=True,
    )


def keeping_gradients(model: nn.Module, *, is_last: bool) -> AbstractContextManager[Any]:
    """Sends gradients only with the last of several backward passes."""
    if isinstance(model, DistributedDataParallel) and not is_last:
        return model.no_sync()
    if isinstance(model, FSDPModule):
        model.set_requires_gradient_sync(is_last)
    return nullcontext()


@contextmanager
def whole(policy: nn.Module) -> Iterator[None]:
    """Holds every shard on every process, so that sampling needs no step in common."""
    shards = [module for module in policy.modules() if isinstance(module, FSDPModule)]
    for shard in shards:
        shard.set_reshard_after_forward(False, recurse=False)
        shard.unshard()
    try:
        yield
    finally:
        for shard in shards:
            shard.set_reshard_after_forward(True, recurse=False)
            shard.reshard()


def _sharded(policy: ActorCritic) -> nn.Module:
    trunks = [trunk_of(policy.model)] + ([policy.critic] if policy.critic is not None else [])
    for trunk in trunks:
        for layer in trunk.layers:
            fully_shard(layer)
    sharded: nn.Module = fully_shard(policy)
    for method in ("values", "next_logits"):
        register_fsdp_forward_method(sharded, method)
    return sharded


def gradient_norm(norm: Tensor) -> float:
    """Reads a norm that may be spread over processes."""
    full = norm.full_tensor() if isinstance(norm, DTensor) else norm
    return float(full)
