"""Everything that a run of PPO or GRPO holds, and how it starts, stops and goes on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
import torch
from torch import Tensor, nn

from sandbox_service.training.checkpoint import (
    Checkpoints,
    random_states,
    restore_random_states,
)
from sandbox_service.training.config import TrainingConfig
from sandbox_service.training.distributed import (
    World,
    gradient_norm,
    whole,
)
from sandbox_service.training.evaluate import by_domain, evaluate
from sandbox_service.training.experience import Experience, describe, groups_of, make_experience
from sandbox_service.training.kl import AdaptiveKLController, FixedKLController
from sandbox_service.training.loading import Loaded, save_policy
from sandbox_service.training.optim import move_state
from sandbox_service.training.policy import ActorCritic, Reference
from sandbox_service.training.problems import Problem
from sandbox_service.training.reward import Scorer
from sandbox_service.training.rollout import Rollouts, sample
from sandbox_service.training.sampler import Sampler
from sandbox_service.training.state import restored, saved
from sandbox_service.training.tokens import Tokens
from sandbox_service.training.tracking import Sample, Tracker
from sandbox_service.training.trajectories import Trajectory, write_trajectories
from sandbox_service.training.updates import score_in_parts

_log = structlog.get_logger(__name__)
_SHOWN_SAMPLES = 32


@dataclass
class Session:
    """What the loops work with."""

    config: TrainingConfig
    world: World
    device: torch.device
    loaded: Loaded
    policy: ActorCritic
    model: nn.Module
    """The policy as it is called where gradients are wanted, on all processes together."""
    reference: Reference | None
    optimizer: torch.optim.Optimizer
    scheduler: Any
    kl_controller: AdaptiveKLController | FixedKLController
    sampler: Sampler
    scorer: Scorer
    tracker: Tracker
    checkpoints: Checkpoints
    held_out: Sequence[Problem]
    generator: torch.Generator
    """Draws tokens; differs between processes."""
    shuffle: torch.Generator
    """Draws minibatches."""
    first_step: int = 0
    is_stopping: bool = field(default=False)

    def steps(self) -> Iterator[int]:
        """Yields the steps that are left; ends early, with a checkpoint, once told to stop."""
        if self.first_step == 0:
            self._evaluate(-1)
        for step in range(self.first_step, self.config.steps):
            yield step
            self._after(step)
            if self.is_stopping:
                return
        if self.world.is_first and self.config.parallel.strategy == "ddp":
            save_policy(self.policy, self.loaded.tokenizer, Path(self.config.output, "policy"))

    def sample(self, step: int) -> Rollouts:
        """Samples this process's share of a step; each completion is on its way when it ends."""
        problems = self.sampler.sample(self.config.rollout.problems_per_step, step)
        if self.config.model.offload_optimizer:
            move_state(self.optimizer, torch.device("cpu"))
        with whole(self.policy):
            rollouts = sample(
                self.policy,
                self.loaded.tokenizer,
                self.world.share(problems),
                self.config.rollout,
                generator=self.generator,
                on_finished=self.scorer.submit,
            )
        if self.config.model.offload_optimizer:
            move_state(self.optimizer, self.device)
        return rollouts

    def ref_logprobs(self, tokens: Tokens, old_logprobs: Tensor) -> Tensor:
        """Returns the reference's log-probabilities (B, T); without a leash, the policy's own."""
        if self.reference is None:
            return old_logprobs
        return score_in_parts(self.reference.logprobs, tokens, self.config.optim.micro_batch_size)

    def judged(self, rollouts: Rollouts, step: int) -> Experience:
        """Waits for the scores of what was sampled."""
        return make_experience(
            rollouts,
            self.scorer.gather(),
            self.config.reward,
            step=step,
            tokenizer=self.loaded.tokenizer,
            shuffle=self.shuffle,
        )

    def apply_gradients(self) -> float:
        """Takes one optimiser step and returns the length that the gradient had."""
        parameters = self.policy.parameters()
        norm = torch.nn.utils.clip_grad_norm_(parameters, self.config.optim.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return gradient_norm(norm)

    def record(self, step: int, experience: Experience, metrics: dict[str, float]) -> None:
        """Logs a step, keeps its trajectories, and lets the sampler learn from its groups."""
        for groups in self.world.gather(groups_of(experience)):
            self.sampler.observe_groups(groups)
        sampled = describe(experience, self.config.rollout.group_size)
        waiting = {"time/waiting_frac": experience.gathered.waited_s / metrics["time/step_s"]}
        self.tracker.log(step, self.world.mean(sampled | metrics | waiting))
        rows = _trajectories(step, experience)
        write_trajectories(self.config.storage_url, step, self.world.rank, rows)
        self.tracker.show_samples(
            step,
            [
                Sample(row.problem_id, row.prompt, row.completion, row.verdict, row.reward)
                for row in rows[:_SHOWN_SAMPLES]
            ],
        )
        chosen = experience.rollouts.old_logprobs[experience.rollouts.tokens.mask.bool()]
        self.tracker.log_distribution(step, chosen.exp())

    def _after(self, step: int) -> None:
        done = step + 1
        is_last = done == self.config.steps
        evaluation, checkpoint = self.config.evaluation, self.config.checkpoint
        if is_last or (evaluation.every_steps and done % evaluation.every_steps == 0):
            self._evaluate(step)
        self.is_stopping = any(self.world.gather(self.is_stopping))
        is_due = checkpoint.every_steps and done % checkpoint.every_steps == 0
        if is_last or is_due or self.is_stopping:
            self._save(done)

    def _evaluate(self, step: int) -> None:
        if not self.held_out:
            return
        metrics = evaluate(
            self.policy,
            self.loaded,
            self.held_out,
            self.scorer,
            self.config,
            world=self.world,
            step=step,
        )
        self.sampler.observe_validation(by_domain(metrics, self.sampler.domains))
        self.tracker.log(step, metrics)

    def _save(self, done: int) -> None:
        tensors = saved(self.model, self.optimizer)
        tensors["random"] = self.world.gather(
            random_states()
            | {"generator": self.generator.get_state(), "shuffle": self.shuffle.get_state()}
        )
        state = {
            "scheduler": self.scheduler.state_dict(),
            "kl_coef": self.kl_controller.value,
            "sampler": self.sampler.state(),
        }
        if self.world.is_first:
            self.checkpoints.save(done, tensors, state)
            _log.info("checkpoint_saved", step=done)

    def restore(self, step: int) -> None:
        """Goes on from a checkpoint."""
        checkpoint = self.checkpoints.load(step, self.device)
        restored(self.model, self.optimizer, checkpoint.tensors)
        self.scheduler.load_state_dict(checkpoint.state["scheduler"])
        self.kl_controller.value = checkpoint.state["kl_coef"]
        self.sampler.restore(checkpoint.state["sampler"])
        random = checkpoint.tensors["random"][self.world.rank]
        self.generator.set_state(random["generator"].cpu())
        self.shuffle.set_state(random["shuffle"].cpu())
        restore_random_states(random)
        self.first_step = step
        _log.info("run_resumed", step=step)


def _trajectories(step: int, experience: Experience) -> list[Trajectory]:
    finished, scored_all = experience.rollouts.finished, experience.gathered.scored
    return [
        Trajectory(
            step=step,
            problem_id=each.problem.id,
            domain=each.problem.domain,
            prompt=each.problem.prompt,
            completion=each.completion,
            verdict=scored.verdict.value,
            reward=reward.score,
            token_count=each.token_count,
            is_cut=each.is_cut,
        )
        for each, scored, reward in zip(finished, scored_all, experience.rewards, strict=True)
    ]
