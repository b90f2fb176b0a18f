"""Reads test code before it runs: what it checks, and whether it needs the candidate's process.

Only the text of the tests decides: a candidate must never be able to choose the weaker kind.
"""

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator

_SHARED_MODULES = frozenset({
    "ast", "asyncio", "builtins", "concurrent", "ctypes", "dis", "gc", "importlib", "inspect",
    "logging", "multiprocessing", "pandas", "pathlib", "pickle", "queue", "shelve", "shutil",
    "signal", "socket", "sqlite3", "subprocess", "tempfile", "threading", "torch", "types",
    "warnings", "weakref",
})  # fmt: skip
_SHARED_NAMES = frozenset({
    "open", "patch", "monkeypatch", "tmp_path", "tmpdir", "caplog", "recwarn", "assertLogs",
    "assertWarns", "asdict", "fields", "is_dataclass", "warns", "deprecated_call", "capfd",
})  # fmt: skip
_SHARED_PARTS = {
    "sys": frozenset({"stdin", "argv", "modules", "settrace", "getsizeof", "getrefcount"}),
    "os": frozenset({"environ", "remove", "listdir", "makedirs", "mkdir", "chdir", "unlink"}),
    "path": frozenset({"exists", "isfile", "isdir", "getsize"}),
}
_MUTATORS = frozenset({
    "append", "extend", "insert", "remove", "pop", "clear", "update", "add", "discard", "sort",
    "reverse", "setdefault", "popitem",
})  # fmt: skip


def needs_shared_process(tree: ast.Module) -> str | None:
    """Returns what in the tests more than plain data is needed for, None if nothing is."""
    own = _own_names(tree)
    for node in ast.walk(tree):
        reason = _reason(node, own)
        if reason is not None:
            return f"line {getattr(node, 'lineno', 0)}: {reason}"
    return None


def _reason(node: ast.AST, own: set[str]) -> str | None:  # noqa: PLR0911 - one for each kind
    match node:
        case ast.AsyncFunctionDef() | ast.Await():
            return "coroutines run in the process that made them"
        case ast.Import(names=names) if found := _shared_module(names):
            return f"import {found}"
        case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in _SHARED_MODULES:
            return f"import {module}"
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) if (
            name in _SHARED_NAMES
        ):
            return name
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name) if (
            name in _SHARED_PARTS.get(owner, ())
        ):
            return f"{owner}.{name}"
        case ast.ClassDef(bases=bases) if foreign := _foreign(bases, own):
            return f"a class derived from {foreign}"
    return _reason_of_use(node, own)


def _reason_of_use(node: ast.AST, own: set[str]) -> str | None:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=value), attr=name)) if (
            name in _MUTATORS and not _is_self(value)
        ):
            return f"{name} on what the candidate's object holds"
        case ast.Subscript(value=ast.Attribute(value=value), ctx=ast.Store()) if not _is_self(
            value
        ):
            return "an item set in what the candidate's object holds"
        case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=others) if (
            foreign := _foreign(others, own)
        ):
            return f"the exact type {foreign}"
    return None


def _shared_module(names: list[ast.alias]) -> str | None:
    roots = (alias.name.partition(".")[0] for alias in names)
    return next((root for root in roots if root in _SHARED_MODULES), None)


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in {"self", "cls"}


def _foreign(nodes: list[ast.expr], own: set[str]) -> str | None:
    """Returns a name that is neither the tests' own nor a built-in one: the candidate's."""
    names = (node.id for node in nodes if isinstance(node, ast.Name))
    return next((name for name in names if name not in own and not hasattr(builtins, name)), None)


def _own_names(tree: ast.Module) -> set[str]:
    own = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                own.add(name)
            case ast.ImportFrom(module=str(module), names=names) if is_library(module):
                own.update(alias.asname or alias.name for alias in names)
    return own


def is_library(module: str) -> bool:
    """Tells whether a module is the library's, or the tests' own framework."""
    return module.partition(".")[0] in sys.stdlib_module_names | {"pytest", "numpy"}


def checks_something(tree: ast.Module) -> bool:
    """Tells whether the test code can find anything out."""
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return any(is_check(statement, functions) for statement in tree.body) or any(
        name.startswith("test") for name in functions
    )


def is_check(statement: ast.stmt, functions: set[str]) -> bool:
    """Tells whether a top-level statement is a check rather than a preparation."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return False
    return any(_asserts(node, functions) for node in ast.walk(statement))


def _asserts(node: ast.AST, functions: set[str]) -> bool:
    match node:
        case ast.Assert() | ast.Raise():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in functions
        case ast.Call(func=ast.Attribute(attr=name)):
            return name.startswith("assert") or name == "raises"
    return False


def called_functions(tree: ast.Module) -> Iterator[str]:
    """Yields the names of functions that the top level calls."""
    for statement in tree.body:
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            for node in ast.walk(statement):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    yield node.func.id


def body_to_expand(statement: ast.stmt, tree: ast.Module) -> ast.FunctionDef | None:
    """Returns the function if the statement is `check(candidate)`: each of its asserts counts."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="check"), args=args, keywords=[])):
            pass
        case _:
            return None
    found = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "check"]
    if len(found) != 1 or len(found[0].args.args) != len(args) or found[0].decorator_list:
        return None
    forbidden = (ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)
    is_odd = any(isinstance(node, forbidden) for node in found[0].body)
    return None if is_odd else found[0]


def names_taken(tree: ast.Module, offered: Iterable[str]) -> list[str]:
    """Returns which of the candidate's names the tests take.

    A candidate that names a function `abs` or a module `math` must not be believed, unless that
    is what the tests are about: they use nothing else of it.
    """
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    taken = [name for name in offered if not _is_librarys(name)]
    return taken if used.intersection(taken) else list(offered)


def _is_librarys(name: str) -> bool:
    return hasattr(builtins, name) or name in sys.stdlib_module_names


def imported_modules(tree: ast.Module) -> Iterator[str]:
    """Yields the names of modules that the top level imports."""
    for statement in tree.body:
        match statement:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module)):
                yield module
