"""Which commit of this checkout runs, and how far the repository has come since another.

commit()                  "40df0a5361c0", or "40df0a5361c0-dirty" where files differ from it
changed()                 these files
number_of("40df0a5361c0")         625
origins(result)           the machines and commits that the parts of a result name

It is the newest commit that changed more than results: committing these is no other state of the
code.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).parents[1]
WRITTEN = (
    "benchmarks/results",
    "docs/performance.md",
    "docs/results",
)  # by benchmarks, not by hand
UNKNOWN, DIRTY = "unknown", "-dirty"


def commit() -> str:
    """The state of the code."""
    others = [f":(exclude){path}" for path in WRITTEN]
    name = _git("log", "-1", "--format=%h", "--abbrev=12", "--", ".", *others)
    if not name:
        return UNKNOWN  # no git, or not a clone
    return f"{name}{DIRTY}" if changed() else name


def changed() -> list[str]:
    """Tracked files that differ from the commit, results aside."""
    others = [f":(exclude){path}" for path in WRITTEN]
    found = _git("diff", "--name-only", "HEAD", "--", ".", *others)
    return found.split("\n") if found else []


@cache
def number_of(name: str) -> int | None:
    """A commit's place in the repository, counted from its first; None where it is not there, or
    not all of the history is.
    """
    if _git("rev-parse", "--is-shallow-repository") != "false":
        return None
    found = _git("rev-list", "--count", name.removesuffix(DIRTY), "--")
    return int(found) if found else None


def _git(*words: str) -> str:
    """What git says; nothing where it fails."""
    try:
        found = subprocess.run(
            ["git", *words], cwd=REPOSITORY, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()


# ---- results ------------------------------------------------------------------------------------


class Origin(NamedTuple):
    """What a part of a result says of itself; "" where it says nothing."""

    machine: str
    commit: str


def origins(found: Mapping[str, Any]) -> Counter[Origin]:
    """Where the parts of a result come from, and how many each: its cases, or the whole where they
    do not say. A part without a machine is of the whole's.
    """
    head = found.get("provenance", found)
    machine = head.get("machine", "")
    parts = Counter(
        Origin(part.get("machine", machine), part["commit"])
        for part in _parts(found)
        if part is not head
    )
    if not parts and "commit" in head:
        parts[Origin(machine, head["commit"])] += 1
    return parts


def _parts(found: Any) -> Iterator[Mapping[str, Any]]:
    """All objects in a JSON file that name a commit."""
    if isinstance(found, Mapping):
        if "commit" in found:
            yield found
        for value in found.values():
            yield from _parts(value)
    elif isinstance(found, list):
        for value in found:
            yield from _parts(value)
