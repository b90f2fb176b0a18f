"""Models and tokenizers: of the hub, of a folder, or the tiny ones made here."""

import copy
from pathlib import Path
from typing import Any, NamedTuple

import torch

from sandbox_service.training.model_config import LoraConfig, ModelConfig
from sandbox_service.training.policy import ActorCritic
from sandbox_service.training.problems import family_words
from sandbox_service.training.tiny import tiny_model, tiny_tokenizer

TINY = "tiny"


class Loaded(NamedTuple):
    """A model and what turns its text into tokens."""

    model: Any
    tokenizer: Any


def device_of(config: ModelConfig, local_rank: int = 0) -> torch.device:
    """Chooses where to compute."""
    if config.device != "auto":
        return torch.device(config.device)
    return torch.device("cuda", local_rank) if torch.cuda.is_available() else torch.device("cpu")


def load(config: ModelConfig, seed: int) -> Loaded:
    """Loads what the configuration names, with adapters if it wants them."""
    if config.threads:
        torch.set_num_threads(config.threads)
    if config.name_or_path == TINY:
        tokenizer = tiny_tokenizer(family_words())
        model = tiny_model(len(tokenizer), seed)
    else:
        model, tokenizer = _pretrained(config)
    if config.gradient_checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
        model.enable_input_require_grads()
    if config.lora is not None:
        model = _with_adapters(model, config.lora)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return Loaded(model, tokenizer)


def save_policy(policy: ActorCritic, tokenizer: Any, folder: Path) -> None:
    """Writes the actor as transformers reads it, adapters merged."""
    model = policy.model
    if model.__class__.__name__.startswith("Peft"):
        model = copy.deepcopy(model).merge_and_unload()
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _pretrained(config: ModelConfig) -> Loaded:
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415 - slow to import

    # What is trained keeps float32, since bfloat16 swallows small updates.
    is_frozen = config.lora is not None and config.dtype == "bfloat16"
    model = AutoModelForCausalLM.from_pretrained(
        config.name_or_path,
        dtype=torch.bfloat16 if is_frozen else torch.float32,
        attn_implementation=config.attention,
        trust_remote_code=config.trust_remote_code,
    )
    tokenizer = AutoTokenizer.from_pretrained(
        config.name_or_path, trust_remote_code=config.trust_remote_code
    )
    return Loaded(model, tokenizer)


def _with_adapters(model: Any, lora: LoraConfig) -> Any:
    from peft import LoraConfig as Adapters  # noqa: PLC0415 - only where adapters are wanted
    from peft import get_peft_model  # noqa: PLC0415 - as above

    targets = lora.target_modules
    return get_peft_model(
        model,
        Adapters(
            r=lora.rank,
            lora_alpha=lora.alpha,
            lora_dropout=lora.dropout,
            target_modules=targets if isinstance(targets, str) else list(targets),
            task_type="CAUSAL_LM",
        ),
    )
