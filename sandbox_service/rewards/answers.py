"""Whether a completion's final mathematical answer is the expected one, by `math-verify`.

The library is an optional extra; without it the score is missing. It parses hostile text, keeps
its time by an alarm signal and uses memory freely: call it in the main thread of a process of its
own that somebody can end.
"""

from typing import NamedTuple

_TIMEOUT_S = 2


class Answer(NamedTuple):
    """What was found out about an answer."""

    score: float | None
    """1 if it is right, 0 if not, None if nobody can tell."""

    detail: str = ""
    """Why nobody can tell."""


def answer_score(completion: str, expected: str) -> Answer:
    """Compares the last answer of a completion (boxed, or said to be final) with the expected one.

    Equal means equal as mathematics: 1/2, 0.5 and a boxed fraction are the same. A comparison that
    takes too long counts as different.
    """
    try:
        from math_verify import parse, verify  # noqa: PLC0415 - optional, and slow to import
    except ImportError:
        return Answer(None, "math-verify is not installed")
    is_marked = "\\boxed" in expected or "$" in expected
    gold = parse(expected if is_marked else f"\\boxed{{{expected}}}", parsing_timeout=_TIMEOUT_S)
    if not gold:
        return Answer(None, "the expected answer is not mathematics")
    answer = parse(completion, parsing_timeout=_TIMEOUT_S)
    is_right = bool(answer) and verify(gold, answer, timeout_seconds=_TIMEOUT_S)
    return Answer(1.0 if is_right else 0.0)
