"""Tests in the candidate's own process, for those that need more than plain data.

One process has no walls. What makes forging hard here: the report counts only behind a token that
the candidate has no way to ask for, all that the harness uses is taken before the program loads,
and the interpreter's audit hook refuses the ways to frames, to other objects and to raw memory.
What was replaced in the library is noticed afterwards. The result says `shared_process`.
"""

import ast
import builtins
import importlib
import json
import os
import sys
import unittest
from collections.abc import Callable
from typing import Any, NoReturn

from runners import call, checks, fixtures, plan, tester

_TOKEN_CHARS = 64
_PR_SET_DUMPABLE = 4
_REFUSED = (
    "ctypes.", "gc.get_", "sys._getframe", "sys._current_", "sys.settrace", "sys.setprofile",
    "sys.addaudithook", "sys.monitoring", "cpython.",
)  # fmt: skip
_INNER = frozenset({
    "tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_back", "f_globals", "f_locals", "__code__",
    "gi_code", "cr_code", "ag_code", "f_code",
})  # fmt: skip
_WITHOUT = ("ctypes", "_ctypes", "_testcapi", "_testinternalcapi", "_xxsubinterpreters")
_WATCHED = ("builtins", "unittest.case", "unittest.loader", "unittest.suite", "math", "operator")


def run(order: dict[str, Any], kept: list[int]) -> NoReturn:
    """Loads the program, runs the tests, reports behind the token."""
    channel, payload = kept
    with open(payload, encoding="utf-8", errors="surrogatepass") as file:
        text = file.read()
    token, source = text[:_TOKEN_CHARS], text[_TOKEN_CHARS:]
    os.set_inheritable(channel, False)
    report = _reporter(channel, token)
    try:
        tree = tester.parse(source)
        _import_what_tests_need(tree)
    except fixtures.Broken as error:
        report({"broken": str(error)})
    _seal()
    pristine, watched = dict(vars(builtins)), _watched()
    try:
        namespace = call.load_module(order, channel)
    except BaseException as error:  # noqa: BLE001 - the program's own exception, exits included
        report({"checks": [checks.Check("load", False, checks.describe(error))]})
    finally:
        tampered = _tampered(watched)
        vars(builtins).update(pristine)
    try:
        found = _checks(tree, namespace, pristine)
    except fixtures.Broken as error:
        report({"broken": str(error)})
    tampered = tampered or _tampered(watched)
    if tampered:
        found = [checks.Check("tampering", False, f"replaced in the library: {tampered}")]
    _flush()
    report({"checks": found})


def _reporter(channel: int, token: str) -> Callable[[dict[str, Any]], NoReturn]:
    """Returns what reports and ends; it uses nothing that could be replaced later."""
    write, encode, leave = os.write, json.JSONEncoder(ensure_ascii=True).encode, os._exit

    def report(content: dict[str, Any]) -> NoReturn:
        data = (token + encode(content) + token).encode()
        while data:
            data = data[write(channel, data) :]
        leave(0)

    return report


def _checks(tree: ast.Module, namespace: dict[str, Any], pristine: dict[str, Any]) -> Any:
    taken = plan.names_taken(tree, namespace)
    names = {name: namespace[name] for name in taken if not name.startswith("__")}
    tester.offer_modules(names)
    for alias in checks.CANDIDATE_MODULES:
        sys.modules[alias] = sys.modules[call.MODULE_NAME]
    names |= {"__name__": "__main__", "__builtins__": pristine}
    return checks.Checks(tree, names, lambda: False, beside=True).run()


def _import_what_tests_need(tree: ast.Module) -> None:
    """Imports before the program loads, so that what is missing is not the program's doing.

    Raises:
        Broken: a module is not there.
    """
    tester.offer_modules({})
    for name in plan.imported_modules(tree):
        if name not in checks.CANDIDATE_MODULES:
            try:
                importlib.import_module(name)
            except ImportError as error:
                raise fixtures.Broken(str(error)) from error


def _seal() -> None:
    """Shuts the ways out of the candidate's own objects, for the rest of this process's life."""
    for name in _WITHOUT:
        sys.modules[name] = None  # type: ignore[assignment]
    signals = sys.modules["_signal"]
    # A handler would be given the frame that was interrupted, and with it all frames below.
    signals.signal = _refuse_signal  # type: ignore[attr-defined]
    sys.addaudithook(_hook())


def _refuse_signal(*_: object) -> NoReturn:
    raise ValueError("no signal handlers beside the tests")


def _hook() -> Callable[[str, tuple[Any, ...]], None]:
    refused, inner, is_text = _REFUSED, _INNER, str

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "object.__getattr__":
            # Functions may be asked for their code, as `inspect.signature` does.
            if args[1] in inner and args[1] != "__code__":
                raise ValueError("no frames beside the tests")
        elif event == "object.__setattr__":
            if args[1] == "__code__":
                raise ValueError("no function is changed beside the tests")
        elif event.startswith(refused):
            # What the library itself asks for, it does without when it gets a ValueError.
            raise ValueError(f"{event} is not to be had beside the tests")
        elif event == "open" and type(args[0]) is is_text and "/proc" in args[0]:
            raise PermissionError(args[0])

    return hook


def _watched() -> dict[str, Any]:
    """Returns what the tests rely on, by name, to be compared later."""
    found: dict[str, Any] = {}
    for name in _WATCHED:
        module = sys.modules[name]
        found |= {f"{name}.{key}": value for key, value in vars(module).items()}
    for kind in (unittest.TestCase, unittest.TestSuite, unittest.TestResult):
        found |= {f"{kind.__name__}.{key}": value for key, value in vars(kind).items()}
    return {name: id(value) for name, value in found.items()}


def _tampered(watched: dict[str, Any]) -> str | None:
    """Returns the first name that no longer stands for what it stood for."""
    now = _watched()
    return next((name for name, content in watched.items() if now.get(name) != content), None)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112 - the stream may be the candidate's own
            continue
