"""The warm interpreter: stands behind the view, and forks a jail whenever it is asked to.

It never sees a program: the jail reads it after the fork. The supervisor is the parent of the
jails (CLONE_PARENT), so that it alone waits for them and knows what they used.
"""

import gc
import marshal
import os
import socket
import struct
from collections import OrderedDict
from typing import Any, NamedTuple, NoReturn

from runners import inhabitants, init, jail, kernel, loopback, view, warmup

_MAX_KNOWN = 16
_MAX_FDS = 16
_MAX_ORDER_BYTES = 128 * 1024
READY = b"ready"


class Zygote(NamedTuple):
    """The supervisor's end of the line to the zygote."""

    pid: int
    line: socket.socket
    nested: bool
    """Whether each run gets namespaces of its own."""


def _serve(line: socket.socket) -> NoReturn:
    """Forks a jail for each order until the supervisor is gone."""
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
            made = known[key] = jail.build(marshal.loads(message), fds, init_fd)  # noqa: S302 - our own
            if len(known) > _MAX_KNOWN:
                known.popitem(last=False)
        if made.order["env"] != environment:
            environment = made.order["env"]
            os.environ.clear()
            os.environ.update(environment)
        pid = made.script.run()
        if pid == 0:
            inhabitants.live(made)
        for fd in fds:
            os.close(fd)
        line.send(struct.pack("=i", pid))


def start(modules: list[str], *, nested: bool, close: tuple[int, ...]) -> Zygote:
    """Starts a zygote with these modules imported; it closes the descriptors it must not have.

    Raises:
        OSError: nested namespaces are not to be had here; the message says which step failed.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    own = kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWNET
    pid = kernel.clone(own if nested else 0)
    if pid == 0:
        for fd in (ours.fileno(), *close):
            os.close(fd)
        try:
            kernel.prctl(kernel.PR_SET_PDEATHSIG, 9)
            kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
            if nested:
                loopback.build()
                view.build()
            warmup.prepare(modules)
        except OSError as error:
            theirs.send(str(error).encode())
            os._exit(1)
        gc.disable()
        gc.collect()
        gc.freeze()
        theirs.send(READY)
        _serve(theirs)
    theirs.close()
    answer = ours.recv(4096)
    if answer != READY:
        raise OSError(answer.decode() or "the zygote ended")
    return Zygote(pid, ours, nested)


def fork_jail(zygote: Zygote, order: dict[str, Any], fds: list[int]) -> int:
    """Orders one jail and returns its init's process id.

    Raises:
        OSError: the zygote is gone.
    """
    socket.send_fds(zygote.line, [marshal.dumps(order | {"nested": zygote.nested})], fds)
    answer = zygote.line.recv(4)
    if len(answer) != 4:
        raise OSError("the zygote ended")
    pid: int = struct.unpack("=i", answer)[0]
    if pid < 0:
        raise OSError(-pid, os.strerror(-pid))
    return pid
