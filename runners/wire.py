"""The bytes between host and runner: frames of one JSON header and binary blobs.

    frame  = header length (4 bytes) · blob area length (4 bytes) · header · blob area
    header = JSON object; wherever it holds {"blob": [offset, length]}, the bytes stand in the area

Numbers are big-endian. Both sides refuse frames above their bound.
"""

import json
import os
import struct
from typing import Any

_PREFIX = struct.Struct("!II")
_READ_BYTES = 1 << 20
_LARGE_BYTES = 1 << 20
MAX_FRAME_BYTES = 1 << 30


class Blobs:
    """The blob area of a frame that is being written."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def add(self, data: bytes) -> dict[str, list[int]]:
        """Appends bytes and returns the reference that stands for them in the header."""
        reference = {"blob": [self.size, len(data)]}
        self._parts.append(data)
        self.size += len(data)
        return reference

    def join(self) -> bytes:
        """Returns the area."""
        return b"".join(self._parts)


def encode(header: dict[str, Any], blobs: Blobs) -> bytes:
    """Returns the bytes of one frame."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return _PREFIX.pack(len(text), blobs.size) + text + blobs.join()


def _parse(text: bytes, area: memoryview) -> Any:
    """Returns the header's value with every blob reference replaced by its bytes.

    Large ones stay where they are: a view of the area takes no memory of its own.
    """

    def resolve(value: dict[str, Any]) -> Any:
        if len(value) != 1 or "blob" not in value:
            return value
        offset, length = value["blob"]
        part = area[offset : offset + length]
        return part if length > _LARGE_BYTES else bytes(part)

    return json.loads(text, object_hook=resolve)


def read_exactly(fd: int, size: int) -> memoryview:
    """Reads `size` bytes, into one piece of memory.

    Raises:
        EOFError: the stream ended.
    """
    view = memoryview(bytearray(size))
    done = 0
    while done < size:
        count = os.readv(fd, [view[done : done + _READ_BYTES]])
        if not count:
            raise EOFError
        done += count
    return view


def read_frame(fd: int) -> dict[str, Any]:
    """Reads one frame and returns its header with blobs in place.

    Raises:
        EOFError: the stream ended.
        ValueError: the frame is larger than the bound.
    """
    header_len, area_len = _PREFIX.unpack(read_exactly(fd, _PREFIX.size))
    if header_len + area_len > MAX_FRAME_BYTES:
        raise ValueError("frame too large")
    frame = read_exactly(fd, header_len + area_len)
    header: dict[str, Any] = _parse(bytes(frame[:header_len]), frame[header_len:])
    return header


def write_frame(fd: int, header: dict[str, Any], blobs: Blobs | None = None) -> None:
    """Writes one frame."""
    write_all(fd, encode(header, blobs or Blobs()))


def write_all(fd: int, data: bytes) -> None:
    """Writes all of it, however many writes that takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
