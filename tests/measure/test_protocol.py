"""Frames over pipes: what arrives is what was sent, and everything else is a clear error."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ground.errors import RunError
from tilewright.measure import server
from tilewright.measure.protocol import (
    MAGIC,
    MAX_HEADER_BYTES,
    MAX_PAYLOAD_BYTES,
    MAX_PAYLOADS,
    Channel,
    ChannelClosedError,
    ChannelTimeoutError,
)
from tilewright.measure.runner import Runner
from tilewright.measure.server import answer

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


def frame(header: bytes) -> bytes:
    return MAGIC + len(header).to_bytes(4, "little") + header


GARBAGE = {
    "garbage": b"\x00" * 64,
    "greeting": b"Welcome to the board!\n",
    "long header": MAGIC + (MAX_HEADER_BYTES + 1).to_bytes(4, "little"),
    "longest header": MAGIC + b"\xff" * 4,
    "no JSON": frame(b"{"),
    "deep": frame(b"[" * 100_000),
    "a list": frame(b"[]"),
    "no type": frame(b"{}"),
    "type is a list": frame(b'{"type": []}'),
    "type is null": frame(b'{"type": null}'),
    "payloads is text": frame(b'{"type": "x", "payloads": "11"}'),
    "negative": frame(b'{"type": "x", "payloads": [-1]}'),
    "fraction": frame(b'{"type": "x", "payloads": [1.5]}'),
    "huge": frame(b'{"type": "x", "payloads": [1152921504606846976]}'),
    "huge together": frame(b'{"type": "x", "payloads": [%d, %d]}' % ((MAX_PAYLOAD_BYTES,) * 2)),
    "many": frame(b'{"type": "x", "payloads": [%s0]}' % (b"0," * MAX_PAYLOADS)),
    "not UTF-8": frame(b'{"type": "\xff"}'),
}


@pytest.mark.parametrize("sent", GARBAGE.values(), ids=GARBAGE)
def test_what_is_no_frame_is_refused_at_once(ends: Ends, sent: bytes) -> None:
    a, b = ends
    sender = threading.Thread(target=a._write, args=(sent, soon()))
    sender.start()
    with pytest.raises(RunError) as caught:
        b.receive(soon())
    assert not isinstance(caught.value, ChannelTimeoutError)
    assert len(str(caught.value)) < 500
    sender.join()


@pytest.mark.parametrize(
    "sent", [b"T", MAGIC + b"\x10\0\0\0{", frame(b'{"type":"x","payloads":[9]}')]
)
@pytest.mark.parametrize("ends_early", [True, False])
def test_a_frame_that_stops_has_a_deadline(ends: Ends, sent: bytes, ends_early: bool) -> None:
    a, b = ends
    a._write(sent, soon())
    if ends_early:
        os.close(a.write_fd)
    with pytest.raises(ChannelClosedError if ends_early else ChannelTimeoutError):
        b.receive(time.monotonic() + 0.05)


def test_a_dribble_has_a_deadline(ends: Ends) -> None:
    """Each byte comes in time, the frame does not."""
    a, b = ends
    stop = threading.Event()

    def dribble() -> None:
        a._write(MAGIC + (1000).to_bytes(4, "little"), soon())
        while not stop.wait(0.01):
            a._write(b" ", soon())

    sender = threading.Thread(target=dribble)
    sender.start()
    try:
        with pytest.raises(ChannelTimeoutError):
            b.receive(time.monotonic() + 0.1)
    finally:
        stop.set()
        sender.join()


# ---- a worker whose client is hostile ------------------------------------------------------------

REQUESTS = [
    {"type": "run", "timeout_s": "soon"},
    {"type": "run", "timeout_s": 1e400},
    {"type": "run", "timeout_s": -1},
    {"type": "run", "timeout_s": [1]},
    {"type": "run", "timeout_s": True},
    {"type": "run", "timeout_s": 10**4000},
    {"type": "hello", "protocol": []},
    {"type": "nothing"},
    {"type": "run"},
    {"type": "load_task"},
    {"type": "run", "task": []},
    {"type": "run", "task": "t", "options": "x"},
]


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_a_worker_answers_whatever_it_is_asked(request_: dict[str, object]) -> None:
    runner = Runner()
    handlers = {"load_task": runner.load_task, "run": runner.run}
    reply, payloads = answer(handlers, {}, request_, [])
    assert reply["type"] == "error" and not payloads
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.parametrize("sent", GARBAGE.values(), ids=GARBAGE)
def test_a_worker_ends_over_what_is_no_frame(
    monkeypatch: pytest.MonkeyPatch, ends: Ends, sent: bytes
) -> None:
    a, b = ends
    monkeypatch.setattr(server, "_take_over_pipes", lambda: b)
    monkeypatch.setattr(server, "lower_limit", lambda *_: None)
    monkeypatch.setattr(server, "_die_with_client", lambda _: None)
    for fd in (b.read_fd, b.write_fd):
        os.set_blocking(fd, True)
    sender = threading.Thread(target=a._write, args=(sent, soon()))
    sender.start()
    with pytest.raises(SystemExit) as caught:
        server.serve({}, {})
    assert len(str(caught.value.code)) < 500
    sender.join()
