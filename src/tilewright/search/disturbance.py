"""What else the machine did during a tuning run: what the user is told of it.

disturbance = Disturbance(look)         look() -> "another program takes 1.0 of 2 cores", or ""
disturbance.note(elapsed_s=4.0)         after every round
disturbance.drifted(1.0e-3, 1.9e-3)     a default program's figures of two moments
disturbance.summary                     "busy for 80 % of the time: another program takes …"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

WORTH_TELLING = 0.05  # of the time
DRIFT = 1.25  # times as long as at another time
DRIFTS = 4  # figures of as many programs, before their median tells of the machine


@dataclass
class Disturbance:
    """`look` says why the machine has been busy since it was asked last, nothing if it was not."""

    look: Callable[[], str] = lambda: ""
    reason: str = ""
    seen_s: float = 0.0
    busy_s: dict[str, float] = field(default_factory=dict)  # by reason
    drifts: list[float] = field(default_factory=list)

    def note(self, elapsed_s: float) -> None:
        """Look, `elapsed_s` after the run began."""
        self.reason = self.look()
        spent_s, self.seen_s = max(0.0, elapsed_s - self.seen_s), max(elapsed_s, self.seen_s)
        if self.reason:
            self.busy_s[self.reason] = self.busy_s.get(self.reason, 0.0) + spent_s

    def drifted(self, one_s: float, other_s: float) -> None:
        """A default program took so long at two moments."""
        self.drifts.append(max(one_s, other_s) / min(one_s, other_s))

    @property
    def share(self) -> float:
        """Of the time that the machine was busy."""
        return sum(self.busy_s.values()) / self.seen_s if self.seen_s else 0.0

    @property
    def summary(self) -> str:
        """When the machine was busy and why; empty if it was not, or nothing is known."""
        parts = []
        if self.share >= WORTH_TELLING:
            usual = max(self.busy_s, key=lambda reason: self.busy_s[reason])
            parts.append(f"busy for {100 * self.share:.0f} % of the time: {usual}")
        if len(self.drifts) >= DRIFTS and median(self.drifts) >= DRIFT:
            parts.append(
                f"default programs took {median(self.drifts):.1f} times as long at one time as at "
                "another"
            )
        return "; ".join(parts)
