"""What else this machine is doing while we measure, in words.

    watch = LoadWatch(cpus=available_cpus())
    ...                                     some seconds of tuning
    watch.look()                            "another program takes 1.0 of 2 cores", or ""

Between two looks it compares how long the cores were busy (`/proc/stat`) with what this process and
its workers used (`/proc/<pid>/stat` of all descendants). The rest are other programs; time that a
hypervisor gave to other machines counts beside it. Where a system does not say (no `/proc`, a
container that hides it) nothing is known, which is an answer, not an error.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from tilewright.target import available_cpus

PROC = Path("/proc")
# Columns of a line of /proc/stat after its name. Guests' time is part of "user" already, and a core
# that waits for a disk is free.
WORKING = (0, 1, 2, 5, 6)  # user, nice, system, irq, softirq
STEAL = 7
# Of /proc/<pid>/stat after the name, which may hold spaces: the parent, then time in user and
# system mode, then the same of children that have ended.
PARENT, TIMES = 1, slice(11, 15)
# Cores that others take, and that a hypervisor withholds, from where figures suffer; a system's own
# services take a few hundredths.
OTHERS, STOLEN = 0.2, 0.1
SHORTEST_S = 0.5  # counters move in hundredths of a second


@dataclass(frozen=True, slots=True)
class Reading:
    """The counters at one moment, in seconds of one core."""

    at_s: float
    working_s: float
    stolen_s: float
    own_s: float


@dataclass(frozen=True, slots=True)
class Load:
    """Cores that others took between two readings, and that a hypervisor gave away, of `cores`."""

    others: float
    stolen: float
    cores: int

    @staticmethod
    def between(before: Reading, after: Reading, cores: int) -> Load:
        """The readings are of different moments."""
        elapsed_s = after.at_s - before.at_s
        own_s = max(0.0, after.own_s - before.own_s)
        others = max(0.0, after.working_s - before.working_s - own_s) / elapsed_s
        stolen = (after.stolen_s - before.stolen_s) / elapsed_s
        return Load(min(float(cores), others), min(float(cores), stolen), cores)

    @property
    def reason(self) -> str:
        """Why the machine is busy, in words; empty if it is not."""
        parts = []
        if self.others >= OTHERS:
            parts.append(f"another program takes {self.others:.1f} of {self._cores}")
        if self.stolen >= STOLEN:
            parts.append(f"the hypervisor withholds {self.stolen:.1f} of {self._cores}")
        return ", ".join(parts)

    @property
    def _cores(self) -> str:
        return "1 core" if self.cores == 1 else f"{self.cores} cores"


class LoadWatch:
    """Tells the load since its last look."""

    def __init__(
        self,
        cpus: Collection[int] | None = None,
        read: Callable[[], Reading | None] | None = None,
    ) -> None:
        """`cpus` are those that count (None: all that this process may use)."""
        chosen = available_cpus() if cpus is None else cpus
        self._cores = len(chosen)
        self._read = read or (lambda: read_counters(chosen))
        self._last = self._read()
        self._reason = ""

    def look(self) -> str:
        """Why the machine has been busy since the last look, empty if it was not or nothing is
        known; soon after a look, the same answer again.
        """
        before, now = self._last, self._read()
        if now is None or before is None:
            self._last, self._reason = now, ""
        elif now.at_s - before.at_s >= SHORTEST_S:
            self._last, self._reason = now, Load.between(before, now, self._cores).reason
        return self._reason


def read_counters(cpus: Collection[int], proc: Path = PROC) -> Reading | None:
    """The counters now; None where the system does not say. `cpus` are the cores that count."""
    now = time.monotonic()
    try:
        second = float(os.sysconf("SC_CLK_TCK"))
        lines = (proc / "stat").read_text().splitlines()
        mine = {f"cpu{number}" for number in cpus}
        ticks = [[int(x) for x in line.split()[1:]] for line in lines if line.split()[0] in mine]
        working = sum(row[i] for row in ticks for i in WORKING)
        stolen = sum(row[STEAL] for row in ticks)
        own = _ticks_of_family(os.getpid(), proc)
    except (OSError, ValueError, IndexError):
        return None
    if not ticks or own is None:
        return None
    return Reading(now, working / second, stolen / second, own / second)


def _ticks_of_family(root: int, proc: Path) -> int | None:
    """Processor time of a process and all its descendants, those that have ended included; None if
    it is not there.
    """
    parents: dict[int, int] = {}
    used: dict[int, int] = {}
    for file in proc.glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        pid = int(file.parent.name)
        parents[pid], used[pid] = int(fields[PARENT]), sum(map(int, fields[TIMES]))
    return sum(used[p] for p in _descendants(root, parents)) if root in used else None


def _descendants(root: int, parents: dict[int, int]) -> Iterable[int]:
    """`root` and all below it."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, ())
    return found
