"""The framed protocol between a client and its workers (runner, builder) over two pipes.

    frame = "TWP1" · u32 header length · header (JSON object) · payloads, back to back

All integers are little-endian. The header has "type" and, when bytes follow it, "payloads": their
lengths. `docs/runner-protocol.md` lists the messages.

    channel.send({"type": "run", "task": "c2d"}, [artifact], deadline)
    header, payloads = channel.receive(deadline)
"""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tilewright.ground.errors import RunError
from tilewright.ground.text import size as size_text

PROTOCOL = 5
MAGIC = b"TWP1"
PREFIX_BYTES = len(MAGIC) + 4
MAX_HEADER_BYTES = 1 << 24
MAX_PAYLOADS = 1 << 10
MAX_PAYLOAD_BYTES = 1 << 29  # of all payloads together: artifacts, and values at some points
CHUNK_BYTES = 1 << 20

Header = dict[str, Any]
Payloads = list[bytes]


class ChannelClosedError(RunError):
    """The other side closed its end (it exited or was killed)."""


class ChannelTimeoutError(RunError):
    """The other side did not take or give bytes before the deadline."""


@dataclass(slots=True)
class Channel:
    """One end of the pair of pipes, by file descriptors.

    A deadline is a value of `time.monotonic()`, None for no limit; with deadlines the descriptors
    must be non-blocking.
    """

    read_fd: int
    write_fd: int

    def send(
        self, header: Header, payloads: Sequence[bytes] = (), deadline: float | None = None
    ) -> None:
        """Write one frame. Raises ChannelClosedError or ChannelTimeoutError."""
        if payloads:
            header = {**header, "payloads": [len(p) for p in payloads]}
        text = json.dumps(header, separators=(",", ":")).encode()
        self._write(MAGIC + len(text).to_bytes(4, "little") + text, deadline)
        for payload in payloads:
            self._write(payload, deadline)

    def receive(self, deadline: float | None = None) -> tuple[Header, Payloads]:
        """Read one frame.

        Raises ChannelClosedError, ChannelTimeoutError, or RunError for bytes that are no frame.
        """
        prefix = self._read(PREFIX_BYTES, deadline)
        size = int.from_bytes(prefix[len(MAGIC) :], "little")
        if prefix[: len(MAGIC)] != MAGIC or size > MAX_HEADER_BYTES:
            raise RunError(
                f"the other side sent {prefix!r} instead of a frame: it must print nothing else "
                "to its standard output (does a login shell greet?)"
            )
        try:
            header = json.loads(self._read(size, deadline))
        except (ValueError, RecursionError) as error:
            raise RunError(f"a frame's header is no JSON: {error}") from error
        if not isinstance(header, dict) or not isinstance(header.get("type"), str):
            raise RunError("a frame's header must be an object with a type")
        sizes = header.get("payloads", [])
        if not isinstance(sizes, list) or any(type(n) is not int or n < 0 for n in sizes):
            raise RunError("a frame's payloads must be lengths")
        if len(sizes) > MAX_PAYLOADS or sum(sizes) > MAX_PAYLOAD_BYTES:
            raise RunError(
                f"a frame's payloads are more than {MAX_PAYLOADS}, or longer than "
                f"{size_text(MAX_PAYLOAD_BYTES)} together"
            )
        return header, [self._read(n, deadline) for n in sizes]

    def _write(self, data: bytes, deadline: float | None) -> None:
        view = memoryview(data)
        while view:
            self._wait(self.write_fd, writing=True, deadline=deadline)
            try:
                view = view[os.write(self.write_fd, view[:CHUNK_BYTES]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise ChannelClosedError("the other side closed the pipe") from None

    def _read(self, size: int, deadline: float | None) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._wait(self.read_fd, writing=False, deadline=deadline)
            try:
                part = os.read(self.read_fd, min(CHUNK_BYTES, size - len(data)))
            except BlockingIOError:
                continue
            if not part:
                raise ChannelClosedError("the other side closed the pipe")
            data += part
        return bytes(data)

    def _wait(self, fd: int, writing: bool, deadline: float | None) -> None:
        if deadline is None:
            return
        left = deadline - time.monotonic()
        ready = select.poll()
        ready.register(fd, select.POLLOUT if writing else select.POLLIN)
        if left <= 0 or not ready.poll(left * 1000):
            raise ChannelTimeoutError("no answer before the deadline")
