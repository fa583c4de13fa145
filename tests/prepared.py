"""Runs Python code where what makes and records programs cannot be imported."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BLOCKED = ("llvmlite", "lightgbm", "sqlalchemy", "rich", "typer")
BLOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ImportError(f"{{name}} is not there")

sys.meta_path.insert(0, Blocked())
"""


def run_blocked(code: str, words: Sequence[str], folder: Path) -> None:
    """Run `code` with these arguments in a folder; it must succeed."""
    text = BLOCK.format(blocked=BLOCKED) + code
    subprocess.run([sys.executable, "-c", text, *words], cwd=folder, check=True)
