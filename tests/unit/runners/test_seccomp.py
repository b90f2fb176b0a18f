"""The program's filter, decided call by call as the kernel would."""

import errno

import pytest

from runners import seccomp
from tests.unit.runners import bpf

FILTER = seccomp.program_filter(nested=True)
ALONE = seccomp.program_filter(nested=False)
EPERM, ENOSYS = bpf.refuse(errno.EPERM), bpf.refuse(errno.ENOSYS)
I386, ARM_64, X32 = 0x40000003, 0xC00000B7, 0x40000000

CLONE, SOCKET, SOCKETPAIR, IOCTL, PERSONALITY = 56, 41, 53, 16, 135
THREAD = 0x3D0F00  # what pthread_create() asks for
NEW = {
    "user": 0x10000000, "pid": 0x20000000, "mount": 0x20000, "net": 0x40000000,
    "ipc": 0x08000000, "uts": 0x04000000, "cgroup": 0x02000000, "time": 0x80,
}  # fmt: skip

REFUSED = {
    name: number for group in seccomp._NOT_PERMITTED.values() for name, number in group.items()
}
# From the kernel's own table, independent of the one under test.
NEVER = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438,
    "kcmp": 312, "process_madvise": 440, "unshare": 272, "setns": 308, "mount": 165,
    "umount2": 166, "pivot_root": 155, "chroot": 161, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442,
    "statmount": 457, "listmount": 458, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
    "keyctl": 250, "add_key": 248, "request_key": 249, "name_to_handle_at": 303,
    "open_by_handle_at": 304, "memfd_secret": 447, "syslog": 103, "adjtimex": 159,
    "clock_settime": 227, "settimeofday": 164, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "clone3": 435, "flock": 73, "init_module": 175,
    "finit_module": 313, "delete_module": 176, "kexec_load": 246, "reboot": 169, "swapon": 167,
    "acct": 163, "quotactl": 179, "sethostname": 170, "modify_ldt": 154, "iopl": 172,
    "ioperm": 173, "fanotify_init": 300, "move_pages": 279, "migrate_pages": 256,
}  # fmt: skip
NEEDED = {
    "read": 0, "write": 1, "open": 2, "close": 3, "mmap": 9, "mprotect": 10, "brk": 12, "pipe": 22,
    "fork": 57, "vfork": 58, "execve": 59, "exit": 60, "wait4": 61, "kill": 62, "getcwd": 79,
    "mkdir": 83, "unlink": 87, "prctl": 157, "arch_prctl": 158, "futex": 202, "epoll_wait": 232,
    "openat": 257, "pipe2": 293, "getrandom": 318, "memfd_create": 319, "statx": 332,
    "rseq": 334, "close_range": 436, "sched_getaffinity": 204, "bind": 49, "connect": 42,
}  # fmt: skip


def test_calls_that_reach_further_are_refused_whatever_their_arguments():
    for name, number in NEVER.items():
        decisions = {bpf.decide(FILTER, number, *[value] * 6) for value in (0, 1, (1 << 64) - 1)}
        assert decisions <= {EPERM, ENOSYS}, name


def test_calls_that_programs_need_are_allowed():
    assert {
        name for name, number in NEEDED.items() if bpf.decide(FILTER, number) != bpf.ALLOW
    } == set()


@pytest.mark.parametrize("name", ["clone3", "io_uring_setup", "flock"])
def test_call_that_run_times_probe_for_is_answered_as_unknown(name):
    assert bpf.decide(FILTER, NEVER[name]) == ENOSYS


@pytest.mark.parametrize("number", [162, 306])
def test_syncing_the_whole_machine_is_answered_as_done(number):
    assert bpf.decide(FILTER, number) == bpf.refuse(0)


def test_every_known_number_that_the_table_does_not_name_is_allowed():
    named = {*REFUSED.values(), *seccomp._NO_SUCH_CALL.values(), *seccomp._DONE.values()}
    looked_at = {CLONE, SOCKET, SOCKETPAIR, IOCTL, PERSONALITY}
    others = set(range(seccomp._HIGHEST_KNOWN + 1)) - named - looked_at
    assert {number for number in others if bpf.decide(FILTER, number) != bpf.ALLOW} == set()


@pytest.mark.parametrize("number", [seccomp._HIGHEST_KNOWN + 1, 1000, X32 + 39, (1 << 32) - 1])
def test_number_that_nobody_knows_is_answered_as_unknown(number):
    assert bpf.decide(FILTER, number) == ENOSYS


@pytest.mark.parametrize("arch", [I386, ARM_64, 0])
def test_every_call_of_another_architecture_is_answered_as_unknown(arch):
    assert {bpf.decide(FILTER, number, arch=arch) for number in range(512)} == {ENOSYS}


@pytest.mark.parametrize("kind", NEW)
def test_clone_makes_no_namespace(kind):
    assert bpf.decide(FILTER, CLONE, NEW[kind]) == EPERM
    assert bpf.decide(FILTER, CLONE, NEW[kind] | THREAD) == EPERM


@pytest.mark.parametrize("flags", [17, THREAD, 0x4111])
def test_clone_makes_processes_and_threads(flags):
    assert bpf.decide(FILTER, CLONE, flags) == bpf.ALLOW


@pytest.mark.parametrize("call", [SOCKET, SOCKETPAIR])
def test_only_three_socket_families_are_allowed(call):
    stream = 1
    allowed = {
        family for family in range(64) if bpf.decide(FILTER, call, family, stream) == bpf.ALLOW
    }
    assert allowed == {1, 2, 10}  # unix, IPv4, IPv6


def test_only_ordinary_socket_types_are_allowed_with_any_flags():
    for flags in (0, 0x800, 0x80000):
        allowed = {
            kind for kind in range(16) if bpf.decide(FILTER, SOCKET, 2, kind | flags) == bpf.ALLOW
        }
        assert allowed == {1, 2, 5}  # stream, datagram, seqpacket; no raw ones


def test_refused_socket_family_reads_as_not_supported():
    assert bpf.decide(FILTER, SOCKET, 16, 3) == bpf.refuse(errno.EAFNOSUPPORT)


@pytest.mark.parametrize(
    ("request_", "decision"), [(0x5412, EPERM), (0x541C, EPERM), (0x5401, bpf.ALLOW)]
)
def test_terminals_take_no_injected_input(request_, decision):
    assert bpf.decide(FILTER, IOCTL, 0, request_) == decision


@pytest.mark.parametrize(
    ("persona", "decision"),
    [(0, bpf.ALLOW), (0xFFFFFFFF, bpf.ALLOW), (0x0040000, EPERM), (8, EPERM)],
)
def test_personality_can_be_read_and_not_changed(persona, decision):
    assert bpf.decide(FILTER, PERSONALITY, persona) == decision


def test_lasting_ipc_is_refused_only_where_runs_share_an_ipc_namespace():
    for name, number in {"shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240}.items():
        assert bpf.decide(FILTER, number) == bpf.ALLOW, name
        assert bpf.decide(ALONE, number) in {EPERM, ENOSYS}, name


def test_filter_is_short_enough_for_the_kernel():
    assert len(FILTER) // 8 < 4096


def test_structure_for_the_kernel_counts_instructions():
    assert seccomp.filter_program(0x1234, 24) == b"\3\0\0\0\0\0\0\0\x34\x12\0\0\0\0\0\0"
