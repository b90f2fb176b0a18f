"""System calls that the standard library does not have, by ctypes.

`PyDLL` keeps the interpreter lock over a call: the process has one thread, and a raw clone must
not return in the child with the lock released.
"""

import ctypes
import os
import signal
from enum import IntEnum

_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

CLONE_VM = 0x00000100
CLONE_VFORK = 0x00004000
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
AT_EMPTY_PATH = 0x1000

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECUREBITS = 28
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38

_PR_GET_TID_ADDRESS = 40


class Call(IntEnum):
    """Numbers of the system calls used here, for x86-64."""

    WRITE = 1
    OPEN = 2
    CLOSE = 3
    RT_SIGACTION = 13
    DUP2 = 33
    GETPID = 39
    SENDFILE = 40
    SENDTO = 44
    RECVMSG = 47
    CLONE = 56
    EXECVE = 59
    FCNTL = 72
    CHDIR = 80
    MKDIR = 83
    SETSID = 112
    CAPSET = 126
    PIVOT_ROOT = 155
    PRCTL = 157
    MOUNT = 165
    GETTID = 186
    EXIT_GROUP = 231
    DUP3 = 292
    PRLIMIT64 = 302
    SECCOMP = 317
    EXECVEAT = 322
    CLOSE_RANGE = 436
    LANDLOCK_CREATE_RULESET = 444
    LANDLOCK_ADD_RULE = 445
    LANDLOCK_RESTRICT_SELF = 446


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
    pid = syscall(Call.CLONE, ctypes.c_ulong(flags | signal.SIGCHLD), None, None, None, None)
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
    return pid


def note_thread_id() -> None:
    """Repairs what a raw clone leaves behind in the C library: the note of the thread's id.

    Its recursive locks know their owner by it. The interpreter's own after-fork work is left
    out: it touches hundreds of pages to repair locks and threads, and there was one thread.
    """
    if _THREAD_ID is not None:
        _THREAD_ID.value = _libc.syscall(ctypes.c_long(Call.GETTID))


def _find_thread_id() -> ctypes.c_int | None:
    """Returns the C library's note of this thread's id, by which its locks know their owner.

    The kernel was told its address at start (PR_GET_TID_ADDRESS; prctl(2)).
    """
    address = ctypes.c_void_p()
    if _libc.prctl(_PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) != 0 or not address.value:
        return None
    note = ctypes.c_int.from_address(address.value)
    return note if note.value == _libc.syscall(ctypes.c_long(Call.GETTID)) else None


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
    syscall(Call.PIVOT_ROOT, b".", b".")
    _checked(_libc.umount2(b".", MNT_DETACH), "umount old root")
    os.chdir("/")


def prctl(option: int, value: int) -> None:
    """Sets a property of this process.

    Raises:
        OSError: the kernel refused.
    """
    _checked(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


_THREAD_ID = _find_thread_id()
