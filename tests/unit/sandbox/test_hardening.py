"""Every flag of the outer wall, and why it has the value that it has."""

import json

import pytest

from sandbox_service.sandbox import hardening
from sandbox_service.sandbox.seccomp_profile import profile

MIB = 1024 * 1024


def config(**overrides):
    fields = {
        "image": "i", "boot": "b", "memory_bytes": 64 * MIB, "owner": "o", "instance": "s",
        "runtime": None,
    }  # fmt: skip
    return hardening.container_config(hardening.ContainerSpec(**fields | overrides))


@pytest.fixture(params=[True, False], ids=["nested", "alone"])
def host(request):
    return config(nested=request.param)["HostConfig"]


def ulimits(host):
    return {each["Name"]: (each["Soft"], each["Hard"]) for each in host["Ulimits"]}


def test_there_is_no_network_so_nothing_has_to_be_filtered(host):
    assert host["NetworkMode"] == "none"
    assert config()["NetworkDisabled"] is True


def test_all_capabilities_are_dropped_and_none_added(host):
    assert host["CapDrop"] == ["ALL"]
    assert not host.get("CapAdd")


def test_set_id_files_are_inert(host):
    assert "no-new-privileges" in host["SecurityOpt"]


def test_user_is_neither_root_nor_anybody_of_the_host():
    uid, gid = map(int, config()["User"].split(":"))
    assert uid >= 60_000
    assert gid >= 60_000


def test_image_cannot_be_written_so_that_no_run_poisons_the_next(host):
    assert host["ReadonlyRootfs"] is True


def test_what_can_be_written_is_bounded_in_bytes_and_files(host):
    for options in host["Tmpfs"].values():
        assert {"nosuid", "nodev"} <= set(options.split(","))
        assert "size=" in options
        assert "nr_inodes=" in options


def test_equal_memory_limits_leave_no_swap(host):
    assert host["Memory"] == host["MemorySwap"] == hardening.memory_limit(64 * MIB)
    assert host["MemorySwappiness"] == 0


def test_run_has_the_whole_of_its_own_memory_limit():
    assert hardening.memory_limit(64 * MIB) > 64 * MIB


def test_processes_are_bounded_threads_included(host):
    assert 0 < host["PidsLimit"] <= 8192


def test_processor_has_a_limit_and_not_a_weight(host):
    assert 1.0 <= host["CpuQuota"] / host["CpuPeriod"] <= 1.25
    assert "CpuShares" not in host


def test_resource_limits_have_soft_and_hard_alike(host):
    assert all(soft == hard for soft, hard in ulimits(host).values())


@pytest.mark.parametrize(
    ("name", "most", "reason"),
    [
        ("core", 0, "a core handler runs outside, as root"),
        ("memlock", 0, "locked memory cannot be reclaimed"),
        ("nofile", 4096, "the daemon's default can be a million"),
        ("msgqueue", 4096, "message queues are kernel memory"),
        ("fsize", 64 * 1024 * MIB, "a sparse file is larger than its disk"),
    ],
)
def test_resource_limit_is_set(host, name, most, reason):
    assert ulimits(host)[name][1] <= most, reason


def test_processes_of_the_user_are_not_limited_since_the_count_is_host_wide(host):
    assert "nproc" not in ulimits(host)


@pytest.mark.parametrize("key", ["IpcMode", "CgroupnsMode"])
def test_namespace_is_private_also_where_the_daemons_default_is_not(host, key):
    assert host[key] == "private"


@pytest.mark.parametrize("key", ["PidMode", "UTSMode", "UsernsMode"])
def test_namespace_is_not_the_hosts(host, key):
    assert host.get(key, "") == ""


@pytest.mark.parametrize(
    "key", ["Binds", "Devices", "Mounts", "VolumesFrom", "DeviceRequests", "Links"]
)
def test_nothing_of_the_host_is_given(host, key):
    assert not host.get(key)


def test_shared_memory_folder_is_small(host):
    assert host["ShmSize"] <= 16 * MIB


def test_output_is_not_logged_since_a_log_fills_the_hosts_disk(host):
    assert host["LogConfig"] == {"Type": "none", "Config": {}}


def test_crash_is_no_loop_and_counters_can_be_read_before_removal(host):
    assert host["RestartPolicy"] == {"Name": "no"}
    assert host["AutoRemove"] is False


def test_container_is_never_privileged(host):
    assert host["Privileged"] is False


def test_kernel_ends_a_sandbox_before_anything_of_the_host(host):
    assert host["OomScoreAdj"] > 0


def test_name_of_the_host_stays_outside():
    assert config()["Hostname"] == "sandbox"


def test_environment_holds_nothing_of_the_services_own(monkeypatch):
    monkeypatch.setenv("SANDBOX_API_KEYS", "secret")
    assert {line.partition("=")[0] for line in config()["Env"]} <= {
        "PATH", "LANG", "PYTHONHASHSEED",
    }  # fmt: skip


def test_labels_hold_the_owner_and_nothing_secret():
    labels = config(owner="me", instance="here")["Labels"]
    assert set(labels.values()) == {"me", "here"}


def test_stream_is_no_terminal():
    assert config()["Tty"] is False


def test_interpreter_is_isolated_from_its_environment():
    assert config(boot="text")["Entrypoint"] == ["/usr/bin/python3", "-I", "-c", "text"]


def test_nesting_has_a_profile_of_its_own_and_no_masks_over_proc():
    host = config(nested=True)["HostConfig"]
    (option,) = [each for each in host["SecurityOpt"] if each.startswith("seccomp=")]
    assert json.loads(option.partition("=")[2]) == profile()
    assert (host["MaskedPaths"], host["ReadonlyPaths"]) == ([], [])


def test_without_nesting_the_daemons_profile_is_untouched_and_proc_is_masked():
    host = config(nested=False)["HostConfig"]
    assert not [each for each in host["SecurityOpt"] if each.startswith("seccomp=")]
    assert {"/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware"} <= set(
        host["MaskedPaths"]
    )
    assert {"/proc/sys", "/proc/sysrq-trigger"} <= set(host["ReadonlyPaths"])


@pytest.mark.parametrize(("runtime", "given"), [(None, {}), ("runsc", {"Runtime": "runsc"})])
def test_runtime_is_the_daemons_unless_one_is_chosen(runtime, given):
    host = config(runtime=runtime)["HostConfig"]
    assert {key: host[key] for key in host if key == "Runtime"} == given
