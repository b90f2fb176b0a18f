"""What one process may have the other do with an object."""

import copy
import operator
from collections.abc import Callable
from typing import Any

Operation = Callable[[Any, list[Any], dict[str, Any]], Any]

_KNOWN: dict[str, Operation] = {
    "call": lambda target, args, kwargs: target(*args, **kwargs),
    "getattr": lambda target, args, _: getattr(target, *args),
    "setattr": lambda target, args, _: setattr(target, *args),
    "delattr": lambda target, args, _: delattr(target, *args),
    "next": lambda target, args, _: next(target),
    "iter": lambda target, args, _: iter(target),
    "reversed": lambda target, args, _: reversed(target),
    "str": lambda target, args, _: str(target),
    "repr": lambda target, args, _: repr(target),
    "len": lambda target, args, _: len(target),
    "bool": lambda target, args, _: bool(target),
    "int": lambda target, args, _: int(target),
    "float": lambda target, args, _: float(target),
    "index": lambda target, args, _: operator.index(target),
    "round": lambda target, args, _: round(target, *args),
    "copy": lambda target, args, _: copy.copy(target),
    "deepcopy": lambda target, args, _: copy.deepcopy(target),
    "hash": lambda target, args, _: hash(target),
    "format": lambda target, args, _: format(target, *args),
    "isinstance": lambda target, args, _: isinstance(args[0], target),
    "issubclass": lambda target, args, _: issubclass(args[0], target),
    "enter": lambda target, args, _: target.__enter__(),
    "exit": lambda target, args, _: target.__exit__(args[0] and type(args[0]), args[0], None),
}

BINARY = (
    "eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "matmul", "truediv", "floordiv",
    "mod", "pow", "and", "or", "xor", "lshift", "rshift", "iadd", "isub", "imul",
)  # fmt: skip
REFLECTED = (
    "radd", "rsub", "rmul", "rmatmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rand", "ror",
    "rxor",
)  # fmt: skip
_UNARY = ("neg", "pos", "invert", "abs")
_ITEMS = ("getitem", "setitem", "delitem", "contains")

# Where an object leads to the frames, the globals and so to everything else of its process.
_INWARD = ("gi_", "cr_", "ag_", "f_", "tb_", "co_", "func_", "im_")
_HARMLESS = frozenset({"__name__", "__qualname__", "__doc__", "__module__"})
_CHANGING = frozenset({"setattr", "delattr", "isinstance", "issubclass"})


def symbol(op: str) -> Callable[..., Any]:
    """Returns the function of the operator module."""
    name = f"{op}_" if op in {"and", "or"} else op
    function: Callable[..., Any] = getattr(operator, name)
    return function


def named(op: str, args: list[Any], *, strict: bool) -> Operation:
    """Returns an operation; `strict` refuses what leads beyond an object's public side.

    Raises:
        LookupError: there is no such operation.
    """
    if strict and (op in _CHANGING or (op == "getattr" and not _is_public(args[0]))):
        return _refuse
    if op in _KNOWN:
        return _KNOWN[op]
    if op in REFLECTED:
        reflected = symbol(op[1:])
        return lambda target, args, _: reflected(args[0], target)
    if op in (*BINARY, *_UNARY, *_ITEMS):
        function = symbol(op)
        return lambda target, args, _: function(target, *args)
    raise LookupError(op)


def _is_public(name: Any) -> bool:
    if type(name) is not str:
        return False
    return name in _HARMLESS or not name.startswith(("_", *_INWARD))


def _refuse(target: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    raise AttributeError("not to be had from here")
