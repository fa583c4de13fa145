"""Which commit of this checkout runs, and how far the repository has come since another.

commit()                  "40df0a5361c0", or "40df0a5361c0-dirty" where files differ from it
changed()                 these files
number_of("40df0a5361c0")         625

It is the newest commit that changed more than results: committing these is no other state of the
code.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
WRITTEN = ("benchmarks/results", "docs/performance.md")  # by benchmarks, not by hand
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
