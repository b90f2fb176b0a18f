"""Two processes with half a batch each have the gradients of one with the whole batch."""

import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra `trainer` is not installed")

PROGRAM = Path(__file__).with_name("gradients.py")


def _gradients(folder: Path, processes: int, strategy: str):
    output = folder / f"{strategy}-{processes}.pt"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            str(processes),
            str(PROGRAM),
            str(output),
            strategy,
        ],
        check=True,
        timeout=300,
    )
    return torch.load(output, weights_only=True)


@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_two_processes_gradients_equal_those_of_one_with_the_joined_batch(tmp_path, strategy):
    joined, shared = _gradients(tmp_path, 1, strategy), _gradients(tmp_path, 2, strategy)

    assert joined.keys() == shared.keys()
    for name, gradient in joined.items():
        torch.testing.assert_close(shared[name], gradient, rtol=1e-3, atol=1e-5)
