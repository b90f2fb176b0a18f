"""What `pytest.mark` says of a test: with which values it runs, and whether at all."""

import itertools
from collections.abc import Iterator
from typing import Any

from runners import pytest_shim


def is_skipped(mark: pytest_shim.Mark) -> bool:
    """Tells whether a mark leaves a test out."""
    return mark.name == "skipif" and bool(mark.args and mark.args[0])


def sets_of(marks: list[Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yields the values of every combination of `parametrize`, with a label."""
    axes = [list(_axis(mark)) for mark in marks if mark.name == "parametrize"]
    for combination in itertools.product(*reversed(axes)):
        values: dict[str, Any] = {}
        for part, _ in combination:
            values |= part
        yield values, "-".join(label for _, label in combination)


def _axis(mark: pytest_shim.Mark) -> Iterator[tuple[dict[str, Any], str]]:
    names, rows = (*mark.args, *mark.kwargs.values())[:2]
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    for index, row in enumerate(rows):
        label = None
        values: tuple[Any, ...]
        if isinstance(row, pytest_shim.param):
            values, label = row
        else:
            values = (row,) if len(names) == 1 else tuple(row)
        yield dict(zip(names, values, strict=True)), label or str(index)
