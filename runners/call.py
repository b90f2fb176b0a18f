"""Loads a program, calls one function of it, and tells what came back as plain data."""

import copy
import json
import os
import signal
import sys
from typing import Any, NoReturn

from runners import nodes, program, values

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


def load_module(
    order: dict[str, Any], channel: int, offered: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Runs the program as a module that is not `__main__`, and returns its names."""
    path = f"{program.WORK}/{order['source']}"
    program.begin(order)
    try:
        code = program.load(path)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        program.report_syntax_error(error, channel)
    module = program.new_main(MODULE_NAME, path)
    module.__dict__.update(offered or {})
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
    with open(payload, "rb") as file, values.any_integers():
        request = json.loads(file.read())
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    takes = values.from_numpy if "numpy" in request.get("allow", ()) else values.refuse
    try:
        offered = nodes.OFFERED if request.get("types") else {}
        namespace = load_module(order, channel, offered)
        answer = _Request(request, namespace, order["function"]).answer()
    except values.NotPlainData as error:
        _answer(channel, b"not plain data", str(error))
        _leave(0)
    except BaseException as error:  # noqa: BLE001 - the program's own exception, exits included
        program.print_exception(error)
        _answer(channel, b"exception", f"{type(error).__name__}: {error}")
        _leave(1)
    try:
        text = values.Encoder(fallback=takes).encode(answer)
    except (values.NotPlainData, RecursionError) as error:
        _answer(channel, b"not plain data", str(error))
    else:
        _answer(channel, b"value", text)
    _leave(0)


class _Request:
    """What is to be called, with what, and which value counts."""

    def __init__(self, request: dict[str, Any], namespace: dict[str, Any], name: str) -> None:
        with values.any_integers():
            decode = values.Decoder().decode
            self._args, self._kwargs = decode(request["args"]), decode(request["kwargs"])
            self._operations = decode(request.get("operations"))
        types = request.get("types") or {}
        self._kinds = dict(enumerate(types.get("args", ())))
        self._returns = types.get("returns")
        self._result = request.get("result", "return")
        self._namespace, self._name = namespace, name
        self._nodes = nodes.Converter(namespace)

    def answer(self) -> Any:
        """Returns the value that counts."""
        if self._operations is not None:
            return self._of_instance(self._operations)
        build = self._nodes.build
        args = [build(self._kinds.get(index), arg) for index, arg in enumerate(self._args)]
        value = resolve(self._namespace, self._name)(*args, **self._kwargs)
        kind = self._returns
        if self._result != "return":
            index = int(self._result.partition(":")[2])
            value, kind = args[index], kind or self._kinds.get(index)
        return self._nodes.take_apart(kind, value)

    def _of_instance(self, operations: list[Any]) -> list[Any]:
        """Makes an instance and returns what each call of its methods returned."""
        found: list[Any] = []
        args = self._args
        if operations and operations[0][0] == self._name:
            (_, args), *operations = operations
            found.append(None)
        instance = resolve(self._namespace, self._name)(*args, **self._kwargs)
        for name, call_args in operations:
            # What is returned later may be the same object, changed: each counts as it was.
            found.append(copy.deepcopy(getattr(instance, name)(*call_args)))
        return found
