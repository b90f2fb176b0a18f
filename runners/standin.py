"""What stands for an object that stays in the other process.

The candidate's `__eq__` has no say over plain data: for the tests a stand-in equals none, unless
the test itself made the object by calling one of the candidate's classes, which the tests name
with a capital letter, or the object is a built-in value of a subclass, whose plain part counts.
"""

from collections.abc import Callable
from typing import Any, Protocol

from runners import operations

_FORWARDED = {
    "__call__": "call", "__len__": "len", "__iter__": "iter", "__next__": "next",
    "__reversed__": "reversed", "__getitem__": "getitem", "__setitem__": "setitem",
    "__delitem__": "delitem", "__neg__": "neg", "__pos__": "pos", "__invert__": "invert",
    "__abs__": "abs", "__int__": "int", "__float__": "float", "__index__": "index",
    "__round__": "round", "__enter__": "enter", "__bool__": "bool",
}  # fmt: skip
_OPERATORS = {f"__{op}__": op for op in (*operations.BINARY, *operations.REFLECTED)}
_PASSED_ON = frozenset({"__name__", "__qualname__", "__dict__", "__wrapped__", "__annotations__"})
_ALWAYS = frozenset({"__eq__", "__ne__"})


class Asker(Protocol):
    """The line to the other process."""

    strict: bool

    def ask(self, op: str, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Has an object's owner do something with it."""


class Stand_in:  # noqa: N801 - its name shows in tracebacks of tests
    """Stands for an object of the other process."""

    __slots__ = ("si_line", "si_made_by_test", "si_number", "si_plain", "si_twin")
    si_line: Asker
    si_number: int
    si_made_by_test: bool
    si_plain: Any
    si_twin: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _PASSED_ON:
            raise AttributeError(name)
        value = _ask(self, "getattr", name)
        return _made_by_test(value) if self.si_made_by_test and name.isupper() else value

    def __setattr__(self, name: str, value: Any) -> None:
        _ask(self, "setattr", name, value)

    def __delattr__(self, name: str) -> None:
        _ask(self, "delattr", name)

    def __hash__(self) -> int:
        return int(_ask(self, "hash"))

    def __str__(self) -> str:
        return str(_ask(self, "str"))

    def __repr__(self) -> str:
        return str(_ask(self, "repr"))

    def __format__(self, spec: str) -> str:
        return str(_ask(self, "format", spec))

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Stand_in) and _ask(self, "isinstance", value) is True

    def __subclasscheck__(self, kind: object) -> bool:
        return isinstance(kind, Stand_in) and _ask(self, "issubclass", kind) is True

    def __copy__(self) -> Any:
        return _ask(self, "copy")

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return _ask(self, "deepcopy")


def _ask(one: Stand_in, op: str, *args: Any, **kwargs: Any) -> Any:
    return one.si_line.ask(op, one.si_number, args, kwargs)


def _forward(op: str) -> Callable[..., Any]:
    def method(self: Stand_in, *args: Any, **kwargs: Any) -> Any:
        value = _ask(self, op, *args, **kwargs)
        return _made_by_test(value) if op == "call" and self.si_made_by_test else value

    return method


def _operate(op: str) -> Callable[..., Any]:
    """An operator between an object of the other process and anything."""

    def method(self: Stand_in, other: Any) -> Any:
        if isinstance(other, Stand_in) or self.si_made_by_test or not self.si_line.strict:
            value = _ask(self, op, other)
            return _made_by_test(value) if self.si_made_by_test else value
        if self.si_plain is not None:
            function = operations.symbol(op.removeprefix("r") if op[0] == "r" else op)
            pair = (other, self.si_plain) if op[0] == "r" else (self.si_plain, other)
            return function(*pair)
        if op in {"eq", "ne"}:
            return op == "ne"
        raise TypeError(f"{op} between plain data and a {type(self).__name__} that is none")

    return method


def _contains(self: Stand_in, item: Any) -> bool:
    if self.si_made_by_test or not self.si_line.strict:
        return bool(_ask(self, "contains", item))
    return any(each is item or each == item for each in self)  # type: ignore[attr-defined]


def _leave(self: Stand_in, _kind: object, error: object, _trace: object) -> bool:
    return _ask(self, "exit", error) is True


_DOCUMENTATION = property(lambda self: _ask(self, "getattr", "__doc__"))
_METHODS: dict[str, Callable[..., Any]] = {
    **{name: _forward(op) for name, op in _FORWARDED.items()},
    **{name: _operate(op) for name, op in _OPERATORS.items()},
    "__contains__": _contains,
    "__exit__": _leave,
}


def shape_of(kind: type) -> list[str]:
    """Returns which of the forwarded methods a class has."""
    return [
        name
        for name in _METHODS
        if (found := getattr(kind, name, None)) is not None
        and found is not getattr(object, name, 0)
    ]


def _made_by_test(value: Any) -> Any:
    """Returns the stand-in as one that the test itself asked its class for."""
    if not isinstance(value, Stand_in) or value.si_made_by_test:
        return value
    if value.si_twin is None:  # the same object stays the same one
        twin = _fill(type(value), value.si_line, value.si_number, value.si_plain, made_by_test=True)
        object.__setattr__(value, "si_twin", twin)
    return value.si_twin


def of_class(value: Any) -> Any:
    """Returns the stand-in of a class that the tests name: what it makes, the test has made."""
    return _made_by_test(value)


def make(line: Asker, number: int, kind_name: str, shape: list[str], plain: Any) -> Stand_in:
    """Returns a stand-in that has the methods named by the shape."""
    methods = {name: _METHODS[name] for name in {*shape, *_ALWAYS}}
    own = {"__slots__": (), "__hash__": Stand_in.__hash__, "__doc__": _DOCUMENTATION}
    kind = type(kind_name, (Stand_in,), {**own, **methods})
    return _fill(kind, line, number, plain, made_by_test=False)


def _fill(
    kind: type[Stand_in], line: Asker, number: int, plain: Any, *, made_by_test: bool
) -> Stand_in:
    one = kind.__new__(kind)
    values = {
        "line": line, "number": number, "plain": plain, "made_by_test": made_by_test, "twin": None,
    }  # fmt: skip
    for name, value in values.items():
        object.__setattr__(one, f"si_{name}", value)
    return one
