"""Bodies: in one pass from bytes to model, or line by line while they arrive."""

import json
import math
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from sandbox_service.api.errors import FieldError, InvalidBody, field_errors
from sandbox_service.errors import InvalidJson, PayloadTooLarge, UnsupportedEncoding

ModelT = TypeVar("ModelT", bound=BaseModel)

# A free-form value that is no finite number would silently become null.
_MAYBE_NOT_FINITE = re.compile(rb"NaN|Infinity|\d[eE]\+?\d{3}|\d{300}")
_MIXED_DEFAULTS = ("limits", "metadata")


async def read_model(request: Request, model: type[ModelT]) -> ModelT:
    """Reads the body in one pass from bytes to model.

    Raises:
        UnsupportedEncoding: it is not UTF-8.
        InvalidJson: it is not JSON, or nested too deeply.
        InvalidBody: a field does not fit.
        PayloadTooLarge: it is larger than the service takes.
    """
    return parse(model, await request.body())


def parse(model: type[ModelT], body: bytes, prefix: str = "") -> ModelT:
    """Reads a model; the prefix stands before the names of fields.

    Raises:
        UnsupportedEncoding: it is not UTF-8.
        InvalidJson: it is not JSON, or nested too deeply.
        InvalidBody: a field does not fit.
    """
    try:
        parsed = model.model_validate_json(body)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
    else:
        if _MAYBE_NOT_FINITE.search(body):
            _refuse_not_finite(body, prefix)
        return parsed
    where = prefix.removesuffix(".") or "body"
    if errors[0]["type"] != "json_invalid":
        raise InvalidBody(_prefixed(field_errors(errors), prefix))
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise UnsupportedEncoding(f"the body is not UTF-8: {error}", field=where) from error
    raise InvalidJson(errors[0]["msg"], field=where)


def with_defaults(
    model: type[ModelT], value: Mapping[str, Any], defaults: Mapping[str, Any], prefix: str
) -> ModelT:
    """Makes a model of plain data and of defaults for what it does not have.

    Raises:
        InvalidBody: a field does not fit.
    """
    merged = {**defaults, **value}
    for name in _MIXED_DEFAULTS:
        default, own = defaults.get(name), value.get(name)
        if isinstance(default, dict) and isinstance(own, dict):
            merged[name] = {**default, **own}
    try:
        return model.model_validate(merged)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        raise InvalidBody(_prefixed(field_errors(errors), prefix)) from error


async def lines(request: Request, largest: int) -> AsyncIterator[bytes]:
    """Yields the lines of a body while it arrives, without the empty ones.

    Raises:
        PayloadTooLarge: a line is longer than `largest`.
    """
    parts: list[bytes] = []
    size = 0
    async for piece in request.stream():
        *whole, rest = piece.split(b"\n")
        for line in whole:
            yield_now = b"".join([*parts, line]).strip()
            parts, size = [], 0
            if yield_now:
                yield yield_now
        parts.append(rest)
        size += len(rest)
        if size > largest:
            raise PayloadTooLarge(f"a line has more than {largest} bytes", field="body")
    last = b"".join(parts).strip()
    if last:
        yield last


def _prefixed(errors: list[FieldError], prefix: str) -> list[FieldError]:
    if not prefix:
        return errors
    return [
        FieldError(
            prefix.removesuffix(".") if error.field == "body" else prefix + error.field,
            error.message,
        )
        for error in errors
    ]


def _refuse_not_finite(body: bytes, prefix: str) -> None:
    found = [
        FieldError(prefix + path, "a number must be finite")
        for path in _not_finite(json.loads(body), "")
    ]
    if found:
        raise InvalidBody(found)


def _not_finite(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield path
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _not_finite(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _not_finite(each, f"{path}[{at}]")
