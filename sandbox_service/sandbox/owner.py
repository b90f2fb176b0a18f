"""Who started something: a process, named so that no later one can be mistaken for it."""

import os
import socket
from pathlib import Path

_START_TIME_FIELD = 19  # of /proc/<pid>/stat behind the command's name; proc(5), field 22


def owner_of_this_process() -> str:
    """Returns host, process id and start time of this process."""
    return f"{socket.gethostname()}:{os.getpid()}:{started(os.getpid())}"


def started(pid: int) -> str | None:
    """Returns when a process started, in clock ticks after boot; None if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()[_START_TIME_FIELD]


def is_gone(owner: str) -> bool:
    """Tells whether an owner was a process of this host and is no more."""
    host, pid, start = owner.rsplit(":", 2) if owner.count(":") >= 2 else ("", "", "")
    if host != socket.gethostname() or not pid.isdigit():
        return False
    return started(int(pid)) != start
