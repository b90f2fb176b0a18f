"""Supervised warm start: imitate demonstrations, or the good trajectories of earlier runs."""

from pathlib import Path

import torch

from sandbox_service.training.config import TrainingConfig
from sandbox_service.training.datasets import load_demonstrations
from sandbox_service.training.loading import device_of, load, save_policy
from sandbox_service.training.masking import LossLevel, token_weights
from sandbox_service.training.policy import ActorCritic
from sandbox_service.training.tokens import encode_completion, encode_prompt, pack
from sandbox_service.training.tracking import Tracker


def train_sft(config: TrainingConfig) -> Path:
    """Trains on demonstrations and returns the folder of the policy, which PPO can start from.

    Raises:
        SettingsError: there is nothing to imitate.
    """
    sft, rollout = config.sft, config.rollout
    device = device_of(config.model)
    torch.manual_seed(config.seed)
    loaded = load(config.model, config.seed)
    policy = ActorCritic(loaded.model, config.model, temperature=1.0, with_critic=False).to(device)
    optimizer = torch.optim.AdamW(
        [each for each in policy.parameters() if each.requires_grad],
        lr=sft.lr,
        betas=config.optim.betas,
        weight_decay=config.optim.weight_decay,
    )
    pairs = [
        (
            encode_prompt(loaded.tokenizer, each.prompt, rollout.max_prompt_tokens),
            encode_completion(loaded.tokenizer, each.completion, rollout.max_new_tokens),
        )
        for each in load_demonstrations(config)
    ]
    draw = torch.Generator().manual_seed(config.seed)
    policy.train()
    with Tracker(Path(config.output), is_writing=True, steps=sft.steps, first_step=0) as tracker:
        for step in range(sft.steps):
            chosen = torch.randint(len(pairs), (sft.batch_size,), generator=draw).tolist()
            batch = pack(
                [pairs[each][0] for each in chosen],
                [pairs[each][1] for each in chosen],
                loaded.tokenizer.pad_token_id,
            ).to(device)
            weights = token_weights(batch.mask, LossLevel.TOKEN)
            loss_sum = 0.0
            for rows in torch.arange(sft.batch_size).split(config.optim.micro_batch_size):
                micro = batch.rows(rows)
                width = micro.mask.shape[1]
                logprobs = policy(micro, with_values=False).logprobs
                loss = -(logprobs * weights[rows, :width]).sum()
                loss.backward()
                loss_sum += loss.item()
            norm = torch.nn.utils.clip_grad_norm_(policy.parameters(), config.optim.max_grad_norm)
            optimizer.step()
            optimizer.zero_grad()
            tracker.log(step, {"sft/loss": loss_sum, "sft/grad_norm": float(norm)})
    folder = Path(config.output, "policy")
    save_policy(policy, loaded.tokenizer, folder)
    return folder
