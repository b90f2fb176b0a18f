"""Values of call tests: decoded from a hostile text, compared in the JSON value space.

A runner writes the returned value as one JSON text:

    null, true, 12, 0.5, "text"      as they are; a float always has a point or an exponent
    [1, 2]                           a list or a tuple
    {"key": 1}                       a dict whose keys are all text and do not begin with "$"
    {"$map": [[key, value], …]}      any other dict
    {"$float": "nan"}                nan, inf or -inf
    {"$set": [1, 2]}                 a set
    {"$bytes": "aGk="}               bytes, in base64
    {"$int": "123"}                  an integer, for those too long for JSON readers

The value space is JSON's: a tuple is a list, a key is text (an integer key is its digits, and
true, false, null and floats are written as `json.dumps` writes them), booleans are not numbers,
integers are exact at any size, 2 equals 2.0, nan equals nan. The expected value of a test goes
through the same decoder: a test that takes a set says so by expecting `{"$set": [1, 2]}`, and in
the same way nan or bytes; a `$` key that is none of the above stays a key there. A set equals a
set of the same elements and never a list.
"""

import base64
import binascii
import json
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sandbox_service.judge.json_text import (
    HugeInteger,
    NotPlainData,
    bound_depth,
    children,
    integer,
    parse_json,
)
from sandbox_service.judge.numbers import Tolerance

_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_TAGS = frozenset({"$map", "$float", "$set", "$bytes", "$int"})
_DIGITS = re.compile(r"-?(0|[1-9][0-9]*)")


@dataclass(frozen=True)
class PlainSet:
    """Elements in no order, as their canonical texts (JSON with sorted keys)."""

    elements: frozenset[str]


def decode(text: str) -> Any:
    """Turns a runner's text into a value.

    Raises:
        NotPlainData: the text is not in the encoding above.
    """
    return _untag(parse_json(text), is_trusted=False)


def decode_expected(value: Any) -> Any:
    """Turns the expected value of a test into a value of the same space.

    Raises:
        NotPlainData: a tagged value in it is malformed.
    """
    bound_depth(value)
    return _untag(value, is_trusted=True)


def contains(value: Any, kind: type) -> bool:
    """Tells whether a decoded value is, or has anywhere within it, one of that class."""
    if isinstance(value, kind):
        return True
    return any(contains(child, kind) for child in children(value))


def with_sets_as_expected(actual: Any, expected: Any) -> Any:
    """Returns the value with sets listed in the order in which a list of theirs is expected."""
    if isinstance(actual, PlainSet) and isinstance(expected, list):
        wanted = [_canonical(item) for item in expected]
        is_same = frozenset(wanted) == actual.elements and len(wanted) == len(actual.elements)
        return expected if is_same else actual
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        return [with_sets_as_expected(*pair) for pair in zip(actual, expected, strict=True)]
    if isinstance(actual, dict) and isinstance(expected, dict):
        return {key: with_sets_as_expected(actual[key], expected.get(key)) for key in actual}
    return actual


def equal(actual: Any, expected: Any, *, tolerance: Tolerance | None = None) -> bool:
    """Compares two decoded values; a tolerance applies where the expected one is a real number."""
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and actual.keys() == expected.keys()
            and all(equal(actual[key], expected[key], tolerance=tolerance) for key in expected)
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(actual) == len(expected)
            and all(
                equal(one, other, tolerance=tolerance)
                for one, other in zip(actual, expected, strict=True)
            )
        )
    if _is_number(expected) and _is_number(actual):
        return _is_same_number(actual, expected, tolerance)
    return type(actual) is type(expected) and bool(actual == expected)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_same_number(actual: float, expected: float, tolerance: Tolerance | None) -> bool:
    if math.isnan(expected) or math.isnan(actual):
        return math.isnan(expected) and math.isnan(actual)
    is_tolerant = tolerance is not None and isinstance(expected, float) and math.isfinite(expected)
    if actual == expected or not is_tolerant or actual in {math.inf, -math.inf}:
        return actual == expected
    assert tolerance is not None
    return tolerance.allows(Decimal(repr(actual)), Decimal(repr(expected)))


def _untag(value: Any, *, is_trusted: bool) -> Any:
    if isinstance(value, list | tuple):
        return [_untag(item, is_trusted=is_trusted) for item in value]
    if not isinstance(value, dict):
        return value
    tag = next((key for key in value if key.startswith("$")), None)
    if tag is None or (is_trusted and (tag not in _TAGS or len(value) != 1)):
        return {key: _untag(item, is_trusted=is_trusted) for key, item in value.items()}
    if len(value) != 1:
        raise NotPlainData("a tag beside other keys")
    return _tagged(tag, value[tag], is_trusted=is_trusted)


def _tagged(tag: str, content: Any, *, is_trusted: bool) -> Any:
    if tag == "$float" and isinstance(content, str) and content in _NON_FINITE:
        return _NON_FINITE[content]
    if tag == "$int" and isinstance(content, str) and _DIGITS.fullmatch(content):
        return integer(content)
    if tag == "$bytes" and isinstance(content, str):
        try:
            return base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise NotPlainData("bytes that are not base64") from error
    if tag == "$map" and isinstance(content, list):
        return _map_of(content, is_trusted=is_trusted)
    if tag == "$set" and isinstance(content, list):
        items = [_canonical(_untag(item, is_trusted=is_trusted)) for item in content]
        if len(set(items)) != len(items):
            raise NotPlainData("a set with equal elements")
        return PlainSet(frozenset(items))
    raise NotPlainData(f"not a tagged value: {tag}")


def _map_of(pairs: list[Any], *, is_trusted: bool) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise NotPlainData("a map's entry is not a pair")
        key = _text_of_key(_untag(pair[0], is_trusted=is_trusted))
        if key in mapping:
            raise NotPlainData(f"two keys are {key!r} as text")
        mapping[key] = _untag(pair[1], is_trusted=is_trusted)
    return mapping


def _text_of_key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool | int | float | HugeInteger):
        return key.digits if isinstance(key, HugeInteger) else json.dumps(key)
    raise NotPlainData("a key that JSON cannot write")


def _canonical(value: Any) -> str:
    """Returns one text for all values that are equal, so that sets can be compared."""
    if isinstance(value, PlainSet):
        return f'{{"$set":[{",".join(sorted(value.elements))}]}}'
    if isinstance(value, list):
        return f"[{','.join(_canonical(item) for item in value)}]"
    if isinstance(value, dict):
        entries = (f"{json.dumps(key)}:{_canonical(value[key])}" for key in sorted(value))
        return f"{{{','.join(entries)}}}"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        return json.dumps({"$bytes": base64.b64encode(value).decode("ascii")})
    return json.dumps({"$int": value.digits} if isinstance(value, HugeInteger) else value)
