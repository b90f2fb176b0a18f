"""Runners with a wall taken out, to show that the attack on that wall would find the hole."""

import shutil
from pathlib import Path

from sandbox_service.settings import Settings

Replacement = tuple[str, str, str]
"""File, text in it, and what stands there instead."""

NO_FILTER = ("jail.py", 'script.call("seccomp", Call.SECCOMP', 'script.call("seccomp", Call.GETTID')
NO_LANDLOCK = ("jail.py", "if _LANDLOCK_ABI:", "if False:")
DUMPABLE = ("jail.py", "kernel.PR_SET_DUMPABLE, 0)", "kernel.PR_SET_DUMPABLE, 1)")
# For 50 ms, the jail's init is still the process that set it up, with the interpreter's memory.
LATE_INIT = (
    "jail.py",
    '    script.call("keep", Call.DUP2, STATUS_FD, 0)\n',
    (
        '    script.call("keep", Call.DUP2, STATUS_FD, 0)\n'
        '    pause = script.data(struct.pack("=qq", 0, 50_000_000))\n'
        '    script.call("pause", 35, pause, 0, mode=Mode.IGNORE)\n'
    ),
)
OPEN_PROC = ("jail.py", '"subset=pid,hidepid=invisible"', '""')
KEPT_RIGHTS = ("jail.py", "        _drop_capabilities(script)\n", "        pass\n")
KEPT_STATUS = ("jail.py", "Call.CLOSE_RANGE, _INIT_FD, STATUS_FD)", "Call.CLOSE_RANGE, 97, 97)")
WRITABLE_ROOT = ("view.py", 'kernel.mount("none", ".", None, _REBIND | _READ_ONLY)', "pass")
SHARED_IPC = ("jail.py", "    | kernel.CLONE_NEWIPC\n", "")
SHARED_PIDS = ("jail.py", "    | kernel.CLONE_NEWPID\n", "")
REMEMBERED_PORTS = ("loopback.py", 'file.write(b"0")', "pass")
NO_PROCESS_LIMIT = ("limits.py", 'limits["processes"] + 1', "4000")
BIG_DISK = ("jail.py", "size={allowed['disk_bytes']},nr_inodes={allowed['inodes']},", "")
ENDLESS_OUTPUT = ("streams.py", "return self.size > self._limit", "return False")


def weakened(folder: Path, *replacements: Replacement) -> Path:
    """Returns a copy of the runner with those replacements made."""
    copy = folder / "runners"
    shutil.copytree(Settings().runners_dir, copy)
    for name, text, instead in replacements:
        content = (copy / name).read_text("utf-8")
        assert text in content, f"{name} no longer has what is to be taken out: {text}"
        (copy / name).write_text(content.replace(text, instead), "utf-8")
    return copy
