"""The file system that programs see: read-only, built once, copied into every run's namespace.

/usr /bin /lib … /etc /opt   of the image, read-only
/dev                         null, zero, full, random, urandom
/program                     what was compiled or sent, read-only
/box                         the run's own: /work, /tmp and /dev/shm lead into it
/proc                        covered by the run's own before the program starts
"""

import contextlib
import os
import stat

from runners import kernel

_NEW_ROOT = "/tmp/view"  # noqa: S108 - in the container's own tmpfs, which no program sees

PROGRAM = "/program"
WORK = "/work"
TMP = "/tmp"  # noqa: S108 - the run's own
WRITABLE = (WORK, "/dev/shm", TMP)  # noqa: S108 - the run's own

_SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = {
    "dev/fd": "/proc/self/fd",
    "dev/stdin": "/proc/self/fd/0",
    "dev/stdout": "/proc/self/fd/1",
    "dev/stderr": "/proc/self/fd/2",
}
# Read before any namespace is made: inside a new one they read as "nobody" until mapped.
_UID, _GID = os.getuid(), os.getgid()
ID_MAPS = (
    ("/proc/self/setgroups", "deny"),
    ("/proc/self/uid_map", f"{_UID} {_UID} 1"),
    ("/proc/self/gid_map", f"{_GID} {_GID} 1"),
)
_READ_ONLY = kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV
_REBIND = kernel.MS_REMOUNT | kernel.MS_BIND


def _inherited_flags(path: str) -> int:
    """Returns mount flags that a less privileged namespace may not take away."""
    return os.statvfs(path).f_flag & (kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)


def _bind_read_only(source: str, target: str, extra: int = 0) -> None:
    kernel.mount(source, target, None, kernel.MS_BIND | kernel.MS_REC)
    flags = _REBIND | _READ_ONLY | _inherited_flags(target) | extra
    kernel.mount("none", target, None, flags)


def _bind_system() -> None:
    for name in _SYSTEM:
        source = "/" + name
        if os.path.islink(source):
            os.symlink(os.readlink(source), name)
        elif os.path.isdir(source):
            os.mkdir(name)
            _bind_read_only(source, name)


def _bind_devices() -> None:
    os.mkdir("dev")
    for name in _DEVICES:
        source = "/dev/" + name
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISCHR(os.stat(source).st_mode):
                os.close(os.open("dev/" + name, os.O_CREAT | os.O_WRONLY, 0o666))
                kernel.mount(source, "dev/" + name, None, kernel.MS_BIND)


def build() -> None:
    """Makes the view the root of this process; it must have a mount namespace of its own.

    Raises:
        OSError: the kernel refused a mount; nested namespaces are not to be had here.
    """
    for path, content in ID_MAPS:
        with open(path, "wb", buffering=0) as file:
            file.write(content.encode())
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    os.makedirs(_NEW_ROOT, exist_ok=True)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("view", _NEW_ROOT, "tmpfs", flags, "size=256k,nr_inodes=64,mode=755")
    os.chdir(_NEW_ROOT)
    _bind_system()
    _bind_devices()
    for name in ("work", "tmp", "dev/shm", "program", "proc"):
        os.mkdir(name)
    for name, target in _LINKS.items():
        os.symlink(target, name)
    _bind_read_only(PROGRAM, "program")
    # The kernel lets a nested namespace mount /proc only where it can see an uncovered one.
    kernel.mount("/proc", "proc", None, kernel.MS_BIND | kernel.MS_REC)
    kernel.mount("none", ".", None, _REBIND | _READ_ONLY)
    kernel.pivot_root_here()
