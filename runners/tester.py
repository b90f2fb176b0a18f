"""Runs test code against a candidate in another process, and tells which checks held.

top-level assert, or a call standing alone    one check each
`test_*` functions                            one check each
methods of unittest.TestCase classes          one check each
"""

import ast
import json
import os
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

from runners import program, remote

_MAX_CHECKS = 10_000
_MAX_DETAIL = 500
_RAISED = "exception: "
_MODULE_ALIASES = ("solution", "main", "candidate")


class Check(NamedTuple):
    """One assertion or test function."""

    name: str
    passed: bool
    detail: str


def _attempt(name: str, action: Callable[[], object]) -> Check:
    try:
        action()
    except AssertionError as error:
        return Check(name, False, f"assertion: {error}"[:_MAX_DETAIL])
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a failed check, whatever it raised
        return Check(name, False, f"{_RAISED}{type(error).__name__}: {error}"[:_MAX_DETAIL])
    return Check(name, True, "")


def _is_check(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(statement)) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    )


def _defines(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)


def _run_statements(tree: ast.Module, names: dict[str, Any]) -> Iterator[Check]:
    for statement in tree.body:
        code = compile(ast.Module([statement], []), "<test>", "exec")
        check = _attempt(f"line {statement.lineno}", lambda code=code: exec(code, names))  # type: ignore[misc]  # noqa: S102
        if not check.passed or (_is_check(statement) and not _defines(statement)):
            yield check


def _run_functions(names: dict[str, Any], called: set[str]) -> Iterator[Check]:
    for name, value in list(names.items()):
        is_test = name.startswith("test") and isinstance(value, types.FunctionType)
        if is_test and name not in called:
            yield _attempt(name, value)


def _run_classes(names: dict[str, Any]) -> Iterator[Check]:
    for kind in list(names.values()):
        if not (isinstance(kind, type) and issubclass(kind, unittest.TestCase)):
            continue
        for name in unittest.defaultTestLoader.getTestCaseNames(kind):
            case = kind(name)
            result = unittest.TestResult()
            case(result)
            failures = [_last_line(text) for _, text in result.failures]
            errors = [_RAISED + _last_line(text) for _, text in result.errors]
            detail = next(iter(errors + failures), "")
            yield Check(name, not detail, detail[:_MAX_DETAIL])


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _called_names(tree: ast.Module) -> set[str]:
    calls = (
        statement.value.func
        for statement in tree.body
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    )
    return {function.id for function in calls if isinstance(function, ast.Name)}


def run_checks(source: str, names: dict[str, Any]) -> list[Check]:
    """Returns the checks of the test code, run with these names.

    Raises:
        SyntaxError: the test code is none.
    """
    tree = ast.parse(source)
    names.setdefault("__name__", "tests")
    checks = [*_run_statements(tree, names)]
    checks += _run_functions(names, _called_names(tree))
    checks += _run_classes(names)
    return checks[:_MAX_CHECKS] or [Check("no assertion", False, "the test code checks nothing")]


def _offer_as_module(names: dict[str, Any]) -> None:
    for alias in _MODULE_ALIASES:
        module = types.ModuleType(alias)
        module.__dict__.update(names)
        sys.modules[alias] = module


def run(order: dict[str, Any], kept: list[int]) -> NoReturn:
    """Runs the tests and reports."""
    channel, payload, requests, responses = kept
    with open(payload, encoding="utf-8") as file:
        source = file.read()
    program.begin(order)
    line = remote.Line(open(requests, "wb"), open(responses, "rb"))
    report: dict[str, Any]
    try:
        names = remote.namespace(line)
        _offer_as_module(names)
        report = {"checks": run_checks(source, names)}
    except remote.CandidateGone as error:
        report = {"checks": [Check("load", False, f"{_RAISED}{error}")]}
    except remote.NeedsSharedProcess as error:
        report = {"needs_shared_process": str(error)}
    except SyntaxError as error:
        report = {"error": f"test_code: {error}"}
    data = memoryview(json.dumps(report).encode())
    while data:
        data = data[os.write(channel, data) :]
    os._exit(0)
