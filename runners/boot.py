"""The first text that a sandbox's interpreter runs: takes the runner from the stream, starts it.

Nothing of the host is mounted for it. The stream begins with one line, the size of a JSON object
{"modules": {name: source}, "compiled": their codes, "magic": for which interpreter,
"warm": [modules to import], "nested": bool}, then the object, then frames.
"""

import binascii
import importlib
import json
import marshal
import os
import sys
import types
from collections.abc import Sequence
from importlib._bootstrap_external import MAGIC_NUMBER  # `importlib.util` is large
from importlib.machinery import ModuleSpec
from typing import Any


class _FromMemory:
    """Finds and loads the runner's modules among the compiled ones in memory.

    Without the base classes of `importlib.abc`, which would bring a megabyte of other modules
    into every fork.
    """

    def __init__(self, codes: dict[str, types.CodeType]) -> None:
        self._codes = codes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._codes:
            return None
        return ModuleSpec(fullname, self, is_package=fullname == "runners")  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """The usual module will do."""

    def exec_module(self, module: types.ModuleType) -> None:
        exec(self._codes.pop(module.__name__), module.__dict__)  # noqa: S102 - our own text


def _read(size: int) -> bytes:
    """Reads unbuffered, so that no byte of the frames behind is taken."""
    data = b""
    while len(data) < size:
        part = os.read(0, size - len(data))
        if not part:
            sys.exit("the host closed the stream")
        data += part
    return data


def _receive() -> dict[str, Any]:
    size = b""
    while not size.endswith(b"\n"):
        size += _read(1)
    received: dict[str, Any] = json.loads(_read(int(size)))
    return received


def _codes(received: dict[str, Any]) -> dict[str, types.CodeType]:
    """Returns the codes that came, or compiles the texts if those are for another interpreter."""
    sources, compiled = received.pop("modules"), received.pop("compiled")
    if received["magic"] != MAGIC_NUMBER.hex():
        return _compiled(sources)
    codes: dict[str, types.CodeType] = marshal.loads(binascii.a2b_base64(compiled))  # noqa: S302
    return codes


def _compiled(sources: dict[str, str]) -> dict[str, types.CodeType]:
    """Compiles in a process that ends: what a compiler leaves in memory, every fork would copy."""
    out, into = os.pipe()
    if os.fork() == 0:
        codes = {
            name: compile(text, f"<{name}>", "exec", optimize=2) for name, text in sources.items()
        }
        with os.fdopen(into, "wb") as pipe:
            marshal.dump(codes, pipe)
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as pipe:
        compiled: dict[str, types.CodeType] = marshal.load(pipe)  # noqa: S302 - our own
    os.wait()
    return compiled


def _start() -> None:
    received = _receive()
    finder = _FromMemory(_codes(received))
    sys.meta_path.insert(0, finder)
    runner = importlib.import_module("runners.main")
    runner.main(received["warm"], nested=received["nested"])


_start()
