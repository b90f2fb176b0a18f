"""Meters over folders that look like control groups, and over a /proc of our own making."""

import pytest

from runners import accounting


@pytest.fixture
def version_1(tmp_path):
    for folder in ("cpuacct", "memory"):
        (tmp_path / folder).mkdir()
    (tmp_path / "cpuacct/cpuacct.usage").write_text("2500000000\n")
    (tmp_path / "memory/memory.usage_in_bytes").write_text("4096\n")
    (tmp_path / "memory/memory.max_usage_in_bytes").write_text("8192\n")
    (tmp_path / "memory/memory.oom_control").write_text(
        "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"
    )
    return tmp_path


@pytest.fixture
def version_2(tmp_path):
    (tmp_path / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    (tmp_path / "memory.current").write_text("4096\n")
    (tmp_path / "memory.events").write_text("low 0\nmax 9\noom 5\noom_kill 3\n")
    (tmp_path / "memory.peak").write_text("8192\n")
    return tmp_path


def readings(meter: accounting.Meter) -> tuple[float, int, int, int]:
    return meter.cpu_time_s(), meter.memory_bytes(), meter.peak_bytes(), meter.oom_kills()


def test_version_1_is_read(version_1):
    assert readings(accounting.CgroupV1(str(version_1))) == (2.5, 4096, 8192, 3)


def test_version_2_is_read(version_2):
    assert readings(accounting.CgroupV2(str(version_2))) == (2.5, 4096, 8192, 3)


def test_version_2_of_an_older_kernel_has_no_peak(version_2):
    (version_2 / "memory.peak").unlink()
    assert accounting.CgroupV2(str(version_2)).peak_bytes() == 0


def test_counters_are_read_anew_each_time(version_2):
    meter = accounting.CgroupV2(str(version_2))
    (version_2 / "memory.events").write_text("oom_kill 4\n")
    assert meter.oom_kills() == 4


def test_events_that_a_kernel_does_not_count_are_none(version_1):
    (version_1 / "memory/memory.oom_control").write_text("oom_kill_disable 0\n")
    assert accounting.CgroupV1(str(version_1)).oom_kills() == 0


@pytest.mark.parametrize("missing", ["memory.events", "cpu.stat", "memory.current"])
def test_version_2_without_a_controller_is_no_meter(version_2, missing):
    (version_2 / missing).unlink()
    with pytest.raises(OSError, match=missing):
        accounting.CgroupV2(str(version_2))


class Everything(frozenset):
    """The process ids that there are, and those that will be."""

    def __contains__(self, pid: object) -> bool:
        return True


def test_processes_are_added_up_without_the_runners_own():
    everything = accounting.Processes(frozenset)
    assert accounting.Processes(Everything).memory_bytes() == 0
    assert everything.memory_bytes() > 0
    assert everything.cpu_time_s() > 0


def test_shared_memory_is_shared_out_only_where_there_is_much_of_it(monkeypatch):
    samples = [accounting._ProcessSample("gone", 0, 10_000)] * 2
    monkeypatch.setattr(accounting.Processes, "_samples", lambda self: samples)
    monkeypatch.setattr(accounting, "_share_bytes", lambda sample: 1000)
    assert accounting.Processes(frozenset).memory_bytes() == 2000


def test_share_of_a_process_that_has_ended_is_nothing():
    sample = accounting._ProcessSample("4194305", 0, 3)
    assert accounting._share_bytes(sample) == 0


def test_share_of_a_process_that_cannot_be_looked_into_is_all_it_has(monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr("builtins.open", refuse)
    sample = accounting._ProcessSample("1", 0, 3)
    assert accounting._share_bytes(sample) == 3 * accounting._PAGE_BYTES
