"""Completions sampled from the policy, handed on as soon as each is finished.

Shapes: B completions, P prompt tokens, T response tokens.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import DynamicCache

from sandbox_service.training.config import RolloutConfig
from sandbox_service.training.policy import ActorCritic
from sandbox_service.training.problems import Problem
from sandbox_service.training.tokens import Tokens, encode_prompt, pack, token_ids

_BYTES = {torch.float32: 4, torch.bfloat16: 2, torch.float16: 2}


@dataclass(frozen=True, slots=True)
class Finished:
    """One completion."""

    index: int
    """Its row in the rollouts."""
    problem: Problem
    """What it answers."""
    completion: str
    """Its text, without special tokens."""
    token_count: int
    """Its length, the end token included."""
    is_cut: bool
    """Whether it ended because it was too long."""


OnFinished = Callable[[Sequence[Finished]], None]


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Completions of several problems, those of one problem side by side."""

    tokens: Tokens
    """Prompts and completions."""
    old_logprobs: Tensor
    """Of each token when it was sampled, (B, T)."""
    finished: tuple[Finished, ...]
    """The same as text, in the order of the rows."""


def sample(
    policy: ActorCritic,
    tokenizer: Any,
    problems: Sequence[Problem],
    config: RolloutConfig,
    *,
    generator: torch.Generator,
    on_finished: OnFinished,
) -> Rollouts:
    """Samples `group_size` completions of each problem and hands on those that finish at a step."""
    device = next(policy.parameters()).device
    wanted = [problem for problem in problems for _ in range(config.group_size)]
    prompts = [
        encode_prompt(tokenizer, problem.prompt, config.max_prompt_tokens) for problem in wanted
    ]
    responses: list[list[int]] = []
    logprobs: list[Tensor] = []
    finished: list[Finished] = []

    def hand_on(some: Sequence[Finished]) -> None:
        finished.extend(some)
        on_finished(some)

    policy.eval()
    for start, end in _turns(policy, prompts, config):
        turn = _Turn(tokenizer, wanted[start:end], start)
        sampled = turn.run(policy, prompts[start:end], config, generator=generator, hand_on=hand_on)
        responses += sampled.responses
        logprobs += sampled.logprobs
    tokens = pack(prompts, responses, tokenizer.pad_token_id).to(device)
    old_logprobs = torch.zeros(tokens.mask.shape, device=device)
    for row, values in enumerate(logprobs):
        old_logprobs[row, : len(values)] = values
    finished.sort(key=lambda each: each.index)
    return Rollouts(tokens, old_logprobs, tuple(finished))


def cache_bytes_per_token(policy: ActorCritic) -> int:
    """Returns what one token of one completion takes in the key-value cache."""
    config = policy.model.config
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    dtype = next(policy.model.parameters()).dtype
    return int(2 * config.num_hidden_layers * heads * width * _BYTES.get(dtype, 4))


def _turns(
    policy: ActorCritic, prompts: Sequence[Sequence[int]], config: RolloutConfig
) -> Iterator[tuple[int, int]]:
    """Cuts the rows so that the key-value cache of each turn is within its bound."""
    longest = max(len(prompt) for prompt in prompts) + config.max_new_tokens
    row_bytes = cache_bytes_per_token(policy) * longest
    size = max(1, config.kv_cache_bytes // row_bytes)
    for start in range(0, len(prompts), size):
        yield start, min(start + size, len(prompts))


class _Sampled(NamedTuple):
    responses: list[list[int]]
    logprobs: list[Tensor]


class _Turn:
    """Rows that are sampled together."""

    def __init__(self, tokenizer: Any, problems: Sequence[Problem], offset: int) -> None:
        self._tokenizer = tokenizer
        self._problems = problems
        self._offset = offset

    def run(
        self,
        policy: ActorCritic,
        prompts: Sequence[Sequence[int]],
        config: RolloutConfig,
        *,
        generator: torch.Generator,
        hand_on: OnFinished,
    ) -> _Sampled:
        """Samples one token of each row at a time, until all have ended."""
        device = next(policy.parameters()).device
        eos, pad = self._tokenizer.eos_token_id, self._tokenizer.pad_token_id
        start = pack(prompts, [[]] * len(prompts), pad).to(device)
        ids, mask = start.ids[:, : start.prompt_len], start.attention_mask[:, : start.prompt_len]
        positions = start.positions[:, : start.prompt_len]
        rows = len(prompts)
        alive = torch.ones(rows, dtype=torch.bool, device=device)
        words, scores, alive_at = [], [], []
        cache = DynamicCache()
        for step in range(config.max_new_tokens):
            logits = policy.next_logits(ids, mask, positions, cache) / config.temperature
            logprobs = torch.log_softmax(logits, dim=-1)
            drawn = torch.multinomial(logprobs.exp(), 1, generator=generator)
            chosen = torch.where(alive, drawn.squeeze(1), torch.full_like(drawn[:, 0], pad))
            words.append(chosen)
            scores.append(logprobs.gather(1, drawn).squeeze(1))
            alive_at.append(alive)
            is_last = step == config.max_new_tokens - 1
            ends = alive & ((chosen == eos) | is_last)
            if ends.any():
                hand_on(self._finished(ends, words, alive_at, eos))
            ids, alive = chosen.unsqueeze(1), alive & ~ends
            if not alive.any():
                break
            mask = torch.cat([mask, mask.new_ones(rows, 1)], dim=1)
            positions = positions[:, -1:] + 1
        kept = torch.stack(alive_at, dim=1)
        response, logprob = torch.stack(words, dim=1), torch.stack(scores, dim=1)
        return _Sampled(
            [token_ids(response[row], kept[row]) for row in range(rows)],
            [logprob[row][kept[row]] for row in range(rows)],
        )

    def _finished(
        self, ends: Tensor, words: list[Tensor], alive_at: list[Tensor], eos: int
    ) -> list[Finished]:
        rows = ends.nonzero().squeeze(1).tolist()
        response = torch.stack([word[ends] for word in words], dim=1)
        kept = torch.stack([alive[ends] for alive in alive_at], dim=1)
        found = []
        for number, row in enumerate(rows):
            ids = token_ids(response[number], kept[number])
            found.append(
                Finished(
                    index=self._offset + row,
                    problem=self._problems[row],
                    completion=self._tokenizer.decode(ids, skip_special_tokens=True),
                    token_count=len(ids),
                    is_cut=ids[-1] != eos,
                )
            )
        return found
