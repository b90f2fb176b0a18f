"""Compares what a program printed with what it should have printed.

Rules that hold for every checker here:

* Output is bytes, and the expected text is taken as its UTF-8 bytes. Output that is not UTF-8
  is therefore never equal to an expected text, and never an error; nothing is substituted.
* Case counts. A byte order mark and NUL are characters like any other. A no-break space, a form
  feed or a Unicode line separator is not a line end and not a blank.
* Empty expected output is an expectation: only output that is empty under the checker's rules
  meets it.
* Time and memory are linear in the size of the output.
"""

import io
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from sandbox_service.errors import InvalidSubmission
from sandbox_service.judge.json_text import NotPlainData, parse_json
from sandbox_service.judge.numbers import Tolerance, is_close
from sandbox_service.judge.values import equal
from sandbox_service.schema.checker import (
    Checker,
    ExactChecker,
    FloatChecker,
    JsonChecker,
    LinesChecker,
    TokensChecker,
    UnorderedChecker,
)

_SHOWN_BYTES = 60


class Outcome(NamedTuple):
    """What a checker found."""

    score: float | None
    """0 to 1; None when the checker itself failed and nothing was found out."""

    detail: str = ""
    """Where the first difference is; never any part of the expected output."""


_RIGHT = Outcome(1.0)


def check(checker: Checker, *, stdout: bytes, expected: str) -> Outcome:
    """Compares an output with the expected one.

    Raises:
        InvalidSubmission: the expected output is not what the checker needs.
        TypeError: the checker is a program, which only a sandbox can run.
    """
    wanted = expected.encode("utf-8", "surrogatepass")
    match checker:
        case LinesChecker():
            return same_lines(stdout, wanted)
        case ExactChecker():
            return same_bytes(stdout, wanted)
        case TokensChecker():
            return same_tokens(stdout, wanted)
        case FloatChecker(abs_tol=abs_tol, rel_tol=rel_tol):
            return close_tokens(stdout, wanted, Tolerance(abs_tol, rel_tol))
        case UnorderedChecker():
            return same_lines_in_any_order(stdout, wanted)
        case JsonChecker():
            return same_json(stdout, wanted)
        case _:
            raise TypeError(f"a {checker.type} checker is a program")


def same_lines(actual: bytes, expected: bytes) -> Outcome:
    """Compares line by line.

    A line ends with LF. Space, tab and CR at the end of a line are ignored, so CRLF is LF; so
    are lines at the very end that are empty after that, and with them a missing last line end.
    Everything else counts: blanks at the start and within a line, empty lines before and between.
    """
    pairs = zip_longest(_lines(actual), _lines(expected))
    for number, (line, wanted) in enumerate(pairs, start=1):
        if line != wanted:
            return _wrong_line(number, line, wanted)
    return _RIGHT


def same_bytes(actual: bytes, expected: bytes) -> Outcome:
    """Compares byte by byte: line ends, blanks and the last line end count."""
    if actual == expected:
        return _RIGHT
    if len(actual) != len(expected):
        return Outcome(0.0, f"{len(actual)} bytes instead of {len(expected)}")
    at = next(
        i for i, (one, other) in enumerate(zip(actual, expected, strict=True)) if one != other
    )
    return Outcome(0.0, f"byte {at + 1} differs: {_shown(actual[at:])}")


def same_tokens(actual: bytes, expected: bytes) -> Outcome:
    """Compares word by word; a word is what stands between runs of ASCII white space.

    White space is space, tab, LF, CR, vertical tab and form feed, and all of it is the same.
    """
    return _first_difference(actual.split(), expected.split(), lambda one, other: one == other)


def close_tokens(actual: bytes, expected: bytes, tolerance: Tolerance) -> Outcome:
    """Compares word by word as `same_tokens`, with the tolerance of `numbers.is_close`."""
    return _first_difference(
        actual.split(), expected.split(), lambda one, other: is_close(one, other, tolerance)
    )


def same_lines_in_any_order(actual: bytes, expected: bytes) -> Outcome:
    """Compares the lines of `same_lines` as a multiset: each must come as often as expected."""
    surplus = Counter(_lines(actual))
    surplus.subtract(Counter(_lines(expected)))
    for line, count in surplus.items():
        if count > 0:
            return Outcome(0.0, f"{count} too many of the line {_shown(line)}")
    missing = -sum(surplus.values())
    return Outcome(0.0, f"{missing} lines are missing") if missing else _RIGHT


def same_json(actual: bytes, expected: bytes) -> Outcome:
    """Compares as JSON values: order of keys and white space do not count, 2 equals 2.0.

    The output must be one JSON text in UTF-8 without a byte order mark, without duplicate keys,
    NaN or Infinity, and not nested deeper than the bound of `json_text`.

    Raises:
        InvalidSubmission: the expected output is not such a text.
    """
    try:
        wanted = parse_json(expected.decode("utf-8"))
    except (NotPlainData, UnicodeDecodeError) as error:
        raise InvalidSubmission(
            "the expected output is not JSON", field="expected_stdout"
        ) from error
    try:
        value = parse_json(actual.decode("utf-8"))
    except (NotPlainData, UnicodeDecodeError) as error:
        return Outcome(0.0, f"not JSON: {error}")
    return _RIGHT if equal(value, wanted) else Outcome(0.0, "another JSON value")


def _lines(text: bytes) -> Iterator[bytes]:
    # BytesIO splits at LF only and one line at a time; a list of 64 M empty lines is 512 MB.
    return (line.rstrip(b" \t\r\n") for line in io.BytesIO(text.rstrip(b" \t\r\n")))


def _first_difference(
    actual: list[bytes], expected: list[bytes], is_same: Callable[[bytes, bytes], bool]
) -> Outcome:
    for number, (word, wanted) in enumerate(zip(actual, expected, strict=False), start=1):
        if not is_same(word, wanted):
            return Outcome(0.0, f"word {number} differs: {_shown(word)}")
    if len(actual) != len(expected):
        return Outcome(0.0, f"{len(actual)} words instead of {len(expected)}")
    return _RIGHT


def _wrong_line(number: int, line: bytes | None, wanted: bytes | None) -> Outcome:
    if line is None:
        return Outcome(0.0, f"line {number} is missing")
    if wanted is None:
        return Outcome(0.0, f"line {number} is too many: {_shown(line)}")
    return Outcome(0.0, f"line {number} differs: {_shown(line)}")


def _shown(text: bytes) -> str:
    shown = repr(text[:_SHOWN_BYTES].decode("utf-8", "replace"))
    return shown if len(text) <= _SHOWN_BYTES else f"{shown}…"
