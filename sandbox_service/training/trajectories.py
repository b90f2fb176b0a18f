"""What was sampled and what it was worth, as a data set that the SFT step reads.

One Parquet file for each step, under `trajectories/` of the run's storage. Needs no torch.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from sandbox_service.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One completion and what became of it."""

    step: int
    problem_id: str
    domain: str
    prompt: str
    completion: str
    verdict: str
    reward: float | None
    token_count: int
    is_cut: bool


_SCHEMA = pa.schema(
    [
        ("step", pa.int64()),
        ("problem_id", pa.string()),
        ("domain", pa.string()),
        ("prompt", pa.string()),
        ("completion", pa.string()),
        ("verdict", pa.string()),
        ("reward", pa.float64()),
        ("token_count", pa.int64()),
        ("is_cut", pa.bool_()),
    ]
)


def write_trajectories(storage: str, step: int, rank: int, rows: list[Trajectory]) -> None:
    """Writes the trajectories that one process sampled in a step; a repeat writes over."""
    filesystem, root = fsspec.core.url_to_fs(storage)
    folder = f"{root}/trajectories"
    filesystem.makedirs(folder, exist_ok=True)
    table = pa.Table.from_pylist([asdict(row) for row in rows], schema=_SCHEMA)
    with filesystem.open(f"{folder}/step-{step:06d}-{rank}.parquet", "wb") as file:
        pq.write_table(table, file)


def read_rows(url: str) -> Iterator[Mapping[str, Any]]:
    """Reads JSONL or Parquet: a file, or every file of a folder in the order of names.

    Raises:
        SettingsError: there is nothing, or it is neither.
    """
    filesystem, path = fsspec.core.url_to_fs(url)
    if not filesystem.exists(path):
        raise SettingsError(f"{url}: no such file or folder")
    files = sorted(filesystem.find(path)) if filesystem.isdir(path) else [path]
    for each in files:
        with filesystem.open(each, "rb") as file:
            yield from _rows_of(each, file)


def _rows_of(name: str, file: Any) -> Iterator[Mapping[str, Any]]:
    kind = PurePosixPath(name).suffix
    if kind == ".parquet":
        yield from pq.read_table(file).to_pylist()
    elif kind == ".jsonl":
        yield from (json.loads(line) for line in file if line.strip())
    else:
        raise SettingsError(f"{name}: neither .jsonl nor .parquet")
