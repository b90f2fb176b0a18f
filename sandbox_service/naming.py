"""What a tool chain has to be told of a program: names from its text, and its memory limit. Pure.

Patterns come from `language.toml`, texts from whoever sends them: a pattern must not look at a
character more than a few times.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sandbox_service.schema.limits import MIB


@dataclass(frozen=True)
class Names:
    """Names that one program has, as they stand in command lines."""

    source: str
    """File that the code is written to."""

    entry: str = ""
    """What is started: a class, say."""

    def fill(self, words: Iterable[str], *, memory_bytes: int = 0) -> tuple[str, ...]:
        """Returns a command line with its `{source}`, `{entry}` and `{memory_mib}` filled in."""
        return tuple(self._filled(word, memory_bytes) if "{" in word else word for word in words)

    def _filled(self, word: str, memory_bytes: int) -> str:
        return (
            word.replace("{source}", self.source)
            .replace("{entry}", self.entry)
            .replace("{memory_mib}", str(memory_bytes // MIB))
        )


def first_match(patterns: Sequence[str], text: str) -> str | None:
    """Returns the first group of the first pattern that is found in a text."""
    found = (re.search(pattern, text, re.MULTILINE | re.DOTALL) for pattern in patterns)
    return next((match[1] for match in found if match), None)
