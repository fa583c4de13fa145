"""When a slice of a benchmark ends."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """When a slice ends; no case begins afterwards."""

    at: float

    @classmethod
    def after(cls, minutes: float) -> Deadline:
        return cls(time.monotonic() + 60 * minutes)

    @property
    def minutes(self) -> float:
        """What is left."""
        return (self.at - time.monotonic()) / 60

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at
