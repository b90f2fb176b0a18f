"""The command `demo`: every case submitted over HTTP, and a table of what came back."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from sandbox_service.demo.cases import Case, cases
from sandbox_service.demo.server import running_service
from sandbox_service.errors import ServiceError

_WAIT_S = 60
_REWARD_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Outcome:
    """A case and the service's answer."""

    case: Case
    result: dict[str, Any]
    elapsed_ms: float

    @property
    def is_expected(self) -> bool:
        """Whether verdict and reward are the right ones."""
        reward = self.result.get("reward")
        return (
            self.result.get("verdict") in self.case.verdicts
            and reward is not None
            and abs(reward - self.case.reward) < _REWARD_TOLERANCE
        )


def run_demo(
    console: Console, environment: Mapping[str, str], arguments: tuple[str, ...] = ()
) -> int:
    """Shows the service at work; returns 0 when every outcome is the expected one, else 1."""
    with TemporaryDirectory(prefix="sandbox-demo-") as folder:
        console.print("starting the service …")
        try:
            with (
                running_service(Path(folder), environment, arguments) as address,
                httpx.Client(base_url=address, timeout=_WAIT_S + 10, trust_env=False) as client,
            ):
                outcomes = _submit_all(client, console)
        except ServiceError as error:
            console.print(str(error), style="red", markup=False)
            return 1
    unexpected = [outcome for outcome in outcomes if not outcome.is_expected]
    for outcome in unexpected:
        expected = f"{' or '.join(outcome.case.verdicts)}, reward {outcome.case.reward:.2f}"
        console.print(f"[red]{outcome.case.title}: expected {expected}[/red]")
        console.print(outcome.result, markup=False)
    if not unexpected:
        console.print(f"[green]all {len(outcomes)} as they should be; service stopped[/green]")
    return 1 if unexpected else 0


def _submit_all(client: httpx.Client, console: Console) -> list[Outcome]:
    languages = frozenset(
        language["name"] for language in _checked(client.get("/v1/languages"))["languages"]
    )
    if "cpp" not in languages:
        console.print("no C++ compiler here; Bash stands in for it (Docker images have one)")
    outcomes = [_submit(client, case) for case in cases(languages)]
    console.print(_table(outcomes))
    return outcomes


def _submit(client: httpx.Client, case: Case) -> Outcome:
    started = time.monotonic()
    answer = client.post("/v1/submissions", params={"wait": _WAIT_S}, json=case.submission)
    elapsed_ms = (time.monotonic() - started) * 1000
    return Outcome(case, _checked(answer), elapsed_ms)


def _checked(answer: httpx.Response) -> dict[str, Any]:
    """Returns the body of a good answer.

    Raises:
        ServiceError: the service refused.
    """
    if not answer.is_success:
        raise ServiceError(f"{answer.request.url.path}: {answer.status_code} {answer.text}")
    body: dict[str, Any] = answer.json()
    return body


def _table(outcomes: list[Outcome]) -> Table:
    engines = {(outcome.result.get("sandbox") or {}).get("engine") for outcome in outcomes}
    names = " and ".join(sorted(str(engine) for engine in engines if engine))
    table = Table(title=f"Scored by the {names or 'unknown'} engine", title_justify="left")
    for heading in ("language", "submission", "verdict"):
        table.add_column(heading)
    for heading in ("passed", "reward", "ms"):
        table.add_column(heading, justify="right")
    for outcome in outcomes:
        result = outcome.result
        reward = result.get("reward")
        table.add_row(
            outcome.case.submission["language"],
            outcome.case.title,
            str(result.get("verdict", result.get("status"))),
            f"{result.get('passed', '-')}/{result.get('total', '-')}",
            "none" if reward is None else f"{reward:.2f}",
            f"{outcome.elapsed_ms:.0f}",
            style="" if outcome.is_expected else "red",
        )
    return table
