"""What a training run can be told, read from a TOML or YAML file.

    [model]
    name_or_path = "Qwen/Qwen2.5-Coder-0.5B-Instruct"

Every field has a default, and its unit in its name. A field that does not exist is an error.
"""

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from sandbox_service.errors import SettingsError
from sandbox_service.schema.base import Model
from sandbox_service.training.algorithm_config import GRPOConfig, KLConfig, OptimConfig, PPOConfig
from sandbox_service.training.model_config import ModelConfig, ParallelConfig
from sandbox_service.training.reward_config import RewardConfig

_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(gt=0)]


class DomainConfig(Model):
    """Problems of one kind, whose progress is measured apart."""

    name: str
    """Name in the metrics."""

    train: str
    """JSONL of problems, behind any fsspec URL; or `family:lists`, the one made here."""

    held_out: str | None = None
    """The same for problems that are never trained on; None measures nothing for this domain."""


class SamplerConfig(Model):
    """Which problems a step takes."""

    domains: tuple[DomainConfig, ...] = ()
    """Kinds of problems; empty means the family made here."""

    floor: _Share = 0.2
    """Part of the sampling that all domains share alike, so that none is forgotten."""

    slope_decay: _Share = 0.7
    """How much of a domain's former rate of change is kept at each validation."""

    filter_decided: bool = False
    """Take problems that were lately all passed or all failed less often: they teach nothing."""

    decided_share: _Share = 0.25
    """How often such a problem is still taken, when it comes up."""

    curriculum_steps: Annotated[int, Field(ge=0)] = 0
    """Steps over which the largest allowed difficulty grows to 1; 0 allows all from the start."""

    curriculum_start: _Share = 0.3
    """Largest difficulty allowed at the first step."""


class RolloutConfig(Model):
    """How completions are sampled."""

    problems_per_step: _Count = 16
    """Problems of one step, on all processes together."""

    group_size: _Count = 4
    """Completions of each problem."""

    max_prompt_tokens: _Count = 512
    """Longer prompts are cut at the left."""

    max_new_tokens: _Count = 512
    """Longest completion."""

    temperature: Annotated[float, Field(gt=0)] = 1.0
    """Logits are divided by it, when sampling and when training alike."""

    kv_cache_bytes: _Count = 4 * 1024**3
    """Largest key-value cache; completions that do not fit together are sampled in turns."""


class CheckpointConfig(Model):
    """What survives a crash."""

    every_steps: Annotated[int, Field(ge=0)] = 50
    """Steps between checkpoints; 0 writes one only at the end and at SIGTERM."""

    keep: _Count = 3
    """Checkpoints that are kept."""

    resume: bool = True
    """Go on from the newest checkpoint in `output`, if there is one."""


class EvalConfig(Model):
    """Measurement on held-out problems."""

    every_steps: Annotated[int, Field(ge=0)] = 10
    """Steps between measurements; 0 measures only at the end."""

    problems: _Count = 64
    """Held-out problems of each domain that are measured, the first ones."""

    samples: _Count = 4
    """Completions of each."""

    pass_at: tuple[_Count, ...] = (1, 4)
    """The k of each pass@k."""


class SFTConfig(Model):
    """Supervised warm start."""

    data: str = "family:lists"
    """Demonstrations or trajectories, JSONL or Parquet, behind any fsspec URL; or the family."""

    min_reward: float = 1.0
    """Trajectories below it are not imitated."""

    steps: _Count = 200
    """Optimiser steps."""

    batch_size: _Count = 32
    """Demonstrations of one step."""

    lr: Annotated[float, Field(gt=0)] = 1e-5
    """Learning rate."""

    lazy_share: _Share = 0.0
    """Of the family made here: how often each part of a demonstration is the laziest one."""


class TrainingConfig(Model):
    """One training run."""

    output: str = "runs/default"
    """Folder for everything that is written; checkpoints and trajectories may be elsewhere."""

    storage: str | None = None
    """fsspec URL for checkpoints and trajectories; None means `output`."""

    seed: int = 0
    """Seed of everything that is drawn."""

    steps: _Count = 100
    """Steps of PPO or GRPO."""

    model: ModelConfig = ModelConfig()
    """What is trained, and in how much memory."""

    parallel: ParallelConfig = ParallelConfig()
    """How several processes share the work, under torchrun."""

    sampler: SamplerConfig = SamplerConfig()
    """Which problems a step takes."""

    rollout: RolloutConfig = RolloutConfig()
    """How completions are sampled."""

    reward: RewardConfig = RewardConfig()
    """Where scores come from."""

    kl: KLConfig = KLConfig()
    """The leash to the reference policy."""

    ppo: PPOConfig = PPOConfig()
    """Read by `train ppo`."""

    grpo: GRPOConfig = GRPOConfig()
    """Read by `train grpo`."""

    sft: SFTConfig = SFTConfig()
    """Read by `train sft`."""

    optim: OptimConfig = OptimConfig()
    """The optimiser of PPO and GRPO."""

    checkpoint: CheckpointConfig = CheckpointConfig()
    """What survives a crash."""

    evaluation: EvalConfig = EvalConfig()
    """Measurement on held-out problems."""

    @property
    def storage_url(self) -> str:
        """Where checkpoints and trajectories go."""
        return self.storage or self.output


def read_config(path: Path) -> TrainingConfig:
    """Reads a file by its ending: `.toml`, or `.yaml` and `.yml`.

    Raises:
        SettingsError: it cannot be read, or a field does not fit; the message names it.
    """
    try:
        return TrainingConfig.model_validate(_parse(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"{path}: {field}: {first['msg']}") from error


def _parse(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix in {".yaml", ".yml"}:
            import yaml  # noqa: PLC0415 - part of the extra, and only YAML files need it

            return yaml.safe_load(text)
        return tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path}: {error}") from error
