"""Proximal policy optimisation against rewards from the service, on one page.

A step samples completions, lays rewards on their tokens, estimates advantages, and takes several
passes of clipped updates. Names are cleanrl's: `b_` is a batch, `mb_` a minibatch. Shapes: B
completions, T response tokens.
"""

import math
import time

from sandbox_service.training.advantages import (
    explained_variance,
    generalized_advantages,
    whiten,
)
from sandbox_service.training.distributed import keeping_gradients
from sandbox_service.training.kl import KLEstimator, kl_estimate
from sandbox_service.training.losses import clipped_policy_loss, clipped_value_loss
from sandbox_service.training.masking import LossLevel, masked_mean, masked_sum
from sandbox_service.training.minibatches import micro_batches, minibatches
from sandbox_service.training.session import Session
from sandbox_service.training.updates import Figures, minibatch_weights, score_in_parts


def train_ppo(session: Session) -> None:
    """Runs the steps that are left.

    Raises:
        ServiceUnavailable: rewards stayed away for longer than the configuration allows.
    """
    config, ppo, total = session.config, session.config.ppo, session.world.total
    for step in session.steps():
        started = time.monotonic()

        # Sample: every completion is on its way to the service as soon as it ends.
        rollouts = session.sample(step)
        tokens, old_logprobs = rollouts.tokens, rollouts.old_logprobs
        sampled_s = time.monotonic() - started

        # Reference and critic pass over the batch while the service still judges.
        size = config.optim.micro_batch_size
        old_values = score_in_parts(session.policy.values, tokens, size)
        ref_logprobs = session.ref_logprobs(tokens, old_logprobs)
        experience = session.judged(rollouts, step)
        mask = experience.mask

        # Rewards: the service's scores, minus what each token costs in distance to the reference.
        kl = kl_estimate(old_logprobs, ref_logprobs, KLEstimator(config.kl.estimator))
        non_score_rewards = -session.kl_controller.value * kl
        rewards = (experience.scores + non_score_rewards) * mask

        # Advantages, whitened over all tokens that count on all processes.
        advantages, returns = generalized_advantages(
            rewards, old_values, mask, gamma=ppo.gamma, gae_lambda=ppo.gae_lambda
        )
        if ppo.whiten_advantages:
            advantages = whiten(advantages, mask, total=total)

        # Several epochs of minibatches; weights make the sum of token losses an average.
        session.model.train()
        figures = Figures(total)
        policy_weight = 0.0 if step < ppo.critic_warmup_steps else 1.0
        lengths = tokens.mask.sum(dim=1).cpu()
        for _epoch in range(ppo.update_epochs):
            for rows in minibatches(len(lengths), ppo.num_minibatches, session.shuffle):
                weights = minibatch_weights(mask, rows, LossLevel.TOKEN, total=total)
                parts = micro_batches(rows, lengths, size)
                for number, part in enumerate(parts):
                    micro = tokens.rows(part)
                    width = micro.mask.shape[1]
                    cut = (part, slice(width))
                    with keeping_gradients(session.model, is_last=number == len(parts) - 1):
                        output = session.model(micro)
                        policy = clipped_policy_loss(
                            output.logprobs,
                            old_logprobs[cut],
                            advantages[cut],
                            clip_coef=ppo.clip_coef,
                            clip_coef_high=ppo.clip_coef_high,
                        )
                        value_loss = clipped_value_loss(
                            output.values,
                            old_values[cut],
                            returns[cut],
                            clip_coef=ppo.vf_clip_coef,
                        )
                        losses = (
                            policy_weight * (policy.loss - ppo.ent_coef * output.entropy)
                            + ppo.vf_coef * value_loss
                        )
                        # Averaged over processes afterwards, the sums are those of one process.
                        loss = masked_sum(losses * weights[cut], mask[cut])
                        (loss * session.world.size).backward()
                    figures.add(
                        mask[cut],
                        {
                            "policy/loss": policy.loss,
                            "policy/clipfrac": policy.is_clipped,
                            "policy/entropy": output.entropy,
                            "policy/approx_kl": kl_estimate(
                                old_logprobs[cut], output.logprobs, KLEstimator.K3
                            ),
                            "policy/ratio": policy.ratio,
                            "value/loss": value_loss,
                        },
                    )
                figures.note("policy/grad_norm", session.apply_gradients())
            if figures.recent_kl() > (ppo.policy_kl_stop or math.inf):
                break
        session.scheduler.step()

        # The leash learns how far the completions were from the reference.
        mean_kl = float(masked_mean((kl * mask).sum(dim=1), experience.is_known, total))
        session.kl_controller.update(mean_kl, int(total(experience.is_known.sum())))
        outcome = masked_mean(rewards.sum(dim=1), experience.is_known, total)
        metrics = {
            "objective/kl": mean_kl,
            "objective/kl_coef": session.kl_controller.value,
            "objective/rlhf_reward": float(outcome),
            "value/explained_variance": float(explained_variance(old_values, returns, mask, total)),
            "value/mean": float(masked_mean(old_values, mask, total)),
            "time/sample_s": sampled_s,
            "time/step_s": time.monotonic() - started,
        }
        session.record(step, experience, figures.means() | metrics)
