"""The outer wall: every flag of a container, with its reason. Pure; the page a review reads."""

import json
from dataclasses import dataclass
from typing import Any

from sandbox_service.sandbox.seccomp_profile import profile

MIB = 1024 * 1024

USER = "61000:61000"
LABEL_OWNER = "sandbox-service.owner"
LABEL_INSTANCE = "sandbox-service.instance"

_CPU_PERIOD_US = 100_000
# A run may use one core; the supervisor beside it needs a little while the run is at full speed.
_CPU_QUOTA_US = 115_000
_STAGE_BYTES = 256 * MIB
_RUN_BYTES = 64 * MIB
# What the runner itself holds, so that a run gets the whole of its own limit.
_RUNNER_BYTES = 48 * MIB
_PIDS = 4096 + 64
_OPEN_FILES = 4096
_FILE_BYTES = 64 * 1024 * MIB
_MESSAGE_QUEUE_BYTES = 4096


# Otherwise a port that one run had is taken for the next; nested runs have it from the zygote.
_FORGET_CLOSED_CONNECTIONS = "net.ipv4.tcp_max_tw_buckets"
_MASKED = (
    "/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys",
    "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/timer_list",
    "/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware",
)  # fmt: skip
_READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")


@dataclass(frozen=True)
class ContainerSpec:
    """What differs from one container to another."""

    image: str
    """Full image name."""

    boot: str
    """The text that the interpreter starts with."""

    memory_bytes: int
    """Memory that a run may have."""

    owner: str
    """The worker that started it, for the reaper."""

    instance: str
    """The service it belongs to, for the reaper."""

    runtime: str | None
    """OCI runtime; None is the daemon's default."""

    nested: bool = True
    """Whether each run gets namespaces of its own; if not, the container serves one submission."""


def memory_limit(run_bytes: int) -> int:
    """Returns the container's limit for a run's limit, in bytes."""
    return run_bytes + _RUNNER_BYTES


def _ulimit(name: str, value: int) -> dict[str, Any]:
    return {"Name": name, "Soft": value, "Hard": value}


def _seccomp(spec: ContainerSpec) -> list[str]:
    """Our own profile where runs are nested; else Docker's default, untouched."""
    return ["seccomp=" + json.dumps(profile())] if spec.nested else []


def _proc_masks(spec: ContainerSpec) -> dict[str, Any]:
    """The kernel lets a jail mount a /proc of its own only where it sees an uncovered one.

    Programs never see this one: their own shows processes and nothing else. Without nesting they
    do, under the masks of the newest Docker.
    """
    if spec.nested:
        return {"MaskedPaths": [], "ReadonlyPaths": []}
    return {"MaskedPaths": list(_MASKED), "ReadonlyPaths": list(_READ_ONLY)}


def _file_systems(spec: ContainerSpec) -> dict[str, str]:
    """The runner's stage and work space; nested runs mount their own in their jails."""
    own = "nosuid,nodev,mode=700,uid=61000,gid=61000"
    folders = {
        "/program": f"rw,exec,{own},size={_STAGE_BYTES},nr_inodes=16k",
        "/tmp": f"rw,exec,{own},size={_RUN_BYTES},nr_inodes=4k",  # noqa: S108
    }
    if not spec.nested:
        folders["/work"] = f"rw,exec,{own},size={_RUN_BYTES},nr_inodes=4k"
        folders["/dev/shm"] = f"rw,{own},size={MIB},nr_inodes=1k"  # noqa: S108
    return folders


def _host_config(spec: ContainerSpec) -> dict[str, Any]:
    memory = memory_limit(spec.memory_bytes)
    return {
        # No interface and no resolver: easier to prove than a rule set.
        "NetworkMode": "none",
        # Docker would keep fourteen, MKNOD and SETUID among them.
        "CapDrop": ["ALL"],
        "Privileged": False,
        "SecurityOpt": ["no-new-privileges", *_seccomp(spec)],  # set-id files are inert
        **_proc_masks(spec),
        "Sysctls": {} if spec.nested else {_FORGET_CLOSED_CONNECTIONS: "0"},
        # One run cannot poison the next through the image.
        "ReadonlyRootfs": True,
        "Tmpfs": _file_systems(spec),
        # Equal values: no swap. The hard stop for everything inside.
        "Memory": memory,
        "MemorySwap": memory,
        "MemorySwappiness": 0,
        # The backstop behind each jail's own limit; counts threads.
        "PidsLimit": _PIDS,
        "CpuPeriod": _CPU_PERIOD_US,
        "CpuQuota": _CPU_QUOTA_US,
        # Soft equals hard; jails lower them further.
        "Ulimits": [
            _ulimit("core", 0),  # a core handler would run outside, as root
            _ulimit("nofile", _OPEN_FILES),
            _ulimit("fsize", _FILE_BYTES),
            _ulimit("msgqueue", _MESSAGE_QUEUE_BYTES),
            _ulimit("memlock", 0),
        ],
        "OomScoreAdj": 500,  # before anything of the host
        # Private, also where a daemon's default says otherwise.
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "PidMode": "",
        "UTSMode": "",
        "ShmSize": MIB,
        # Output goes over the attached stream, bounded; a log would fill the host's disk.
        "LogConfig": {"Type": "none", "Config": {}},
        # A crash is never a loop, and the counters are read before removal.
        "RestartPolicy": {"Name": "no"},
        "AutoRemove": False,
        # Nothing of the host is mounted, and no device is given.
        "Binds": [],
        "Devices": [],
        **({"Runtime": spec.runtime} if spec.runtime else {}),
    }


def container_config(spec: ContainerSpec) -> dict[str, Any]:
    """Returns the body of Docker's "create container" call."""
    return {
        "Image": spec.image,
        "Entrypoint": ["/usr/bin/python3", "-I", "-c", spec.boot],
        "Cmd": [],
        "User": USER,
        "WorkingDir": "/",
        "Hostname": "sandbox",
        "Env": [
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "LANG=C.UTF-8",
            # Forks share the interpreter's hash seed; a fixed one makes verdicts repeatable.
            "PYTHONHASHSEED=0",
        ],
        "NetworkDisabled": True,
        # One attached stream, open both ways for the container's life.
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Tty": False,
        "Labels": {LABEL_OWNER: spec.owner, LABEL_INSTANCE: spec.instance},
        "HostConfig": _host_config(spec),
    }
