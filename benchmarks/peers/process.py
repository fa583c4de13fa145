"""A side in a process of its own, which runs only while it is asked something.

    with SideProcess("torch", "operator:C2D-2-b1", target) as side:
        side.mode, side.facts              "compile, channels-last", figures of the build
        side.output(file)                  writes the result as .npy
        side.time(0.05)                    Block(median_s, least_s, calls)
        side.latencies(Pace(1.5))          seconds of every call of a turn

Between requests the process and its children are stopped (SIGSTOP), so that no thread pool of its
takes cores from another side. A peer's OpenMP threads wait passively unless `wait` says otherwise:
on a busy machine threads that spin cost a peer milliseconds a call, on a quiet one they save it
some ten microseconds.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.peers.paced import Pace
from benchmarks.peers.sides import OWN
from tilewright.target import Target

LIMIT_S = 900.0  # of one request: building, compiling and trying modes included
ERROR_CHARACTERS = 2000
WAITS = ("passive", "active", "default")  # what OpenMP threads of a peer do between regions


class SideError(RuntimeError):
    """A side that failed or died; the message is its own."""


@dataclass(frozen=True, slots=True)
class Block:
    """One turn of a side: seconds of a call, and how many calls were counted."""

    median_s: float
    least_s: float
    calls: int


class SideProcess:
    """The handle; a context manager. Every method raises SideError when the side fails."""

    def __init__(
        self, side: str, subject: str, target: Target, db: Path | None = None, wait: str = WAITS[0]
    ) -> None:
        """Build the subject of that name for a target (of libraries: on its cores, or its GPU);
        `wait` is one of WAITS and concerns peers only.
        """
        words = [side, subject, str(target), *([] if db is None else [str(db)])]
        self.name = side
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        # A process group of its own, so that children are stopped with it, in this session: then
        # the system ends it, stopped or not, when the benchmark is killed.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.peers.worker", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            process_group=0,
            env=dict(os.environ) if side in OWN else _peer_environment(wait),
            text=True,
        )
        try:
            built = self._answer()
            self.mode: str = built["mode"]
            self.facts: dict[str, Any] = built["facts"]
        except BaseException:
            self.close()
            raise

    def output(self, file: Path) -> None:
        """Save the result as `file` (.npy)."""
        self._ask({"output": str(file)})

    def time(self, seconds: float) -> Block:
        """Call for about `seconds`, at least once."""
        return Block(**self._ask({"seconds": seconds}))

    def latencies(self, pace: Pace) -> list[float]:
        """Call at that pace; seconds of every call."""
        found: list[float] = self._ask({"pace": asdict(pace)})["latencies"]
        return found

    def close(self) -> None:
        """End the process; harmless when it has ended."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
        self._errors.close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            os.killpg(self._process.pid, signal.SIGCONT)
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ProcessLookupError):
            raise SideError(f"{self.name} died: {self._complaint()}") from None
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        """The next line; the process is stopped afterwards."""
        assert self._process.stdout is not None
        watchdog = threading.Timer(LIMIT_S, os.killpg, (self._process.pid, signal.SIGKILL))
        watchdog.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watchdog.cancel()
        if not line:
            raise SideError(f"{self.name} died or took {LIMIT_S:.0f} s: {self._complaint()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise SideError(f"{self.name}: {answer['error']}")
        os.killpg(self._process.pid, signal.SIGSTOP)
        return answer

    def _complaint(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")[-ERROR_CHARACTERS:].strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _peer_environment(wait: str) -> dict[str, str]:
    policy = {} if wait == "default" else {"OMP_WAIT_POLICY": wait}
    return {**os.environ, **policy, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
