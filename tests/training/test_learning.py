"""Rewards of the real service make a better policy, and wrong ones do not."""

import random
from collections.abc import Sequence
from typing import Any

from sandbox_service.schema.verdict import Verdict
from tests.training.runs import from_policy, held_out, run

BEFORE, AFTER = 0.4, 0.85


def test_ppo_warm_policy_solves_held_out_problems(ppo_metrics):
    before, *_, after = held_out(ppo_metrics)

    assert before < BEFORE
    assert after > AFTER


def test_ppo_run_reports_every_metric_of_the_glossary(ppo_metrics):
    named = set().union(*ppo_metrics)

    assert {
        "reward/mean",
        "reward/masked_frac",
        "policy/approx_kl",
        "policy/clipfrac",
        "policy/entropy",
        "value/loss",
        "value/explained_variance",
        "objective/kl",
        "verdict/accepted_frac",
        "verdict/wrong_answer_frac",
        "time/waiting_frac",
        "eval/pass@1",
    } <= named


def test_grpo_warm_policy_solves_held_out_problems(service, warm_policy, tmp_path):
    metrics = run(from_policy(tmp_path, warm_policy, service.url), "grpo")

    before, *_, after = held_out(metrics)
    assert before < BEFORE
    assert after > AFTER


def test_ppo_shuffled_rewards_do_not_improve_the_policy(service, warm_policy, tmp_path):
    """The control: what is learned comes from which completion is rewarded."""
    config = from_policy(tmp_path, warm_policy, service.url, reward={"shuffle": True}, steps=12)

    before, *_, after = held_out(run(config, "ppo"))

    assert after < before + 0.1


class _Ill:
    """A client through which a fifth of all results is an internal error."""

    def __init__(self, client: Any, share: float) -> None:
        self._client = client
        self._share = share
        self._draw = random.Random(0)
        self.lost = 0

    async def rewards(self, submissions: Sequence[Any], *, timeout_s: float | None = None) -> Any:
        found = await self._client.rewards(submissions, timeout_s=timeout_s)
        for number, result in enumerate(found.results):
            if self._draw.random() < self._share:
                ill = {"verdict": Verdict.INTERNAL_ERROR, "reward": None, "score": None}
                found.results[number] = result.model_copy(update=ill)
                found.rewards[number] = None
                self.lost += 1
        return found

    async def aclose(self) -> None:
        await self._client.aclose()


def test_ppo_fifth_of_the_rewards_lost_learns_as_well(service, warm_policy, tmp_path, ppo_metrics):
    from sandbox_service.client.async_ import AsyncSandboxClient

    ill = _Ill(AsyncSandboxClient(service.url), share=0.2)
    reward = {"attempts": 1, "max_masked_share": 1.0}
    config = from_policy(tmp_path, warm_policy, service.url, reward=reward)

    metrics = run(config, "ppo", ill)

    masked = [row["reward/masked_frac"] for row in metrics if "reward/masked_frac" in row]
    assert 0.1 < sum(masked) / len(masked) < 0.3
    assert abs(held_out(metrics)[-1] - held_out(ppo_metrics)[-1]) < 0.1
