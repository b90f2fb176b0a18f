"""Which engines work here, found out by trying."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import docker

from sandbox_service.doctor.finding import Finding, State
from sandbox_service.errors import EngineUnavailable
from sandbox_service.sandbox import images
from sandbox_service.sandbox.daemon import connect
from sandbox_service.settings import Settings

_PROBE_TIMEOUT_S = 10.0
# What the local engine runs as when it is started by root.
_NOBODY = 65534


@dataclass(frozen=True)
class EngineReport:
    """Findings about the engines, and the engine that `serve` takes."""

    findings: tuple[Finding, ...]
    choice: str | None
    """`docker`, `local`, or None where neither works."""


def examine(settings: Settings, bwrap: Path | None) -> EngineReport:
    """Tries both engines."""
    docker_findings = examine_docker(settings)
    local_finding = examine_local(bwrap)
    working = {
        "docker": all(finding.state is not State.MISSING for finding in docker_findings),
        "local": local_finding.state is State.GOOD,
    }
    wanted = ("docker", "local") if settings.engine == "auto" else (settings.engine,)
    choice = next((name for name in wanted if working[name]), None)
    return EngineReport((*docker_findings, local_finding), choice)


def examine_docker(settings: Settings) -> list[Finding]:
    """Asks the Docker daemon what it is and which images it has."""
    try:
        client = connect(settings, timeout_s=_PROBE_TIMEOUT_S)
    except EngineUnavailable as error:
        advice = "apt-get install docker.io and start it, or do with the local engine"
        return [Finding("Docker", State.MISSING, str(error)[:100], advice)]
    try:
        return [_daemon(client), _images(client, settings)]
    finally:
        client.close()


def _daemon(client: docker.DockerClient) -> Finding:
    about = client.info()
    runtimes = ", ".join(sorted(name for name in about["Runtimes"] if "." not in name))
    found = (
        f"{about['ServerVersion']}, cgroups version {about['CgroupVersion']}, "
        f"runtimes {runtimes}, storage {about['Driver']}"
    )
    if not any("seccomp" in option for option in about["SecurityOptions"]):
        advice = "a daemon built with seccomp"
        return Finding("Docker", State.MISSING, f"{found}; without seccomp", advice)
    return Finding("Docker", State.GOOD, found)


def _images(client: docker.DockerClient, settings: Settings) -> Finding:
    absent = images.missing(client, settings)
    if absent:
        advice = "sandbox-service images build (a few minutes)"
        return Finding("images", State.MISSING, f"not built: {', '.join(absent)}", advice)
    return Finding("images", State.GOOD, ", ".join(images.families(settings)))


def examine_local(bwrap: Path | None) -> Finding:
    """Starts a jail of the local engine's shape around `true`, as an unprivileged user."""
    topic = "local engine"
    if bwrap is None:
        return Finding(topic, State.MISSING, "no bubblewrap", "see bubblewrap")
    argv = [str(bwrap), "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"]
    identity = _NOBODY if os.geteuid() == 0 else None
    try:
        done = subprocess.run(
            [*argv, "--proc", "/proc", "true"],
            capture_output=True,
            text=True,
            timeout=_PROBE_TIMEOUT_S,
            check=False,
            user=identity,
            group=identity,
            extra_groups=None if identity is None else [],
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Finding(topic, State.MISSING, str(error)[:100], "see user namespaces")
    if done.returncode != 0:
        reason = done.stderr.strip()[:100]
        return Finding(topic, State.MISSING, reason, "see user namespaces")
    return Finding(topic, State.GOOD, "an unprivileged jail starts")
