"""Resource limits of one process, set before the program starts."""

import math
import resource
from collections.abc import Iterator
from typing import Any, NamedTuple

_MIB = 1024 * 1024
# Memory is limited by the control group. This stops only what could never fit: thread stacks and
# arenas are reserved by the gigabyte and hardly used.
_RESERVE_BYTES = 512 * _MIB
_STACK_BYTES = 64 * _MIB
_MESSAGE_QUEUE_BYTES = 4096
_SIGNALS_PENDING = 256


class Limit(NamedTuple):
    """One resource limit; soft equals hard."""

    resource: int
    value: int


def of(limits: dict[str, Any]) -> Iterator[Limit]:
    """Yields the limits of a run's processes."""
    values = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: math.ceil(limits["cpu_time_s"]) + 1,
        resource.RLIMIT_FSIZE: limits["disk_bytes"],
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_NPROC: limits["processes"] + 1,  # the jail's init is one
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: _MESSAGE_QUEUE_BYTES,
        resource.RLIMIT_SIGPENDING: _SIGNALS_PENDING,
        resource.RLIMIT_NICE: 0,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_STACK: _STACK_BYTES,
    }
    if limits["address_space"]:
        values[resource.RLIMIT_DATA] = limits["memory_bytes"] + _RESERVE_BYTES
    for kind, value in values.items():
        hard = resource.getrlimit(kind)[1]
        # A lower outer limit holds as well.
        yield Limit(kind, value if hard == resource.RLIM_INFINITY else min(value, hard))
