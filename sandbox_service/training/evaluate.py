"""Mean reward and pass@k on problems that are never trained on."""

from collections.abc import Mapping, Sequence
from math import comb
from statistics import fmean

import torch

from sandbox_service.errors import SettingsError
from sandbox_service.training.config import TrainingConfig
from sandbox_service.training.datasets import load_problems
from sandbox_service.training.distributed import World, whole
from sandbox_service.training.loading import Loaded, device_of, load
from sandbox_service.training.policy import ActorCritic
from sandbox_service.training.problems import Problem
from sandbox_service.training.reward import Scorer
from sandbox_service.training.rollout import sample
from sandbox_service.training.scores import fuse

_SEED_STRIDE = 1_000_003


def pass_at_k(samples: int, passed: int, k: int) -> float:
    """Estimates the chance that one of `k` completions is right, from `passed` of `samples`.

    1 - C(n - c, k) / C(n, k), unbiased (https://arxiv.org/abs/2107.03374, equation 1).
    """
    if samples - passed < k:
        return 1.0
    return 1.0 - comb(samples - passed, k) / comb(samples, k)


def evaluate(
    policy: ActorCritic,
    loaded: Loaded,
    problems: Sequence[Problem],
    scorer: Scorer,
    config: TrainingConfig,
    *,
    world: World,
    step: int,
) -> dict[str, float]:
    """Samples held-out problems and returns metrics under `eval/`.

    What it draws depends on the step alone, so that measuring more often changes no training.
    """
    rollout = config.rollout.model_copy(update={"group_size": config.evaluation.samples})
    device = next(policy.parameters()).device
    generator = torch.Generator(device)
    generator.manual_seed(_SEED_STRIDE * (step + 1) + config.seed * world.size + world.rank)
    mine = world.share(problems)
    found: list[tuple[str, list[float | None]]] = []
    if mine:
        with whole(policy):
            sample(
                policy,
                loaded.tokenizer,
                mine,
                rollout,
                generator=generator,
                on_finished=scorer.submit,
            )
        rewards = [fuse(each, config.reward, step).score for each in scorer.gather().scored]
        size = rollout.group_size
        found = [
            (problem.domain, rewards[number * size : (number + 1) * size])
            for number, problem in enumerate(mine)
        ]
    groups = [each for part in world.gather(found) for each in part]
    return summarise(groups, config.evaluation.pass_at)


def summarise(
    groups: Sequence[tuple[str, Sequence[float | None]]], pass_at: Sequence[int]
) -> dict[str, float]:
    """Turns the rewards of each problem's completions into metrics; None counts nowhere."""
    known = [(domain, [one for one in group if one is not None]) for domain, group in groups]
    known = [(domain, group) for domain, group in known if group]
    if not known:
        return {}
    metrics = {"eval/reward": fmean(one for _, group in known for one in group)}
    for domain in sorted({domain for domain, _ in known}):
        scores = [one for name, group in known if name == domain for one in group]
        metrics[f"eval/{domain}_reward"] = fmean(scores)
    for k in pass_at:
        chances = [
            pass_at_k(len(group), sum(one >= 1.0 for one in group), k)
            for _, group in known
            if len(group) >= k
        ]
        if chances:
            metrics[f"eval/pass@{k}"] = fmean(chances)
    return metrics


def by_domain(metrics: Mapping[str, float], domains: Sequence[str]) -> dict[str, float]:
    """Picks each domain's held-out score out of the metrics."""
    names = {name: f"eval/{name}_reward" for name in domains}
    return {name: metrics[key] for name, key in names.items() if key in metrics}


def evaluate_model(config: TrainingConfig) -> dict[str, float]:
    """Measures the model that a configuration names, alone and once.

    Raises:
        SettingsError: there are no held-out problems.
    """
    held_out = load_problems(config).held_out
    if not held_out:
        raise SettingsError("sampler.domains: no domain has held-out problems")
    loaded = load(config.model, config.seed)
    policy = ActorCritic(
        loaded.model, config.model, temperature=config.rollout.temperature, with_critic=False
    ).to(device_of(config.model))
    scorer = Scorer(config.reward)
    try:
        return evaluate(policy, loaded, held_out, scorer, config, world=World(), step=-1)
    finally:
        scorer.close()
