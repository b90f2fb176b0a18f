"""Loads a program, calls one function of it, and tells what came back as plain data."""

import json
import os
import signal
import sys
from typing import Any, NoReturn

from runners import program, values

MODULE_NAME = "solution"
_USUAL_CLASS = "Solution"


def resolve(namespace: dict[str, Any], name: str) -> Any:
    """Returns the function of that name; a method comes bound to a new instance.

    A plain name that the program does not define may be a method of its class `Solution`.

    Raises:
        NameError: there is none.
    """
    first, *rest = name.split(".")
    if first not in namespace:
        if rest or not hasattr(namespace.get(_USUAL_CLASS), first):
            raise NameError(f"name {first!r} is not defined")
        first, rest = _USUAL_CLASS, [first]
    target = namespace[first]
    for part in rest:
        owner = target() if isinstance(target, type) else target
        target = getattr(owner, part)
    return target


def load_module(order: dict[str, Any], channel: int) -> dict[str, Any]:
    """Runs the program as a module that is not `__main__`, and returns its names."""
    path = f"/work/{order['source']}"
    program.begin(order)
    try:
        code = program.load(path)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        program.report_syntax_error(error, channel)
    module = program.new_main(MODULE_NAME, path)
    exec(code, module.__dict__)  # noqa: S102 - this is what the sandbox is for
    return module.__dict__


def _answer(channel: int, kind: bytes, text: str) -> None:
    data = memoryview(kind + b":" + text.encode("utf-8", "surrogatepass"))
    while data:
        data = data[os.write(channel, data) :]


def _leave(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            code = code or 1
    os._exit(code)


def run(order: dict[str, Any], kept: list[int]) -> NoReturn:
    """Calls the function and ends."""
    channel, payload = kept
    with open(payload, "rb") as file:
        arguments = json.loads(file.read())
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        namespace = load_module(order, channel)
        function = resolve(namespace, order["function"])
        decode = values.Decoder().decode
        result = function(*decode(arguments["args"]), **decode(arguments["kwargs"]))
    except BaseException as error:  # noqa: BLE001 - the program's own exception, exits included
        program.print_exception(error)
        _answer(channel, b"exception", f"{type(error).__name__}: {error}")
        _leave(1)
    try:
        text = values.Encoder().encode(result)
    except (values.NotPlainData, RecursionError) as error:
        _answer(channel, b"not plain data", str(error))
    else:
        _answer(channel, b"value", text)
    _leave(0)
