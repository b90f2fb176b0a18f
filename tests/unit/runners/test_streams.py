"""Pipes whose other end is not to be trusted."""

import os

import pytest

from runners import streams


@pytest.fixture
def capture():
    capture = streams.Capture(10)
    yield capture
    capture.close()


def test_capture_keeps_what_fits_and_knows_that_more_came(capture):
    os.write(capture.write_fd, b"0123456789abc")
    capture.close_writer()
    capture.drain()
    assert (capture.data(), capture.is_over) == (b"0123456789", True)


def test_capture_that_is_exactly_full_is_not_over(capture):
    os.write(capture.write_fd, b"0123456789")
    capture.close_writer()
    capture.drain()
    assert (capture.data(), capture.is_over) == (b"0123456789", False)


def test_drain_stops_at_the_limit_however_much_there_is(capture):
    os.write(capture.write_fd, bytes(streams.PIPE_BYTES))
    capture.drain()
    assert capture.is_over
    capture.close_writer()


def test_capture_of_nothing_is_empty(capture):
    capture.close_writer()
    assert capture.read() is False
    assert capture.data() == b""


def test_small_input_is_written_and_closed_at_once():
    feed = streams.Feed(b"input")
    assert not feed.is_open
    assert os.read(feed.read_fd, 100) == b"input"
    assert os.read(feed.read_fd, 100) == b""
    os.close(feed.read_fd)


def test_large_input_is_written_as_it_is_read():
    data = os.urandom(3 * streams.PIPE_BYTES)
    feed = streams.Feed(data)
    assert feed.is_open
    received = b""
    while len(received) < len(data):
        received += os.read(feed.read_fd, 1 << 20)
        if feed.is_open:
            feed.write()
    assert received == data
    os.close(feed.read_fd)


def test_input_that_nobody_reads_is_let_go():
    feed = streams.Feed(bytes(3 * streams.PIPE_BYTES))
    os.close(feed.read_fd)
    feed.write()
    assert not feed.is_open
    feed.close()
