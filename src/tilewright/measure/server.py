"""What every worker process does around its own work: keep the pipe clean, answer, never linger.

    serve({"build": handler})      a handler maps (header, payloads) to the answer's

- Standard output belongs to the protocol: what native code or a library prints there goes to
  standard error instead.
- A worker ends with its client: a thread waits for the hang-up of standard input (and for the
  death of the parent process) and kills this process, even while native code runs.
- A request may carry "timeout_s": the kernel's alarm clock then ends a process that is stuck in
  native code, on a remote machine too.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tilewright.ground.errors import RunError, WrongAnswer
from tilewright.ground.process_limits import lower_limit
from tilewright.measure.protocol import PROTOCOL, Channel, ChannelClosedError, Header, Payloads

Answer = tuple[Header, Sequence[bytes]]
Handler = Callable[[Header, Payloads], Answer]

# After a hang-up the main loop gets this long to end by itself.
GRACE_S = 1.0
LONGEST_REQUEST_S = 10**6
PARENT_CHECK_S = 2.0
HANG_UP = select.POLLHUP | select.POLLERR | select.POLLNVAL


class UnknownTaskError(Exception):
    """The task was never loaded here, or was dropped: the client loads it again."""


class SpoiltError(Exception):
    """A request failed (see `__cause__`) in a way that this process is not to be trusted after: it
    answers, and ends.
    """


def serve(handlers: Mapping[str, Handler], facts: Header) -> None:
    """Answer requests on standard input until `bye` or the end of the stream.

    `handlers` are keyed by message type. `facts` are added to the answer to `hello`.
    """
    channel = _take_over_pipes()
    lower_limit(resource.RLIMIT_CORE, 0)  # a crash is expected; its dump is not wanted
    threading.Thread(target=_die_with_client, args=(channel.read_fd,), daemon=True).start()
    while True:
        try:
            header, payloads = channel.receive()
            if header["type"] == "bye":
                return
            reply, blobs = answer(handlers, facts, header, payloads)
            channel.send(reply, blobs)
            if reply.get("ended"):
                return
        except ChannelClosedError:
            return
        except RunError as error:  # no frame: what would follow cannot be told from it
            sys.exit(str(error))


def answer(
    handlers: Mapping[str, Handler], facts: Header, header: Header, payloads: Payloads
) -> Answer:
    """The answer to one request; whatever a handler raises becomes an error frame."""
    kind = header["type"]
    if kind == "hello":
        if header.get("protocol") != PROTOCOL:
            return _error("hello", "RunError", f"this side speaks protocol {PROTOCOL}"), ()
        about = {"protocol": PROTOCOL, "version": version("tilewright"), **facts}
        return {"type": "hello", **about}, ()
    if kind not in handlers:
        return _error("request", "RunError", f"unknown message type {kind!r}"), ()
    try:
        signal.setitimer(signal.ITIMER_REAL, _seconds(header.get("timeout_s")))
        return handlers[kind](header, payloads)
    except SpoiltError as error:
        assert isinstance(error.__cause__, Exception)
        return {**_failed(kind, error.__cause__), "ended": True}, ()
    except Exception as error:
        return _failed(kind, error), ()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _seconds(limit: Any) -> float:
    """The time that a request may take; 0 for no limit. Raises RunError."""
    if limit is None:
        return 0.0
    if type(limit) not in (int, float) or not 0 <= limit <= LONGEST_REQUEST_S:
        raise RunError(f"timeout_s must be from 0 to {LONGEST_REQUEST_S} seconds")
    return float(limit)


def _failed(kind: str, error: Exception) -> Header:
    stage = "check" if isinstance(error, WrongAnswer) else kind
    return _error(stage, type(error).__name__, _message(error))


def _error(stage: str, name: str, message: str) -> Header:
    return {"type": "error", "stage": stage, "error": name, "message": message}


def _message(error: Exception) -> str:
    """The text of an error of ours; with the place for one that nobody raised on purpose."""
    if type(error).__module__.startswith("tilewright.") or isinstance(error, MemoryError):
        return str(error) or "out of memory"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{error} (at {Path(frame.filename).name}:{frame.lineno})"


def _take_over_pipes() -> Channel:
    """The protocol's descriptors; 0 becomes empty and 1 becomes standard error."""
    sys.stdout.flush()
    channel = Channel(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return channel


def _die_with_client(read_fd: int) -> None:
    parent = os.getppid()
    poll = select.poll()
    poll.register(read_fd, 0)
    while os.getppid() == parent:
        if any(event & HANG_UP for _, event in poll.poll(PARENT_CHECK_S * 1000)):
            time.sleep(GRACE_S)
            break
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
