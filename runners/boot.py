"""The first text that a sandbox's interpreter runs: takes the runner from the stream, starts it.

Nothing of the host is mounted for it. The stream begins with one line, the size of a JSON object
{"modules": {name: source}, "warm": [modules to import], "nested": bool}, then the object, then frames.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import types
from collections.abc import Sequence


class _FromMemory(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the runner's modules among the sources that came over the stream."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._sources:
            return None
        is_package = fullname == "runners"
        return importlib.util.spec_from_loader(fullname, self, is_package=is_package)

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        exec(compile(self._sources[name], f"<{name}>", "exec"), module.__dict__)  # noqa: S102


def _read(size: int) -> bytes:
    """Reads unbuffered, so that no byte of the frames behind is taken."""
    data = b""
    while len(data) < size:
        part = os.read(0, size - len(data))
        if not part:
            sys.exit("the host closed the stream")
        data += part
    return data


def _receive() -> dict[str, object]:
    size = b""
    while not size.endswith(b"\n"):
        size += _read(1)
    received: dict[str, object] = json.loads(_read(int(size)))
    return received


def _start() -> None:
    received = _receive()
    finder = _FromMemory(received["modules"])  # type: ignore[arg-type]
    sys.meta_path.insert(0, finder)
    runner = importlib.import_module("runners.main")
    sys.meta_path.remove(finder)
    runner.main(received["warm"], nested=received["nested"])


_start()
