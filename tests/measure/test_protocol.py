"""Frames over pipes: what arrives is what was sent, and everything else is a clear error."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import RunError
from tilewright.measure.protocol import (
    MAGIC,
    Channel,
    ChannelClosedError,
    ChannelTimeoutError,
)

Ends = tuple[Channel, Channel]


@pytest.fixture
def ends() -> Iterator[Ends]:
    """Two connected channels with non-blocking descriptors."""
    (r1, w1), (r2, w2) = os.pipe(), os.pipe()
    for fd in (r1, w1, r2, w2):
        os.set_blocking(fd, False)
    yield Channel(r1, w2), Channel(r2, w1)
    for fd in (r1, w1, r2, w2):
        try:
            os.close(fd)
        except OSError:
            continue


def soon() -> float:
    return time.monotonic() + 5


def test_large_payloads_cross_while_the_other_side_reads(ends: Ends) -> None:
    a, b = ends
    blobs = [b"", os.urandom(3_000_000), b"x"]
    sender = threading.Thread(target=a.send, args=({"type": "run"}, blobs, soon()))
    sender.start()
    header, payloads = b.receive(soon())
    sender.join()
    assert header["type"] == "run"
    assert payloads == blobs


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), st.integers() | st.text()), st.lists(st.binary(max_size=200)))
def test_any_frame_round_trips(fields: dict[str, object], blobs: list[bytes]) -> None:
    read, write = os.pipe()
    try:
        fields.pop("payloads", None)
        header = {**fields, "type": "x"}
        Channel(read, write).send(header, blobs)
        got, payloads = Channel(read, write).receive()
    finally:
        os.close(read)
        os.close(write)
    got.pop("payloads", None)
    assert (got, payloads) == (header, blobs)


def test_silence_and_hang_up(ends: Ends) -> None:
    a, b = ends
    with pytest.raises(ChannelTimeoutError):
        b.receive(time.monotonic() + 0.05)
    os.write(a.write_fd, MAGIC)
    with pytest.raises(ChannelTimeoutError):
        b.receive(time.monotonic() + 0.05)
    os.close(a.write_fd)
    with pytest.raises(ChannelClosedError):
        b.receive(soon())


def test_a_receiver_that_does_not_read(ends: Ends) -> None:
    a, b = ends
    with pytest.raises(ChannelTimeoutError):
        a.send({"type": "run"}, [bytes(1 << 20)], time.monotonic() + 0.05)
    os.close(b.read_fd)
    with pytest.raises(ChannelClosedError):
        a.send({"type": "run"}, (), soon())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"Welcome to the board!\n", r"sent b'Welcome ' instead of a frame.*login shell"),
        (MAGIC + b"\xff\xff\xff\xff", "instead of a frame"),
        (MAGIC + b"\x02\x00\x00\x00[]", "must be an object with a type"),
    ],
)
def test_other_bytes_are_explained(ends: Ends, data: bytes, message: str) -> None:
    a, b = ends
    os.write(a.write_fd, data)
    with pytest.raises(RunError, match=message):
        b.receive(soon())
