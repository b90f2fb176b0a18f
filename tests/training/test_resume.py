"""A run that is killed goes on as if it had never stopped."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from tests.training.fake_client import FakeClient
from tests.training.runs import metrics_of, run, tiny_config, without_times

torch = pytest.importorskip("torch", reason="the extra `trainer` is not installed")

TINY = {
    "steps": 20,
    "rollout": {"problems_per_step": 4},
    "kl": {"target_kl": 1.0, "horizon": 100},
    "sampler": {"filter_decided": True, "curriculum_steps": 15},
    "evaluation": {"every_steps": 5, "problems": 4, "samples": 2},
}
PROGRAM = Path(__file__).with_name("resumable.py")


def _config(folder: Path, name: str):
    return tiny_config(folder / name, **TINY)


def _start(config) -> subprocess.Popen:
    path = Path(config.output).with_suffix(".yaml")
    path.write_text(yaml.safe_dump(json.loads(config.model_dump_json())))
    return subprocess.Popen([sys.executable, str(PROGRAM), str(path)])


def _weights(config, step: int):
    folder = Path(config.output, "checkpoints", f"step-{step:08d}")
    return torch.load(folder / "tensors.pt", weights_only=True)["model"]


def test_run_killed_after_ten_steps_ends_with_the_weights_and_metrics_of_a_straight_one(tmp_path):
    straight, broken = _config(tmp_path, "straight"), _config(tmp_path, "broken")
    undisturbed = _start(straight)
    first = _start(broken)
    while not any(row["step"] >= 12 for row in metrics_of(broken)):
        assert first.poll() is None
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait()

    assert _start(broken).wait() == 0
    assert undisturbed.wait() == 0

    assert without_times(metrics_of(broken)) == without_times(metrics_of(straight))
    expected, found = _weights(straight, 20), _weights(broken, 20)
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())


def test_run_told_to_stop_saves_the_step_it_is_in_and_goes_on_from_there(tmp_path):
    config = tiny_config(tmp_path, **TINY | {"steps": 4, "checkpoint": {"every_steps": 0}})
    calls = []

    def judge(body):
        calls.append(body)
        if len(calls) == 30:
            signal.raise_signal(signal.SIGTERM)
        return 0.5

    run(config, "ppo", FakeClient(judge))
    stopped_after = [row["step"] for row in metrics_of(config)][-1]
    run(config, "ppo", FakeClient(lambda body: 0.5))

    assert stopped_after < 3
    assert [row["step"] for row in metrics_of(config) if "reward/mean" in row] == [0, 1, 2, 3]
