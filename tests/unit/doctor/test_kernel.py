import pytest

from sandbox_service.doctor import kernel
from sandbox_service.doctor.finding import State


def write(root, path, text):
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


@pytest.mark.parametrize(
    ("path", "found"),
    [("cgroup.controllers", "version 2"), ("memory/tasks", "version 1")],
)
def test_cgroups_version_follows_from_the_mounted_files(tmp_path, path, found):
    write(tmp_path, f"sys/fs/cgroup/{path}", "")
    assert kernel.cgroups(tmp_path).found == found


def test_cgroups_not_mounted_are_missing(tmp_path):
    assert kernel.cgroups(tmp_path).state is State.MISSING


@pytest.mark.parametrize(
    ("path", "value", "advice"),
    [
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces=15000"),
    ],
)
def test_user_namespaces_forbidden_by_a_sysctl_say_which(tmp_path, path, value, advice):
    write(tmp_path, "proc/self/ns/user", "")
    write(tmp_path, f"proc/sys/{path}", value)
    finding = kernel.user_namespaces(tmp_path)
    assert finding.state is State.MISSING
    assert advice in finding.advice


def test_user_namespaces_without_obstacles_are_good(tmp_path):
    write(tmp_path, "proc/self/ns/user", "")
    assert kernel.user_namespaces(tmp_path).state is State.GOOD


def test_user_namespaces_not_in_the_kernel_are_missing(tmp_path):
    assert kernel.user_namespaces(tmp_path).state is State.MISSING


@pytest.mark.parametrize(
    ("actions", "state"), [("kill errno allow", State.GOOD), ("", State.MISSING)]
)
def test_seccomp_follows_from_the_available_actions(tmp_path, actions, state):
    write(tmp_path, "proc/sys/kernel/seccomp/actions_avail", actions)
    assert kernel.seccomp(tmp_path).state is state


@pytest.mark.parametrize(
    ("pattern", "state"), [("core", State.GOOD), ("|/usr/bin/collect %p", State.NOTE)]
)
def test_core_dumps_piped_to_a_program_are_noted(tmp_path, pattern, state):
    write(tmp_path, "proc/sys/kernel/core_pattern", pattern)
    assert kernel.core_dumps(tmp_path).state is state


@pytest.mark.parametrize(
    ("lines", "state"), [("Filename\n", State.GOOD), ("Filename\n/swap 1\n", State.NOTE)]
)
def test_swap_in_use_is_noted(tmp_path, lines, state):
    write(tmp_path, "proc/swaps", lines)
    assert kernel.swap(tmp_path).state is state


@pytest.mark.parametrize(("abi", "state"), [(7, State.GOOD), (0, State.NOTE)])
def test_landlock_is_noted_when_absent(abi, state):
    assert kernel.landlock(abi).state is state


def test_landlock_abi_of_this_kernel_is_never_negative():
    assert kernel.landlock_abi() >= 0
