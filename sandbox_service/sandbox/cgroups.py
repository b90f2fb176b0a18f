"""Control groups for the local engine, where the service may make them: as root on any host.

A group holds one bubblewrap jail: its memory is limited by the kernel, and the runner inside
reads the kernel's own counters. Both versions are known: one folder for each controller (v1), or
one for all (v2).
"""

import contextlib
import os
import time
from pathlib import Path
from secrets import token_hex

from sandbox_service.errors import SandboxDied
from sandbox_service.sandbox.owner import started

_ROOT = Path("/sys/fs/cgroup")
_CONTROLLERS_V1 = ("memory", "cpuacct", "pids")
_PARENT = "sandbox-service"
_REMOVE_TRIES = 50
_REMOVE_PAUSE_S = 0.02


def name_of(number: int) -> str:
    """Returns the name of a group of this process, which may have several engines."""
    pid = os.getpid()
    return f"{pid}-{started(pid)}-{number}-{token_hex(4)}"


def are_allowed(root: Path = _ROOT) -> bool:
    """Tells whether this process may make groups, by making one."""
    if os.getuid() != 0:
        return False
    try:
        group = Group(f"{name_of(0)}-trial", root)
    except OSError:
        return False
    group.remove()
    return True


def reap(root: Path = _ROOT) -> int:
    """Removes groups whose process is gone; returns how many."""
    removed = 0
    for parent in (root / _PARENT, *(root / name / _PARENT for name in _CONTROLLERS_V1)):
        for folder in parent.glob("*-*-*"):
            pid, start, _ = folder.name.split("-", 2)
            if started(int(pid)) != start:
                with contextlib.suppress(OSError):
                    folder.rmdir()
                    removed += 1
    return removed


class Group:
    """One control group, in whichever hierarchies there are."""

    def __init__(self, name: str, root: Path = _ROOT) -> None:
        """Makes the group.

        Raises:
            OSError: this process may not.
        """
        self._is_unified = (root / "cgroup.controllers").exists()
        places = [root] if self._is_unified else [root / name for name in _CONTROLLERS_V1]
        self._folders = {place.name: place / _PARENT / name for place in places}
        for place in places:
            (place / _PARENT).mkdir(exist_ok=True)
            if self._is_unified:
                for folder in (place, place / _PARENT):
                    (folder / "cgroup.subtree_control").write_text("+memory +cpu +pids")
            (place / _PARENT / name).mkdir()

    def binds(self) -> list[tuple[Path, str]]:
        """Returns the folders, each with the place at which a jail shall see it."""
        if self._is_unified:
            return [(folder, str(_ROOT)) for folder in self._folders.values()]
        return [(folder, f"{_ROOT}/{name}") for name, folder in self._folders.items()]

    def limit(self, *, memory_bytes: int, processes: int) -> None:
        """Sets the hard limits; no swap.

        Raises:
            SandboxDied: the kernel refused, as when more is in use.
        """
        try:
            if self._is_unified:
                folder = next(iter(self._folders.values()))
                (folder / "memory.max").write_text(str(memory_bytes))
                with contextlib.suppress(FileNotFoundError):  # a kernel without swap accounting
                    (folder / "memory.swap.max").write_text("0")
                (folder / "pids.max").write_text(str(processes))
            else:
                self._limit_v1(memory_bytes)
                (self._folders["pids"] / "pids.max").write_text(str(processes))
        except OSError as error:
            raise SandboxDied(f"no new memory limit: {error}") from error

    def _limit_v1(self, memory_bytes: int) -> None:
        folder = self._folders["memory"]
        plain, with_swap = folder / "memory.limit_in_bytes", folder / "memory.memsw.limit_in_bytes"
        files = [plain, with_swap] if with_swap.exists() else [plain]
        # The sum may never be the smaller one, so growing begins with it.
        if memory_bytes > int(plain.read_text()):
            files.reverse()
        for file in files:
            file.write_text(str(memory_bytes))
        (folder / "memory.swappiness").write_text("0")

    def add(self, pid: int) -> None:
        """Moves a process, and with it all that it will start, into the group.

        Raises:
            OSError: it is gone.
        """
        for folder in self._folders.values():
            (folder / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        """Removes the group once the processes in it are gone."""
        for folder in self._folders.values():
            for _ in range(_REMOVE_TRIES):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:  # the last process is still on its way out
                    time.sleep(_REMOVE_PAUSE_S)
