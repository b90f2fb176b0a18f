"""Scores on the tokens they belong to, and what a batch of rollouts says in numbers.

Shapes: B completions, T response tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any

import torch
from torch import Tensor

from sandbox_service.schema.verdict import Verdict
from sandbox_service.training.reward import Gathered
from sandbox_service.training.reward_config import RewardConfig
from sandbox_service.training.rollout import Finished, Rollouts
from sandbox_service.training.scores import Reward, fuse
from sandbox_service.training.tokens import token_ids


@dataclass(frozen=True, slots=True)
class Experience:
    """Rollouts with what they are worth."""

    rollouts: Rollouts
    """What was sampled."""
    rewards: tuple[Reward, ...]
    """What the policy is told about each."""
    is_known: Tensor
    """(B,), false where there is no reward."""
    mask: Tensor
    """(B, T), 1 where a token is trained on: never where there is no reward."""
    scores: Tensor
    """(B, T), each score at the token that it belongs to."""
    gathered: Gathered
    """How long the scores took."""

    @property
    def outcome(self) -> Tensor:
        """Score of each completion, its steps included, (B,)."""
        return self.scores.sum(dim=1)


def make_experience(
    rollouts: Rollouts,
    gathered: Gathered,
    config: RewardConfig,
    *,
    step: int,
    tokenizer: Any,
    shuffle: torch.Generator,
) -> Experience:
    """Mixes the sources of each completion and lays the scores onto tokens."""
    rewards = [fuse(scored, config, step) for scored in gathered.scored]
    if config.shuffle:
        order = torch.randperm(len(rewards), generator=shuffle).tolist()
        rewards = [Reward(rewards[other].score) for other in order]
    mask = rollouts.tokens.mask
    is_known = torch.tensor([each.score is not None for each in rewards], device=mask.device)
    return Experience(
        rollouts=rollouts,
        rewards=tuple(rewards),
        is_known=is_known,
        mask=mask * is_known.unsqueeze(1),
        scores=lay_scores(rollouts, rewards, tokenizer),
        gathered=gathered,
    )


def lay_scores(rollouts: Rollouts, rewards: Sequence[Reward], tokenizer: Any) -> Tensor:
    """Puts each score at the last token, and those of steps where the steps end, (B, T)."""
    mask, responses = rollouts.tokens.mask, rollouts.tokens.responses
    scores = torch.zeros(mask.shape, device=mask.device)
    last = (mask.sum(dim=1) - 1).tolist()
    for row, reward in enumerate(rewards):
        if reward.score is None:
            continue
        scores[row, last[row]] += reward.score
        if reward.steps:
            ids = token_ids(responses[row], mask[row])
            for step in reward.steps:
                scores[row, _token_at(tokenizer, ids, step.end)] += step.score
    return scores


def _token_at(tokenizer: Any, ids: Sequence[int], end: int) -> int:
    """Returns the first token with which the text has reached `end` characters."""
    low, high = 0, len(ids) - 1
    while low < high:
        middle = (low + high) // 2
        if len(tokenizer.decode(ids[: middle + 1], skip_special_tokens=True)) < end:
            low = middle + 1
        else:
            high = middle
    return low


def describe(experience: Experience, group_size: int) -> dict[str, float]:
    """Returns the metrics of what was sampled, under the glossary's names."""
    finished = experience.rollouts.finished
    known = [reward.score for reward in experience.rewards if reward.score is not None]
    metrics = {
        "reward/mean": fmean(known) if known else 0.0,
        "reward/std": pstdev(known) if known else 0.0,
        "reward/masked_frac": 1.0 - len(known) / len(experience.rewards),
        "response/length_mean": fmean(each.token_count for each in finished),
        "response/cut_frac": fmean(each.is_cut for each in finished),
        "group/decided_frac": _decided_share(experience, group_size),
        "reward/retried": float(experience.gathered.retried),
        "time/paused_s": experience.gathered.paused_s,
    }
    for verdict in Verdict:
        found = [scored.verdict is verdict for scored in experience.gathered.scored]
        metrics[f"verdict/{verdict.value}_frac"] = fmean(found)
    return metrics | _by_source(experience) | _by_domain(finished, experience.rewards)


def groups_of(experience: Experience) -> dict[str, list[float]]:
    """Returns the known scores of each problem by its id."""
    groups: dict[str, list[float]] = {}
    for each, reward in zip(experience.rollouts.finished, experience.rewards, strict=True):
        if reward.score is not None:
            groups.setdefault(each.problem.id, []).append(reward.score)
    return groups


def _decided_share(experience: Experience, group_size: int) -> float:
    scores = [reward.score for reward in experience.rewards]
    groups = [scores[start : start + group_size] for start in range(0, len(scores), group_size)]
    known = [[score for score in group if score is not None] for group in groups]
    return fmean(not group or max(group) == min(group) for group in known)


def _by_source(experience: Experience) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for scored in experience.gathered.scored:
        for name, value in scored.parts.items():
            if value is not None:
                found.setdefault(name, []).append(value)
    return {f"reward/{name}_mean": fmean(values) for name, values in found.items()}


def _by_domain(finished: Sequence[Finished], rewards: Sequence[Reward]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for each, reward in zip(finished, rewards, strict=True):
        if reward.score is not None:
            found.setdefault(each.problem.domain, []).append(reward.score)
    return {f"domain/{name}_reward": fmean(values) for name, values in found.items()}
