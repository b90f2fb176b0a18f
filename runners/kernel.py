"""System calls that the standard library does not have, by ctypes.

`PyDLL` keeps the interpreter lock over a call: the process has one thread, and a raw clone must
not return in the child with the lock released.
"""

import ctypes
import os
import signal

_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

CLONE_PARENT = 0x00008000
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECUREBITS = 28
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
_SECBITS_LOCKED = 0b1111_1111  # no root, no set-id fix-up, no kept or ambient caps; all locked

_SYS_CLONE = 56
_SYS_CAPSET = 126
_SYS_PIVOT_ROOT = 155
_CAP_VERSION_3 = 0x20080522
_LAST_CAP = 63


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def syscall(number: int, *args: object) -> int:
    """Makes a system call.

    Raises:
        OSError: it failed.
    """
    return _checked(_libc.syscall(ctypes.c_long(number), *args), f"system call {number}")


def clone(flags: int) -> int:
    """Forks with new namespaces; returns 0 in the child and its process id in the parent."""
    pid = syscall(
        _SYS_CLONE, ctypes.c_ulong(flags | signal.SIGCHLD), ctypes.c_void_p(0), None, None, None
    )
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
    return pid


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Mounts, binds or remounts.

    Raises:
        OSError: the kernel refused.
    """
    kind_bytes = kind.encode() if kind else None
    result = _libc.mount(
        source.encode(), target.encode(), kind_bytes, ctypes.c_ulong(flags), data.encode() or None
    )
    _checked(result, f"mount {target}")


def pivot_root_here() -> None:
    """Makes the working folder the root and lets go of the old one."""
    syscall(_SYS_PIVOT_ROOT, b".", b".")
    _checked(_libc.umount2(b".", MNT_DETACH), "umount old root")
    os.chdir("/")


def prctl(option: int, value: int) -> None:
    """Sets a property of this process.

    Raises:
        OSError: the kernel refused.
    """
    _checked(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def drop_capabilities() -> None:
    """Empties all five capability sets and locks the secure bits, for good."""
    prctl(PR_SET_SECUREBITS, _SECBITS_LOCKED & ~(1 << 4) & ~(1 << 5))
    for capability in range(_LAST_CAP + 1):
        if _libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) != 0:
            break  # past the last one that this kernel knows
    header = (ctypes.c_uint32 * 2)(_CAP_VERSION_3, 0)
    syscall(_SYS_CAPSET, header, (ctypes.c_uint32 * 6)())
