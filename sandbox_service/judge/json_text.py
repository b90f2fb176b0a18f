"""JSON read strictly, because the text may come from a hostile process."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

MAX_DEPTH = 200

# Above this length Python refuses the quadratic conversion; the text itself is as exact.
_MAX_INTEGER_DIGITS = 4300


class NotPlainData(ValueError):
    """The text is not a value of the value space."""


@dataclass(frozen=True)
class HugeInteger:
    """An integer too long to convert, kept as its digits."""

    digits: str


def parse_json(text: str) -> Any:
    """Parses JSON strictly: no duplicate keys, no NaN, bounded depth and exact integers.

    Raises:
        NotPlainData: the text is not such JSON.
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse,
            parse_int=integer,
            parse_float=_finite,
        )
    except RecursionError as error:
        raise NotPlainData("nested too deeply") from error
    except ValueError as error:
        raise NotPlainData(str(error)) from error
    bound_depth(value)
    return value


def bound_depth(value: Any) -> None:
    """Refuses values nested deeper than `MAX_DEPTH`, so that later walks may recurse.

    Raises:
        NotPlainData: it is deeper.
    """
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for item in level for child in children(item)]
        if not level:
            return
    raise NotPlainData("nested too deeply")


def children(value: Any) -> Iterable[Any]:
    """Returns the values directly within a list or an object."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise NotPlainData("a key stands twice in one object")
    return mapping


def _refuse(constant: str) -> NoReturn:
    raise NotPlainData(f"{constant} is not JSON")


def integer(digits: str) -> int | HugeInteger:
    """Reads an integer of any length, without a conversion that takes quadratic time."""
    return int(digits) if len(digits) <= _MAX_INTEGER_DIGITS else HugeInteger(digits)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise NotPlainData("a number beyond the range of doubles")
    return number
