"""The hand-written kernels of tests/runtime serve here too, in this process and in workers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

FOLDERS = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "runtime")]
sys.path[:0] = [f for f in FOLDERS if f not in sys.path]


@pytest.fixture(scope="session")
def worker_env() -> dict[str, str]:
    """The environment in which builder processes find `fault_builds`."""
    return {"PYTHONPATH": os.pathsep.join(FOLDERS)}
