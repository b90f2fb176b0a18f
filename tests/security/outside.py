"""What a run leaves behind, looked at from outside its walls.

Control groups and processes are the host's own view, where the host can see into the sandbox.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sandbox_service.sandbox.docker import DockerSandbox

_CGROUPS = Path("/sys/fs/cgroup")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Inside:
    """A sandbox between two runs, as the host sees it."""

    processes: int
    """The runner's own, if nothing was left behind."""

    mounts: frozenset[str]
    """Mounts of the runner, from which every jail starts."""

    cgroups: frozenset[str]
    """Control groups below the sandbox's own."""


def look_into(sandbox: object) -> Inside:
    """Returns what is in a sandbox now."""
    pids = processes_of(sandbox)
    mounts = frozenset().union(*map(mounts_of, pids))
    return Inside(len(pids), mounts, _cgroups(sandbox))


def root_of(sandbox: object) -> int:
    """Process id, on the host, of a sandbox's first process."""
    if isinstance(sandbox, DockerSandbox):
        return sandbox._client.inspect_container(sandbox._id)["State"]["Pid"]
    return sandbox._process.pid


def processes_of(sandbox: object) -> list[int]:
    """Process ids, on the host, of everything in a sandbox; orphans there stay below its init."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            parents[int(folder.name)] = int(fields[1])
    root = root_of(sandbox)
    inside = {root}
    while more := {pid for pid, parent in parents.items() if parent in inside} - inside:
        inside |= more
    return sorted(inside)


def memory_of(sandbox: object) -> int:
    """Bytes of memory that a sandbox's processes hold for themselves."""
    total = 0
    for pid in processes_of(sandbox):
        resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[1:3]
        total += (int(resident) - int(shared)) * _PAGE_BYTES
    return total


def mounts_of(pid: int | str) -> frozenset[str]:
    """Mounts that a process sees, without those that Docker makes and removes meanwhile."""
    try:
        lines = Path(f"/proc/{pid}/mountinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(line.partition(" ")[2] for line in lines if "docker" not in line)


def _cgroups(sandbox: object) -> frozenset[str]:
    if not isinstance(sandbox, DockerSandbox):
        return frozenset()
    own = [*_CGROUPS.glob(f"*/docker/{sandbox._id}"), *_CGROUPS.glob(f"**/*{sandbox._id}.scope")]
    return frozenset(str(path) for group in own for path in group.rglob("*") if path.is_dir())


def files() -> frozenset[str]:
    """Files that attacks would write, were they outside."""
    places = [Path(tempfile.gettempdir()), Path("/srv"), Path("/tmp"), Path("/var/tmp"), Path.cwd()]
    found = {path for place in places for path in place.glob("*sbx*") if place.is_dir()}
    return frozenset(str(path) for path in found)
