"""One run's jail, as the list of system calls by which a fork confines itself.

Order matters: first what needs the rights of the new user namespace (mounts), then what takes
rights away (capabilities, Landlock, the filter), then the program. The init of the namespaces
makes all of these calls, starts the program and waits for it; when init ends, the kernel ends
everything else in there.
"""

import fcntl
import os
import signal
import socket
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from runners import kernel, landlock, limits, seccomp, view
from runners.init import STATUS_FD
from runners.kernel import Call
from runners.script import FAILURE_BYTES, Mode, Script

_FIRST_KEPT_FD = 3
_INIT_FD = STATUS_FD - 1
_PARKED_FD = STATUS_FD + 1
_MAX_FD = 0xFFFFFFFF
_STDIO = ("stdin", "stdout", "stderr")

_NAMESPACES = (
    kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWPID
    | kernel.CLONE_NEWNS
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUTS
)
_MOUNT_FLAGS = kernel.MS_NOSUID | kernel.MS_NODEV
_NO_ROOT, _NO_SETUID_FIXUP, _NO_AMBIENT = 0b11, 0b1100, 0b1100_0000  # each with its lock
_CAP_VERSION_3 = 0x20080522
_LAST_CAP = int(open("/proc/sys/kernel/cap_last_cap", "rb").read())
_LANDLOCK_ABI = landlock.abi()
_FILTERS = {nested: seccomp.program_filter(nested=nested) for nested in (True, False)}
_RESET_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)  # which the interpreter ignores
_SIGACTION_BYTES, _SIGSET_BYTES = 32, 8
_FD_BYTES = 4
_PID_BYTES = 4
_ROOM = 40  # offset of msg_controllen in a `struct msghdr`
_SET_UP_FAILED = 1

Order = dict[str, Any]


class Jail(NamedTuple):
    """A jail that is ready to be forked, as often as the same order comes."""

    script: Script
    order: Order
    kept: list[int]
    room: int
    """Where stands how many bytes of descriptors the next message may bring."""

    def fork(self, fds: Sequence[int]) -> int:
        """Forks, now and whenever the supervisor wants the same again.

        Returns zero in each fork, and another number in the zygote when something else is wanted.
        """
        self.script.put(self.room, socket.CMSG_SPACE(len(fds) * _FD_BYTES))
        return self.script.run()


def build(order: Order, fds: Sequence[int], init_fd: int, line_fd: int) -> Jail:
    """Returns the jail for an order; its descriptors have these numbers in the zygote."""
    roles = dict(zip(order["roles"], fds, strict=True))
    script = Script()
    cloned = script.call("clone", Call.CLONE, _flags(order), mode=Mode.JUMP_UNLESS_ZERO)
    # The one before left it closed, and its own /proc/self with it.
    script.call("dumpable", Call.PRCTL, kernel.PR_SET_DUMPABLE, 1)
    if order["nested"]:
        for path, content in view.ID_MAPS:
            _write_file(script, path, content)
        _mount(script, order["limits"])
    _write_file(script, "/proc/self/oom_score_adj", "1000")  # the kernel shall pick the program
    script.call("chdir", Call.CHDIR, script.text(view.WORK))
    for path in order["files"]:
        _copy_in(script, path)
    _place_descriptors(script, roles, order["kept"], init_fd)
    _limit(script, order["limits"])
    if order["nested"]:  # elsewhere there are none to drop
        _drop_capabilities(script)
    _confine(script, _FILTERS[order["nested"]], _FIRST_KEPT_FD + len(order["kept"]))
    _start(script, order)
    room = _go_on_as_zygote(script, cloned, fds, line_fd)
    _tell_of_errors(script, roles["status"])
    kept = [_FIRST_KEPT_FD + index for index in range(len(order["kept"]))]
    return Jail(script, order, kept, room)


def _go_on_as_zygote(script: Script, cloned: int, fds: Sequence[int], line_fd: int) -> int:
    """The parent's side: answers with the process id, and clones again for an empty message.

    Python would write to some sixty pages between two forks, each of which the kernel has to copy.
    """
    pid = script.data(b"", _FD_BYTES)
    header, room = _message_header(script, len(fds))
    script.land(cloned)
    script.store(cloned, pid)
    for fd in fds:
        script.call("close", Call.CLOSE, fd)
    script.call("answer", Call.SENDTO, line_fd, pid, _PID_BYTES, socket.MSG_NOSIGNAL)
    flags, again = socket.MSG_CMSG_CLOEXEC, Mode.RETURN_UNLESS_ZERO
    script.call("receive", Call.RECVMSG, line_fd, header, flags, mode=again)
    # At the end of the line there are none: it looks like an empty message.
    script.call("descriptors", Call.FCNTL, fds[-1], fcntl.F_GETFD)
    script.aim(script.call("again", Call.GETPID, mode=Mode.JUMP_UNLESS_ZERO), cloned)
    return room


def _message_header(script: Script, count: int) -> tuple[int, int]:
    """Returns the addresses of a `struct msghdr` for that many descriptors and of its room."""
    control = script.data(b"", socket.CMSG_SPACE(count * _FD_BYTES))
    byte = script.data(struct.pack("=QQ", script.data(b"", 1), 1))
    header = script.data(struct.pack("=QIxxxxQQQQixxxx", 0, 0, byte, 1, control, 0, 0))
    return header, header + _ROOM


def is_plain(order: Order) -> bool:
    """Whether init has nothing to do but to wait, and so needs no interpreter."""
    return bool(order["nested"]) and not order["collect"]


def _flags(order: Order) -> int:
    """A plain init shares the zygote's memory until it becomes a program of its own."""
    sharing = kernel.CLONE_VM | kernel.CLONE_VFORK if is_plain(order) else 0
    namespaces = _NAMESPACES if order["nested"] else 0
    return sharing | namespaces | kernel.CLONE_PARENT | signal.SIGCHLD


def _write_file(script: Script, path: str, content: str) -> None:
    """Writes a small file; the descriptor is closed with all others later."""
    data = content.encode()
    opened = script.call(f"open {path}", Call.OPEN, script.text(path), os.O_WRONLY)
    written = script.call(f"write {path}", Call.WRITE, 0, script.data(data), len(data))
    script.store(opened, script.argument(written, 0))


def _mount(script: Script, allowed: dict[str, Any]) -> None:
    """One bounded file system for /work, /tmp and /dev/shm, and a /proc of its own processes."""
    options = f"size={allowed['disk_bytes']},nr_inodes={allowed['inodes']},mode=700"
    _mount_one(script, "run", view.TMP, "tmpfs", flags=_MOUNT_FLAGS, options=options)
    for index, path in enumerate(view.WRITABLE):  # /tmp comes last and covers the folders
        folder = f"{view.TMP}/{index}"
        script.call(f"mkdir for {path}", Call.MKDIR, script.text(folder), 0o700)
        _mount_one(script, folder, path, "", flags=kernel.MS_BIND)
    flags, options = _MOUNT_FLAGS | kernel.MS_NOEXEC, "subset=pid,hidepid=invisible"
    _mount_one(script, "proc", "/proc", "proc", flags=flags, options=options)


def _mount_one(
    script: Script, source: str, target: str, kind: str, *, flags: int, options: str = ""
) -> None:
    script.call(
        f"mount {target}",
        Call.MOUNT,
        script.text(source),
        script.text(target),
        script.text(kind),
        flags,
        script.text(options),
    )


def _copy_in(script: Script, path: str) -> None:
    """Copies one file of the submission from the stage into the working folder."""
    folders = path.split("/")[:-1]
    for depth in range(len(folders)):
        folder = script.text("/".join(folders[: depth + 1]))
        script.call("mkdir", Call.MKDIR, folder, 0o755, mode=Mode.IGNORE)
    source = script.call(
        f"open {path}", Call.OPEN, script.text(f"{view.PROGRAM}/{path}"), os.O_RDONLY
    )
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    target = script.call(f"create {path}", Call.OPEN, script.text(path), flags, 0o644)
    copied = script.call(f"copy {path}", Call.SENDFILE, 0, 0, 0, 1 << 30)
    script.store(target, script.argument(copied, 0))
    script.store(source, script.argument(copied, 1))


def _place_descriptors(
    script: Script, roles: dict[str, int], kept: Sequence[str], init_fd: int
) -> None:
    """Standard streams at 0, 1, 2, kept ones from 3 on, init's two at their places; no others."""
    script.call("dup status", Call.DUP3, roles["status"], STATUS_FD, os.O_CLOEXEC)
    script.call("dup init", Call.DUP3, init_fd, _INIT_FD, os.O_CLOEXEC)
    for number, role in enumerate((*_STDIO, *kept)):
        script.call(f"park {role}", Call.DUP2, roles[role], _PARKED_FD + number)
    for number, role in enumerate((*_STDIO, *kept)):
        script.call(f"place {role}", Call.DUP2, _PARKED_FD + number, number)
    script.call("close", Call.CLOSE_RANGE, len(_STDIO) + len(kept), _INIT_FD - 1)
    script.call("close", Call.CLOSE_RANGE, STATUS_FD + 1, _MAX_FD)


def _limit(script: Script, allowed: dict[str, Any]) -> None:
    script.call("setsid", Call.SETSID)
    for kind, value in limits.of(allowed):
        pair = script.data(struct.pack("=QQ", value, value))
        script.call(f"limit {kind}", Call.PRLIMIT64, 0, kind, pair)


def _confine(script: Script, instructions: bytes, first_free_fd: int) -> None:
    if _LANDLOCK_ABI:
        _landlock(script, first_free_fd)
    program = seccomp.filter_program(script.data(instructions), len(instructions))
    script.call("seccomp", Call.SECCOMP, seccomp.SET_MODE_FILTER, 0, script.data(program))


def _drop_capabilities(script: Script) -> None:
    """Empties all five sets and locks the secure bits, for good."""
    bits = _NO_ROOT | _NO_SETUID_FIXUP | _NO_AMBIENT
    script.call("securebits", Call.PRCTL, kernel.PR_SET_SECUREBITS, bits)
    for capability in range(_LAST_CAP + 1):
        script.call("drop", Call.PRCTL, kernel.PR_CAPBSET_DROP, capability)
    header, empty = script.data(struct.pack("=Ii", _CAP_VERSION_3, 0)), script.data(b"", 24)
    script.call("capset", Call.CAPSET, header, empty)


def _landlock(script: Script, ruleset_fd: int) -> None:
    """Reads everywhere, writes in the run's own file system; descriptors come in order."""
    attributes = landlock.ruleset(_LANDLOCK_ABI)
    create, add = Call.LANDLOCK_CREATE_RULESET, Call.LANDLOCK_ADD_RULE
    script.call("ruleset", create, script.data(attributes), len(attributes), 0)
    places = [("/", landlock.Access.READ), ("/dev", landlock.Access.DEVICES)]
    places += [(path, landlock.Access.WRITE) for path in view.WRITABLE]
    for index, (path, access) in enumerate(places):
        flags = os.O_PATH | os.O_CLOEXEC
        script.call(f"open {path}", Call.OPEN, script.text(path), flags)
        rule = script.data(landlock.rule(_LANDLOCK_ABI, access, ruleset_fd + 1 + index))
        script.call(f"rule {path}", add, ruleset_fd, landlock.PATH_BENEATH, rule, 0)
    script.call("restrict", Call.LANDLOCK_RESTRICT_SELF, ruleset_fd, 0)
    script.call("close", Call.CLOSE_RANGE, ruleset_fd, _INIT_FD - 1)


def _start(script: Script, order: Order) -> None:
    """Starts the program, unless this process is to become it or has more to do in Python."""
    if order["collect"]:
        script.call("not dumpable", Call.PRCTL, kernel.PR_SET_DUMPABLE, 0)
        script.end()
        return
    if not order["nested"]:
        _be_program(script, order)
        return
    # Until it is a program of its own, init has the zygote's memory; the run must not reach it.
    script.call("not dumpable", Call.PRCTL, kernel.PR_SET_DUMPABLE, 0)
    sharing = kernel.CLONE_VM | kernel.CLONE_VFORK if order["harness"] is None else 0
    started = script.call("start", Call.CLONE, sharing | signal.SIGCHLD, mode=Mode.JUMP_UNLESS_ZERO)
    _be_program(script, order)
    script.land(started)
    _become_init(script)


def _be_program(script: Script, order: Order) -> None:
    """Goes on in Python, or starts the command line."""
    if order["harness"] is None:
        _execute(script, order["argv"], order["env"])
    else:
        script.call("close", Call.CLOSE_RANGE, _INIT_FD, STATUS_FD)
        script.call("dumpable", Call.PRCTL, kernel.PR_SET_DUMPABLE, 1)
        script.end()


def _become_init(script: Script) -> None:
    """Gives the zygote's memory back by becoming another program, with the report's end only."""
    script.call("close", Call.CLOSE_RANGE, 0, _INIT_FD - 1)
    script.call("keep", Call.DUP2, STATUS_FD, 0)
    script.call("keep", Call.DUP2, 0, STATUS_FD)  # without its close-on-exec flag
    argv = script.pointers([script.text("init")])
    empty, none = script.text(""), script.pointers([])
    script.call("init", Call.EXECVEAT, _INIT_FD, empty, argv, none, kernel.AT_EMPTY_PATH)


def _tell_of_errors(script: Script, status_fd: int) -> None:
    """Writes the error to the report's pipe, whichever number that has by then."""
    told = script.on_error()
    for fd in (STATUS_FD, status_fd):
        script.call("tell", Call.WRITE, fd, told, FAILURE_BYTES, mode=Mode.IGNORE)
    script.call("exit", Call.EXIT_GROUP, _SET_UP_FAILED)


def find(argv: Sequence[str], env: dict[str, str]) -> str:
    """Returns the path of the program that a command line names."""
    name = argv[0]
    if "/" in name:
        return name
    candidates = (f"{folder}/{name}" for folder in env.get("PATH", "").split(":"))
    return next((path for path in candidates if os.access(path, os.X_OK)), name)


def _execute(script: Script, argv: Sequence[str], env: dict[str, str]) -> None:
    """Becomes the program, with the signals that the interpreter ignores back at their usual."""
    default = script.data(b"", _SIGACTION_BYTES)
    for number in _RESET_SIGNALS:
        script.call("signal", Call.RT_SIGACTION, number, default, 0, _SIGSET_BYTES)
    path = script.text(find(argv, env))
    arguments = script.pointers([script.text(argument) for argument in argv])
    environment = script.pointers([script.text(f"{name}={value}") for name, value in env.items()])
    script.call(f"start {argv[0]}", Call.EXECVE, path, arguments, environment)
