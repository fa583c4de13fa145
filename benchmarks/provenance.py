"""Where figures come from: the machine, the commit and the date that every JSON file carries."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path

from tilewright.machine import host_target, machine_of
from tilewright.target import Target


def provenance(target: Target | None = None) -> dict[str, str]:
    """Machine (None: this one's CPU), commit (with "-dirty" where files differ from it) and UTC
    date, for a JSON file.
    """
    target = target or host_target()
    units = "threads" if target.kind == "cpu" else "cores"
    return {
        "machine": f"{target.name}, {target.cores} {units}",
        "fingerprint": machine_of(target).fingerprint,
        "compiler": machine_of(target).compiler,
        "commit": _commit(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        found = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"  # no git, or not a clone
    return found.stdout.strip()
