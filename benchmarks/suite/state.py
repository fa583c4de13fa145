"""What was found so far, in a JSON file that is written after every step; a run goes on from it.

    state = State.open(file, deadline)
    state.begin(head)                       anew, where what is known comes from elsewhere
    state.once("cases", name, work)         work() is found["cases"][name], unless that is known
    state.beat(name, number)                before what may crash or hang

Whoever watches the run reads from the file beside it what was the last to begin, and notes what
never ended as a fault, which the next run leaves out.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.deadline import Deadline
from tilewright.files import replacing

Row: TypeAlias = dict[str, Any]
WHOLE = ""  # the number of a step that is a fault as such


class OutOfTime(Exception):
    """The slice is over."""


@dataclass
class State:
    """See the module."""

    file: Path
    found: Row
    deadline: Deadline

    @staticmethod
    def open(file: Path, deadline: Deadline) -> State:
        """What a file has."""
        return State(file, json.loads(file.read_text()) if file.exists() else {}, deadline)

    def begin(self, head: Mapping[str, str], **more: str) -> None:
        """Put where figures come from in front; those that come from elsewhere are dropped. There
        is `more` to say of which it does not matter.
        """
        others = [v for k, v in self.found.items() if k in head and v != head[k]]
        if others:
            print(f"begun anew: known figures are of {', '.join(others)}")
        date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        known = {} if others else self.found
        self.found = {**head, **known, **more, "date": date}

    @property
    def beats(self) -> Path:
        """The file that tells what was the last to begin."""
        return self.file.with_suffix(".at")

    def beat(self, name: str, number: int | str = WHOLE) -> None:
        """Something begins. Raises OutOfTime where it should not."""
        if self.deadline.passed:
            raise OutOfTime
        self.beats.write_text(json.dumps([name, str(number)]))

    def faults(self, name: str) -> Mapping[str, str]:
        """What did not end of a step, by number."""
        found: Mapping[str, str] = self.found.get("faults", {}).get(name, {})
        return found

    def fault(self, why: str) -> bool:
        """Note that what was the last to begin did not end; False where nothing began."""
        if not self.beats.exists():
            return False
        name, number = json.loads(self.beats.read_text())
        self.beats.unlink()
        self.found.setdefault("faults", {}).setdefault(name, {})[number] = why
        self.save()
        return True

    def once(self, part: str, name: str, work: Callable[[], Any]) -> None:
        """Do a step that is neither known nor a fault."""
        known = self.found.setdefault(part, {})
        if name in known or WHOLE in self.faults(name):
            return
        self.beat(name)
        known[name] = work()
        self.save()
        print(f"{part} {name}: {_said(known[name])}", flush=True)

    def save(self) -> None:
        with replacing(self.file) as part:
            part.write_text(_text(self.found) + "\n")


def _text(found: Row) -> str:
    """JSON with a line for every step."""
    parts = []
    for key, value in found.items():
        text = json.dumps(value)
        if isinstance(value, dict) and value:
            lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
            text = f"{{\n{lines}\n }}"
        parts.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}"


def _said(value: Any) -> str:
    """A step's result in a line."""
    if not isinstance(value, dict):
        return str(value)
    shown = {k: v for k, v in value.items() if not isinstance(v, dict | list) or not v}
    counts = {k: len(v) for k, v in value.items() if isinstance(v, list) and v}
    return ", ".join(f"{k} {v}" for k, v in {**shown, **counts}.items())[:200]
