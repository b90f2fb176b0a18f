"""What is trained, in how much memory, and how several processes share it."""

from typing import Annotated, Literal

from pydantic import Field

from sandbox_service.schema.base import Model


class LoraConfig(Model):
    """Low-rank adapters; the frozen model below them is the reference, at no cost."""

    rank: Annotated[int, Field(gt=0)] = 16
    """Rank of the adapters."""

    alpha: Annotated[float, Field(gt=0)] = 32.0
    """Their scale is alpha over rank."""

    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Dropout before the adapters; above 0 the ratio of the first minibatch is not 1."""

    target_modules: tuple[str, ...] | Literal["all-linear"] = "all-linear"
    """Which layers get one."""


class ModelConfig(Model):
    """What is trained, and in how much memory."""

    name_or_path: str = "tiny"
    """A model of the hub, a folder, or `tiny`: a small one made here, for CPUs and tests."""

    critic: Literal["shared", "own"] = "shared"
    """A value head on the actor's trunk, or a model of the critic's own."""

    critic_path: str | None = None
    """What the critic's own model starts from; None means the actor's."""

    dtype: Literal["float32", "bfloat16"] = "float32"
    """What is computed in; weights that are trained stay in float32, frozen ones follow it."""

    attention: Literal["sdpa", "flash_attention_2", "eager"] = "sdpa"
    """Implementation of attention."""

    gradient_checkpointing: bool = False
    """Compute activations again in the backward pass instead of keeping them."""

    lora: LoraConfig | None = None
    """Train adapters only; None trains everything."""

    vocab_chunk: Annotated[int, Field(ge=0)] = 16_384
    """Words of the vocabulary whose logits exist at one time; 0 means all of them."""

    offload_reference: bool = False
    """Keep the reference in host memory but for its pass."""

    offload_optimizer: bool = False
    """Keep the optimiser's state in host memory while completions are sampled."""

    device: str = "auto"
    """`auto` takes the accelerator if there is one."""

    threads: Annotated[int, Field(ge=0)] = 0
    """CPU threads of torch; 0 leaves its default."""

    trust_remote_code: bool = False
    """Run code that comes with a model of the hub."""


class ParallelConfig(Model):
    """How several processes share the work, under torchrun."""

    strategy: Literal["ddp", "fsdp"] = "ddp"
    """Whole copies with gradients averaged during the backward pass, or sharded weights."""

    timeout_s: Annotated[float, Field(gt=0)] = 1800.0
    """Longest time that one process waits for the others, a pause for rewards included."""
