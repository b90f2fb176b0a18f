"""The two ends of the stream share no code; what one writes, the other reads."""

import os

import pytest

from runners import wire
from sandbox_service.errors import ProtocolViolation
from sandbox_service.sandbox import stream


class Bytes:
    """A transport that has bytes already."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def send(self, data: bytes) -> None:
        raise NotImplementedError

    def receive(self, size: int, timeout_s: float) -> bytes:
        data, self._data = self._data[:size], self._data[size:]
        return data


def test_host_reads_what_the_runner_writes():
    blobs = wire.Blobs()
    header = {"stdout": blobs.add(b"\0\xff"), "empty": blobs.add(b""), "list": [blobs.add(b"x")]}
    data = wire.encode(header, blobs)
    assert stream.read_frame(Bytes(data), 1) == {"stdout": b"\0\xff", "empty": b"", "list": [b"x"]}


def test_runner_reads_what_the_host_writes():
    blobs = stream.Blobs()
    data = b"".join(blobs.frame({"stdin": blobs.add(b"\n\0"), "argv": ["a", "b"]}))
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    assert wire.read_frame(read_end) == {"stdin": b"\n\0", "argv": ["a", "b"]}
    for fd in (read_end, write_end):
        os.close(fd)


def test_runner_hears_the_end_of_the_stream():
    read_end, write_end = os.pipe()
    os.write(write_end, b"\0\0")
    os.close(write_end)
    with pytest.raises(EOFError):
        wire.read_frame(read_end)
    os.close(read_end)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff\0\0\0\0",
        b"\0\0\0\2\xff\xff\xff\xff{}",
        b"\0\0\0\1\0\0\0\0{",
        b"\0\0\0\2\0\0\0\0[]",
        b"\0\0\0\4\0\0\0\0nope",
        b"\0\0\0\x12\0\0\0\0" + b'{"blob":"zzzzzzz"}',
        b"\0\1\x86\xa0\0\0\0\0" + b"[" * 100_000,
    ],
)
def test_bytes_that_are_no_frame_are_a_violation(data):
    with pytest.raises(ProtocolViolation):
        stream.read_frame(Bytes(data), 1)


def test_blob_beyond_its_area_is_short_and_never_of_another_frame():
    data = b"\0\0\0\x17\0\0\0\3" + b'{"a": {"blob": [1,99]}}' + b"abc"
    assert stream.read_frame(Bytes(data), 1) == {"a": b"bc"}
