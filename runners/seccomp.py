"""The system calls that a program may not make, as a BPF filter made from a readable table.

The filter is a binary search over ranges of numbers: the kernel evaluates it once for every
number when it is installed, so its depth is paid by every run. What the table does not name is
left to the outer wall; numbers above the highest known are answered "no such call".
"""

import errno
import struct
from typing import NamedTuple

_AUDIT_ARCH_X86_64 = 0xC000003E
_HIGHEST_KNOWN = 469
SET_MODE_FILTER = 1

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000

_LD_NR, _LD_ARCH, _LD_ARG0, _LD_ARG1 = 0, 4, 16, 24
_LD = 0x20
_JEQ, _JGE, _JGT, _JSET = 0x15, 0x35, 0x25, 0x45
_AND = 0x54
_RET = 0x06

# Refused as if not permitted, by what they would reach.
_NOT_PERMITTED = {
    "other processes": {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
        "pidfd_getfd": 438, "process_madvise": 440, "move_pages": 279, "migrate_pages": 256,
    },
    "namespaces and mounts": {
        "unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155,
        "chroot": 161, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431,
        "fsmount": 432, "fspick": 433, "mount_setattr": 442, "statmount": 457, "listmount": 458,
        "sethostname": 170, "setdomainname": 171, "open_tree_attr": 467,
    },
    "kernel surface": {
        "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "keyctl": 250, "add_key": 248,
        "request_key": 249, "name_to_handle_at": 303, "open_by_handle_at": 304,
        "memfd_secret": 447, "fanotify_init": 300, "fanotify_mark": 301, "modify_ldt": 154,
        "lsm_get_self_attr": 459, "lsm_set_self_attr": 460, "lsm_list_modules": 461,
        "lookup_dcookie": 212,
    },
    "the machine": {
        "syslog": 103, "acct": 163, "swapon": 167, "swapoff": 168, "reboot": 169, "iopl": 172,
        "ioperm": 173, "init_module": 175, "delete_module": 176, "finit_module": 313,
        "kexec_load": 246, "kexec_file_load": 320, "quotactl": 179, "quotactl_fd": 443,
        "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "clock_adjtime": 305,
        "vhangup": 153,
    },
}  # fmt: skip

# Answered "no such call", so that run times fall back to something else. flock() on a file that
# two runs can both open is a channel between them.
_NO_SUCH_CALL = {
    "clone3": 435, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "flock": 73, "uselib": 134, "ustat": 136, "sysfs": 139, "_sysctl": 156, "create_module": 174,
    "get_kernel_syms": 177, "query_module": 178, "nfsservctl": 180, "vserver": 236,
    "uretprobe": 335, "uprobe": 336,
}  # fmt: skip

# Refused where runs have no IPC namespace of their own: what is made by them outlives a run.
_LASTING_IPC = {"shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240}

# Answered "done" without doing it: they stall everything else on the disk.
_DONE = {"sync": 162, "syncfs": 306}

_SYS_SOCKET, _SYS_SOCKETPAIR, _SYS_CLONE, _SYS_IOCTL, _SYS_PERSONALITY = 41, 53, 56, 16, 135
_SOCKET_FAMILIES = (1, 2, 10)  # unix, and IPv4 and IPv6 for the loopback of its own
_SOCKET_TYPES = (1, 2, 5)  # stream, datagram, seqpacket
_SOCKET_TYPE_MASK = 0xF
_NEW_NAMESPACE = 0x7E020080  # every CLONE_NEW* flag, NEWTIME's bit included
_TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_HARMLESS_PERSONALITIES = (0, 0xFFFFFFFF)


class _Range(NamedTuple):
    """Calls from `first` up to the next range lead to one block of instructions."""

    first: int
    block: str


def _op(code: int, jump_true: int, jump_false: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, jump_true, jump_false, value)


def _ret(action: int) -> bytes:
    return _op(_RET, 0, 0, action)


def _one_of(values: tuple[int, ...], then: bytes, otherwise: bytes) -> bytes:
    """Returns instructions that compare the accumulator with each value."""
    last = len(values) - 1 + len(otherwise) // 8
    tests = [_op(_JEQ, last - index, 0, value) for index, value in enumerate(values)]
    return b"".join(tests) + otherwise + then


def _socket_block() -> bytes:
    """Allows the listed families, and of their types only the ordinary ones."""
    refused = _ret(_ERRNO | errno.EAFNOSUPPORT)
    types = (
        _op(_LD, 0, 0, _LD_ARG1)
        + _op(_AND, 0, 0, _SOCKET_TYPE_MASK)
        + _one_of(_SOCKET_TYPES, _ret(_ALLOW), refused)
    )
    return _op(_LD, 0, 0, _LD_ARG0) + _one_of(_SOCKET_FAMILIES, types, refused)


def _blocks() -> dict[str, bytes]:
    allow, refuse = _ret(_ALLOW), _ret(_ERRNO | errno.EPERM)
    return {
        "allow": allow,
        "not permitted": refuse,
        "no such call": _ret(_ERRNO | errno.ENOSYS),
        "done": _ret(_ERRNO | 0),
        "socket": _socket_block(),
        "clone": _op(_LD, 0, 0, _LD_ARG0) + _op(_JSET, 0, 1, _NEW_NAMESPACE) + refuse + allow,
        "ioctl": _op(_LD, 0, 0, _LD_ARG1) + _one_of(_TERMINAL_INJECTION, refuse, allow),
        "personality": _op(_LD, 0, 0, _LD_ARG0) + _one_of(_HARMLESS_PERSONALITIES, allow, refuse),
    }


def _block_by_number(*, nested: bool) -> dict[int, str]:
    numbers = {
        number: "not permitted" for group in _NOT_PERMITTED.values() for number in group.values()
    }
    numbers |= dict.fromkeys(_NO_SUCH_CALL.values(), "no such call")
    numbers |= dict.fromkeys(_DONE.values(), "done")
    if not nested:
        numbers |= dict.fromkeys(_LASTING_IPC.values(), "no such call")
    numbers |= {
        _SYS_SOCKET: "socket",
        _SYS_SOCKETPAIR: "socket",
        _SYS_CLONE: "clone",
        _SYS_IOCTL: "ioctl",
        _SYS_PERSONALITY: "personality",
    }
    return numbers


def _ranges(*, nested: bool) -> list[_Range]:
    numbers = _block_by_number(nested=nested)
    ranges: list[_Range] = []
    for number in range(_HIGHEST_KNOWN + 2):
        block = numbers.get(number, "allow") if number <= _HIGHEST_KNOWN else "no such call"
        if not ranges or ranges[-1].block != block:
            ranges.append(_Range(number, block))
    return ranges


def _tree(ranges: list[_Range], blocks: dict[str, bytes]) -> bytes:
    """Returns a balanced search tree; each leaf carries its block, so no jump is long."""
    if len(ranges) == 1:
        return blocks[ranges[0].block]
    middle = len(ranges) // 2
    lower, upper = _tree(ranges[:middle], blocks), _tree(ranges[middle:], blocks)
    distance = len(lower) // 8
    if distance <= 0xFF:
        return _op(_JGE, distance, 0, ranges[middle].first) + lower + upper
    # A jump of the comparison spans 255 instructions; a plain one spans any number.
    return _op(_JGE, 0, 1, ranges[middle].first) + _op(0x05, 0, 0, distance) + lower + upper


def program_filter(*, nested: bool) -> bytes:
    """Returns the filter that every program runs under, as BPF instructions."""
    foreign = _ret(_ERRNO | errno.ENOSYS)
    return (
        _op(_LD, 0, 0, _LD_ARCH)
        + _op(_JEQ, 1, 0, _AUDIT_ARCH_X86_64)
        + foreign
        + _op(_LD, 0, 0, _LD_NR)
        + _tree(_ranges(nested=nested), _blocks())
    )


def filter_program(address: int, size: int) -> bytes:
    """Returns the structure that points to a filter in memory (`struct sock_fprog`)."""
    return struct.pack("=HxxxxxxQ", size // 8, address)
