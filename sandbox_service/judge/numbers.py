"""Real numbers as they are written, and when two of them are close enough."""

import re
from decimal import Context, Decimal
from typing import NamedTuple

# Plain decimal notation in ASCII; `float()` would also take `1_000`, `٣` and `infinity`.
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_SPECIAL = re.compile(rb"([+-]?)(?:(nan)|inf|infinity)", re.IGNORECASE)

# Long enough for sums of doubles to be exact in practice, short enough to be quick.
_DIGITS = 60


class Tolerance(NamedTuple):
    """How far a real number may be off; the wider of the two bounds counts."""

    abs_tol: float
    rel_tol: float

    def allows(self, actual: Decimal, expected: Decimal) -> bool:
        """Tells whether two finite numbers are close enough, in decimal arithmetic.

        Decimal, because 1.000001 and 1.0 differ by more than 1e-6 once they are doubles.
        """
        context = Context(prec=_DIGITS, traps=[])
        difference = context.abs(context.subtract(actual, expected))
        relative = context.multiply(Decimal(repr(self.rel_tol)), context.abs(expected))
        return difference <= max(Decimal(repr(self.abs_tol)), relative)


def is_real(token: bytes) -> bool:
    """Tells whether a word is written as a real number: with a point or an exponent."""
    return bool(_NUMBER.fullmatch(token)) and not _INTEGER.fullmatch(token)


def special_of(token: bytes) -> str | None:
    """Returns `nan`, `inf` or `-inf` for their usual spellings, None for any other word.

    Languages spell them differently (`NaN`, `-nan`, `Infinity`); a nan has no sign.
    """
    match = _SPECIAL.fullmatch(token)
    if match is None:
        return None
    if match[2]:
        return "nan"
    return "-inf" if match[1] == b"-" else "inf"


def is_close(actual: bytes, expected: bytes, tolerance: Tolerance) -> bool:
    """Compares one word of output with an expected word.

    Tolerance applies only where the expected word is written as a real number, and then the
    actual word must be a finite number too, real or integer. nan equals nan and inf equals inf
    of the same sign, in any usual spelling. Every other word must be equal to the byte, integers
    among them.
    """
    if not is_real(expected):
        special = special_of(expected)
        return actual == expected or (special is not None and special_of(actual) == special)
    if not _NUMBER.fullmatch(actual):
        return False
    context = Context(prec=_DIGITS, traps=[])
    got = context.create_decimal(actual.decode("ascii"))
    wanted = context.create_decimal(expected.decode("ascii"))
    if not (got.is_finite() and wanted.is_finite()):
        return actual == expected
    return tolerance.allows(got, wanted)
