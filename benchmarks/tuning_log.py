"""How a network became faster while it was tuned, slice by slice.

    log = TuningLog.beside(db)                       networks.db.slices.json
    with log.slice("resnet50-b1") as tick:           tick() after every round: a kill loses nothing
        tune(model, callbacks=[tick])
    log.seconds("resnet50-b1")                       wall time of all slices
    points(tasks, trials, log.clock("resnet50-b1"))  [Point(trials, seconds, latency_s), ...]

A latency is the estimate that the search has: every task's best measured program, weighted by how
often the network runs it. Time stands still between slices.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tilewright.records.rows import DEFAULT, Trial

STEP = 0.995  # a new point of a curve is at least that much better than the one before
INF = float("inf")


@dataclass
class Slice:
    """One stretch of tuning; Unix times."""

    case: str
    started: float
    ended: float


@dataclass
class TuningLog:
    """All slices of a database."""

    file: Path
    slices: list[Slice]

    @classmethod
    def beside(cls, db: Path) -> TuningLog:
        """The log of a database. Raises ValueError when its file is something else."""
        file = db.with_name(f"{db.name}.slices.json")
        if not file.exists():
            return cls(file, [])
        try:
            return cls(file, [Slice(**entry) for entry in json.loads(file.read_text())])
        except (ValueError, TypeError) as error:
            raise ValueError(f"{file} is no log of tuning: {error}") from error

    @contextlib.contextmanager
    def slice(self, case: str) -> Iterator[Callable[..., None]]:
        """A new slice; what it gives keeps its end on disk whenever it is called."""
        now = time.time()
        self.slices.append(Slice(case, now, now))

        def tick(*_: Any) -> None:
            self.slices[-1].ended = time.time()
            partial = self.file.with_name(f"{self.file.name}.partial")
            partial.write_text(json.dumps([asdict(s) for s in self.slices], indent=1))
            partial.replace(self.file)

        try:
            yield tick
        finally:
            tick()

    def seconds(self, case: str) -> float:
        """How long the case was tuned."""
        return sum(s.ended - s.started for s in self.slices if s.case == case)

    def clock(self, case: str) -> Callable[[float], float]:
        """From Unix time to seconds of tuning this case until then."""
        mine = [s for s in self.slices if s.case == case]
        return lambda at: sum(max(0.0, min(at, s.ended) - s.started) for s in mine)


class Point(NamedTuple):
    """After so many trials and seconds, the network's estimated latency was `latency_s`."""

    trials: int
    seconds: float
    latency_s: float


def estimates(
    weights: Mapping[str, float], latencies: Iterable[tuple[str, float | None]]
) -> list[float]:
    """The weighted sum of the least latencies up to each of (task, latency), infinite at first.

    `latencies` are in the order of measuring, None for a failure.
    """
    best = dict.fromkeys(weights, INF)
    found = []
    for task, seconds in latencies:
        best[task] = min(best[task], INF if seconds is None else seconds)
        found.append(sum(weights[t] * s for t, s in best.items()))
    return found


def points(
    weights: Mapping[str, float], trials: Iterable[Trial], clock: Callable[[float], float]
) -> list[Point]:
    """Where the estimate became clearly better, and its last value.

    `weights` are by workload; `trials` those of these workloads, in any order. Default programs
    are measured before the search: they count for the latency, not as trials.
    """
    ordered = sorted(trials, key=lambda t: t.id or 0)
    values = estimates(weights, ((t.workload_hash, t.measured_s) for t in ordered))
    curve: list[Point] = []
    number = 0
    for trial, value in zip(ordered, values, strict=True):
        number += trial.origin != DEFAULT
        if value < INF and (not curve or value < STEP * curve[-1].latency_s):
            curve.append(Point(number, clock(trial.created_at), value))
    if curve and values[-1] < curve[-1].latency_s:
        first = values.index(values[-1])
        number = sum(t.origin != DEFAULT for t in ordered[: first + 1])
        curve.append(Point(number, clock(ordered[first].created_at), values[-1]))
    return curve


def reached(curve: Iterable[Point], latency_s: float) -> Point | None:
    """The first point at or below a latency."""
    return next((p for p in curve if p.latency_s <= latency_s), None)
