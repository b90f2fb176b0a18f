"""Plain data as JSON text, exact: what a function returned, or what it is called with.

    null, booleans, integers, strings, lists    themselves
    integers too long for some readers          {"$int": "digits"}, read and never written
    floats                                      JSON numbers with a point or an exponent
    nan, inf, -inf                              {"$float": "nan"} …
    dicts with other keys than plain strings    {"$map": [[key, value], …]}
    bytes                                       {"$bytes": "base64"}
    sets                                        {"$set": […]}
    tuples                                      a list; {"$tuple": […]} between test and candidate

Only exact built-in types count: a subclass could lie about what it is. Between a test and its
candidate a few exact types of the standard library travel too, as {"$make": [type, arguments]}.
"""

import base64
import collections
import contextlib
import datetime as dt
import decimal
import fractions
import json
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

MAX_DEPTH = 200
_SCALARS = (bool, int, str, type(None))

Fallback = Callable[[Any], Any]


class NotPlainData(Exception):
    """A value that is no plain data; the message says what it is."""


def refuse(value: Any) -> Any:
    """The fallback that takes nothing.

    Raises:
        NotPlainData: always.
    """
    raise NotPlainData(f"a value of type {type(value).__name__}")


@contextlib.contextmanager
def any_integers() -> Iterator[None]:
    """Lets integers of any length be read and written."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


def from_numpy(value: Any) -> Any:
    """The fallback that takes NumPy's arrays and numbers, by exact type.

    Raises:
        NotPlainData: it is none.
    """
    kind = type(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and (kind is numpy.ndarray or numpy.generic in kind.__mro__):
        return Encoder().plain(value.tolist())
    return refuse(value)


class Encoder:
    """Turns values into the JSON value space; `fallback` takes what is not plain data."""

    def __init__(self, *, rich: bool = False, fallback: Fallback = refuse) -> None:
        self._rich = rich
        self._fallback = fallback

    def encode(self, value: Any) -> str:
        """Returns JSON text.

        Raises:
            NotPlainData: the value, or something in it, is no plain data.
        """
        with any_integers():
            return json.dumps(self.plain(value), ensure_ascii=True, separators=(",", ":"))

    def plain(self, value: Any, depth: int = 0) -> Any:  # noqa: PLR0911 - one for each kind
        """Returns the value in the JSON value space.

        Raises:
            NotPlainData: it is not in there, or too deep.
        """
        if depth > MAX_DEPTH:
            raise NotPlainData("nested too deep, or contains itself")
        kind = type(value)
        if kind in _SCALARS:
            return value
        if kind is float:
            return value if math.isfinite(value) else {"$float": str(value)}
        if kind in (list, tuple, set, frozenset):
            return self._collection(value, kind, depth + 1)
        if kind is dict:
            return self._dict(value, depth + 1)
        if kind in (bytes, bytearray):
            return {"$bytes": base64.b64encode(value).decode()}
        if self._rich and kind in _TAKEN_APART:
            parts = [self.plain(part, depth + 1) for part in _TAKEN_APART[kind](value)]
            return {"$make": [kind.__name__, parts]}
        return self._fallback(value)

    def _collection(self, value: Any, kind: type, depth: int) -> Any:
        items = [self.plain(item, depth) for item in value]
        if kind is list:
            return items
        if kind is tuple:
            return {"$tuple": items} if self._rich else items
        return {"$set": items}

    def _dict(self, value: dict[Any, Any], depth: int) -> Any:
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: self.plain(item, depth) for key, item in value.items()}
        pairs = [[self.plain(key, depth), self.plain(item, depth)] for key, item in value.items()]
        return {"$map": pairs}


_TAKEN_APART: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    complex: lambda value: (value.real, value.imag),
    decimal.Decimal: lambda value: (str(value),),
    fractions.Fraction: lambda value: (value.numerator, value.denominator),
    dt.date: lambda value: (value.year, value.month, value.day),
    dt.timedelta: lambda value: (value.days, value.seconds, value.microseconds),
    collections.deque: lambda value: (list(value),),
    collections.Counter: lambda value: (dict(value),),
    collections.OrderedDict: lambda value: (list(value.items()),),
    collections.defaultdict: lambda value: (None, dict(value)),
    range: lambda value: (value.start, value.stop, value.step),
}
_MADE_BY_NAME: dict[str, Callable[..., Any]] = {kind.__name__: kind for kind in _TAKEN_APART}


class Decoder:
    """Turns parsed JSON back into values; `marks` resolve what is no plain data."""

    def __init__(self, marks: dict[str, Callable[[Any], Any]] | None = None) -> None:
        own: dict[str, Callable[[Any], Any]] = {
            "$float": float,
            "$int": int,
            "$map": lambda pairs: {self._key(key): self.decode(item) for key, item in pairs},
            "$bytes": base64.b64decode,
            "$set": lambda items: {self._key(item) for item in items},
            "$tuple": lambda items: tuple(self.decode(item) for item in items),
            "$make": self._make,
        }
        self._marks = own | (marks or {})

    def decode(self, value: Any) -> Any:
        """Returns the Python value of a parsed JSON value."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if isinstance(value, dict):
            if len(value) == 1:
                ((mark, content),) = value.items()
                if mark in self._marks:
                    return self._marks[mark](content)
            return {key: self.decode(item) for key, item in value.items()}
        return value

    def _key(self, value: Any) -> Any:
        decoded = self.decode(value)
        return tuple(decoded) if isinstance(decoded, list) else decoded

    def _make(self, content: list[Any]) -> Any:
        name, parts = content
        return _MADE_BY_NAME[name](*(self.decode(part) for part in parts))
