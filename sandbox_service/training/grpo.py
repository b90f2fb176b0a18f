"""Group-relative policy optimisation against rewards from the service, on one page.

As PPO, but a completion's advantage is its score compared with its group's, the same for all of
its tokens; there is no critic, and the distance to the reference is a term of the loss. Shapes: B
completions, T response tokens, G completions of one problem.
"""

import math
import time

from sandbox_service.training.advantages import group_relative
from sandbox_service.training.distributed import keeping_gradients
from sandbox_service.training.kl import KLEstimator, kl_estimate
from sandbox_service.training.losses import grpo_loss
from sandbox_service.training.masking import LossLevel, masked_mean, masked_sum
from sandbox_service.training.minibatches import micro_batches, minibatches
from sandbox_service.training.session import Session
from sandbox_service.training.updates import Figures, minibatch_weights


def train_grpo(session: Session) -> None:
    """Runs the steps that are left.

    Raises:
        ServiceUnavailable: rewards stayed away for longer than the configuration allows.
    """
    config, grpo, total = session.config, session.config.grpo, session.world.total
    for step in session.steps():
        started = time.monotonic()

        # Sample: every completion is on its way to the service as soon as it ends.
        rollouts = session.sample(step)
        tokens, old_logprobs = rollouts.tokens, rollouts.old_logprobs
        sampled_s = time.monotonic() - started

        # The reference passes over the batch while the service still judges.
        ref_logprobs = session.ref_logprobs(tokens, old_logprobs)
        experience = session.judged(rollouts, step)
        mask = experience.mask

        # Advantages: each score against its group's, on every token of the completion.
        groups = (-1, config.rollout.group_size)
        advantages = (
            group_relative(
                experience.outcome.view(groups),
                experience.is_known.view(groups),
                scale_by_std=grpo.scale_by_std,
            ).view(-1, 1)
            * mask
        )

        # Epochs of minibatches; weights make the sum of token losses the chosen average.
        session.model.train()
        figures = Figures(total)
        lengths = tokens.mask.sum(dim=1).cpu()
        for _epoch in range(grpo.update_epochs):
            for rows in minibatches(len(lengths), grpo.num_minibatches, session.shuffle):
                weights = minibatch_weights(
                    mask,
                    rows,
                    LossLevel(grpo.loss_level),
                    longest=config.rollout.max_new_tokens,
                    total=total,
                )
                parts = micro_batches(rows, lengths, config.optim.micro_batch_size)
                for number, part in enumerate(parts):
                    micro = tokens.rows(part)
                    cut = (part, slice(micro.mask.shape[1]))
                    with keeping_gradients(session.model, is_last=number == len(parts) - 1):
                        output = session.model(micro, with_values=False)
                        policy = grpo_loss(
                            output.logprobs,
                            old_logprobs[cut],
                            ref_logprobs[cut],
                            advantages[cut],
                            clip_coef=grpo.clip_coef,
                            clip_coef_high=grpo.clip_coef_high,
                            kl_coef=session.kl_controller.value,
                        )
                        losses = policy.loss - grpo.ent_coef * output.entropy
                        # Averaged over processes afterwards, the sums are those of one process.
                        loss = masked_sum(losses * weights[cut], mask[cut])
                        (loss * session.world.size).backward()
                    figures.add(
                        mask[cut],
                        {
                            "policy/loss": policy.loss,
                            "policy/clipfrac": policy.is_clipped,
                            "policy/entropy": output.entropy,
                            "policy/ratio": policy.ratio,
                            "policy/approx_kl": kl_estimate(
                                old_logprobs[cut], output.logprobs, KLEstimator.K3
                            ),
                        },
                    )
                figures.note("policy/grad_norm", session.apply_gradients())
            if figures.recent_kl() > (grpo.policy_kl_stop or math.inf):
                break
        session.scheduler.step()

        # The leash learns how far the completions were from the reference.
        kl = kl_estimate(old_logprobs, ref_logprobs, KLEstimator(config.kl.estimator)) * mask
        mean_kl = float(masked_mean(kl.sum(dim=1), experience.is_known, total))
        session.kl_controller.update(mean_kl, int(total(experience.is_known.sum())))
        metrics = {
            "objective/kl": mean_kl,
            "objective/kl_coef": session.kl_controller.value,
            "time/sample_s": sampled_s,
            "time/step_s": time.monotonic() - started,
        }
        session.record(step, experience, figures.means() | metrics)
