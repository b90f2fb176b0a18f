"""The pipes of one run, as its supervisor holds them: bounded, and never waited for."""

import os
import select

PIPE_BYTES = 65536


class Capture:
    """The reading end of a pipe whose writer is not to be trusted."""

    def __init__(self, limit: int) -> None:
        self.fd, self.write_fd = os.pipe2(os.O_CLOEXEC)
        self._limit = limit
        self._parts: list[bytes] = []
        self._has_ended = False
        self.size = 0

    @property
    def is_over(self) -> bool:
        """Whether more came than is allowed."""
        return self.size > self._limit

    def read(self) -> bool:
        """Reads once; False at the end of the stream."""
        part = os.read(self.fd, PIPE_BYTES)
        room = self._limit - self.size
        if part and room > 0:
            self._parts.append(part[:room])
        self.size += len(part)
        self._has_ended = not part
        return bool(part)

    def drain(self) -> None:
        """Reads what is left; for when every writer is dead. Stops when over the limit."""
        while not self._has_ended and not self.is_over:
            self.read()

    def data(self) -> bytes:
        """Returns what came, up to the limit."""
        return b"".join(self._parts)

    def close_writer(self) -> None:
        """Closes the writing end here; the jail has its own."""
        os.close(self.write_fd)

    def close(self) -> None:
        """Closes the reading end."""
        os.close(self.fd)


class Feed:
    """The writing end of a pipe that carries standard input; small inputs fit at once."""

    def __init__(self, data: bytes) -> None:
        self.read_fd, self.fd = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.fd, False)
        self._rest = memoryview(data)
        self.is_open = True
        self.write()

    def write(self) -> None:
        """Writes what the pipe takes; closes when all is written or nobody reads."""
        try:
            while self._rest:
                self._rest = self._rest[os.write(self.fd, self._rest[:PIPE_BYTES]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            pass
        self.close()

    def close(self) -> None:
        """Closes the writing end, once."""
        if self.is_open:
            self.is_open = False
            os.close(self.fd)


def serve(poller: select.poll, captures: dict[int, Capture], feed: Feed, wait_ms: float) -> bool:
    """Waits for the pipes and serves those that are ready; forgets those that have ended.

    True when what was registered besides them is ready: the program's own exit.
    """
    has_exited = False
    for fd, event in poller.poll(wait_ms):
        if fd == feed.fd and feed.is_open:
            feed.write()
            if not feed.is_open:
                poller.unregister(fd)
        elif fd not in captures:
            has_exited = True
        else:
            capture = captures[fd]
            if event & select.POLLHUP:
                capture.drain()  # nobody can write to it any more
            elif capture.read():
                continue
            poller.unregister(fd)
            del captures[fd]
    return has_exited
