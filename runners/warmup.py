"""Makes an interpreter warm: imports what programs usually import, and runs a sample.

A fork pays for every page it touches first. After the sample the allocator's arenas, the
compiler's and the importer's caches are there before the fork, and a child touches half as many.
"""

import contextlib
import importlib
import sys
from typing import Any

from runners import program

# What model-written programs import most. Each of them is paid for by every run, in pages that a
# fork has to copy the tables of: what few programs need (`dataclasses` brings `inspect` and the
# parser with it) is better imported by those few.
USUAL_MODULES = (
    "bisect", "collections", "contextlib", "copy", "enum", "functools", "heapq",
    "itertools", "json", "math", "operator", "re", "string", "typing",
)  # fmt: skip

_SAMPLE = """
import sys
from collections import Counter, defaultdict
from typing import List, Optional
class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right
    def __repr__(self):
        return f"Node({{self.value!r}})"
def solve_{n}(numbers: List[int], target: Optional[int] = None, *rest, **named):
    seen = {{}}
    counts = defaultdict(int)
    for index, number in enumerate(sorted(numbers, key=lambda item: -item)):
        if target is not None and target - number in seen:
            return [seen[target - number], index]
        seen[number] = index
        counts[number] += 1
    pairs = [(a, b) for a in numbers for b in numbers if a < b]
    try:
        value = int("x")
    except ValueError as error:
        value = str(error)
    return dict(Counter(numbers)), pairs, f"{{value:>10}}|{{3.14159:.2f}}|{{len(pairs)}}"
print(solve_{n}(list(range(20)), 7), Node(1), Node(2, Node(3)))
"""
_SAMPLE_ROUNDS = 3


def prepare(modules: list[str], names: tuple[str, ...]) -> dict[str, Any]:
    """Imports the usual modules and those asked for, runs the sample, and returns harnesses."""
    for name in USUAL_MODULES:
        importlib.import_module(name)
    for name in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    harnesses = {name: importlib.import_module(f"runners.{name}").run for name in names}
    text = "".join(_SAMPLE.format(n=n) for n in range(_SAMPLE_ROUNDS))
    program.prepare()
    exec(compile(text, "sample", "exec"), {"__name__": "sample"})  # noqa: S102 - our own text
    sys.stdout.flush()
    return harnesses
