"""The long proof: both algorithms learn from the real service, with several seeds, and a control.

    python -m tests.training.proof --output proof

Writes `learning.json` and the curves as `learning.png`; ends with 1 if a bound is missed.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.training.runs import from_policy, held_out, run, warm_started
from tests.training.served import Service, free_port
from tests.training.test_learning import AFTER, BEFORE

_CONTROL = "ppo, shuffled rewards"
_CONTROL_MAY_GAIN = 0.1
_MOST_S = 600.0


class Curve(NamedTuple):
    """Mean reward on held-out problems over a run, the warm start's first."""

    algorithm: str
    seed: int
    held_out: list[float]
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether it shows what it has to."""
        before, after = self.held_out[0], self.held_out[-1]
        if self.algorithm == _CONTROL:
            return after < before + _CONTROL_MAY_GAIN
        return before < BEFORE and after > AFTER and self.seconds < _MOST_S


def _curve(folder: Path, url: str, algorithm: str, seed: int) -> Curve:
    is_control = algorithm == _CONTROL
    sections: dict[str, Any] = {"seed": seed}
    if is_control:
        sections |= {"reward": {"shuffle": True}, "steps": 12}
    began = time.monotonic()  # the warm start is part of what it takes
    policy = warm_started(folder / f"warm-{algorithm}-{seed}", seed)
    config = from_policy(folder / f"{algorithm}-{seed}", policy, url, **sections)
    rewards = held_out(run(config, "ppo" if is_control else algorithm))
    return Curve(algorithm, seed, rewards, time.monotonic() - began)


def _draw(curves: Sequence[Curve], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    colours = {"ppo": "tab:blue", "grpo": "tab:orange", _CONTROL: "tab:gray"}
    named: set[str] = set()
    for curve in curves:
        label = None if curve.algorithm in named else curve.algorithm
        named.add(curve.algorithm)
        axes.plot(curve.held_out, marker="o", color=colours[curve.algorithm], label=label)
    axes.axhline(AFTER, color="black", linewidth=0.8, linestyle="--")
    axes.set(
        xlabel="measurement", ylabel="mean reward, held-out problems", ylim=(0, 1.02),
        title="A tiny transformer, rewarded by the service",
    )  # fmt: skip
    axes.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Runs all, writes what came out, and tells whether it holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    curves: list[Curve] = []
    with tempfile.TemporaryDirectory(prefix="proof-") as folder:
        service = Service(Path(folder), free_port())
        service.start()
        try:
            for algorithm in ("ppo", "grpo", _CONTROL):
                for seed in options.seeds:
                    curves.append(_curve(Path(folder), service.url, algorithm, seed))
                    told = "holds" if curves[-1].holds else "DOES NOT HOLD"
                    sys.stdout.write(f"{curves[-1]} {told}\n")
                    sys.stdout.flush()
        finally:
            service.stop()
    rows = [curve._asdict() | {"holds": curve.holds} for curve in curves]
    (options.output / "learning.json").write_text(json.dumps(rows, indent=1))
    _draw(curves, options.output / "learning.png")
    raise SystemExit(not all(curve.holds for curve in curves))


if __name__ == "__main__":
    main()
