"""What a tuning run shows while it lasts, and at its end.

    Progress ─► snapshot.py: a copy ─► lines.py: sentences   ─► display.py: on a terminal, in a log
                                       table.py: its tasks

The command line and `tune(progress=True)` show the same.
"""

from tilewright.progress.display import Display, display, print_summary, showing
from tilewright.progress.snapshot import Snapshot
from tilewright.progress.table import TaskTable

__all__ = ["Display", "Snapshot", "TaskTable", "display", "print_summary", "showing"]
