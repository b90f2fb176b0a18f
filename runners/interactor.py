"""An interactor in its jail: puts its files into the working folder and becomes the program."""

import marshal
import os
import signal
from typing import Any, NoReturn

from runners import program

_EXECUTABLE = 0o755


def run(order: dict[str, Any], kept: list[int]) -> NoReturn:
    """Runs the interactor; its files come with it, for the candidate must not see them."""
    channel, payload = kept
    with open(payload, "rb") as file:
        files: dict[str, bytes] = marshal.loads(file.read())  # noqa: S302 - the supervisor's own
    for path, content in files.items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, _EXECUTABLE)
    if order["source"] is not None:
        program.run(order, [channel])
    os.close(channel)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    argv = order["argv"]
    os.execvpe(argv[0], argv, order["env"])  # noqa: S606 - the caller's own program
