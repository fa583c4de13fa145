"""Which commit of this checkout runs."""

from __future__ import annotations

import subprocess
from pathlib import Path


def commit() -> str:
    """With "-dirty" where files differ from it; "unknown" outside of a clone."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        found = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"  # no git, or not a clone
    return found.stdout.strip()
