"""A tokenizer of whole words and a small transformer, made here: no hub is needed.

They speak the language of the family in `problems`, and learn it on a CPU in seconds.
"""

from collections.abc import Sequence

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

_SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")


def tiny_tokenizer(words: Sequence[str]) -> PreTrainedTokenizerFast:
    """Makes a tokenizer with one token for each word; text is words between single spaces."""
    vocabulary = {word: number for number, word in enumerate((*_SPECIAL, *words))}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))  # noqa: S106 - a token
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",  # noqa: S106 - as above
        bos_token="<bos>",  # noqa: S106 - as above
        eos_token="<eos>",  # noqa: S106 - as above
        unk_token="<unk>",  # noqa: S106 - as above
        clean_up_tokenization_spaces=False,
    )


def tiny_model(
    vocabulary: int, seed: int, *, width: int = 64, layers: int = 2, positions: int = 512
) -> LlamaForCausalLM:
    """Makes a transformer with fresh weights."""
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        tie_word_embeddings=False,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    # The weights follow from the seed alone, whatever was drawn before.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)
