"""The command `doctor`: a table, and a last line that says what `serve` would do."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sandbox_service.doctor.engines import examine
from sandbox_service.doctor.finding import Finding, State
from sandbox_service.doctor.kernel import kernel_findings
from sandbox_service.doctor.tools import tool_findings
from sandbox_service.languages import load_languages
from sandbox_service.sandbox.selftest import WITH_LIMITS
from sandbox_service.settings import Settings
from sandbox_service.worker.boot import attack

_STYLE = {State.GOOD: "green", State.NOTE: "yellow", State.MISSING: "red"}
_ISOLATES = {
    "docker": "each run in a container, and in namespaces of its own inside it",
    "local": "each run in a bubblewrap jail, and in namespaces of its own inside it",
}


def run_doctor(settings: Settings, console: Console, *, with_attacks: bool = False) -> int:
    """Prints what was found; returns 0 when at least one engine works, else 1.

    With attacks, every wall of that engine must hold as well.
    """
    engines = examine(settings)
    languages = load_languages(settings.images_dir)
    findings = [*kernel_findings(), *tool_findings(languages), *engines.findings]
    console.print(_table(findings))
    if engines.choice is None:
        console.print("[red]No engine works here; the lines in red say why.[/red]")
        return 1
    console.print(
        f"[green]serve takes the {engines.choice} engine: {_ISOLATES[engines.choice]}.[/green]"
    )
    if with_attacks:
        return _attack(settings.model_copy(update={"engine": engines.choice}), console)
    return 0


def _attack(settings: Settings, console: Console) -> int:
    """Prints which walls held; returns 0 when all of them did, else 1."""
    broken = {breach.attack.name: breach.detail for breach in attack(settings)}
    table = Table(title="Attacks", title_justify="left")
    for heading in ("", "the wall", "what happened"):
        table.add_column(heading, overflow="fold")
    for each in WITH_LIMITS:
        style = "red" if each.name in broken else "green"
        happened = escape(broken.get(each.name, "held"))
        table.add_row(f"[{style}]{each.name}[/{style}]", each.wall, happened)
    console.print(table)
    return 1 if broken else 0


def _table(findings: list[Finding]) -> Table:
    table = Table(title="This machine", title_justify="left")
    for heading in ("", "found", "to do"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        style = _STYLE[finding.state]
        table.add_row(f"[{style}]{finding.topic}[/{style}]", finding.found, finding.advice)
    return table
