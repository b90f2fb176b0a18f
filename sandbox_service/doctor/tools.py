"""Which programs the machine has: of the system's own, or out of Python wheels."""

import shutil
import sys
from pathlib import Path

from sandbox_service.doctor.finding import Finding, State
from sandbox_service.languages import LanguageTable
from sandbox_service.queue.embedded import find_redis_server
from sandbox_service.sandbox.bubblewrap import find_bubblewrap

_EXTRA = "pip install 'sandbox-service[embedded]'"


def tool_findings(languages: LanguageTable) -> list[Finding]:
    """Returns all findings about programs."""
    return [
        python(),
        program("bubblewrap", find_bubblewrap(), f"apt-get install bubblewrap, or {_EXTRA}"),
        program("redis-server", find_redis_server(), f"apt-get install redis-server, or {_EXTRA}"),
        mmdebstrap(),
        local_languages(languages),
    ]


def python() -> Finding:
    """Tells which interpreter runs the service."""
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("Python", State.GOOD, f"{version} at {sys.executable}")


def program(name: str, path: Path | None, advice: str) -> Finding:
    """Tells where a program is, or how to get it."""
    if path is None:
        return Finding(name, State.MISSING, "not found", advice)
    return Finding(name, State.GOOD, str(path))


def mmdebstrap() -> Finding:
    """Tells whether images can be built where no registry answers."""
    path = shutil.which("mmdebstrap")
    if path is None:
        advice = "apt-get install mmdebstrap, to build images where no registry answers"
        return Finding("mmdebstrap", State.NOTE, "not found", advice)
    return Finding("mmdebstrap", State.GOOD, path)


def local_languages(languages: LanguageTable) -> Finding:
    """Tells which languages the local engine can offer with the host's own compilers."""
    present = [language.name for language in languages.languages if language.is_on_this_host()]
    absent = [language for language in languages.languages if language.name not in present]
    found = ", ".join(present) or "none"
    if not absent:
        return Finding("local languages", State.GOOD, found)
    tools = " ".join(sorted({tool for each in absent for tool in (*each.tools, *each.modules)}))
    return Finding(
        "local languages", State.NOTE, found, f"for the rest: {tools}, or the docker engine"
    )
