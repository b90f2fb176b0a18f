"""The warm interpreter: stands behind the view, and forks a jail whenever it is asked to.

It never sees a program: the jail reads it after the fork. The supervisor is the parent of the
jails (CLONE_PARENT), so that it alone waits for them and knows what they used.
"""

import gc
import marshal
import os
import signal
import socket
import struct
from collections import OrderedDict
from typing import Any, NoReturn

from runners import huge, inhabitants, init, jail, kernel, loopback, view, warmup

_FOR_PROGRAMS = ("program",)
_FOR_ALL = ("program", "call", "candidate", "tester", "shared", "interactor")
_KINDS_OF_PROGRAMS = ("exec", "python")
_FIRST_FD, _LAST_FD = 3, 4096
_MAX_KNOWN = 16
_MAX_FDS = 16
_MAX_ORDER_BYTES = 128 * 1024
READY = b"ready"
_OTHER = b"other"  # what comes next is no repetition
_ANSWER = struct.Struct("=i")


class Zygote:
    """The supervisor's end of the line to the zygote."""

    def __init__(self, pid: int, line: socket.socket, *, nested: bool) -> None:
        self.pid = pid
        self.nested = nested
        """Whether each run gets namespaces of its own."""
        self._line = line
        self._latest: dict[str, Any] | None = None

    def fork(self, order: dict[str, Any], fds: list[int]) -> int:
        """Orders one jail and returns its init's process id.

        The order that came before is repeated by an empty message.

        Raises:
            OSError: the zygote is gone.
        """
        if order == self._latest:
            socket.send_fds(self._line, [b""], fds)
        else:
            if self._latest is not None:
                self._line.send(_OTHER)
            self._latest = order
            socket.send_fds(self._line, [marshal.dumps(order)], fds)
        answer = self._line.recv(_ANSWER.size)
        if len(answer) != _ANSWER.size:
            raise OSError("the zygote ended")
        (pid,) = _ANSWER.unpack(answer)
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        return int(pid)


def _serve(line: socket.socket, harnesses: dict[str, inhabitants.Harness]) -> NoReturn:
    """Forks jails for each order until the supervisor is gone."""
    known: OrderedDict[tuple[bytes, tuple[int, ...]], jail.Jail] = OrderedDict()
    environment: dict[str, str] = {}
    init_fd = init.load()
    while True:
        message, fds, _, _ = socket.recv_fds(
            line, _MAX_ORDER_BYTES, _MAX_FDS, socket.MSG_CMSG_CLOEXEC
        )
        if not message:
            os._exit(0)
        key = (message, tuple(fds))
        made = known.get(key)
        if made is None:
            order = marshal.loads(message)  # noqa: S302 - our own
            made = known[key] = jail.build(order, fds, init_fd, line.fileno())
            if len(known) > _MAX_KNOWN:
                known.popitem(last=False)
        if made.order["env"] != environment:
            environment = made.order["env"]
            os.environ.clear()
            os.environ.update(environment)
        if made.fork(fds) == 0:
            inhabitants.live(made, harnesses)


def _start(modules: list[str], names: tuple[str, ...], *, nested: bool) -> Zygote:
    """Starts a zygote with these modules and harnesses imported.

    Raises:
        OSError: nested namespaces are not to be had here; the message says which step failed.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    own = kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWNET
    pid = kernel.clone(own if nested else 0)
    if pid == 0:
        os.closerange(_FIRST_FD, theirs.fileno())  # nothing of the supervisor's stays open here
        os.closerange(theirs.fileno() + 1, _LAST_FD)
        try:
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
            kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
            if nested:
                loopback.build()
                view.build()
            harnesses = warmup.prepare(modules, names)
            huge.use_huge_pages()
        except OSError as error:
            theirs.send(str(error).encode())
            os._exit(1)
        gc.disable()
        gc.collect()
        gc.freeze()
        theirs.send(READY)
        _serve(theirs, harnesses)
    theirs.close()
    answer = ours.recv(4096)
    if answer != READY:
        raise OSError(answer.decode() or "the zygote ended")
    return Zygote(pid, ours, nested=nested)


class Nursery:
    """A small zygote for whole programs, and a larger one for what else Python code is put to.

    Every fork copies the tables of all of its parent's memory, and most runs are whole programs.
    """

    def __init__(self, modules: list[str], *, nested: bool) -> None:
        """Starts the first zygote; without nesting, the only one.

        Raises:
            OSError: nested namespaces are not to be had here.
        """
        self._modules = modules
        self._small = _start(modules, _FOR_PROGRAMS if nested else _FOR_ALL, nested=nested)
        self._large = None if nested else self._small

    @property
    def pids(self) -> frozenset[int]:
        """Process ids of the zygotes."""
        return frozenset(each.pid for each in (self._small, self._large) if each is not None)

    def zygote(self, kind: str) -> Zygote:
        """Returns the zygote for a kind of run; the larger one is started when first needed.

        Raises:
            OSError: it does not start.
        """
        if kind in _KINDS_OF_PROGRAMS:
            return self._small
        if self._large is None:
            self._large = _start(self._modules, _FOR_ALL, nested=True)
        return self._large
