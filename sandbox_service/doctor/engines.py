"""Which engines work here, found out by starting a sandbox of each."""

from collections.abc import Callable
from dataclasses import dataclass

import docker

from sandbox_service.doctor.finding import Finding, State
from sandbox_service.errors import EngineUnavailable, SandboxError
from sandbox_service.sandbox import images
from sandbox_service.sandbox.base import Engine
from sandbox_service.sandbox.daemon import connect
from sandbox_service.sandbox.docker import DockerEngine
from sandbox_service.sandbox.local import LocalEngine
from sandbox_service.schema.limits import Limits
from sandbox_service.settings import Settings

_ANSWER_TIMEOUT_S = 10.0
_FAMILY = "python"
_REASON_CHARS = 200


@dataclass(frozen=True)
class EngineReport:
    """Findings about the engines, and the engine that `serve` takes."""

    findings: tuple[Finding, ...]
    choice: str | None
    """`docker`, `local`, or None where neither works."""


def examine(settings: Settings) -> EngineReport:
    """Tries both engines."""
    docker_findings = examine_docker(settings)
    local = try_engine("local engine", LocalEngine, settings, advice="see user namespaces")
    working = {
        "docker": all(finding.state is not State.MISSING for finding in docker_findings),
        "local": local.state is State.GOOD,
    }
    wanted = ("docker", "local") if settings.engine == "auto" else (settings.engine,)
    choice = next((name for name in wanted if working[name]), None)
    return EngineReport((*docker_findings, local), choice)


def examine_docker(settings: Settings) -> list[Finding]:
    """Asks the Docker daemon what it is and has, and starts a container if it can."""
    try:
        client = connect(settings, timeout_s=_ANSWER_TIMEOUT_S)
    except EngineUnavailable as error:
        advice = "apt-get install docker.io and start it, or do with the local engine"
        return [Finding("Docker", State.MISSING, str(error)[:_REASON_CHARS], advice)]
    try:
        findings = [_daemon(client), _images(client, settings)]
    finally:
        client.close()
    if all(finding.state is State.GOOD for finding in findings):
        findings.append(try_engine("docker engine", DockerEngine, settings, advice="see Docker"))
    return findings


def try_engine(
    topic: str, make: Callable[[Settings], Engine], settings: Settings, *, advice: str
) -> Finding:
    """Starts one sandbox, asks what isolates it, and closes it."""
    try:
        engine = make(settings)
        try:
            sandbox = engine.start(_FAMILY, memory_bytes=Limits().memory_bytes)
            isolation = sandbox.info.isolation
            sandbox.close()
        finally:
            engine.close()
    except SandboxError as error:
        return Finding(topic, State.MISSING, str(error)[:_REASON_CHARS], advice)
    return Finding(topic, State.GOOD, f"a sandbox starts; isolation: {isolation}")


def _daemon(client: docker.DockerClient) -> Finding:
    about = client.info()
    runtimes = ", ".join(sorted(name for name in about["Runtimes"] if "." not in name))
    # Daemons before 20.10 know version 1 only and do not say so.
    cgroups = about.get("CgroupVersion", "1")
    found = (
        f"{about['ServerVersion']}, cgroups version {cgroups}, runtimes {runtimes}, "
        f"storage {about['Driver']}"
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
