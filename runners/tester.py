"""The tests' side of an isolated assert test: runs them against a candidate in another jail."""

import ast
import importlib
import json
import os
import sys
import types
import unittest
from typing import Any, NoReturn

from runners import checks, crossing, fixtures, plan, program, pytest_shim, remote, standin


def parse(source: str) -> ast.Module:
    """Parses test code.

    Raises:
        Broken: it is none.
    """
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise fixtures.Broken(f"{type(error).__name__}: {error}") from error


def offer_modules(names: dict[str, Any]) -> None:
    """Lets the tests import the candidate under the usual names, and pytest."""
    for alias in checks.CANDIDATE_MODULES:
        module = types.ModuleType(alias)
        module.__dict__.update(names)
        sys.modules[alias] = module
    shim = types.ModuleType("pytest")
    shim.__dict__.update(pytest_shim.NAMES)
    sys.modules["pytest"] = shim
    unittest.main = lambda *_, **__: None  # type: ignore[assignment]  # cases are found anyway


def _candidate_names(line: remote.Line, tree: ast.Module) -> dict[str, Any]:
    """Returns the candidate's names, each with what stands for it here.

    Raises:
        OtherGone: the program did not load.
    """
    described = line.receive().get("names")
    if not isinstance(described, dict):
        raise remote.OtherGone("the candidate's process sent nonsense")
    names = {}
    for name in plan.names_taken(tree, described):
        what = described[name]
        if not isinstance(what, dict):
            continue
        if "module" not in what:
            value = line.decode(what.get("value"))
            names[name] = standin.of_class(value) if name.lstrip("_")[:1].isupper() else value
        elif str(what["module"]) in crossing.LENT_MODULES:
            names[name] = importlib.import_module(str(what["module"]))
    return names


def run(order: dict[str, Any], kept: list[int]) -> NoReturn:
    """Runs the tests and reports."""
    channel, payload, requests, responses = kept
    with open(payload, encoding="utf-8", errors="surrogatepass") as file:
        source = file.read()
    program.begin(order)
    sys.set_int_max_str_digits(0)
    line = remote.Line(open(responses, "rb"), open(requests, "wb"), strict=True)
    report = _report(source, line)
    data = memoryview(json.dumps(report).encode())
    while data:
        data = data[os.write(channel, data) :]
    os._exit(0)


def _report(source: str, line: remote.Line) -> dict[str, Any]:
    try:
        tree = parse(source)
        reason = plan.needs_shared_process(tree)
        if reason is not None:
            return {"needs_shared_process": reason}
        names = _candidate_names(line, tree)
        offer_modules(names)
        lent = {name: sys.modules[name] for name in crossing.LENT_MODULES if name in sys.modules}
        names = {**lent, **names, "__name__": "__main__"}
        return {"checks": checks.Checks(tree, names, lambda: line.is_gone).run()}
    except remote.OtherGone as error:
        return {"checks": [checks.Check("load", False, f"{checks.RAISED}{error}")]}
    except fixtures.Broken as error:
        return {"broken": str(error)}
