"""The candidate's side of an isolated assert test: its names, served over a pair of pipes.

The tests run in another process, in another jail. What crosses is plain data; objects that are
none stay here and are known there by number.
"""

import builtins
import json
import operator
import os
import types
from collections.abc import Callable
from typing import Any, BinaryIO, NoReturn

from runners import call, values

_MAX_MESSAGE_BYTES = 64 * 1024 * 1024


class Objects:
    """What is not plain data, by number."""

    def __init__(self) -> None:
        self._by_number: list[Any] = []
        self.encoder = values.Encoder(rich=True, fallback=self.keep)
        self.decoder = values.Decoder(reference=self._by_number.__getitem__)

    def keep(self, value: Any) -> Any:
        """Returns the reference that stands for an object."""
        self._by_number.append(value)
        return {"$ref": [len(self._by_number) - 1, type(value).__name__, callable(value)]}


def _describe(value: Any, objects: Objects) -> Any:
    """Says what a name of the program stands for."""
    if isinstance(value, types.ModuleType):
        return {"module": value.__name__}
    if isinstance(value, type) and issubclass(value, BaseException):
        return {"exception": value.__name__, "base": _known_name(value)}
    return {"value": objects.encoder.plain(value)}


def _known_name(kind: type) -> str:
    """Returns the nearest ancestor that every interpreter knows."""
    for ancestor in kind.__mro__:
        if getattr(builtins, ancestor.__name__, None) is ancestor:
            return str(ancestor.__name__)
    return "Exception"


def _names(namespace: dict[str, Any], objects: Objects) -> dict[str, Any]:
    public = {name: value for name, value in namespace.items() if not name.startswith("__")}
    return {name: _describe(value, objects) for name, value in public.items()}


def _apply(target: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return target(*args, **kwargs)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": _apply,
    "getattr": lambda target, args, _: getattr(target, *args),
    "setattr": lambda target, args, _: setattr(target, *args),
    "next": lambda target, args, _: next(target),
    "iter": lambda target, args, _: iter(target),
    "str": lambda target, args, _: str(target),
    "repr": lambda target, args, _: repr(target),
    "len": lambda target, args, _: len(target),
    "bool": lambda target, args, _: bool(target),
    "hash": lambda target, args, _: hash(target),
    "isinstance": lambda target, args, _: isinstance(target, args[0]),
    "format": lambda target, args, _: format(target, *args),
    "abs": lambda target, args, _: abs(target),
    "enter": lambda target, args, _: target.__enter__(),
    "exit": lambda target, args, _: target.__exit__(None, None, None),
}


def _operation(name: str) -> Callable[..., Any]:
    known = _OPERATIONS.get(name)
    if known is not None:
        return known
    function: Callable[..., Any] = getattr(operator, name)
    return lambda target, args, _: function(target, *args)


def _perform(request: dict[str, Any], objects: Objects) -> dict[str, Any]:
    decode = objects.decoder.decode
    args, kwargs = decode(request["args"]), decode(request["kwargs"])
    before = json.dumps(request["args"])
    try:
        result = _operation(request["op"])(decode(request["target"]), args, kwargs)
        answer = {"value": objects.encoder.plain(result)}
    except BaseException as error:  # noqa: BLE001 - the program's own exception, exits included
        kind = type(error)
        answer = {
            "raise": kind.__name__, "base": _known_name(kind), "message": str(error)[:1000],
            "args": [arg for arg in error.args if isinstance(arg, str | int | float)][:4],
        }  # fmt: skip
    after = [objects.encoder.plain(arg) for arg in args]
    if json.dumps(after) != before:
        answer["args_after"] = after  # changed in place
    return answer


def _send(pipe: BinaryIO, message: dict[str, Any]) -> None:
    pipe.write(json.dumps(message).encode() + b"\n")
    pipe.flush()


def run(order: dict[str, Any], kept: list[int]) -> NoReturn:
    """Loads the program and serves its names until the tests are done."""
    channel, requests_fd, responses_fd = kept
    requests, responses = open(requests_fd, "rb"), open(responses_fd, "wb")
    objects = Objects()
    namespace = call.load_module(order, channel)
    os.close(channel)
    _send(responses, {"names": _names(namespace, objects)})
    while line := requests.readline(_MAX_MESSAGE_BYTES):
        _send(responses, _perform(json.loads(line), objects))
    os._exit(0)
