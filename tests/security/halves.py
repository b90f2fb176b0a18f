"""The other halves of the attacks that take two sandboxes at the same time."""

import dataclasses

from tests.security.cases import Attack

# Each tries for about as long as the first half holds its end open.
_LASTS_S = 2
_TRY = """
import errno, fcntl, os, socket, sys, time
end = time.time() + {seconds}
def until_the_end(attempt):
    while time.time() < end:
        found = attempt()
        if found:
            print("LEAK:", found)
            raise SystemExit(3)
        time.sleep(0.1)
    print("HELD: nothing of the neighbour")
"""

_ABSTRACT = """
def attempt():
    with socket.socket(socket.AF_UNIX) as s:
        try:
            s.connect("\\0sbx_probe_abstract")
        except OSError:
            return None
        return "reached the neighbour's abstract socket"
until_the_end(attempt)
"""

_TCP = """
def attempt():
    for port in (47311, 47312):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return f"reached the neighbour's port {port}"
until_the_end(attempt)
"""

_FLOCK = """
PATHS = ("/bin/sh", sys.executable, "/etc/passwd", "/proc/self/ns/uts", "/usr/lib/os-release",
         "/lib/x86_64-linux-gnu/libc.so.6")
def attempt():
    for path in PATHS:
        try:
            fd = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno == errno.EWOULDBLOCK:
                return f"the neighbour holds {path}"
        finally:
            os.close(fd)
until_the_end(attempt)
"""

_HOG = """
children = 0
try:
    for children in range(40):
        if os.fork() == 0:
            time.sleep(end - time.time())
            os._exit(0)
except OSError as error:
    print("LEAK: the neighbour's processes count as mine:", children, error)
    raise SystemExit(3)
print("HELD:", children + 1, "children of my own")
"""

OTHER_HALVES = {
    name: _TRY.format(seconds=_LASTS_S) + code
    for name, code in {"abstract": _ABSTRACT, "tcp": _TCP, "flock": _FLOCK, "hog": _HOG}.items()
}


def shortened(attack: Attack) -> Attack:
    """Returns the first half, waiting as long as the second tries instead of eight seconds."""
    code = attack.code
    for long in ("settimeout(8)", "sleep(8)", "[], [], 8)"):
        code = code.replace(long, long.replace("8", str(_LASTS_S)))
    return dataclasses.replace(attack, code=code)
