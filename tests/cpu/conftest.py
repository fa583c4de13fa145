"""The benchmark's cases are workloads here too, also in worker processes."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDERS = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
sys.path[:0] = [f for f in FOLDERS if f not in sys.path]
