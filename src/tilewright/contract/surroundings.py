"""What runs around a task: the one thing that tells a kernel in a network from the same one alone.

    ALONE                                 called again and again with a caller's arrays
    Setting(between_bytes=98_000_000)     a kernel of a network whose weights are 98 MB

The space, the build and the measurements read it; who makes a task writes it.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFETCH_BYTES = 1 << 16  # smaller constants come quickly from anywhere


@dataclass(frozen=True, slots=True)
class Setting:
    """`between_bytes`: of other data that is read between two calls of the program; 0: it runs
    alone.
    """

    between_bytes: int = 0

    @property
    def is_alone(self) -> bool:
        """Nobody reads the outputs soon, so they may be written past the caches; inputs are the
        caller's arrays, which begin anywhere in a cache line.
        """
        return self.between_bytes == 0

    @property
    def prefetch_bytes(self) -> int:
        """The size from which constants are fetched ahead (0: none is): in a network they come from
        main memory, since others were read after their last use.
        """
        return 0 if self.is_alone else PREFETCH_BYTES


ALONE = Setting()
AMONG_OTHERS = Setting(1)  # in a network of which no more is known
