"""The command `demo`: every case submitted over HTTP, and a table of what came back."""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from rich.console import Console

from sandbox_service.demo.cases import Case, other_cases, python_cases
from sandbox_service.demo.outcome import Outcome, engine_of, table
from sandbox_service.demo.server import running_service
from sandbox_service.errors import EngineUnavailable, ServiceError
from sandbox_service.sandbox import images
from sandbox_service.sandbox.daemon import connect
from sandbox_service.settings import Settings

_WAIT_S = 60


def run_demo(
    settings: Settings,
    console: Console,
    environment: Mapping[str, str],
    arguments: tuple[str, ...] = (),
) -> int:
    """Shows the service at work; returns 0 when every outcome is the expected one, else 1."""
    with TemporaryDirectory(prefix="sandbox-demo-") as folder:
        console.print("starting the service …")
        try:
            with (
                running_service(Path(folder), environment, arguments) as address,
                httpx.Client(base_url=address, timeout=_WAIT_S + 10, trust_env=False) as client,
            ):
                outcomes = _submit_all(client, settings, console)
        except ServiceError as error:
            console.print(str(error), style="red", markup=False)
            return 1
    return _conclude(outcomes, console)


def _submit_all(client: httpx.Client, settings: Settings, console: Console) -> list[Outcome]:
    outcomes = [_submit(client, case) for case in python_cases()]
    is_local = engine_of(outcomes) == "local"
    has_cpp = not is_local or shutil.which("g++") is not None
    outcomes += [_submit(client, case) for case in other_cases(has_cpp=has_cpp)]
    console.print(table(outcomes))
    if not has_cpp:
        console.print("There is no C++ compiler on this machine, so only Bash stands for the rest.")
    if is_local and _lacks_images(settings):
        console.print("Docker answers; `make images` (a few minutes) lets it run the programs.")
    return outcomes


def _lacks_images(settings: Settings) -> bool:
    try:
        client = connect(settings)
    except EngineUnavailable:
        return False
    try:
        return bool(images.missing(client, settings))
    finally:
        client.close()


def _submit(client: httpx.Client, case: Case) -> Outcome:
    started = time.monotonic()
    answer = client.post("/v1/submissions", params={"wait": _WAIT_S}, json=case.submission)
    elapsed_ms = (time.monotonic() - started) * 1000
    if not answer.is_success:
        raise ServiceError(
            f"the service refused {case.title!r}: {answer.status_code} {answer.text}"
        )
    result: dict[str, Any] = answer.json()
    return Outcome(case, result, elapsed_ms)


def _conclude(outcomes: list[Outcome], console: Console) -> int:
    unexpected = [outcome for outcome in outcomes if not outcome.is_expected]
    for outcome in unexpected:
        case = outcome.case
        expected = f"{' or '.join(case.verdicts)} with reward {case.reward:.2f}"
        console.print(f"{case.title}: expected {expected}, got", style="red", markup=False)
        console.print_json(data=outcome.result)
    if unexpected:
        return 1
    console.print(f"[green]All {len(outcomes)} as they should be; the service is stopped.[/green]")
    return 0
