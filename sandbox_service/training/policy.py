"""The actor, the critic and the frozen reference.

Shapes: B completions, P prompt tokens, T response tokens, D width of the hidden states.
"""

import copy
import inspect
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from sandbox_service.errors import SettingsError
from sandbox_service.training.logprobs import chunked_logprobs
from sandbox_service.training.model_config import ModelConfig
from sandbox_service.training.tokens import Tokens

# Models that change their logits after the head; scoring them in chunks would miss that.
_LOGIT_CHANGES = ("final_logit_softcapping", "logit_scale", "logits_scaling")


class PolicyOutput(NamedTuple):
    """What actor and critic say about completions, each (B, T)."""

    logprobs: Tensor
    """Log-probability of each token."""
    entropy: Tensor
    """Entropy of the distribution that each token was sampled from."""
    values: Tensor
    """Expected return before each token; zeros without a critic."""


class ActorCritic(nn.Module):
    """A causal language model, and a critic on its trunk or on a trunk of its own."""

    def __init__(
        self, model: Any, config: ModelConfig, *, temperature: float, with_critic: bool
    ) -> None:
        super().__init__()
        refuse_changed_logits(model)
        self.model = model
        self.critic: nn.Module | None = None
        self.value_head: nn.Module | None = None
        self.temperature = temperature
        self._vocab_chunk = config.vocab_chunk
        # The name changed between versions of transformers.
        names = inspect.signature(_plain(model).forward).parameters
        self._cache_argument = "cache" if "cache" in names else "past_key_values"
        self._autocast_to = torch.bfloat16 if config.dtype == "bfloat16" else None
        if with_critic:
            self.value_head = _zero_head(_plain(model).config.hidden_size)
            if config.critic == "own":
                self.critic = copy.deepcopy(trunk_of(model))

    def forward(self, tokens: Tokens, *, with_values: bool = True) -> PolicyOutput:
        """Scores the completions of a batch."""
        with self._precision(tokens.ids.device):
            hidden = _hidden(trunk_of(self.model), tokens)
            scores = self._scores(hidden, tokens)
            if not with_values or self.value_head is None:
                return PolicyOutput(*scores, values=torch.zeros_like(scores[0]))
            return PolicyOutput(*scores, values=self._values(hidden, tokens))

    @torch.no_grad()
    def values(self, tokens: Tokens) -> Tensor:
        """Returns the critic's values (B, T), without gradient."""
        if self.value_head is None:
            return torch.zeros_like(tokens.mask, dtype=torch.float32)
        with self._precision(tokens.ids.device):
            if self.critic is None:
                return self._values(_hidden(trunk_of(self.model), tokens), tokens)
            return self._values(None, tokens)

    @torch.no_grad()
    def next_logits(
        self, ids: Tensor, attention_mask: Tensor, positions: Tensor, cache: Any
    ) -> Any:
        """Returns the logits (B, V) of the next word, at temperature 1, and extends the cache."""
        with self._precision(ids.device):
            output = self.model(
                input_ids=ids,
                attention_mask=attention_mask,
                position_ids=positions,
                use_cache=True,
                logits_to_keep=1,
                **{self._cache_argument: cache},
            )
        return output.logits[:, -1].float()

    def _scores(self, hidden: Tensor, tokens: Tokens) -> tuple[Tensor, Tensor]:
        head = _plain(self.model).get_output_embeddings()
        shape = tokens.responses.shape
        scores = chunked_logprobs(
            hidden.reshape(-1, hidden.shape[-1]),
            head.weight,
            head.bias,
            tokens.responses.reshape(-1),
            temperature=self.temperature,
            chunk=self._vocab_chunk,
        )
        return scores.logprobs.view(shape), scores.entropy.view(shape)

    def _values(self, hidden: Tensor | None, tokens: Tokens) -> Tensor:
        assert self.value_head is not None
        if self.critic is not None:
            hidden = _hidden(self.critic, tokens)
        with torch.autocast(tokens.ids.device.type, enabled=False):
            assert hidden is not None
            return self.value_head(hidden.float()).squeeze(-1)

    def _precision(self, device: torch.device) -> AbstractContextManager[Any]:
        if self._autocast_to is None:
            return nullcontext()
        return torch.autocast(device.type, dtype=self._autocast_to)


class Reference:
    """The policy that the KL is measured from: a frozen copy, or the model without its adapter."""

    def __init__(self, policy: ActorCritic, config: ModelConfig) -> None:
        self._policy = policy
        self._is_moved = config.offload_reference
        self._copy: ActorCritic | None = None
        if config.lora is None:
            frozen = copy.deepcopy(policy.model).requires_grad_(False).eval()
            if config.dtype == "bfloat16":
                frozen = frozen.to(torch.bfloat16)
            self._copy = ActorCritic(
                frozen,
                config,
                temperature=policy.temperature,
                with_critic=False,
            )
            self._copy.to("cpu" if self._is_moved else next(policy.parameters()).device)

    @torch.no_grad()
    def logprobs(self, tokens: Tokens) -> Tensor:
        """Returns the reference's log-probabilities (B, T)."""
        if self._copy is None:
            with self._policy.model.disable_adapter():
                return self._policy(tokens, with_values=False).logprobs
        if self._is_moved:
            self._copy.to(tokens.ids.device)
        logprobs = self._copy(tokens, with_values=False).logprobs
        if self._is_moved:
            self._copy.to("cpu")
        return logprobs


def refuse_changed_logits(model: Any) -> None:
    """Checks that logits are what the head gives.

    Raises:
        SettingsError: the model scales or caps them.
    """
    config = _plain(model).config
    for name in _LOGIT_CHANGES:
        if getattr(config, name, None) not in {None, 1.0}:
            raise SettingsError(f"{config.model_type} models change their logits ({name})")


def trunk_of(model: Any) -> nn.Module:
    """Returns a language model without its head."""
    trunk: nn.Module = _plain(model).base_model
    return trunk


def _plain(model: Any) -> Any:
    """Returns the model below adapters; they are inside its layers and stay at work."""
    return model.get_base_model() if model.__class__.__name__.startswith("Peft") else model


def _hidden(trunk: nn.Module, tokens: Tokens) -> Tensor:
    """Returns hidden states (B, T, D): that at t is what was known before response token t."""
    hidden = trunk(
        input_ids=tokens.ids,
        attention_mask=tokens.attention_mask,
        position_ids=tokens.positions,
        use_cache=False,
    ).last_hidden_state
    return hidden[:, tokens.prompt_len - 1 : -1]


def _zero_head(width: int) -> nn.Linear:
    """Makes a value head that starts at zero, so that the first advantages are plain returns."""
    head = nn.Linear(width, 1)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    return head
