"""Calls test functions as pytest does: parameters, fixtures, classes with their set-up."""

import inspect
import io
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from runners import parameters


class Item(NamedTuple):
    """One test to run."""

    name: str
    run: Callable[[], object]


class Broken(Exception):
    """The test code cannot be run, whatever the candidate is."""


class _Capture:
    """`capsys`: what was printed since the last look."""

    def __init__(self) -> None:
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()

    def readouterr(self) -> Any:
        """Returns standard output and standard error."""
        texts = []
        for stream in (sys.stdout, sys.stderr):
            assert isinstance(stream, io.StringIO)
            texts.append(stream.getvalue())
            stream.truncate(0)
            stream.seek(0)
        return _Captured(*texts)

    def close(self) -> None:
        """Gives the streams back."""
        sys.stdout, sys.stderr = self._before


class _Captured(NamedTuple):
    out: str
    err: str


class _Request(NamedTuple):
    """The `request` of a fixture with parameters."""

    param: Any = None


class Fixtures:
    """The fixtures of the test code; module-wide ones are made once."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._known = {
            options.get("name") or name: value
            for name, value in names.items()
            if (options := getattr_plain(value, "_fixture")) is not None
        }
        self._kept: dict[str, Any] = {}

    def functions(self, functions: list[Any]) -> Iterator[Item]:
        """Yields the tests that these functions are."""
        for function in functions:
            yield from self._items(function.__name__, function, [], None)

    def of_class(self, kind: type) -> Iterator[Item]:
        """Yields the tests of a class whose name begins with `Test`."""
        own = {
            name: value for name, value in vars(kind).items()
            if getattr_plain(value, "_fixture") is not None
        }  # fmt: skip
        self._known |= own
        marks = list(vars(kind).get("_marks", ()))
        for name, function in _methods(kind):
            yield from self._items(f"{kind.__name__}.{name}", function, marks, kind)

    def _items(
        self, name: str, function: Any, marks: list[Any], kind: type | None
    ) -> Iterator[Item]:
        marks = [*marks, *vars(function).get("_marks", ())]
        if any(mark.name == "skip" or parameters.is_skipped(mark) for mark in marks):
            return
        sets = list(parameters.sets_of(marks))
        for variant in self._fixture_variants(function):
            for values, label in sets:
                shown = f"{name}[{label}]" if label else name
                yield Item(shown, _Call(self, function, {**values}, variant, kind, marks).run)

    def _fixture_variants(self, function: Any) -> Iterator[dict[str, Any]]:
        """Yields one choice of parameters for the fixtures that have some."""
        lists = [
            [(name, value) for value in self._known[name]._fixture["params"]]  # noqa: SLF001
            for name in self._needed(function)
            if name in self._known and self._known[name]._fixture.get("params")  # noqa: SLF001
        ]
        for choice in itertools.product(*lists):
            yield dict(choice)

    def _needed(self, function: Any) -> list[str]:
        needed = [*_arguments(function)]
        for name in needed:
            if name in self._known:
                needed += [n for n in _arguments(self._known[name]) if n not in needed]
        return needed

    def autouse(self) -> list[str]:
        """Returns the names of fixtures that every test uses."""
        return [n for n, value in self._known.items() if value._fixture.get("autouse")]  # noqa: SLF001

    def make(self, name: str, call: "_Call") -> Any:
        """Returns the value of a fixture for one test.

        Raises:
            Broken: there is none of that name.
        """
        if name in self._kept:
            return self._kept[name]
        if name not in self._known:
            raise Broken(f"there is no fixture {name!r}")
        function = self._known[name]
        value = call.enter(function, name)
        is_wide = function._fixture.get("scope", "function") in {"module", "session", "package"}  # noqa: SLF001
        if is_wide and not function._fixture.get("params"):  # noqa: SLF001
            self._kept[name] = value
        return value


class _Call:
    """One run of one test function."""

    def __init__(  # noqa: PLR0917 - made in one place
        self, fixtures: Fixtures, function: Any, values: dict[str, Any],
        variant: dict[str, Any], kind: type | None, marks: list[Any],
    ) -> None:  # fmt: skip
        self._fixtures, self._function, self._values = fixtures, function, values
        self._variant, self._kind = variant, kind
        self._raises = next(
            (m.kwargs.get("raises", Exception) for m in marks if m.name == "xfail"), None
        )
        self._made: dict[str, Any] = {}
        self._endings: list[Callable[[], object]] = []
        self._instance: Any = None

    def run(self) -> None:
        """Sets up, runs, and tears down."""
        try:
            self._set_up()
            wanted = [name for name in _arguments(self._function) if name != "self"]
            arguments = {name: self._value(name) for name in wanted}
            own = () if self._instance is None else (self._instance,)
            self._function(*own, **arguments)
        except Exception as error:
            if self._raises is None or not isinstance(error, self._raises):
                raise
        finally:
            for ending in reversed(self._endings):
                ending()

    def _set_up(self) -> None:
        if self._kind is not None:
            self._instance = self._kind()
            _call_if_there(self._kind, "setup_class")
            for name in ("setup_method", "setup"):
                _call_if_there(self._instance, name)
            for name in ("teardown_method", "teardown"):
                self._endings.append(lambda name=name: _call_if_there(self._instance, name))  # type: ignore[misc]
        for name in self._fixtures.autouse():
            self._value(name)

    def _value(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        if name not in self._made:
            self._made[name] = self._builtin(name) or self._fixtures.make(name, self)
        return self._made[name]

    def _builtin(self, name: str) -> Any:
        if name == "capsys":
            capture = _Capture()
            self._endings.append(capture.close)
            return capture
        return _Request() if name == "request" else None

    def enter(self, function: Any, name: str) -> Any:
        """Calls a fixture; what it does after its yield comes at the end."""
        arguments: dict[str, Any] = {}
        for each in _arguments(function):
            if each == "self":
                arguments[each] = self._instance
            elif each == "request":
                arguments[each] = _Request(self._variant.get(name))
            else:
                arguments[each] = self._value(each)
        made = function(**arguments)
        if not inspect.isgeneratorfunction(function):
            return made
        self._endings.append(lambda: next(made, None))
        return next(made)


def getattr_plain(value: Any, name: str) -> Any:
    """Returns an attribute of a function of the tests, None for anything else."""
    return vars(value).get(name) if inspect.isfunction(value) else None


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    seen = set()
    for ancestor in kind.__mro__:
        for name, value in vars(ancestor).items():
            if name.startswith("test") and inspect.isfunction(value) and name not in seen:
                seen.add(name)
                yield name, value


def _arguments(function: Any) -> list[str]:
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    optional = len(function.__defaults__ or ()) if not code.co_kwonlyargcount else 0
    return list(code.co_varnames[: count - optional])


def _call_if_there(owner: Any, name: str) -> None:
    method = getattr(owner, name, None)
    if method is not None:
        method(*([None] * (len(_arguments(method.__func__)) - 1)))
