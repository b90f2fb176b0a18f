"""What the kernel offers for keeping programs apart.

Every function reads below `root`, so that tests can show it other machines.
"""

import ctypes
from pathlib import Path

from sandbox_service.doctor.finding import Finding, State

ROOT = Path("/")
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_CREATE_RULESET_VERSION = 1


def kernel_findings(root: Path = ROOT) -> list[Finding]:
    """Returns all findings about the kernel."""
    return [
        cgroups(root),
        user_namespaces(root),
        seccomp(root),
        landlock(landlock_abi()),
        core_dumps(root),
        swap(root),
    ]


def cgroups(root: Path) -> Finding:
    """Tells the version of control groups."""
    folder = root / "sys/fs/cgroup"
    if (folder / "cgroup.controllers").is_file():
        return Finding("cgroups", State.GOOD, "version 2")
    if folder.is_dir() and any(folder.iterdir()):
        return Finding("cgroups", State.GOOD, "version 1")
    return Finding(
        "cgroups", State.MISSING, "none mounted", "mount them; containers need memory limits"
    )


def user_namespaces(root: Path) -> Finding:
    """Tells whether users may make user namespaces, which both walls are built on."""
    topic = "user namespaces"
    obstacles = {
        "proc/sys/kernel/unprivileged_userns_clone": ("0", "1"),
        "proc/sys/kernel/apparmor_restrict_unprivileged_userns": ("1", "0"),
        "proc/sys/user/max_user_namespaces": ("0", "15000"),
    }
    for path, (forbidding, allowing) in obstacles.items():
        if _read(root / path) == forbidding:
            name = path.removeprefix("proc/sys/").replace("/", ".")
            return Finding(
                topic, State.MISSING, f"{name} = {forbidding}", f"sysctl -w {name}={allowing}"
            )
    if not (root / "proc/self/ns/user").exists():
        return Finding(topic, State.MISSING, "not in this kernel", "use the docker engine")
    return Finding(topic, State.GOOD, "allowed")


def seccomp(root: Path) -> Finding:
    """Tells whether system calls can be filtered."""
    actions = _read(root / "proc/sys/kernel/seccomp/actions_avail")
    if "errno" in actions.split():
        return Finding("seccomp", State.GOOD, "filters available")
    return Finding("seccomp", State.MISSING, "no filters", "a kernel with CONFIG_SECCOMP_FILTER")


def landlock_abi() -> int:
    """Returns the kernel's version of Landlock; 0 where it has none."""
    libc = ctypes.CDLL(None, use_errno=True)
    abi = libc.syscall(
        _LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_CREATE_RULESET_VERSION
    )
    return max(int(abi), 0)


def landlock(abi: int) -> Finding:
    """Tells whether Landlock can be laid over the other walls."""
    if abi > 0:
        return Finding("Landlock", State.GOOD, f"ABI {abi}")
    return Finding("Landlock", State.NOTE, "none", "one layer less; boot with lsm=landlock,…")


def core_dumps(root: Path) -> Finding:
    """Tells whether a crashing program would start a collector on the host."""
    pattern = _read(root / "proc/sys/kernel/core_pattern")
    if pattern.startswith("|"):
        return Finding(
            "core dumps",
            State.NOTE,
            pattern.split(maxsplit=1)[0],
            "runs have a core limit of 0; sysctl -w kernel.core_pattern=core is safer still",
        )
    return Finding("core dumps", State.GOOD, "not piped to a program")


def swap(root: Path) -> Finding:
    """Tells whether the machine swaps, which makes times depend on memory."""
    if len(_read(root / "proc/swaps").splitlines()) > 1:
        return Finding("swap", State.NOTE, "on", "swapoff -a, or times vary under memory pressure")
    return Finding("swap", State.GOOD, "off")


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
