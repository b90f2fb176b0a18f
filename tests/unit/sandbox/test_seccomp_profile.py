"""The container's profile, decided call by call."""

import pytest

from sandbox_service.sandbox.seccomp_profile import profile

PROFILE = profile()
ALLOWED = "SCMP_ACT_ALLOW"


def decision(name: str, *arguments: int) -> tuple[str, int]:
    """What libseccomp does: the first rule whose conditions hold, else the default."""
    for rule in PROFILE["syscalls"]:
        conditions = rule.get("args", ())
        if name in rule["names"] and all(
            condition["op"] == "SCMP_CMP_EQ" and arguments[condition["index"]] == condition["value"]
            for condition in conditions
        ):
            return rule["action"], rule.get("errnoRet", 1)
    return PROFILE["defaultAction"], PROFILE["defaultErrnoRet"]


REFUSED = ("SCMP_ACT_ERRNO", 1)


@pytest.mark.parametrize(
    "name",
    [
        "unshare", "setns", "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key",
        "request_key", "io_uring_setup", "io_uring_enter", "io_uring_register", "ptrace",
        "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "open_by_handle_at",
        "name_to_handle_at", "memfd_secret", "fanotify_init", "init_module", "finit_module",
        "kexec_load", "reboot", "swapon", "acct", "quotactl", "sethostname", "syslog",
        "settimeofday", "clock_settime", "adjtimex", "chroot", "fsopen", "open_tree",
        "move_mount", "statmount", "listmount", "iopl", "modify_ldt", "no_such_call",
    ],
)  # fmt: skip
def test_call_is_refused(name):
    assert decision(name) == REFUSED


@pytest.mark.parametrize("name", ["clone", "mount", "umount2", "pivot_root"])
def test_call_that_builds_a_jail_is_allowed(name):
    assert decision(name)[0] == ALLOWED


def test_nesting_takes_four_calls_and_no_more():
    (nesting,) = [rule for rule in PROFILE["syscalls"] if "mount" in rule["names"]]
    assert sorted(nesting["names"]) == ["clone", "mount", "pivot_root", "umount2"]


@pytest.mark.parametrize(
    "name", ["read", "execve", "mmap", "futex", "landlock_restrict_self", "seccomp"]
)
def test_call_that_programs_or_walls_need_is_allowed(name):
    assert decision(name)[0] == ALLOWED


def test_only_three_socket_families_are_allowed():
    assert {family for family in range(64) if decision("socket", family)[0] == ALLOWED} == {
        1,
        2,
        10,
    }


@pytest.mark.parametrize(
    ("persona", "is_allowed"), [(0, True), (0xFFFFFFFF, True), (0x0040000, False)]
)
def test_personality_can_be_read_and_not_changed(persona, is_allowed):
    assert (decision("personality", persona)[0] == ALLOWED) is is_allowed


def test_clone3_is_unknown_since_no_filter_can_see_its_flags():
    assert decision("clone3") == ("SCMP_ACT_ERRNO", 38)


def test_default_is_refusal():
    assert PROFILE["defaultAction"] == "SCMP_ACT_ERRNO"


def test_second_architectures_are_not_let_in():
    assert all(each["subArchitectures"] == [] for each in PROFILE["archMap"])
