"""Images of the language families: their names, and how they are built.

An image is named by the content of its folder, so an engine never starts one that is out of date.
"""

import hashlib
import io
import tarfile
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import docker
import docker.errors

from sandbox_service.errors import SandboxError, SettingsError
from sandbox_service.sandbox.base_image import ensure_base, is_present
from sandbox_service.sandbox.daemon import connect
from sandbox_service.settings import Settings

_DIGEST_CHARS = 12
_BUILD_TIMEOUT_S = 1800.0
# Beside the Dockerfile, but not part of the image.
_NOT_CONTENT = ("language.toml", "examples")


@dataclass(frozen=True)
class Image:
    """One image that the daemon has."""

    family: str
    name: str
    id: str
    size_bytes: int
    is_new: bool


def families(settings: Settings) -> tuple[str, ...]:
    """Returns the names of all folders that hold a Dockerfile."""
    return tuple(sorted(path.parent.name for path in settings.images_dir.glob("*/Dockerfile")))


def image_name(settings: Settings, family: str) -> str:
    """Returns `<prefix>/<family>:<digest of its folder>`.

    Raises:
        SettingsError: there is no such family.
    """
    digest = hashlib.sha256()
    for path, content in _content(settings.images_dir / family):
        digest.update(f"{path}\0{len(content)}\0".encode())
        digest.update(content)
    return f"{settings.image_prefix}/{family}:{digest.hexdigest()[:_DIGEST_CHARS]}"


def missing(client: docker.DockerClient, settings: Settings) -> tuple[str, ...]:
    """Returns the families whose image the daemon does not have."""
    return tuple(
        family
        for family in families(settings)
        if not is_present(client, image_name(settings, family))
    )


def build(
    names: Iterable[str],
    settings: Settings,
    *,
    force: bool = False,
    report: Callable[[str], None] = print,
) -> list[Image]:
    """Builds what the daemon does not have; no names means all families.

    Raises:
        SettingsError: a name is not that of a family.
        EngineUnavailable: no daemon answers.
        SandboxError: a build failed; the message ends with what it printed.
    """
    wanted = {family: image_name(settings, family) for family in names or families(settings)}
    client = connect(settings, timeout_s=_BUILD_TIMEOUT_S)
    try:
        return [
            _ensure(client, settings, family, name, force=force, report=report)
            for family, name in wanted.items()
        ]
    finally:
        client.close()


def _ensure(
    client: docker.DockerClient,
    settings: Settings,
    family: str,
    name: str,
    *,
    force: bool,
    report: Callable[[str], None],
) -> Image:
    is_new = force or not is_present(client, name)
    if is_new:
        base = ensure_base(client, settings, report)
        report(f"building {name} on {base}")
        _build_one(client, settings.images_dir / family, name, base, nocache=force)
    image = client.images.get(name)
    image.tag(name.rpartition(":")[0], "latest")
    size_bytes = int(image.attrs["Size"])
    report(f"{name}  {size_bytes / 1e6:.0f} MB  {'built' if is_new else 'already there'}")
    return Image(family, name, str(image.id), size_bytes, is_new)


def _build_one(
    client: docker.DockerClient, folder: Path, name: str, base: str, *, nocache: bool
) -> None:
    printed: deque[str] = deque(maxlen=30)
    stream = client.api.build(
        fileobj=_context(folder),
        custom_context=True,
        tag=name,
        buildargs={"BASE_IMAGE": base},
        network_mode="host",
        nocache=nocache,
        rm=True,
        forcerm=True,
        decode=True,
    )
    for event in stream:
        printed.append(str(event.get("stream", "")))
        if "error" in event:
            raise SandboxError(f"building {name} failed: {event['error']}\n{''.join(printed)}")


def _context(folder: Path) -> io.BytesIO:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for path, content in _content(folder):
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            entry.mode = 0o755 if (folder / path).stat().st_mode & 0o100 else 0o644
            tar.addfile(entry, io.BytesIO(content))
    archive.seek(0)
    return archive


def _content(folder: Path) -> list[tuple[str, bytes]]:
    """Returns path and bytes of all that makes the image, in a fixed order."""
    if not (folder / "Dockerfile").is_file():
        raise SettingsError(f"{folder.name!r} is not an image family: no Dockerfile in {folder}")
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    relative = [path.relative_to(folder) for path in paths]
    return [
        (path.as_posix(), (folder / path).read_bytes())
        for path in relative
        if path.parts[0] not in _NOT_CONTENT
    ]
