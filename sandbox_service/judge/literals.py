"""Literals and comments of source text in any language, found without parsing it.

One regular expression passes over the text once. A real parser would know better, but the text is
hostile, parsers can be made to fail, and what is found here only informs.
"""

import re
from functools import cache
from typing import NamedTuple

MAX_CODE_CHARS = 262_144

_HASH_COMMENTS = frozenset({"python", "bash", "ruby", "perl", "r", "julia", "elixir"})

# Every alternative that opens something also ends with the text, so that nothing is scanned twice.
_STRING = (
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)'
    r"|'''(?:\\.|[^\\])*?(?:'''|\Z)"
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|'(?:\\.|[^'\\\n])*'?"
    r"|`(?:\\.|[^`\\])*(?:`|\Z)"
)
_NUMBER = r"(?<![\w.])\d[\w.]*"
_ESCAPES = {r"\n": "\n", r"\t": "\t", r"\"": '"', r"\'": "'", r"\\": "\\"}


class Lexed(NamedTuple):
    """What a source text consists of."""

    code: str
    """The text with a blank in place of every comment."""

    literals: frozenset[str]
    """Contents of strings, and numbers as they are written."""


def lex(source: str, *, language: str) -> Lexed:
    """Splits the first `MAX_CODE_CHARS` of a source text."""
    text = source[:MAX_CODE_CHARS]
    pattern = _pattern(has_hash_comments=language in _HASH_COMMENTS)
    literals: set[str] = set()
    kept: list[str] = []
    position = 0
    for match in pattern.finditer(text):
        if match["comment"]:
            kept += (text[position : match.start()], " ")
            position = match.end()
        else:
            literals.add(_content(match[0]))
    return Lexed("".join([*kept, text[position:]]), frozenset(literals))


@cache
def _pattern(*, has_hash_comments: bool) -> re.Pattern[str]:
    comment = r"#[^\n]*" if has_hash_comments else r"//[^\n]*|/\*(?s:.)*?(?:\*/|\Z)"
    return re.compile(rf"(?P<comment>{comment})|{_STRING}|{_NUMBER}", re.DOTALL)


def _content(literal: str) -> str:
    if literal[0].isdigit():
        return literal
    quote = literal[:3] if literal[:3] in {'"""', "'''"} else literal[0]
    text = literal.removeprefix(quote).removesuffix(quote)
    return re.sub(r"\\.", lambda match: _ESCAPES.get(match[0], match[0]), text)
