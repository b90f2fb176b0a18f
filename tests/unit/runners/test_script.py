"""Scripts of system calls, each in a process of its own: a wrong one would end it."""

import errno
import os
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code for x86-64")

PRELUDE = """
import os, sys
from runners.script import FAILURE_BYTES, Mode, Script
WRITE, OPEN, CLOSE, GETPID, EXIT, MKDIR, CHDIR = 1, 2, 3, 39, 231, 83, 80
s = Script()
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + code],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_calls_are_made_in_order():
    result = run("""
for word in ("one ", "two ", "three"):
    s.call(word, WRITE, 1, s.data(word.encode()), len(word))
s.end()
print(f"|{s.run()}")
""")
    assert result.stdout == "one two three|0\n"


def test_result_can_be_an_argument_of_a_later_call():
    result = run("""
opened = s.call("open", OPEN, s.text("/dev/stdout"), os.O_WRONLY)
written = s.call("write", WRITE, 0, s.data(b"through"), 7)
s.store(opened, s.argument(written, 0))
s.end()
s.run()
""")
    assert result.stdout == "through"


def test_error_leads_to_the_calls_placed_for_it():
    result = run("""
s.call("leave for nowhere", CHDIR, s.text("/nowhere"))
s.call("not reached", WRITE, 1, s.data(b"reached"), 7)
s.end()
s.on_error()
s.call("tell", WRITE, 2, s.data(b"sorry"), 5)
s.end()
s.run()
""")
    assert "reached" not in result.stdout
    assert result.stderr == "sorry"


def test_failure_is_told_in_words():
    result = run("""
import ctypes
s.call("fine", GETPID)
s.call("leave for nowhere", CHDIR, s.text("/nowhere"))
s.end()
told = s.on_error()
s.end()
s.run()
print(s.failure(ctypes.string_at(told, FAILURE_BYTES)))
""")
    assert result.stdout == f"leave for nowhere: {os.strerror(errno.ENOENT)}\n"


def test_error_of_an_ignored_call_is_passed_over():
    result = run("""
s.call("mkdir", MKDIR, s.text("/"), 0o700, mode=Mode.IGNORE)
s.call("write", WRITE, 1, s.data(b"on"), 2)
s.end()
s.run()
""")
    assert result.stdout == "on"


def test_script_ends_with_a_result_that_is_not_zero_where_told_to():
    result = run("""
s.call("pid", GETPID, mode=Mode.RETURN_UNLESS_ZERO)
s.call("write", WRITE, 1, s.data(b"no"), 2)
s.end()
print(s.run() == os.getpid())
""")
    assert result.stdout == "True\n"


def test_jump_skips_what_stands_between():
    result = run("""
jumped = s.call("pid", GETPID, mode=Mode.JUMP_UNLESS_ZERO)
s.call("skipped", WRITE, 1, s.data(b"no"), 2)
s.land(jumped)
s.call("landed", WRITE, 1, s.data(b"yes"), 3)
s.end()
s.run()
""")
    assert result.stdout == "yes"


def test_same_script_can_be_run_again():
    result = run("""
s.call("write", WRITE, 1, s.data(b"x"), 1)
s.end()
for _ in range(3):
    s.run()
""")
    assert result.stdout == "xxx"


def test_exit_in_a_script_is_the_end_of_the_process():
    result = run("s.call('exit', EXIT, 7)\ns.end()\ns.run()")
    assert result.returncode == 7


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("for _ in range(3000): s.call('x', GETPID)", "too many calls"),
        ("s.data(b'', 1 << 20)", "memory is full"),
    ],
)
def test_script_beyond_its_bounds_is_refused(code, message):
    result = run(code)
    assert result.returncode == 1
    assert message in result.stderr
