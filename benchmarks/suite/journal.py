"""What was found: a line of JSON for every program, on disk before the next begins.

    journal = Journal.open(file, known, card, deadline, keys)     what is known of this card
    with journal.at("quick", case, program, 8.0): …           who takes longer is ended, and noted
    journal.add("quick", case, program, verdict="right", quantiles=[…])
    journal.find("quick", case)                               {key of a program: line}

Lines are only added, and each says which card it is of and what its program is made of: a run goes
on from those of its own card and programs, in any number of files, and leaves the others alone, so
that a template that was mended is tried again. `at` sets a clock that ends the process, in the
driver or wherever it is; whoever watches it reads what it was at from the file beside the lines.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.deadline import Deadline
from benchmarks.suite.pack import Program
from tilewright.ground.files import replacing

Line: TypeAlias = dict[str, Any]
SUFFIX = ".jsonl"
RIGHT, WRONG, FAILED, FAULT = "right", "wrong", "failed", "fault"
FAULTS = (WRONG, FAILED, FAULT)
MOST_FAULTS = 2  # of a template, after which it is out


class OutOfTime(Exception):
    """The slice is over."""


@dataclass
class Journal:
    """See the module. `clock_mhz` is what the card's clock was found to be last, `failed` the last
    error with the innermost of what it came out of.
    """

    file: Path
    card: str
    deadline: Deadline
    lines: list[Line] = field(default_factory=list)
    clock_mhz: float | None = None
    failed: tuple[Exception, str] | None = None

    @staticmethod
    def open(
        file: Path, known: Sequence[Path], card: str, deadline: Deadline, keys: Collection[str]
    ) -> Journal:
        """With what files say of a card, and of programs with these keys."""
        journal = Journal(file, card, deadline)
        for each in dict.fromkeys([*known, file]):
            mine = (line for line in read(each) if line["card"] == card)
            journal.lines += [x for x in mine if "key" not in x or x["key"] in keys]
        return journal

    def add(self, step: str, case: str, program: Program | None = None, **found: Any) -> Line:
        """Keep a line, at once."""
        line = {"step": step, "card": self.card, "clock_mhz": self.clock_mhz, "case": case}
        if program is not None:
            line |= {"key": program.key, "template": program.template, "row": program.row}
        line |= {**found, "at": round(time.time(), 1)}
        append(self.file, line)
        self.lines.append(line)
        return line

    def find(self, step: str, case: str | None = None) -> dict[str, Line]:
        """The last line of a step for every program; of one that has none, of every case."""
        return {
            line.get("key", line["case"]): line
            for line in self.lines
            if line["step"] == step and case in (None, line["case"])
        }

    def faults(self, template: str) -> int:
        """How many programs of a template failed."""
        return len(
            {
                (line["case"], line.get("key"))
                for line in self.lines
                if line.get("verdict") in FAULTS and line.get("template") == template
            }
        )

    def is_out(self, template: str) -> bool:
        """Whether enough is known of a template."""
        return bool(template) and self.faults(template) >= MOST_FAULTS

    def is_broken(self, case: str) -> bool:
        """Whether a process ended at what is no program's: at a case's arrays, or its turns."""
        return any(
            line["case"] == case and "key" not in line and line.get("verdict") == FAULT
            for line in self.lines
        )

    def leave(self, error: Exception) -> None:
        """Have whoever watches note what an error came out of."""
        if self.failed is not None and self.failed[0] is error:
            self._begin(self.failed[1])

    @property
    def place(self) -> Path:
        """The file that tells what was the last to begin."""
        return self.file.with_suffix(".at")

    @contextmanager
    def at(self, step: str, case: str, program: Program | None, limit_s: float) -> Iterator[None]:
        """What takes no longer; the clock of what is around it stands still. Raises OutOfTime
        where it should not begin.
        """
        if self.deadline.passed:
            raise OutOfTime
        what = {"step": step, "card": self.card, "case": case, "limit_s": limit_s}
        if program is not None:
            what |= {"key": program.key, "template": program.template, "row": program.row}
        around = self.place.read_text() if self.place.exists() else None
        self._begin(what := json.dumps(what))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # which ends what is in the driver, too
        left_s, _ = signal.setitimer(signal.ITIMER_REAL, limit_s)
        try:
            yield
        except Exception as error:
            if self.failed is None or self.failed[0] is not error:
                self.failed = error, what
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, left_s)
            if around is None:
                self.place.unlink(missing_ok=True)
            else:
                self._begin(around)

    def _begin(self, what: str) -> None:
        with replacing(self.place) as part:
            part.write_text(what)


def read(file: Path) -> list[Line]:
    """The lines of a file; one that was cut off is none."""
    found = []
    for text in file.read_text().splitlines() if file.exists() else ():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict) and {"step", "card", "case"} <= line.keys():
            found.append(line)
    return found


def append(file: Path, line: Mapping[str, Any]) -> None:
    """Add a line that stays, whatever happens next."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab+") as out:
        if out.tell():
            out.seek(-1, os.SEEK_END)
            if out.read() != b"\n":  # a process ended as it wrote
                out.write(b"\n")
        out.write(json.dumps(line).encode() + b"\n")
        out.flush()
        os.fsync(out.fileno())
