"""The candidate's side of an isolated assert test: its names, served over a pair of pipes.

The tests run in another process, in another jail. What crosses is plain data; objects that are
none stay here and are known there by number.
"""

import os
from typing import Any, NoReturn

from runners import call, remote


def run(order: dict[str, Any], kept: list[int]) -> NoReturn:
    """Loads the program and serves its names until the tests are done."""
    channel, requests, responses = kept
    line = remote.Line(open(requests, "rb"), open(responses, "wb"), strict=False)
    namespace = call.load_module(order, channel)
    os.close(channel)
    line.send({
        "names": {
            name: line.crossing.describe(value)
            for name, value in namespace.items()
            if not name.startswith("__")
        }
    })  # fmt: skip
    line.serve()
    os._exit(0)
