"""What a run shows: metrics as JSON lines and for TensorBoard, samples to read, a progress bar."""

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from torch import Tensor

_METRICS = "metrics.jsonl"
_SAMPLES = "samples.html"
_SHOWN = ("reward/mean", "objective/kl", "policy/entropy", "time/waiting_frac")


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion, for people to read."""

    problem_id: str
    prompt: str
    completion: str
    verdict: str
    reward: float | None


class Tracker:
    """Writes what the first process of a run logs; on others it writes nothing."""

    def __init__(self, folder: Path, *, is_writing: bool, steps: int, first_step: int) -> None:
        self._folder = folder
        self._is_writing = is_writing
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}"),
            disable=not is_writing,
        )
        self._task = self._progress.add_task(
            "training", total=steps, completed=first_step, figures=""
        )
        if is_writing:
            folder.mkdir(parents=True, exist_ok=True)
            forget_from(folder / _METRICS, first_step)
            self._metrics = (folder / _METRICS).open("a", encoding="utf-8")
            self._board = _board(folder / "tensorboard", first_step)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._progress.stop()
        if self._is_writing:
            self._metrics.close()
            self._board.close()

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Writes the metrics of a step."""
        figures = "  ".join(
            f"{name.split('/')[1]} {metrics[name]:.3f}" for name in _SHOWN if name in metrics
        )
        self._progress.update(self._task, completed=step + 1, figures=figures)
        if not self._is_writing:
            return
        finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
        self._metrics.write(json.dumps({"step": step, **finite}) + "\n")
        self._metrics.flush()
        for name, value in finite.items():
            self._board.add_scalar(name, value, step)

    def log_distribution(self, step: int, probabilities: Tensor) -> None:
        """Writes how sure the policy was of the tokens it took."""
        if self._is_writing:
            self._board.add_histogram("policy/token_probability", probabilities.cpu(), step)

    def show_samples(self, step: int, samples: Sequence[Sample]) -> None:
        """Writes samples as a page, the newest step only, and as text for TensorBoard."""
        if not self._is_writing:
            return
        rows = "\n".join(_row(sample) for sample in samples)
        page = _PAGE.format(step=step, rows=rows)
        (self._folder / _SAMPLES).write_text(page, encoding="utf-8")
        for number, sample in enumerate(samples[:4]):
            text = f"    {sample.prompt}\n\n    {sample.completion}\n\n{sample.verdict}"
            self._board.add_text(f"samples/{number}", text, step)


def read_metrics(path: Path) -> list[dict[str, float]]:
    """Reads the metrics of a run, a step each; what a killed run left half written is left out."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            break
    return rows


def forget_from(path: Path, step: int) -> None:
    """Drops what a killed run wrote after the checkpoint that the next one starts from."""
    kept = [row for row in read_metrics(path) if row["step"] < step]
    path.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")


def _board(folder: Path, first_step: int) -> Any:
    from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - slow to import

    return SummaryWriter(str(folder), purge_step=first_step)


def _row(sample: Sample) -> str:
    reward = "none" if sample.reward is None else f"{sample.reward:.2f}"
    cells = (sample.problem_id, sample.prompt, sample.completion, sample.verdict, reward)
    return "<tr>" + "".join(f"<td><pre>{html.escape(cell)}</pre></td>" for cell in cells) + "</tr>"


_PAGE = """<!doctype html><meta charset="utf-8"><title>Samples of step {step}</title>
<style>body {{ font-family: sans-serif }} td {{ border: 1px solid #ccc; vertical-align: top;
padding: 0 .5em }} pre {{ white-space: pre-wrap }}</style>
<h1>Samples of step {step}</h1>
<table><tr><th>problem<th>prompt<th>completion<th>verdict<th>reward</tr>
{rows}
</table>
"""
