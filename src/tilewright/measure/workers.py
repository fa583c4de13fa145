"""Worker processes as the parent sees them: requests with time limits, deaths explained, restarts.

    worker = Worker(worker_command("runner"), "run")
    answer, payloads = worker.request({"type": "run", …}, [artifact], timeout_s=10)

A worker is spawned (never forked) as the leader of a session of its own, so that killing its
process group leaves nothing behind and Ctrl-C reaches the parent only. It starts with its first
request and starts anew after a death. A worker whose parent is killed notices the hang-up of its
pipe and ends (see `server`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shown
from typing import IO

from tilewright.ground.errors import RunError
from tilewright.ground.process_limits import shortage
from tilewright.ground.text import harmless
from tilewright.measure.protocol import (
    PROTOCOL,
    Channel,
    ChannelClosedError,
    ChannelTimeoutError,
    Header,
    Payloads,
)

START_TIMEOUT_S = 60.0
# How much longer than a request's own limit the client waits: the worker's alarm clock comes first.
PATIENCE_S = 1.0
EXIT_WAIT_S = 2.0
STDERR_TAIL_BYTES = 2000
LONGEST_MESSAGE = 10_000  # characters of a failure that are kept
STAGES = ("hello", "request", "load_task", "build", "run", "check", "timeout")  # of error frames
INSTALLED = ("site-packages", "dist-packages")  # folders where every Python looks

SIGNAL_MEANINGS = {
    signal.SIGSEGV: "it accessed memory outside its buffers",
    signal.SIGBUS: "it accessed memory that is not there",
    signal.SIGILL: "an instruction this CPU does not have",
    signal.SIGFPE: "an integer division by zero",
    signal.SIGABRT: "the process aborted itself",
    signal.SIGKILL: "killed from outside, by the system if memory ran out",
    signal.SIGXCPU: "it took all the CPU time that it may take",
    signal.SIGXFSZ: "it wrote a file larger than it may",
}


@dataclass(frozen=True, slots=True)
class RequestFailure:
    """Why one request failed: `stage` ("build", "run", "check", "timeout"), error class, text."""

    stage: str
    error: str
    message: str


class WorkerFailureError(RunError):
    """A request that failed; the worker stays usable."""

    def __init__(self, failure: RequestFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def worker_command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of this package with this Python.

    -P: modules come from where this process has them, never from the current directory.
    """
    return [sys.executable, "-P", "-m", f"tilewright.measure.{module}", *arguments]


def worker_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` so that Python finds this package, and nothing in the current directory.

    An empty entry of PYTHONPATH is that directory. A package that is not installed is found where
    this process has it from.
    """
    listed = environ.get("PYTHONPATH", "").split(os.pathsep)
    folders = [str(Path(folder).absolute()) for folder in listed if folder]
    root = Path(__file__).absolute().parents[2]
    if root.name not in INSTALLED and str(root) not in folders:
        folders.append(str(root))
    return {**environ, "PYTHONPATH": os.pathsep.join(folders)}


class Worker:
    """One worker process, started on demand."""

    def __init__(
        self, command: Sequence[str], stage: str, env: Mapping[str, str] | None = None
    ) -> None:
        """`stage` names the failures that the process itself causes by dying ("build", "run").

        `env` is added to the parent's environment.
        """
        self.command = list(command)
        self.stage = stage
        self.facts: Header = {}
        self.starts = 0
        self._env = worker_environment({**os.environ, **(env or {})})
        self._process: subprocess.Popen[bytes] | None = None
        self._greeted = False
        self._channel: Channel | None = None
        self._stderr: IO[bytes] | None = None
        self._finalizer: weakref.finalize[[subprocess.Popen[bytes]], Worker] | None = None

    @property
    def pid(self) -> int | None:
        """The process and process-group id while it runs."""
        return None if self._process is None else self._process.pid

    def launch(self) -> None:
        """Start the process without waiting for it, unless it runs: it loads its modules meanwhile.

        Raises RunError when the command cannot be started.
        """
        if self._process is None:
            self._spawn()

    def start(self) -> None:
        """Start the process and shake hands, unless that was done.

        Raises RunError when the command cannot be started or does not speak the protocol.
        """
        if self._process is not None and self._process.poll() is not None:
            self._stop()  # it ended between two requests: no request is to blame
        if self._process is not None and self._greeted:
            return
        self.launch()
        try:
            answer, _ = self._exchange(
                {"type": "hello", "protocol": PROTOCOL}, (), time.monotonic() + START_TIMEOUT_S
            )
        except ChannelClosedError as error:
            raise RunError(f"cannot use the worker: {self._autopsy(0).message}") from error
        except RunError as error:
            raise RunError(
                f"cannot use the worker {self._name()}: {error}{self._stop()}"
            ) from error
        if answer.get("protocol") != PROTOCOL or "version" not in answer:
            self._stop()
            said = _said(answer.get("message", "it said something else"))
            raise RunError(
                f"the worker {self._name()} does not speak protocol {PROTOCOL} "
                f"({said}): install the same Tilewright on both sides"
            )
        self.facts, self._greeted = answer, True

    def request(
        self, header: Header, payloads: Sequence[bytes] = (), timeout_s: float = 60.0
    ) -> tuple[Header, Payloads]:
        """Send one request, return its answer.

        Raises WorkerFailureError when the answer is an error, when the process dies over it or when
        it takes longer than `timeout_s`; after the last two, and after an error over which the
        worker ends, the next request starts a new process.
        RunError: the process cannot be started at all.
        """
        self.start()
        deadline = time.monotonic() + timeout_s + PATIENCE_S
        try:
            answer, blobs = self._exchange({**header, "timeout_s": timeout_s}, payloads, deadline)
        except ChannelTimeoutError:
            self._stop()
            raise WorkerFailureError(self._timeout(timeout_s)) from None
        except ChannelClosedError:
            raise WorkerFailureError(self._autopsy(timeout_s)) from None
        except (RunError, ValueError) as error:
            tail = self._stop()
            raise WorkerFailureError(
                RequestFailure(self.stage, "RunError", f"{self._name()}: {error}{tail}")
            ) from error
        except BaseException:
            self._stop()  # interrupted in the middle of a frame: this pipe is of no further use
            raise
        if answer["type"] == "error":
            stage = answer.get("stage")
            kind, text = (_said(answer.get(name)) for name in ("error", "message"))
            failure = RequestFailure(stage if stage in STAGES else self.stage, kind, text)
            if answer.get("ended"):
                self._stop()
            raise WorkerFailureError(failure)
        return answer, blobs

    def kill(self) -> None:
        """Kill the process now; a request in progress in another thread fails."""
        process = self._process
        if process is not None:
            _kill_group(process)

    def close(self) -> None:
        """End the process: politely, then by force. It may be started again."""
        if self._process is None or self._channel is None:
            return
        try:
            self._channel.send({"type": "bye"}, deadline=time.monotonic() + EXIT_WAIT_S)
            self._process.wait(EXIT_WAIT_S)
        except (ChannelClosedError, ChannelTimeoutError, subprocess.TimeoutExpired):
            # It died before or hangs; what follows ends it in any case.
            pass
        self._stop()

    def _spawn(self) -> None:
        try:
            with contextlib.ExitStack() as stack:
                stderr = stack.enter_context(tempfile.TemporaryFile())
                process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    env=self._env,
                    bufsize=0,
                    start_new_session=True,
                )
                stack.pop_all()  # closed in _stop
        except (OSError, MemoryError) as error:
            raise RunError(
                f"cannot start the worker {self._name()}: {error}{shortage(error)}"
            ) from error
        self._stderr = stderr
        assert process.stdin is not None and process.stdout is not None
        for pipe in (process.stdin, process.stdout):
            os.set_blocking(pipe.fileno(), False)
        self._process, self._greeted = process, False
        self._channel = Channel(process.stdout.fileno(), process.stdin.fileno())
        self._finalizer = weakref.finalize(self, _end, process)
        self.starts += 1

    def _exchange(
        self, header: Header, payloads: Sequence[bytes], deadline: float
    ) -> tuple[Header, Payloads]:
        assert self._channel is not None
        self._channel.send(header, payloads, deadline)
        return self._channel.receive(deadline)

    def _stop(self) -> str:
        """Kill what is left of the process group; the end of its standard error, for a message."""
        if self._process is None or self._stderr is None or self._finalizer is None:
            return ""
        self._finalizer()
        self._process = self._channel = None
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - STDERR_TAIL_BYTES))
        tail = _without_frames(harmless(self._stderr.read().decode(errors="replace").strip()))
        self._stderr.close()
        return f"; it printed: {tail}" if tail else ""

    def _autopsy(self, timeout_s: float) -> RequestFailure:
        """What killed the process that closed its pipe."""
        assert self._process is not None
        try:
            code = self._process.wait(EXIT_WAIT_S)
        except subprocess.TimeoutExpired:
            code = 0
        tail = self._stop()
        tail += shortage(tail)
        # A shell or ssh reports a signal n as 128 + n.
        number = -code if code < 0 else code - 128
        if number == signal.SIGALRM:
            return self._timeout(timeout_s)
        if number in set(signal.Signals):
            name = signal.Signals(number).name
            meaning = SIGNAL_MEANINGS.get(signal.Signals(number), "a signal")
            text = f"crashed with {name}: {meaning}{tail or shortage(name)}"
            return RequestFailure(self.stage, name, text)
        return RequestFailure(self.stage, "Exit", f"{self._name()} ended with code {code}{tail}")

    def _timeout(self, timeout_s: float) -> RequestFailure:
        message = f"no answer within {timeout_s:g} s ({self.stage})"
        return RequestFailure("timeout", "TimeoutError", message)

    def nonsense(self, why: str) -> WorkerFailureError:
        """The failure of a request whose answer is not what the protocol says it is."""
        said = f"{self._name()} gave an answer that is none: {why}{self._stop()}"
        return WorkerFailureError(RequestFailure(self.stage, "RunError", said))

    def _name(self) -> str:
        return repr(" ".join(self.command))


def _said(value: object) -> str:
    """A text of an answer, as far as it is shown and kept."""
    return harmless(value[:LONGEST_MESSAGE] if isinstance(value, str) else shown(value))


def _without_frames(text: str) -> str:
    """What a process printed, less the frames of a traceback; all where nothing else is there."""
    lines = text.splitlines()
    kept = [x for x in lines if not x.startswith((" ", "Traceback (most recent"))]
    is_traceback = len(kept) < len(lines) and any(x.startswith('  File "') for x in lines)
    return "\n".join(kept) if kept and is_traceback else text


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker's whole process group and reap it."""
    _kill_group(process)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):  # all of the group ended before
        os.killpg(process.pid, signal.SIGKILL)
