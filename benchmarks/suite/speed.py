"""How fast the programs of every case are, beside CUTLASS, PyTorch, Triton and our own sketches.

    first(work), run(work)              lines "quick", "final" and "turns"

The cases that are worth most come first, with the eight rows of each template that are best by the
estimate and eight that are different; then all cases in rounds of a few rows, one of every kind
after the other, so that whenever it stops every kind was measured. In a visit of a case its new
programs are checked and timed; the eight quickest are timed properly, and the best takes turns with
the others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from benchmarks.bolt_problems import Problem
from benchmarks.suite.bench import Bench, spec_of
from benchmarks.suite.cases import FIRST, SPEED
from benchmarks.suite.journal import RIGHT
from benchmarks.suite.pack import PEAKS, Program
from benchmarks.suite.peers import Peers
from benchmarks.suite.verify import Work, quantiles
from tilewright.expr.dag import ComputeDAG
from tilewright.measure.ceilings import Traffic
from tilewright.runtime.device import Seconds

FINALISTS = 8
ROUNDS, BLOCK = 7, 5  # of turns, and samples of one, which take about
BLOCK_S = 0.05  # at most
TURNS_S = 60.0  # of a side, at most
FIRST_ROWS, ROWS = 16, 4  # of each template, in a visit
SKETCHES, TEMPLATES, NATIVE = "sketches", "templates", "cutlass"
Side: TypeAlias = Callable[[int], Seconds]


def turned(names: Sequence[str]) -> list[str]:
    """One of every kind after the other."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(SPEED[name].kind, []).append(name)
    rows = itertools.zip_longest(*kinds.values())
    return [name for row in rows for name in row if name is not None]


def first(work: Work) -> None:
    """The cases that are worth most. Raises OutOfTime."""
    peers = Peers(work)
    for name in (name for name in FIRST if name in work.pack.cases):
        Visit(work, peers, name).go(slice(FIRST_ROWS))


def run(work: Work) -> None:
    """All cases, in rounds. Raises OutOfTime."""
    names = [name for name in work.pack.cases if name in SPEED]
    longest = {name: _longest(work.pack.programs(name)) for name in names}
    peers = Peers(work)
    for start in range(0, max(longest.values(), default=0), ROWS):
        for name in turned(names):
            if start < longest[name]:
                Visit(work, peers, name).go(slice(start + ROWS))
        if not start:
            ceilings(work, names)


def _longest(programs: Sequence[Program]) -> int:
    """The most programs of one template."""
    names = [p.template for p in programs]
    return max(map(names.count, set(names)), default=0)


def ceilings(work: Work, names: Sequence[str]) -> None:
    """Multiply-adds, and each case's traffic."""
    if work.journal.find(PEAKS) or work.peaks is None:
        return
    traffic = {name: traffic_of(SPEED[name].problem(work.pack.small).dag) for name in names}
    kernels = work.peaks
    with work.journal.at(PEAKS, PEAKS, None, TURNS_S):
        flops, call_s, seconds = kernels.measured(traffic.values())
    of = {name: seconds[t] for name, t in traffic.items()}
    sizes = {name: asdict(t) for name, t in traffic.items()}
    work.journal.add(PEAKS, PEAKS, fma_flops=flops, call_s=call_s, traffic_s=of, traffic=sizes)


def traffic_of(dag: ComputeDAG) -> Traffic:
    """What is read and written at least."""
    read = sum(spec_of(t).bytes for t in (*dag.inputs, *dag.constants))
    return Traffic(read, sum(spec_of(t).bytes for t in dag.outputs))


class Visit:
    """Some rows of a case."""

    def __init__(self, work: Work, peers: Peers, name: str) -> None:
        self.work, self.peers, self.name = work, peers, name

    @cached_property
    def problem(self) -> Problem:
        return SPEED[self.name].problem(self.work.pack.small)

    @cached_property
    def bench(self) -> Bench:
        return self.work.bench(self.name, self.problem.dag)

    def go(self, rows: slice) -> None:
        """Whatever is left of it."""
        if self.work.journal.is_broken(self.name):
            return
        new = False
        for program in self.work.left("quick", self.name, rows):
            new |= self.work.checked("quick", self.name, program, self.bench) is not None
        if new or not self.work.journal.find("turns", self.name):
            self._turns()

    def _turns(self) -> None:
        """The best of every kind, unless the same took turns before."""
        sides = {kind: key for kind in (TEMPLATES, NATIVE, SKETCHES) if (key := self._best(kind))}
        known = self.work.journal.find("turns", self.name).get(self.name)
        if known is not None and known.get("keys") == sides:
            return
        programs, bench = {p.key: p for p in self.work.pack.programs(self.name)}, self.bench
        calls: dict[str, Side] = {}
        for kind, key in sides.items():
            loaded = self.work.checked("again", self.name, programs[key], bench)
            if loaded is not None:
                calls[kind] = loaded.seconds
        wrong: list[str] = []
        for name, peer in self.peers.of(self.name, self.problem, bench).items():
            calls[name] = peer.seconds
            wrong += [name] * peer.is_wrong
        found = self._in_turns(calls) if calls else {}
        self.work.journal.add(
            "turns", self.name, keys=sides, wrong=wrong, flops=self.problem.dag.useful_flops,
            dtype=self.bench.output.dtype, quantiles=found, verdict=RIGHT,
            best=str(programs[sides[TEMPLATES]]) if TEMPLATES in sides else "",
        )  # fmt: skip
        shown = ", ".join(f"{side} {q[2] * 1e6:.1f} µs" for side, q in found.items())
        print(f"{self.name}: {shown}", flush=True)

    def _best(self, kind: str) -> str:
        """The key of the best program of a kind, whose quickest are timed properly."""
        ended, again = self.work.ended(self.name), self.work.journal.find("again", self.name)
        wrong = {key for key, line in again.items() if line["verdict"] != RIGHT}
        quick = [
            line
            for line in self.work.journal.find("quick", self.name).values()
            if line["verdict"] == RIGHT and kind_of(line["template"]) == kind
            if line["key"] not in ended and line["key"] not in wrong
        ]
        quick.sort(key=_median)
        programs = {p.key: p for p in self.work.pack.programs(self.name)}
        known = self.work.journal.find("final", self.name)
        timed: list[tuple[float, str]] = []
        for line in quick[: FINALISTS if kind != SKETCHES else 1]:
            key = line["key"]
            if key not in known:
                self.work.checked("final", self.name, programs[key], self.bench)
                known[key] = self.work.journal.lines[-1]
            if known[key]["verdict"] == RIGHT:
                timed.append((_median(known[key]), key))
        return min(timed, default=(math.inf, ""))[1]

    def _in_turns(self, sides: Mapping[str, Side]) -> dict[str, list[float]]:
        """Quantiles of the seconds of each side, in turns whose order rotates."""
        names = list(sides)
        seconds: dict[str, list[float]] = {name: [] for name in names}
        with self.work.journal.at("turns", self.name, None, TURNS_S * len(names)):
            counts = {n: min(max(int(BLOCK_S / side(1)[0]), 1), BLOCK) for n, side in sides.items()}
            for turn in range(ROUNDS if self.work.is_gpu else 1):
                for i in range(len(names)):
                    name = names[(turn + i) % len(names)]
                    self.work.warm()
                    seconds[name] += sides[name](counts[name]).tolist()
        return {name: quantiles(np.array(found)) for name, found in seconds.items()}


def kind_of(template: str) -> str:
    """Whose a program is."""
    return SKETCHES if not template else NATIVE if template.startswith(NATIVE) else TEMPLATES


def _median(line: Mapping[str, Any]) -> float:
    return float(np.median(line["seconds"]))
