"""Takes the code out of a model's whole text.

1. Thoughts go first: `<think>…</think>` sections (also `thinking`, `thought`, `reasoning`). A text
   that begins in the middle of one loses everything up to its end; one that never ends takes the
   rest of the text with it, since the answer never came.
2. What stands in the last `<answer>…</answer>` is all that counts, if there is one.
3. Fenced blocks: three or more backticks or tildes, indented or not, closed by at least as many.
   A fence with a language in the middle of a block begins a new one; a block that is never
   closed ends with the text.
4. Blocks tagged with the language come before blocks without a tag, and these before all others.
   Among the best, the rule decides: `last`, `first` or `longest`; `language` takes the last, and
   nothing that is not tagged with the language.
5. Without any fence the whole text is the code.

Blocks may name a file (```` ```python src/app.py ````, ```` ```python:src/app.py ````, or a first
line `# file: src/app.py`): then the last block named `main.*` or `solution.*` comes before other
last ones, and the blocks with other names accompany the chosen one.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from sandbox_service.schema.completion import ExtractionRule

_THOUGHT = r"(?:think|thinking|thought|reasoning)"
# A tag within a line of code is text of that code; a real one begins or ends its line.
_THOUGHT_TAG = re.compile(rf"^[ \t]*<(/?){_THOUGHT}>|<(/?){_THOUGHT}>[ \t]*$", re.MULTILINE)
_ANSWER = re.compile(r"^[ \t]*<answer>(.*?)(?:</answer>|\Z)", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})(?P<info>[^`]*)$")
_INLINE = re.compile(r"^[ \t]*`{3,}([^`]+)`{3,}[ \t]*$")
_FILE_LINE = re.compile(r"^\s*(?:#|//|--|/\*)\s*(?:file(?:name)?|path)\s*:\s*(\S+)", re.IGNORECASE)
_PATH = re.compile(r"(?:\w[\w.-]*/)*\w[\w-]*(?:\.[\w-]+)*\.\w+")


_MAIN = re.compile(r"(?:.*/)?(?:main|solution)\.\w+", re.IGNORECASE)


@dataclass(frozen=True)
class Extraction:
    """The code of a completion, and how it was found."""

    code: str
    """Empty when the completion has none."""

    rule: str
    """The rule in words, for the result."""

    files: dict[str, str] = field(default_factory=dict)
    """Further files that the completion names."""


class _Block(NamedTuple):
    tag: str
    path: str
    text: str
    is_closed: bool


def extract_code(
    completion: str,
    *,
    language_names: Collection[str],
    rule: ExtractionRule = ExtractionRule.LAST,
) -> Extraction:
    """Returns the code in a completion; `language_names` are the tags that mean its language."""
    text = _answer_of(_without_thoughts(completion.replace("\r\n", "\n")))
    blocks = list(_blocks(text))
    if not blocks:
        return Extraction(text.strip("\n"), "whole text" if text.strip() else "no text")
    names = {name.lower() for name in language_names}
    candidates, kind = _best(blocks, names, rule)
    if not candidates:
        return Extraction("", f"no block tagged {min(names, default='')}")
    chosen = _choose(candidates, rule)
    ending = "" if chosen.is_closed else ", unclosed"
    files = {
        block.path: block.text
        for block in blocks
        if block.path and chosen.path and block.path != chosen.path
    }
    return Extraction(chosen.text, f"{rule} of {len(candidates)} {kind}{ending}", files)


def _without_thoughts(text: str) -> str:
    kept: list[str] = []
    position, is_thinking = 0, False
    for tag in _THOUGHT_TAG.finditer(text):
        if tag[1] or tag[2]:
            if not is_thinking:
                kept.clear()
            position, is_thinking = tag.end(), False
        elif not is_thinking:
            kept.append(text[position : tag.start()])
            is_thinking = True
    return "".join(kept if is_thinking else [*kept, text[position:]])


def _answer_of(text: str) -> str:
    answers = _ANSWER.findall(text)
    return str(answers[-1]) if answers else text


def _blocks(text: str) -> Iterator[_Block]:
    fence: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if fence is not None and not _is_boundary(match, fence):
            lines.append(line.removeprefix(fence["indent"]))
            continue
        if fence is not None:
            is_closed = match is not None and not match["info"].strip()
            yield _block(fence["info"], lines, is_closed=is_closed)
            fence, lines = (None if is_closed else match), []
        elif match is not None:
            fence = match
        elif inline := _INLINE.match(line):
            yield _block("", [inline[1]], is_closed=True)
    if fence is not None:
        yield _block(fence["info"], lines, is_closed=False)


def _is_boundary(match: re.Match[str] | None, fence: re.Match[str]) -> bool:
    """Tells whether a line ends the open block: by closing it or by beginning another."""
    if match is None or not match["marks"].startswith(fence["marks"]):
        return False
    info = match["info"].strip()
    return not info or re.fullmatch(r"\{?\.?[A-Za-z][\w+#.-]*\}?(?:[: ].*)?", info) is not None


def _block(info: str, lines: list[str], *, is_closed: bool) -> _Block:
    words = re.split(r"[\s:{}=\"',]+", info.strip())
    words = [word for word in words if word]
    tag = words[0].removeprefix(".").lower() if words and not _PATH.fullmatch(words[0]) else ""
    path = next((word for word in words if _PATH.fullmatch(word)), "")
    first = _FILE_LINE.match(lines[0]) if lines else None
    if not path and first and _PATH.fullmatch(first[1]):
        path = first[1]
    return _Block(tag, path, "".join(f"{line}\n" for line in lines), is_closed)


def _best(blocks: list[_Block], names: set[str], rule: ExtractionRule) -> tuple[list[_Block], str]:
    tagged = [block for block in blocks if block.tag in names]
    if tagged or rule is ExtractionRule.LANGUAGE:
        return tagged, "blocks tagged with the language"
    untagged = [block for block in blocks if not block.tag]
    return (untagged, "blocks without a tag") if untagged else (blocks, "blocks of other languages")


def _choose(blocks: list[_Block], rule: ExtractionRule) -> _Block:
    if rule is ExtractionRule.FIRST:
        return blocks[0]
    if rule is ExtractionRule.LONGEST:
        return max(blocks, key=lambda block: len(block.text))
    mains = [block for block in blocks if _MAIN.fullmatch(block.path)]
    return mains[-1] if mains else blocks[-1]
