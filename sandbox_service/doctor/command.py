"""The command `doctor`: a table, and a last line that says what `serve` would do."""

from rich.console import Console
from rich.table import Table

from sandbox_service.doctor.engines import examine
from sandbox_service.doctor.finding import Finding, State
from sandbox_service.doctor.kernel import kernel_findings
from sandbox_service.doctor.tools import tool_findings
from sandbox_service.languages import load_languages
from sandbox_service.settings import Settings

_STYLE = {State.GOOD: "green", State.NOTE: "yellow", State.MISSING: "red"}
_ISOLATES = {
    "docker": "each run in a container, and in namespaces of its own inside it",
    "local": "each run in a bubblewrap jail, and in namespaces of its own inside it",
}


def run_doctor(settings: Settings, console: Console) -> int:
    """Prints what was found; returns 0 when at least one engine works, else 1."""
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
    return 0


def _table(findings: list[Finding]) -> Table:
    table = Table(title="This machine", title_justify="left")
    for heading in ("", "found", "to do"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        style = _STYLE[finding.state]
        table.add_row(f"[{style}]{finding.topic}[/{style}]", finding.found, finding.advice)
    return table
