"""Processes that do nothing but keep cores busy.

    with BusyLoops(2):
        ...                       two loops run here, and none afterwards, whatever happens

The system ends them when the process that started them dies without a word.
"""

from __future__ import annotations

import os
import subprocess
import sys
from types import TracebackType
from typing import Self

# It asks to be killed with its parent (PR_SET_PDEATHSIG is 1), unless that died before.
LOOP = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    sys.exit()
print(flush=True)
while True: pass
"""


class BusyLoops:
    """A context manager: `count` processes that all loop once it is entered."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        words = [sys.executable, "-S", "-E", "-c", LOOP, str(os.getpid())]
        try:
            for _ in range(self.count):
                self.processes.append(
                    subprocess.Popen(
                        words,
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                    )
                )
            for process in self.processes:
                assert process.stdout is not None
                process.stdout.readline()
            self.check()
        except BaseException:
            self.close()
            raise
        return self

    def check(self) -> None:
        """Raises RuntimeError when a loop has ended: what is measured then meets less load."""
        ended = [p.returncode for p in self.processes if p.poll() is not None]
        if ended:
            raise RuntimeError(f"{len(ended)} of {self.count} busy loops ended by themselves")

    def close(self) -> None:
        """End them all; harmless when they have ended."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.communicate()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
