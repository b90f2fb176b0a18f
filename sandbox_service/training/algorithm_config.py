"""Hyperparameters of PPO, GRPO, the leash and the optimiser."""

from typing import Annotated, Literal

from pydantic import Field

from sandbox_service.schema.base import Model

_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(gt=0)]
_Coefficient = Annotated[float, Field(ge=0)]


class PPOConfig(Model):
    """Proximal policy optimisation; names as in cleanrl and lm-human-preferences."""

    gamma: _Share = 1.0
    """Discount per token."""

    gae_lambda: _Share = 0.95
    """Between one-step advantages (0) and whole returns (1)."""

    clip_coef: _Coefficient = 0.2
    """Largest change of a token's probability, as a ratio from 1, that is still rewarded."""

    clip_coef_high: _Coefficient | None = None
    """The same upwards, if it differs (clip-higher)."""

    vf_clip_coef: _Coefficient | None = 0.2
    """Largest rewarded change of a value in one step; None does not clip."""

    vf_coef: _Coefficient = 0.5
    """Weight of the value loss, where actor and critic share a trunk."""

    ent_coef: float = 0.0
    """Weight of the entropy bonus."""

    update_epochs: _Count = 2
    """Times that a batch is gone through."""

    num_minibatches: _Count = 4
    """Optimiser steps of one epoch."""

    policy_kl_stop: _Coefficient | None = 0.1
    """KL to the sampling policy above which a batch is left; None never leaves."""

    critic_warmup_steps: Annotated[int, Field(ge=0)] = 0
    """First steps, in which only the critic learns."""

    whiten_advantages: bool = True
    """Scale advantages to mean zero and variance one over the batch."""


class GRPOConfig(Model):
    """Group-relative policy optimisation and its variants."""

    clip_coef: _Coefficient = 0.2
    """As in PPO."""

    clip_coef_high: _Coefficient | None = None
    """As in PPO; 0.28 is DAPO's clip-higher."""

    scale_by_std: bool = True
    """Divide by the group's standard deviation; false is Dr. GRPO."""

    loss_level: Literal["token", "sequence", "fixed"] = "sequence"
    """Average over tokens (DAPO), completions (GRPO) or a constant length (Dr. GRPO)."""

    ent_coef: float = 0.0
    """Weight of the entropy bonus."""

    update_epochs: _Count = 1
    """Times that a batch is gone through."""

    num_minibatches: _Count = 1
    """Optimiser steps of one epoch."""

    policy_kl_stop: _Coefficient | None = None
    """As in PPO."""


class KLConfig(Model):
    """The leash to the reference policy."""

    kl_coef: _Coefficient = 0.02
    """Coefficient of the penalty, at the start if it is adaptive; 0 needs no reference."""

    estimator: Literal["k1", "k2", "k3"] = "k1"
    """Estimate of the penalty inside PPO's reward; GRPO's loss always uses k3."""

    target_kl: Annotated[float, Field(gt=0)] | None = None
    """KL per completion in nats that an adaptive controller steers to; None keeps `kl_coef`."""

    horizon: _Count = 10_000
    """Completions over which the adaptive controller acts."""


class OptimConfig(Model):
    """The optimiser; actor and critic have rates and schedules of their own."""

    actor_lr: Annotated[float, Field(gt=0)] = 1e-6
    """Learning rate of the actor, and of the trunk it shares."""

    critic_lr: Annotated[float, Field(gt=0)] = 1e-5
    """Learning rate of the critic, or of the value head alone."""

    actor_schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How the actor's rate falls after the warm-up."""

    critic_schedule: Literal["constant", "linear", "cosine"] = "constant"
    """How the critic's rate falls after the warm-up."""

    warmup_steps: Annotated[int, Field(ge=0)] = 0
    """Steps over which both rates grow from zero."""

    weight_decay: _Coefficient = 0.0
    """AdamW's."""

    betas: tuple[_Share, _Share] = (0.9, 0.95)
    """AdamW's."""

    max_grad_norm: Annotated[float, Field(gt=0)] = 1.0
    """Longer gradients are scaled down to it."""

    micro_batch_size: _Count = 8
    """Completions whose gradients are computed at once on one process; changes only memory."""
