"""Checkpoints that are either whole or not there, in a folder or behind any fsspec URL.

A file that is written last and lists the others makes a checkpoint valid; readers look at nothing
else. What a killed run left without it is swept away by the next one that saves.
"""

import json
import random
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
import numpy as np
import torch

_TENSORS = "tensors.pt"
_STATE = "state.json"
_COMPLETE = "complete.json"


class Saved(NamedTuple):
    """What a checkpoint holds."""

    tensors: dict[str, Any]
    """Model, optimiser and generators, as `torch.save` writes them."""
    state: dict[str, Any]
    """Plain data."""


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, storage: str, keep: int) -> None:
        self._filesystem, root = fsspec.core.url_to_fs(storage)
        self._root = f"{root}/checkpoints"
        self._keep = keep

    def save(self, step: int, tensors: dict[str, Any], state: dict[str, Any]) -> None:
        """Writes a checkpoint, then drops what is older than those to keep."""
        folder = f"{self._root}/step-{step:08d}"
        self._drop(folder)
        self._filesystem.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            tensor_file, state_file = Path(scratch, _TENSORS), Path(scratch, _STATE)
            torch.save(tensors, tensor_file)
            state_file.write_text(json.dumps(state), encoding="utf-8")
            sizes = {file.name: file.stat().st_size for file in (tensor_file, state_file)}
            for file in (tensor_file, state_file):
                self._filesystem.put_file(str(file), f"{folder}/{file.name}")
        self._filesystem.pipe_file(
            f"{folder}/{_COMPLETE}", json.dumps({"step": step, "sizes": sizes}).encode()
        )
        valid = self.steps()
        for other in self._folders():
            number = int(other.rpartition("-")[2])
            if number not in valid[-self._keep :]:
                self._drop(other)

    def steps(self) -> list[int]:
        """Lists the steps of all whole checkpoints, oldest first."""
        return sorted(
            int(folder.rpartition("-")[2]) for folder in self._folders() if self._is_whole(folder)
        )

    def load(self, step: int, device: torch.device) -> Saved:
        """Reads a checkpoint; tensors only, nothing in it is executed."""
        folder = f"{self._root}/step-{step:08d}"
        with self._filesystem.open(f"{folder}/{_TENSORS}", "rb") as file:
            tensors = torch.load(file, map_location=device, weights_only=True)
        return Saved(tensors, json.loads(self._filesystem.cat_file(f"{folder}/{_STATE}")))

    def _folders(self) -> list[str]:
        if not self._filesystem.exists(self._root):
            return []
        self._filesystem.invalidate_cache()
        names: list[str] = self._filesystem.ls(self._root, detail=False)
        return [name for name in names if name.rpartition("/")[2].startswith("step-")]

    def _is_whole(self, folder: str) -> bool:
        marker = f"{folder}/{_COMPLETE}"
        if not self._filesystem.exists(marker):
            return False
        try:
            sizes = json.loads(self._filesystem.cat_file(marker))["sizes"]
        except ValueError:
            return False
        return all(
            self._filesystem.exists(f"{folder}/{name}")
            and self._filesystem.size(f"{folder}/{name}") == size
            for name, size in sizes.items()
        )

    def _drop(self, folder: str) -> None:
        # The list goes first, so that a kill in between leaves nothing that looks whole.
        marker = f"{folder}/{_COMPLETE}"
        if self._filesystem.exists(marker):
            self._filesystem.rm_file(marker)
        if self._filesystem.exists(folder):
            self._filesystem.rm(folder, recursive=True)


def random_states() -> dict[str, Any]:
    """Returns the states of every library's own generator."""
    version, numbers, gauss = random.getstate()
    name, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - libraries draw from it
    return {
        "python": [version, list(numbers), gauss],
        "numpy": [name, torch.from_numpy(np.asarray(keys).astype("int64")), *rest],
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def restore_random_states(states: dict[str, Any]) -> None:
    """Puts every library's own generator where it was."""
    version, numbers, gauss = states["python"]
    random.setstate((version, tuple(numbers), gauss))
    name, keys, *rest = states["numpy"]
    np.random.set_state((name, keys.cpu().numpy().astype("uint32"), *rest))  # noqa: NPY002
    torch.set_rng_state(states["torch"].cpu())
    if states["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([state.cpu() for state in states["cuda"]])
