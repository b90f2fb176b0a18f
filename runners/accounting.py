"""What a run used, as the kernel counted it for the whole sandbox.

One run at a time uses a sandbox, so the difference of the sandbox's counters is the run's. They
see every process, also those that nobody waited for. Control groups v1 and v2 are read from
inside, read-only; where there are none, the processes are added up instead.
"""

import os
from collections.abc import Callable
from typing import NamedTuple, Protocol

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# From here on pages that processes share are shared out among them, which costs a closer look:
# forty forks of an interpreter do not hold forty times its memory.
_LOOK_CLOSELY_BYTES = 64 * 1024 * 1024


class Meter(Protocol):
    """Counters of the sandbox."""

    kind: str
    """`cgroup1`, `cgroup2` or `processes`."""

    def cpu_time_s(self) -> float:
        """CPU seconds so far, of all processes."""

    def memory_bytes(self) -> int:
        """Memory now."""

    def peak_bytes(self) -> int:
        """Highest memory so far; 0 where nobody keeps it."""

    def oom_kills(self) -> int:
        """Processes ended for memory so far."""


class _File:
    """A counter file, kept open and read again."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def text(self) -> bytes:
        return os.pread(self._fd, 4096, 0)

    def number(self) -> int:
        return int(self.text())

    def field(self, name: bytes) -> int:
        for line in self.text().splitlines():
            key, _, value = line.partition(b" ")
            if key == name:
                return int(value)
        return 0


class CgroupV1:
    """Hierarchies of control groups version 1."""

    kind = "cgroup1"

    def __init__(self, root: str = "/sys/fs/cgroup") -> None:
        self._cpu = _File(root + "/cpuacct/cpuacct.usage")
        self._memory = _File(root + "/memory/memory.usage_in_bytes")
        self._peak = _File(root + "/memory/memory.max_usage_in_bytes")
        self._oom = _File(root + "/memory/memory.oom_control")

    def cpu_time_s(self) -> float:
        return self._cpu.number() / 1e9

    def memory_bytes(self) -> int:
        return self._memory.number()

    def peak_bytes(self) -> int:
        return self._peak.number()

    def oom_kills(self) -> int:
        return self._oom.field(b"oom_kill")


class CgroupV2:
    """The unified hierarchy, as a container sees its own group."""

    kind = "cgroup2"

    def __init__(self, root: str = "/sys/fs/cgroup") -> None:
        self._cpu = _File(root + "/cpu.stat")
        self._memory = _File(root + "/memory.current")
        self._events = _File(root + "/memory.events")
        peak = root + "/memory.peak"  # since Linux 5.19
        self._peak = _File(peak) if os.path.exists(peak) else None

    def cpu_time_s(self) -> float:
        return self._cpu.field(b"usage_usec") / 1e6

    def memory_bytes(self) -> int:
        return self._memory.number()

    def peak_bytes(self) -> int:
        return self._peak.number() if self._peak else 0

    def oom_kills(self) -> int:
        return self._events.field(b"oom_kill")


class _ProcessSample(NamedTuple):
    pid: str
    cpu_ticks: int
    resident_pages: int


class Processes:
    """Adds up the processes of this pid namespace; for sandboxes without control groups."""

    kind = "processes"

    def __init__(self, own: Callable[[], frozenset[int]]) -> None:
        self._own = own

    def _samples(self) -> list[_ProcessSample]:
        samples, own = [], self._own()
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) not in own:
                try:
                    with open(f"/proc/{name}/stat", "rb") as file:
                        fields = file.read().rpartition(b")")[2].split()
                except OSError:
                    continue  # it ended between the listing and the look
                ticks = sum(int(field) for field in fields[11:15])
                samples.append(_ProcessSample(name, ticks, int(fields[21])))
        return samples

    def cpu_time_s(self) -> float:
        return sum(sample.cpu_ticks for sample in self._samples()) / _TICKS_PER_SECOND

    def memory_bytes(self) -> int:
        samples = self._samples()
        resident = sum(sample.resident_pages for sample in samples) * _PAGE_BYTES
        if resident < _LOOK_CLOSELY_BYTES:
            return resident
        return sum(map(_share_bytes, samples))

    def peak_bytes(self) -> int:
        return 0

    def oom_kills(self) -> int:
        return 0


def _share_bytes(sample: _ProcessSample) -> int:
    """Returns a process's share of its memory; the resident size where the kernel won't tell."""
    try:
        with open(f"/proc/{sample.pid}/smaps_rollup", "rb") as file:
            line = next((line for line in file if line.startswith(b"Pss:")), None)
    except (FileNotFoundError, ProcessLookupError):
        line = None
    except OSError:
        return sample.resident_pages * _PAGE_BYTES
    # It may have ended since, and what it held went with it.
    return int(line.split()[1]) * 1024 if line else 0


def find_meter(own: Callable[[], frozenset[int]]) -> Meter:
    """Returns the best meter; `own` are the runner's processes, which are not the run's."""
    for meter in (CgroupV1, CgroupV2):
        try:
            return meter()
        except OSError:
            continue
    return Processes(own)
