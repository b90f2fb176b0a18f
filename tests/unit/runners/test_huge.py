"""Code on huge pages, in a process of its own."""

import subprocess
import sys

import pytest

from runners import huge

MAPS = """\
00400000-0041f000 r--p 00000000 fe:00 81 /usr/bin/python3
0041f000-006d2000 r-xp 0001f000 fe:00 81 /usr/bin/python3
006d2000-00945000 r--p 002d2000 fe:00 81 /usr/bin/python3
00946000-00a84000 rw-p 00545000 fe:00 81 /usr/bin/python3
00a84000-00ac9000 rw-p 00000000 00:00 0
7f0000000000-7f0000001000 r--p 00000000 fe:00 99 /usr/lib/libc.so.6
"""


@pytest.mark.parametrize(
    ("address", "bounds"),
    [(0x500000, (0x400000, 0x945000)), (0x400000, (0x400000, 0x945000)), (0x946000, (0, 0))],
)
def test_extent_is_what_one_file_has_mapped_read_only(address, bounds):
    assert huge._extent(iter(MAPS.splitlines()), address) == bounds


def test_interpreter_works_as_before_with_its_code_moved():
    code = """
import json, os, re
from runners import huge
huge.use_huge_pages()
assert json.loads('{"a": [1, 2.5]}') == {"a": [1, 2.5]} and re.findall("b+", "abbb") == ["bbb"]
pid = os.fork()
if pid == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
try:
    1 / 0
except ZeroDivisionError as error:
    print("fine", error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "fine division by zero\n"), done.stderr


def test_without_huge_pages_everything_stays(monkeypatch):
    monkeypatch.setattr(huge, "_MADV_COLLAPSE", 0x7FFF)  # which no kernel knows
    assert huge.use_huge_pages() is False
