"""The part of pytest that test code usually uses, for images that have no pytest."""

import math
import re
import types
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

_REL, _ABS = 1e-6, 1e-12


class Skipped(BaseException):
    """A test that is not to be run."""


class Failed(AssertionError):
    """What `pytest.fail` and an exception that did not come raise."""


class param(NamedTuple):  # noqa: N801 - pytest's own name
    """One set of values of a parametrized test."""

    values: tuple[Any, ...]
    id: str | None


def _param(*values: Any, id: str | None = None, marks: Any = ()) -> param:  # noqa: A002
    return param(values, id)


class Mark(NamedTuple):
    """What a decorator notes on a test function or class."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Decorates, or takes its arguments first."""
        if len(args) == 1 and not kwargs and callable(args[0]):
            target = args[0]
            target._marks = [*target.__dict__.get("_marks", ()), self]  # noqa: SLF001
            return target
        return Mark(self.name, args, kwargs)


class _Marks:
    """`pytest.mark.anything`."""

    def __getattr__(self, name: str) -> Mark:
        return Mark(name, (), {})


def fixture(function: Any = None, **options: Any) -> Any:
    """Notes that a function is a fixture."""

    def note(target: Callable[..., Any]) -> Callable[..., Any]:
        target._fixture = options  # type: ignore[attr-defined]  # noqa: SLF001
        return target

    return note if function is None else note(function)


class ExceptionInfo:
    """What `raises` caught."""

    value: Any = None

    @property
    def type(self) -> Any:
        """The exception's class."""
        return type(self.value)

    def match(self, pattern: str) -> bool:
        """Searches the message.

        Raises:
            Failed: it does not fit.
        """
        if not re.search(pattern, str(self.value)):
            raise Failed(f"{pattern!r} does not match {str(self.value)!r}")
        return True


class _Raises:
    def __init__(self, expected: Any, match: str | None) -> None:
        self._expected, self._match = expected, match
        self._info = ExceptionInfo()

    def __enter__(self) -> ExceptionInfo:
        return self._info

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> bool:
        if kind is None:
            raise Failed(f"DID NOT RAISE {self._expected}")
        if not issubclass(kind, self._expected):
            return False
        self._info.value = error
        if self._match is not None:
            self._info.match(self._match)
        return True


def raises(expected: Any, *args: Any, match: str | None = None, **kwargs: Any) -> Any:
    """Expects an exception, of a block or of a call."""
    context = _Raises(expected, match)
    if not args:
        return context
    with context as info:
        args[0](*args[1:], **kwargs)
    return info


class approx:  # noqa: N801 - pytest's own name
    """Equal to plain numbers within a tolerance."""

    def __init__(
        self, expected: Any, rel: float | None = None, abs: float | None = None,  # noqa: A002
        nan_ok: bool = False,
    ) -> None:  # fmt: skip
        self.expected, self._rel, self._abs, self._nan_ok = expected, rel, abs, nan_ok

    def __eq__(self, actual: object) -> bool:
        return self._close(actual, self.expected)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"approx({self.expected!r})"

    def _close(self, actual: Any, expected: Any) -> bool:
        if isinstance(expected, dict):
            return type(actual) is dict and actual.keys() == expected.keys() and all(
                self._close(actual[key], expected[key]) for key in expected
            )  # fmt: skip
        if isinstance(expected, list | tuple):
            return type(actual) in (list, tuple) and len(actual) == len(expected) and all(
                map(self._close, actual, expected)
            )  # fmt: skip
        if type(expected) is bool or not isinstance(expected, int | float):
            return type(actual) is type(expected) and bool(actual == expected)
        return type(actual) in (int, float) and self._is_near(actual, expected)

    def _is_near(self, actual: float, expected: float) -> bool:
        if math.isnan(expected):
            return self._nan_ok and math.isnan(actual)
        if actual == expected or math.isinf(expected) or math.isinf(actual):
            return actual == expected
        relative = self._rel if self._rel is not None else (_REL if self._abs is None else 0.0)
        absolute = self._abs if self._abs is not None else _ABS
        return abs(actual - expected) <= max(relative * abs(expected), absolute)


def fail(reason: str = "", **_: Any) -> NoReturn:
    """Fails the test.

    Raises:
        Failed: always.
    """
    raise Failed(reason)


def skip(reason: str = "", **_: Any) -> NoReturn:
    """Leaves the test out.

    Raises:
        Skipped: always.
    """
    raise Skipped(reason)


NAMES: dict[str, Any] = {
    "fixture": fixture, "mark": _Marks(), "param": _param, "raises": raises, "approx": approx,
    "fail": fail, "skip": skip, "main": lambda *_, **__: 0, "yield_fixture": fixture,
    "ExceptionInfo": ExceptionInfo,
}  # fmt: skip
