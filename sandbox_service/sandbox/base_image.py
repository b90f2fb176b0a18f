"""The Debian image below all others: pulled from a registry, or made on this machine."""

import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import docker
import docker.errors

from sandbox_service.errors import EngineUnavailable, SandboxError
from sandbox_service.settings import Settings

_SUITE = "bookworm"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TIMEOUT_S = 1800
_HOST_SOURCES = (
    Path("/etc/apt/sources.list.d/debian.sources"),
    Path("/etc/apt/sources.list"),
)
# What slim images leave out; dpkg keeps to it in the layers above, too.
_DPKG_OPTIONS = (
    "path-exclude=/usr/share/doc/*",
    "path-include=/usr/share/doc/*/copyright",
    "path-exclude=/usr/share/info/*",
    "path-exclude=/usr/share/locale/*",
    "path-exclude=/usr/share/man/*",
)


def ensure_base(
    client: docker.DockerClient, settings: Settings, report: Callable[[str], None]
) -> str:
    """Returns the name of a base image that the daemon has, or gets or makes one.

    Raises:
        EngineUnavailable: no registry answers and the means to make one are missing.
        SandboxError: making it failed.
    """
    made = f"{settings.image_prefix}/base:{_SUITE}"
    for name in (settings.base_image, made):
        if is_present(client, name):
            return name
    try:
        report(f"pulling {settings.base_image}")
        client.images.pull(settings.base_image)
    except (docker.errors.DockerException, OSError) as error:
        report(f"no registry answers ({_reason(error)}); making a Debian base here")
        _make(client, made)
        return made
    return settings.base_image


def is_present(client: docker.DockerClient, name: str) -> bool:
    """Tells whether the daemon has an image of that name."""
    try:
        client.images.get(name)
    except docker.errors.ImageNotFound:
        return False
    return True


def bootstrap_argv(target: Path) -> list[str]:
    """Returns the command line that writes a Debian root file system as a tar archive."""
    options = [f"--dpkgopt={option}" for option in _DPKG_OPTIONS]
    return ["mmdebstrap", "--variant=minbase", *options, _SUITE, str(target), *_sources()]


def _sources() -> list[str]:
    """Returns the host's own package sources where they fit, so that its mirror is used."""
    if platform.freedesktop_os_release().get("VERSION_CODENAME") != _SUITE:
        return []
    return [str(path) for path in _HOST_SOURCES if path.is_file() and path.read_text().strip()][:1]


def _make(client: docker.DockerClient, name: str) -> None:
    if shutil.which("mmdebstrap") is None:
        raise EngineUnavailable(
            "no registry answers and mmdebstrap is missing; install it (apt-get install "
            "mmdebstrap), or load a Debian 12 image and name it in SANDBOX_BASE_IMAGE"
        )
    with TemporaryDirectory() as folder:
        archive = Path(folder) / "base.tar"
        argv = bootstrap_argv(archive)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        if done.returncode != 0:
            raise SandboxError(f"mmdebstrap failed:\n{done.stderr[-2000:]}")
        repository, _, tag = name.rpartition(":")
        client.api.import_image_from_file(
            str(archive), repository=repository, tag=tag, changes=[f"ENV PATH={_PATH}"]
        )


def _reason(error: Exception) -> str:
    explanation = error.explanation if isinstance(error, docker.errors.APIError) else None
    return str(explanation or error)[:120]
