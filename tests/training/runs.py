"""Runs of the tiny model on the family of problems, small enough for a CPU."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

# Before anything of the trainer: modules that import this one are skipped where torch is missing.
pytest.importorskip("torch", reason="the extra `trainer` is not installed")

from sandbox_service.training.config import TrainingConfig, read_config
from sandbox_service.training.tracking import read_metrics

EXAMPLE = Path(__file__).parents[2] / "sandbox_service/training/examples/tiny-cpu.toml"


def tiny_config(output: Path, **sections: Mapping[str, Any] | Any) -> TrainingConfig:
    """The example for CPUs, with some fields of some sections changed."""
    fields = read_config(EXAMPLE).model_dump()
    for name, value in sections.items():
        fields[name] = fields[name] | value if isinstance(value, Mapping) else value
    return TrainingConfig.model_validate(fields | {"output": str(output)})


def from_policy(output: Path, policy: str, url: str, **sections: Any) -> TrainingConfig:
    """The same, starting from a warm policy and rewarded by a service."""
    sections["model"] = {"name_or_path": policy} | sections.get("model", {})
    sections["reward"] = {"service_url": url, "pause_s": 1.0} | sections.get("reward", {})
    return tiny_config(output, **sections)


def warm_started(output: Path, seed: int = 0) -> str:
    """Trains the weak policy that reinforcement starts from; returns its folder."""
    from sandbox_service.training.sft import train_sft

    return str(train_sft(tiny_config(output, seed=seed)))


def run(config: TrainingConfig, algorithm: str, client: Any = None) -> list[dict[str, float]]:
    """Runs PPO or GRPO and returns its metrics."""
    from sandbox_service.training.grpo import train_grpo
    from sandbox_service.training.opening import open_session
    from sandbox_service.training.ppo import train_ppo

    with open_session(config, with_critic=algorithm == "ppo", client=client) as session:
        (train_ppo if algorithm == "ppo" else train_grpo)(session)
    return metrics_of(config)


def metrics_of(config: TrainingConfig) -> list[dict[str, float]]:
    return read_metrics(Path(config.output) / "metrics.jsonl")


def held_out(metrics: list[dict[str, float]]) -> list[float]:
    """Mean reward on held-out problems, before the first step and at each measurement."""
    return [row["eval/reward"] for row in metrics if "eval/reward" in row]


def without_times(metrics: list[dict[str, float]]) -> list[dict[str, float]]:
    """What must not depend on how long anything took."""
    return [
        {
            name: value
            for name, value in row.items()
            if not name.startswith("time/") and name != "reward/retried"
        }
        for row in metrics
    ]
