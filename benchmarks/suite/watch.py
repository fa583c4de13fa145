"""Runs the device's part in a process of its own, and another one when it crashed or hangs.

watch(words, state)                 what it was last at is a fault then, and left out
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks.suite.state import State

STALE_S = 120.0  # without a beat
POLL_S = 0.2
GRACE_S = 20.0  # beyond the end of the slice
MOST_FAULTS = 40


def watch(words: Sequence[str], state: State) -> int:
    """The exit status, of a process with these words and the minutes that are left."""
    for _ in range(MOST_FAULTS):
        state.beats.unlink(missing_ok=True)
        minutes = max(state.deadline.minutes, 0.0)
        command = [sys.executable, "-m", "benchmarks.gpu_suite", *words]
        child = subprocess.Popen([*command, "--worker", "--minutes", f"{minutes:.3f}"])
        try:
            why = _ended(child, state)
        finally:
            if child.poll() is None:
                child.kill()
            child.wait()
        again = State.open(state.file, state.deadline)
        if not why or (state.deadline.passed and child.returncode < 0):
            state.beats.unlink(missing_ok=True)
            return 0
        if not again.fault(why):
            return child.returncode or 1
        print(f"fault: {why}; going on without it", flush=True)
    return 1


def _ended(child: subprocess.Popen[bytes], state: State) -> str:
    """Why a process ended early, "" where it did not."""
    started = time.time()
    while child.poll() is None:
        time.sleep(POLL_S)
        beats = state.beats
        last = max(started, beats.stat().st_mtime if beats.exists() else 0.0)
        if time.time() - last > STALE_S:
            return f"nothing happened for {STALE_S:.0f} s"
        if state.deadline.minutes * 60 < -GRACE_S:
            return "nothing ended in time"
    status = child.returncode
    return f"the process ended with status {status}" if status else ""
