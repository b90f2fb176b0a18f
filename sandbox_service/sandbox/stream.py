"""The host's end of a runner's byte stream: frames out, frames in, nothing trusted.

The bytes are described in `runners/wire.py`; the two sides share no code.
"""

import base64
import json
import marshal
import struct
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any, Protocol

from sandbox_service.errors import ProtocolViolation

_PREFIX = struct.Struct("!II")
_MAX_HEADER_BYTES = 64 * 1024 * 1024
_LARGE_BYTES = 1024 * 1024
_MAX_AREA_BYTES = 1024 * 1024 * 1024


class Transport(Protocol):
    """A byte stream with a deadline on reading."""

    def send(self, data: bytes) -> None:
        """Writes all of it.

        Raises:
            SandboxDied: the other end is gone.
        """

    def receive(self, size: int, timeout_s: float) -> bytes:
        """Reads exactly `size` bytes.

        Raises:
            SandboxDied: the stream ended, or nothing came for `timeout_s` seconds.
        """


def boot_text(runners_dir: Path) -> str:
    """Returns the program that a sandbox's interpreter starts with."""
    return (runners_dir / "boot.py").read_text("utf-8")


def boot_payload(runners_dir: Path, warm: tuple[str, ...], *, nested: bool = True) -> bytes:
    """Returns what the boot program reads first: the runner's modules and what to import."""
    modules, compiled = _modules(runners_dir)
    data = json.dumps(
        {
            "modules": modules,
            "compiled": compiled,
            "magic": MAGIC_NUMBER.hex(),
            "warm": warm,
            "nested": nested,
        }
    ).encode()
    return f"{len(data)}\n".encode() + data


@cache
def _modules(runners_dir: Path) -> tuple[dict[str, str], str]:
    """Returns the runner's modules as text, and compiled for interpreters of this one's version."""
    modules = {
        "runners" if path.stem == "__init__" else f"runners.{path.stem}": path.read_text("utf-8")
        for path in sorted(runners_dir.glob("*.py"))
        if path.stem != "boot"
    }
    codes = {name: compile(text, f"<{name}>", "exec", optimize=2) for name, text in modules.items()}
    return modules, base64.b64encode(marshal.dumps(codes)).decode()


class Blobs:
    """The blob area of a frame that is being written."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, data: bytes) -> dict[str, list[int]]:
        """Appends bytes and returns the reference that stands for them in the header."""
        reference = {"blob": [self._size, len(data)]}
        self._parts.append(data)
        self._size += len(data)
        return reference

    def frame(self, header: dict[str, Any]) -> list[bytes]:
        """Returns the frame with this header in pieces, so that large ones are not copied."""
        text = json.dumps(header, separators=(",", ":")).encode()
        pieces = [_PREFIX.pack(len(text), self._size) + text, *self._parts]
        return [b"".join(pieces)] if self._size < _LARGE_BYTES else pieces


def read_frame(transport: Transport, timeout_s: float) -> dict[str, Any]:
    """Reads one frame and returns its header with blobs in place.

    Raises:
        SandboxDied: the stream ended.
        ProtocolViolation: the bytes are no frame.
    """
    header_len, area_len = _PREFIX.unpack(transport.receive(_PREFIX.size, timeout_s))
    if header_len > _MAX_HEADER_BYTES or area_len > _MAX_AREA_BYTES:
        raise ProtocolViolation("a frame is larger than allowed")
    text = transport.receive(header_len, timeout_s)
    area = transport.receive(area_len, timeout_s)
    try:
        header = _parse(text, area)
    except (ValueError, TypeError, RecursionError) as error:
        raise ProtocolViolation(f"a frame does not parse: {error}") from error
    if not isinstance(header, dict):
        raise ProtocolViolation("a frame's header is no object")
    return header


def _parse(text: bytes, area: bytes) -> Any:
    """Returns the header's value with every blob reference replaced by its bytes."""

    def resolve(value: dict[str, Any]) -> Any:
        if len(value) != 1 or "blob" not in value:
            return value
        offset, length = value["blob"]
        return area[offset : offset + length]

    return json.loads(text, object_hook=resolve)
