"""Prompts and completions as one tensor: prompts padded at the left, completions at the right.

Shapes: B completions, P longest prompt, T longest completion.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a model is given to score completions."""

    ids: Tensor
    """(B, P + T)"""
    attention_mask: Tensor
    """(B, P + T), 1 where a token is none of the padding."""
    prompt_len: int
    """P"""

    @property
    def responses(self) -> Tensor:
        """Tokens of the completions, (B, T)."""
        return self.ids[:, self.prompt_len :]

    @property
    def mask(self) -> Tensor:
        """1 where a token belongs to a completion, its end token included, (B, T)."""
        return self.attention_mask[:, self.prompt_len :]

    @property
    def positions(self) -> Tensor:
        """Position of each token, counted from the first that is none of the padding."""
        return (self.attention_mask.cumsum(dim=1) - 1).clamp(min=0)

    def rows(self, index: Tensor) -> "Tokens":
        """Takes some completions, and cuts off what is padding in all of them."""
        ids, mask = self.ids[index], self.attention_mask[index]
        prompts = mask[:, : self.prompt_len].sum(dim=1)
        start = self.prompt_len - int(prompts.max())
        end = self.prompt_len + max(1, int(mask[:, self.prompt_len :].sum(dim=1).max()))
        return Tokens(ids[:, start:end], mask[:, start:end], self.prompt_len - start)

    def to(self, device: torch.device) -> "Tokens":
        """Moves the tensors."""
        return Tokens(self.ids.to(device), self.attention_mask.to(device), self.prompt_len)


def encode_prompt(tokenizer: Any, prompt: str, longest: int) -> list[int]:
    """Turns a prompt into tokens: through the chat template, if the tokenizer has one."""
    if tokenizer.chat_template:
        ids = tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}],
            add_generation_prompt=True,
            return_dict=True,
        )["input_ids"]
    else:
        first = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
        ids = first + tokenizer(prompt, add_special_tokens=False)["input_ids"]
    return list(ids[-longest:])


def encode_completion(tokenizer: Any, completion: str, longest: int) -> list[int]:
    """Turns a completion into tokens with the end token after it, if there is room."""
    ids = tokenizer(completion, add_special_tokens=False)["input_ids"]
    return [*ids, tokenizer.eos_token_id][:longest]


def pack(
    prompts: Sequence[Sequence[int]], responses: Sequence[Sequence[int]], pad_id: int
) -> Tokens:
    """Pads prompts at the left and completions at the right."""
    prompt_len = max(len(prompt) for prompt in prompts)
    response_len = max(1, *(len(response) for response in responses))
    ids = torch.full((len(prompts), prompt_len + response_len), pad_id, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, (prompt, response) in enumerate(zip(prompts, responses, strict=True)):
        start, end = prompt_len - len(prompt), prompt_len + len(response)
        ids[row, start:end] = torch.tensor([*prompt, *response], dtype=torch.long)
        mask[row, start:end] = 1
    return Tokens(ids, mask, prompt_len)


def token_ids(row: Tensor, mask: Tensor) -> list[int]:
    """Returns the tokens of one completion (T,) without padding."""
    ids: list[int] = row[mask.bool()].tolist()
    return ids
