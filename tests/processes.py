"""Which processes are alive, for tests that start some.

processes_with("MARK=1")     ids of the living processes whose environment has the mark
children()                   ids of this process's children, those not yet reaped included
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def processes_with(mark: str) -> set[int]:
    """Living processes whose environment has `mark`; one that has ended has no environment."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes():
                found.add(int(folder.name))
    return found


def children() -> set[int]:
    """Children of this process, the dead that nobody has waited for included."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            after_name = (folder / "stat").read_text().rpartition(")")[2]
            if int(after_name.split()[1]) == os.getpid():
                found.add(int(folder.name))
    return found
