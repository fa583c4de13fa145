"""Runs the device's part in processes of their own: another one when it was ended or crashed.

watch(words, journal)                 what it was last at is a fault then, and left out
ended(words, limit_s)                 how one process ended, with all that it started
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.deadline import Deadline
from benchmarks.suite.journal import FAULT, Journal, append

GRACE_S = 20.0  # beyond the end of the slice
MOST_PROCESSES = 60
UNUSABLE = 3  # the status of a process that leaves a device which does nothing any more


def watch(words: Sequence[str], file: Path, deadline: Deadline) -> int:
    """The exit status, of processes with these words and the minutes that are left."""
    place = Journal(file, "", deadline).place
    for _ in range(MOST_PROCESSES):
        if deadline.passed:
            return 0
        place.unlink(missing_ok=True)
        minutes = f"{deadline.minutes:.3f}"
        status = ended([*words, "--worker", "--minutes", minutes], 60 * deadline.minutes + GRACE_S)
        if not status:  # it did all, or the slice is over
            return 0
        if place.exists() and status is not None:
            _note(file, place, status)
        elif status != UNUSABLE:
            return 0 if deadline.passed else status or 1
    return 1


def _note(file: Path, place: Path, status: int) -> None:
    """A fault of what a process was at."""
    what = json.loads(place.read_text())
    place.unlink()
    limit_s = what.pop("limit_s")
    why = f"the process ended with status {status}"
    if status == -signal.SIGALRM:
        why = f"nothing in {limit_s:.0f} s"
    print(f"fault: {what['case']} {what.get('template', '')}: {why}; going on", flush=True)
    append(file, {**what, "verdict": FAULT, "why": why})


def ended(words: Sequence[str], limit_s: float) -> int | None:
    """The status of the suite with some words; None where it had to be ended. Nothing that it
    started is left.
    """
    command = [sys.executable, "-m", "benchmarks.gpu_suite", *words]
    with subprocess.Popen(command, start_new_session=True) as child:
        try:
            return child.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
