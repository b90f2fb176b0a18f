"""`make bench`: ratios against a bare subprocess, printed and written as JSON.

Nothing here passes or fails: figures depend on the machine, ratios on what was built.
"""

import argparse
import json
import platform
import statistics
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sandbox_service.sandbox.images import image_name
from sandbox_service.settings import Settings
from sandbox_service.telemetry.logging import configure_logging
from sandbox_service.worker.boot import build_pipeline, find_engine
from tests.benchmarks import service
from tests.benchmarks.rounds import compare
from tests.benchmarks.works import Work, make_baseline, make_step, works


def _docker_image(settings: Settings) -> str | None:
    return image_name(settings, "python") if find_engine(settings).name == "docker" else None


def _latency(settings: Settings, works_by_name: dict[str, Work], times: int) -> dict[str, float]:
    """p50 of one fresh sandbox with the pool filled, as a multiple of a bare Python start."""
    pipeline = build_pipeline(settings)
    bare, fresh = works_by_name["trivial Python"], works_by_name["fresh, against docker run"]
    start, submission = bare.baseline(), fresh.submissions()()
    ours, theirs = [], []
    try:
        pipeline.run("bench", submission)
        for _ in range(times):
            time.sleep(2.0)  # the next spare is there: that is what "pool filled" means
            began = time.perf_counter()
            pipeline.run("bench", submission)
            ours.append(time.perf_counter() - began)
            began = time.perf_counter()
            start()
            theirs.append(time.perf_counter() - began)
    finally:
        pipeline.close()
    return {"ours_s": statistics.median(ours), "baseline_s": statistics.median(theirs)}


def main() -> None:
    """Measures and reports."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=4.0, help="length of one turn")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each side")
    parser.add_argument("--slots", type=int, default=2, help="runs at the same time")
    parser.add_argument("--only", default="", help="part of the name of what to measure")
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"))
    options = parser.parse_args()
    settings = Settings()
    configure_logging("console", "error")
    found = {work.name: work for work in works(_docker_image(settings))}
    table = Table("work", "ours /s", "baseline /s", "ratio", "target")
    figures = []
    for work in found.values():
        if options.only not in work.name:
            continue
        rate = compare(
            make_step(work, settings),
            make_baseline(work),
            slots=options.slots,
            seconds=options.seconds,
            rounds=options.rounds,
        )
        figures.append({"work": work.name, "target": work.target, **rate._asdict()})
        table.add_row(
            work.name, f"{rate.ours_per_s:.1f}", f"{rate.baseline_per_s:.1f}",
            f"{rate.ratio:.2f}", f"≥ {work.target}",
        )  # fmt: skip
    if "fresh, against docker run" in found and options.only in "fresh p50":
        p50 = _latency(settings, found, times=10)
        ratio = p50["ours_s"] / p50["baseline_s"]
        figures.append(
            {"work": "fresh p50 / bare Python start", "target": 2.0, "ratio": ratio, **p50}
        )
        table.add_row("fresh p50 / bare Python start", "", "", f"{ratio:.2f}", "≤ 2.0")
    if options.only in "service":
        for figure in service.measure(options.rounds):
            figures.append(figure._asdict())
            table.add_row(
                figure.work, f"{figure.ours:.4g}", f"{figure.baseline:.4g}",
                f"{figure.ratio:.2f}", figure.target,
            )  # fmt: skip
    Console().print(table)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    machine = {"python": platform.python_version(), "kernel": platform.release()}
    options.json.write_text(json.dumps({"machine": machine, "figures": figures}, indent=1))


if __name__ == "__main__":
    main()
