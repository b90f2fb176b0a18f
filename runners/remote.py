"""The tests' side of an isolated assert test: stand-ins for what the candidate made.

A stand-in never equals plain data: the candidate's `__eq__` has no say over it. Two stand-ins
are compared by the candidate, since what makes two of its objects equal is its own matter.
"""

import builtins
import importlib
import json
import sys
from typing import Any, BinaryIO

from runners import values

_MAX_MESSAGE_BYTES = 64 * 1024 * 1024


class CandidateGone(Exception):
    """The candidate's process ended, or said something that makes no sense."""


class NeedsSharedProcess(BaseException):
    """The tests hand over something that only a shared process can take."""


class Line:
    """Requests to the candidate and its answers."""

    def __init__(self, requests: BinaryIO, responses: BinaryIO) -> None:
        self._requests, self._responses = requests, responses
        self.exceptions: dict[str, type[BaseException]] = {}
        self._encoder = values.Encoder(rich=True, fallback=_reference_of)
        self._decoder = values.Decoder(reference=self._stand_in)

    def _stand_in(self, content: Any) -> "Stand_in":
        return Stand_in(self, *content)

    def receive(self) -> dict[str, Any]:
        """Returns the candidate's next message.

        Raises:
            CandidateGone: there is none.
        """
        try:
            message = json.loads(self._responses.readline(_MAX_MESSAGE_BYTES))
        except (ValueError, RecursionError, OSError) as error:
            raise CandidateGone("the candidate's process ended") from error
        if not isinstance(message, dict):
            raise CandidateGone("the candidate's process sent nonsense")
        return message

    def decode(self, value: Any) -> Any:
        """Returns a value that the candidate sent.

        Raises:
            CandidateGone: it is malformed.
        """
        try:
            return self._decoder.decode(value)
        except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            raise CandidateGone("the candidate's process sent nonsense") from error

    def ask(self, op: str, target: "Stand_in", *args: Any, **kwargs: Any) -> Any:
        """Has the candidate do something and returns what came of it.

        Raises:
            CandidateGone: its process ended.
            NeedsSharedProcess: an argument is no plain data and not the candidate's.
        """
        request = {
            "op": op,
            "target": {"$ref": target._number},  # noqa: SLF001 - our own stand-in
            "args": [self._encoder.plain(arg) for arg in args],
            "kwargs": {name: self._encoder.plain(arg) for name, arg in kwargs.items()},
        }
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
        except OSError as error:
            raise CandidateGone("the candidate's process ended") from error
        answer = self.receive()
        for arg, after in zip(args, answer.get("args_after", ()), strict=False):
            _change_in_place(arg, self.decode(after))
        if "raise" in answer:
            raise self._exception(answer)
        return self.decode(answer.get("value"))

    def _exception(self, answer: dict[str, Any]) -> BaseException:
        name = str(answer["raise"])
        kind = self.exceptions.get(name) or getattr(builtins, str(answer.get("base")), None)
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            return CandidateGone(f"the candidate raised {name}")
        try:
            return kind(*answer.get("args", ()))
        except TypeError:
            return CandidateGone(f"the candidate raised {name}")


def _change_in_place(arg: Any, after: Any) -> None:
    if type(arg) is list and type(after) is list:
        arg[:] = after
    elif type(arg) in (dict, set) and type(after) is type(arg):
        arg.clear()
        arg.update(after)


def _reference_of(value: Any) -> Any:
    if isinstance(value, Stand_in):
        return {"$ref": value._number}  # noqa: SLF001 - our own stand-in
    raise NeedsSharedProcess(f"a {type(value).__name__} cannot leave the tests' process")


class Stand_in:  # noqa: N801 - its name shows in tracebacks of tests
    """Stands for an object that stays in the candidate's process."""

    __slots__ = ("_callable", "_line", "_number", "_type_name")

    def __init__(self, line: Line, number: int, type_name: str, is_callable: bool) -> None:
        object.__setattr__(self, "_line", line)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_type_name", type_name)
        object.__setattr__(self, "_callable", is_callable)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._line.ask("call", self, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._line.ask("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._line.ask("setattr", self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stand_in) and self._line.ask("eq", self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return int(self._line.ask("hash", self))

    def __bool__(self) -> bool:
        return self._line.ask("bool", self) is True


def _forward(op: str) -> Any:
    def method(self: Stand_in, *args: Any) -> Any:
        return self._line.ask(op, self, *args)

    return method


for _name, _op in {
    "__str__": "str", "__repr__": "repr", "__len__": "len", "__iter__": "iter",
    "__next__": "next", "__getitem__": "getitem", "__setitem__": "setitem",
    "__delitem__": "delitem", "__contains__": "contains", "__lt__": "lt", "__le__": "le",
    "__gt__": "gt", "__ge__": "ge", "__add__": "add", "__sub__": "sub", "__mul__": "mul",
    "__matmul__": "matmul", "__truediv__": "truediv", "__floordiv__": "floordiv",
    "__mod__": "mod", "__pow__": "pow", "__and__": "and_", "__or__": "or_", "__xor__": "xor",
    "__lshift__": "lshift", "__rshift__": "rshift", "__neg__": "neg", "__pos__": "pos",
    "__invert__": "invert", "__abs__": "abs", "__iadd__": "iadd", "__format__": "format",
    "__enter__": "enter",
}.items():  # fmt: skip
    setattr(Stand_in, _name, _forward(_op))


def _leave(self: Stand_in, *_: object) -> None:
    self._line.ask("exit", self)


Stand_in.__exit__ = _leave  # type: ignore[attr-defined]


def namespace(line: Line) -> dict[str, Any]:
    """Returns the candidate's names, each with what stands for it here.

    Raises:
        CandidateGone: the program did not load.
    """
    names = line.receive().get("names")
    if not isinstance(names, dict):
        raise CandidateGone("the candidate's process sent nonsense")
    return {
        str(name): _stand_for(line, name, what)
        for name, what in names.items()
        if isinstance(what, dict) and _is_usable(what)
    }


def _is_usable(what: dict[str, Any]) -> bool:
    """Modules of the standard library are this side's own; others are not to be had."""
    module = what.get("module")
    return module is None or str(module).partition(".")[0] in sys.stdlib_module_names


def _stand_for(line: Line, name: str, what: dict[str, Any]) -> Any:
    if "module" in what:
        return importlib.import_module(str(what["module"]))
    if "exception" in what:
        base = getattr(builtins, str(what.get("base")), Exception)
        kind = type(
            str(what["exception"]), (base if issubclass(base, Exception) else Exception,), {}
        )
        line.exceptions[str(what["exception"])] = kind
        return kind
    return line.decode(what.get("value"))
