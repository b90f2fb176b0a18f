"""Resource limits of a run's processes."""

import resource

import pytest

from runners import limits

MIB = 1024 * 1024
ALLOWED = {
    "cpu_time_s": 1.5, "memory_bytes": 256 * MIB, "processes": 5, "open_files": 32,
    "disk_bytes": MIB, "address_space": True,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _without_outer_limits(monkeypatch):
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    monkeypatch.setattr(limits.resource, "getrlimit", lambda kind: unlimited)


def given(**overrides):
    return {limit.resource: limit.value for limit in limits.of(ALLOWED | overrides)}


def test_programs_dump_no_core_and_lock_no_memory():
    values = given()
    assert values[resource.RLIMIT_CORE] == values[resource.RLIMIT_MEMLOCK] == 0


def test_kernel_clock_stops_after_the_supervisors():
    assert given(cpu_time_s=1.5)[resource.RLIMIT_CPU] == 3


def test_init_does_not_count_as_one_of_the_runs_processes():
    assert given(processes=5)[resource.RLIMIT_NPROC] == 6


def test_one_file_is_no_larger_than_the_disk():
    assert given(disk_bytes=MIB)[resource.RLIMIT_FSIZE] == MIB


def test_run_times_that_reserve_much_have_no_limit_on_it():
    assert resource.RLIMIT_DATA in given(address_space=True)
    assert resource.RLIMIT_DATA not in given(address_space=False)


def test_address_space_as_a_whole_is_never_limited():
    assert resource.RLIMIT_AS not in given()


def test_lower_outer_limit_holds_as_well(monkeypatch):
    monkeypatch.setattr(limits.resource, "getrlimit", lambda kind: (10, 10))
    assert given(open_files=32)[resource.RLIMIT_NOFILE] == 10
