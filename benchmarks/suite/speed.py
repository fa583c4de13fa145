"""The second part: the fastest program of every case, beside PyTorch and the ordinary sketches.

    run(state, pack, device)            {"peaks": …, "cases": {name: row}}

Every program is checked and, unless its first run took far too long, timed once. The eight
quickest templates are timed properly, and the best of them takes turns with the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

import numpy as np

from benchmarks.bolt_problems import Peer, Problem
from benchmarks.gpu_peaks import measured
from benchmarks.suite.bench import Bench, Loaded, spec_of
from benchmarks.suite.cases import SPEED
from benchmarks.suite.pack import Pack, Program
from benchmarks.suite.state import Row, State
from benchmarks.suite.verify import failed, left
from benchmarks.torch_graphs import Repeated, Torch
from tilewright.errors import RunError, WrongAnswer
from tilewright.expr.dag import ComputeDAG
from tilewright.measure.ceilings import Traffic
from tilewright.runtime.device import Device, Seconds

FINALISTS = 8
SAMPLES = 10  # of a finalist
ROUNDS, BLOCK = 7, 5  # of turns, and samples of one, which take about
BLOCK_S = 0.05  # at most
HOPELESS, HOPELESS_S = 4, 5e-3  # times the quickest, and seconds, of a run that is not sampled
SKETCHES, TEMPLATES = "sketches", "templates"
Side: TypeAlias = Callable[[int], Seconds]


def run(state: State, pack: Pack, device: Device) -> None:
    """All cases that the state lacks. Raises OutOfTime."""
    names = [name for name in pack.cases if name in SPEED]
    problems = {name: SPEED[name].problem(pack.small) for name in names}
    state.once("peaks", "peaks", lambda: peaks(device, problems))
    torch = opened(device)
    state.once("facts", "peer", lambda: torch.version if torch else "none")
    for name in names:
        work = Work(state, pack, device, torch, name, problems[name])
        state.once("cases", name, work.row)


def opened(device: Device) -> Torch | None:
    """PyTorch; None where it is not here, or has no GPU."""
    try:
        found = Torch(device.target.kind == "cuda")
    except ImportError as error:
        print(f"no peer: {error}")
        return None
    if found.device == "cuda" and not found.torch.cuda.is_available():
        print(f"no peer: PyTorch {found.torch.__version__} finds no GPU")
        return None
    return found


def peaks(device: Device, problems: Mapping[str, Problem]) -> Row:
    """Float32 operations a second, and the seconds of every case's traffic."""
    traffic = {name: traffic_of(problem.dag) for name, problem in problems.items()}
    flops, call_s, seconds = measured(device, traffic.values())
    return {
        "fma_flops": flops,
        "call_s": call_s,
        "traffic_s": {name: seconds[t] for name, t in traffic.items()},
        "traffic": {name: asdict(t) for name, t in traffic.items()},
    }


def traffic_of(dag: ComputeDAG) -> Traffic:
    """What is read and written at least."""
    read = sum(spec_of(t).bytes for t in (*dag.inputs, *dag.constants))
    return Traffic(read, sum(spec_of(t).bytes for t in dag.outputs))


class Work:
    """A case that is measured."""

    def __init__(
        self,
        state: State,
        pack: Pack,
        device: Device,
        torch: Torch | None,
        name: str,
        problem: Problem,
    ) -> None:
        self.state, self.pack, self.device, self.torch = state, pack, device, torch
        self.name, self.problem = name, problem

    def row(self) -> Row:
        """What is found of it."""
        bench = Bench(self.device, self.problem.dag)
        found: Row = {
            "flops": self.problem.dag.useful_flops,
            "dtype": bench.output.dtype,
            "programs": 0,
            "wrong": [],
            "failed": [],
            "quick_s": {},
        }
        sides: dict[str, Side] = {}
        quick = self._quick(bench, found)
        best = self._best([q for q in quick if q[1].template], found)
        if best is not None:
            sides[TEMPLATES] = best.seconds
        for _, program, loaded in quick:
            if not program.template:
                sides[SKETCHES] = loaded.seconds
        peers = self._peers(bench, found) if self.torch else {}
        if peers:
            found["peer"] = quickest = min(peers, key=lambda p: np.median(peers[p].seconds(3)))
            sides["peer"] = peers[quickest].seconds
        self.state.beat(self.name)
        return {**found, **{f"{side}_s": s for side, s in in_turns(sides).items()}}

    def _quick(self, bench: Bench, found: Row) -> list[tuple[float, Program, Loaded]]:
        """The quickest programs of templates, and the one of the ordinary sketches, by a sample."""
        kept: list[tuple[float, Program, Loaded]] = []
        every: dict[str, list[float]] = found["quick_s"]
        least_s = math.inf
        for number, program in left(self.state, self.pack.programs(self.name), self.name, found):
            found["programs"] += 1
            try:
                loaded = bench.load(program.artifact)
                seconds = loaded.check()
                if seconds < max(HOPELESS_S, HOPELESS * least_s) or not program.template:
                    seconds = float(loaded.seconds(1)[0])
            except WrongAnswer as error:
                found["wrong"].append(f"{program}: {error}")
                continue
            except RunError as error:
                failed(self.device, f"{program}: {error}", found, number)
                continue
            least_s = min(least_s, seconds)
            every.setdefault(program.template or SKETCHES, []).append(float(f"{seconds:.3g}"))
            kept.append((seconds, program, loaded))
            kept.sort(key=lambda q: q[0] if q[1].template else -math.inf)
            del kept[FINALISTS + 1 :]
        return kept

    def _best(
        self, finalists: Sequence[tuple[float, Program, Loaded]], found: Row
    ) -> Loaded | None:
        """The best of some templates."""
        timed = [
            (float(np.median(loaded.seconds(SAMPLES))), str(program), loaded)
            for _, program, loaded in finalists
        ]
        timed.sort(key=lambda t: t[0])
        found["finalists"] = [[program, seconds] for seconds, program, _ in timed]
        return timed[0][2] if timed else None

    def _peers(self, bench: Bench, found: Row) -> dict[str, Repeated]:
        """PyTorch's ways that give the right answer, in graphs."""
        torch = self.torch
        assert torch is not None
        tensors = torch.given(self.problem, bench.arrays)
        kept: dict[str, Repeated] = {}
        for number, peer in enumerate((self.problem.peer, *self.problem.others)):
            name, call = f"way {number}", called(peer, torch, tensors)
            if name in self.state.faults(self.name):
                continue
            self.state.beat(self.name, name)
            try:
                bench.expected.check(torch.output(call))
                kept[name] = torch.repeated(call)
            except (WrongAnswer, RuntimeError, NotImplementedError) as error:
                found.setdefault("peer_errors", []).append(f"{name}: {error}"[:300])
        return kept


def called(peer: Peer, torch: Torch, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    return lambda: peer(torch.torch, tensors)


def in_turns(sides: Mapping[str, Side]) -> dict[str, float]:
    """Seconds of each side: the median of its turns, whose order rotates."""
    names = list(sides)
    counts = {name: min(max(int(BLOCK_S / side(1)[0]), 1), BLOCK) for name, side in sides.items()}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(ROUNDS):
        for i in range(len(names)):
            name = names[(turn + i) % len(names)]
            seconds[name].append(float(np.median(sides[name](counts[name]))))
    return {name: float(np.median(found)) for name, found in seconds.items()}
