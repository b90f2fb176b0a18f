"""Whether a completion's final mathematical answer is the expected one, by `math-verify`.

The library is an optional extra; without it the score is missing. It parses hostile text, keeps
its time by an alarm signal and uses memory freely: call it in the main thread of a process of its
own that somebody can end.
"""

from sandbox_service.rewards.measured import Measured

_TIMEOUT_S = 2


def is_mathematics(text: str) -> bool | None:
    """Tells whether the library can read an expected answer; None without the library."""
    try:
        return bool(_gold(text))
    except ImportError:
        return None


def answer_score(completion: str, expected: str) -> Measured:
    """Compares the last answer of a completion (boxed, or said to be final) with the expected one.

    Equal means equal as mathematics: 1/2, 0.5 and a boxed fraction are the same. A comparison that
    takes too long counts as different.
    """
    try:
        from math_verify import parse, verify  # noqa: PLC0415 - optional, and slow to import
    except ImportError:
        return Measured(None, "math-verify is not installed")
    gold = _gold(expected)
    if not gold:
        return Measured(None, "the expected answer is not mathematics")
    answer = parse(completion, parsing_timeout=_TIMEOUT_S)
    is_right = bool(answer) and verify(gold, answer, timeout_seconds=_TIMEOUT_S)
    return Measured(1.0 if is_right else 0.0)


def _gold(expected: str) -> list[object]:
    from math_verify import parse  # noqa: PLC0415 - optional, and slow to import

    is_marked = "\\boxed" in expected or "$" in expected
    found: list[object] = parse(
        expected if is_marked else f"\\boxed{{{expected}}}", parsing_timeout=_TIMEOUT_S
    )
    return found
