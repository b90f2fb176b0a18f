"""Runs test code and tells which of its checks held.

top-level assert, or a call of a function of the tests    one check each
`check(candidate)`                                        one check for each of its statements
`test_*` functions, with their parameters                 one check each
methods of `Test*` and unittest.TestCase classes          one check each
"""

import ast
import types
import unittest
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from runners import fixtures, plan, pytest_shim

_exec = exec  # a candidate in this process may replace the built-in name
MAX_CHECKS = 10_000
_MAX_DETAIL = 500
RAISED = "exception: "

IsGone = Callable[[], bool]


class Check(NamedTuple):
    """One assertion or test function."""

    name: str
    passed: bool
    detail: str


class Checks:
    """Test code and the names it runs with."""

    def __init__(
        self, tree: ast.Module, names: dict[str, Any], is_gone: IsGone, *, beside: bool = False
    ) -> None:
        """Takes the code; `beside` the candidate, a failing import may be the candidate's work."""
        self._beside = beside
        self._tree, self._names, self._is_gone = tree, names, is_gone
        self._functions = {
            node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
        }

    def run(self) -> list[Check]:
        """Returns what came of the checks.

        Raises:
            fixtures.Broken: the test code cannot be run, or checks nothing.
        """
        if not plan.checks_something(self._tree):
            raise fixtures.Broken("the test code checks nothing")
        found = [*self._statements()]
        for item in self._items():
            check = self._attempt(item.name, item.run)
            if check is not None:
                found.append(check)
        if not found:
            raise fixtures.Broken("the test code checks nothing")
        return found[:MAX_CHECKS]

    def _attempt(self, name: str, action: Callable[[], object]) -> Check | None:
        """Runs one check; None if it asks to be left out."""
        try:
            action()
        except pytest_shim.Skipped:
            return None
        except fixtures.Broken:
            raise
        except AssertionError as error:
            return Check(name, False, f"assertion: {error}"[:_MAX_DETAIL])
        except BaseException as error:  # noqa: BLE001 - a failed check, whatever it raised
            return Check(name, False, describe(error))
        # A test may have caught the end of the candidate as if it were an exception it raised.
        return Check(name, not self._is_gone(), "")

    def _statements(self) -> Iterator[Check]:
        for statement in self._tree.body:
            function = plan.body_to_expand(statement, self._tree)
            if function is not None and isinstance(statement, ast.Expr):
                yield from self._expanded(function, statement.value)
                continue
            check = self._attempt(f"line {statement.lineno}", self._action(statement, self._names))
            if check and not check.passed and not self._beside and _is_import(statement):
                raise fixtures.Broken(check.detail.removeprefix(RAISED))
            if check and (not check.passed or plan.is_check(statement, self._functions)):
                yield check

    def _expanded(self, function: ast.FunctionDef, call: Any) -> Iterator[Check]:
        """Runs the statements of `check` one by one, so that one failure hides no other."""
        names = dict(self._names)
        for argument, value in zip(function.args.args, call.args, strict=True):
            assign = ast.Assign([ast.Name(argument.arg, ast.Store())], value)
            bound = ast.fix_missing_locations(ast.copy_location(assign, call))
            failed = self._attempt(f"line {call.lineno}", self._action(bound, names))
            if failed and not failed.passed:
                yield failed
                return
        for statement in function.body:
            check = self._attempt(f"line {statement.lineno}", self._action(statement, names))
            if check and (not check.passed or plan.is_check(statement, self._functions)):
                yield check

    def _action(self, statement: ast.stmt, names: dict[str, Any]) -> Callable[[], object]:
        code = compile(ast.Module([statement], []), "<test>", "exec", dont_inherit=True)
        return lambda: _exec(code, names)

    def _items(self) -> Iterator[fixtures.Item]:
        own = [value for name, value in self._names.items() if name in self._functions]
        called = set(plan.called_functions(self._tree))
        tests = [
            value for value in own
            if isinstance(value, types.FunctionType)
            and value.__name__.startswith("test") and value.__name__ not in called
        ]  # fmt: skip
        known = fixtures.Fixtures(self._names)
        yield from known.functions(tests)
        for kind in self._classes():
            if issubclass(kind, unittest.TestCase):
                yield from _cases(kind)
            else:
                yield from known.of_class(kind)

    def _classes(self) -> list[type]:
        named = {node.name for node in self._tree.body if isinstance(node, ast.ClassDef)}
        kinds = [v for n, v in self._names.items() if n in named and isinstance(v, type)]
        return [
            k for k in kinds if issubclass(k, unittest.TestCase) or k.__name__.startswith("Test")
        ]


class _Result(unittest.TestResult):
    """Keeps the first thing that went wrong, and no traceback."""

    error: BaseException | None = None

    def _note(self, test: unittest.TestCase, err: Any) -> None:
        self.error = self.error or err[1]

    addError = addFailure = _note  # noqa: N815 - unittest's names

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
        if err is not None:
            self._note(test, err)

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
        self.error = self.error or pytest_shim.Skipped(reason)

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
        self.error = self.error or AssertionError("unexpected success")


def _cases(kind: type[unittest.TestCase]) -> Iterator[fixtures.Item]:
    for name in unittest.defaultTestLoader.getTestCaseNames(kind):

        def run(name: str = name) -> None:
            result = _Result()
            unittest.TestSuite([kind(name)]).run(result)
            if result.error is not None:
                raise result.error

        yield fixtures.Item(f"{kind.__name__}.{name}", run)


def describe(error: BaseException) -> str:
    """Tells in a sentence what was raised."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - the exception's own method
        message = ""
    return f"{RAISED}{type(error).__name__}: {message}"[:_MAX_DETAIL]


CANDIDATE_MODULES = ("solution", "main", "candidate", "submission", "your_module", "answer")


def _is_import(statement: ast.stmt) -> bool:
    """Tells whether a statement imports what the candidate has no part in."""
    modules = list(plan.imported_modules(ast.Module([statement], [])))
    return bool(modules) and not set(modules) & set(CANDIDATE_MODULES)
