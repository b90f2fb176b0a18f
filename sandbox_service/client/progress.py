"""Progress of many submissions: a function that is told, and a bar that can be one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

Progress = Callable[[int, int], None]
"""Told how many results are there, and of how many."""


@contextmanager
def progress_bar(title: str = "scored", console: Console | None = None) -> Iterator[Progress]:
    """Shows a bar on standard error as long as it is open.

    with progress_bar() as progress:
        results = client.run_batch(submissions, progress=progress)
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = console or Console(stderr=True)
    with Bar(*columns, TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task(title, total=None)

        def told(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield told
