"""What shapes, activations and depth of a model cost on this machine (Bolt, section 3.3, the
principles of system-friendly models): measured here, on the model's own tasks.

    found = advise(load("net.onnx"), minutes=3)
    found.of(ACTIVATION)        what each task's activation takes, most first
    found.of(SHAPE)             contractions whose channels are no whole vectors: what that costs
    found.of(DEEPER)            what a 1x1 convolution more takes, least of its task's time first
    found.of(BITS)              what float32 costs where bfloat16 or bytes could be multiplied

Each question is two computations: the task and a variant of it (`expr.what_if`). Both are measured
as in tuning, checked and in the setting of the network, in turns, with their default programs; with
the records' best ones where a database has both. What differs by no more than it does from turn to
turn is not told apart.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from time import monotonic

from tilewright.contract import arguments
from tilewright.contract.gene import Gene
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.reference import compute_of, sizes
from tilewright.expr.rewrites.what_if import activations, aligned, deepened, narrower, without
from tilewright.front.kernels import find_match, open_records
from tilewright.front.machine import as_target
from tilewright.front.models import Model, ModelSet, Task, as_tunable
from tilewright.front.task_measurer import TaskMeasurer
from tilewright.front.tuning_tasks import merged, parts_of
from tilewright.ground import log
from tilewright.ground.errors import TilewrightError
from tilewright.measure.load import LoadWatch
from tilewright.measure.trial import RunOptions
from tilewright.records.database import Database
from tilewright.search.disturbance import Disturbance
from tilewright.search.tasks import Measurer, TuningTask, estimated_s
from tilewright.space.default import default_gene
from tilewright.target import CpuTarget
from tilewright.target.dots import fastest

ACTIVATION, SHAPE, DEEPER, BITS = "activation", "shape", "deeper", "bits"
QUESTIONS = (ACTIVATION, SHAPE, DEEPER, BITS)
FEWER = {"of bfloat16": ("bfloat16", "bfloat16"), "of bytes": ("uint8", "int8")}
"""Types of what a contraction is given and of what it knows."""
TURNS = 5  # of each side; the median counts
Told = Callable[[int, int, str], object]
"""Hears how many tasks are done, of how many, and which one is next."""


@dataclass(frozen=True)
class Finding:
    """What one change of a task comes to. Seconds are of one call as it is (`usual_s`) and changed;
    the network makes `calls`. `work` is how many times as many operations the changed one has.
    `spread_s` is how far the cost of a call was, turn by turn, from what is told.
    """

    task: str
    question: str
    change: str
    calls: float
    usual_s: float
    changed_s: float
    work: float = 1.0
    spread_s: float = 0.0

    @property
    def equal_work_s(self) -> float:
        """A call of the changed one, for as many operations as it is."""
        return self.changed_s / self.work

    @property
    def call_s(self) -> float:
        """What the thing asked for takes of a call: the activation; channels that are no whole
        vectors, compared with a contraction of whole ones at as many operations; the 1x1
        convolution more; float32 where fewer bits would do. Below zero where it takes less than
        nothing: luck of a program.
        """
        more_s = self.usual_s - self.equal_work_s
        return -more_s if self.question == DEEPER else more_s

    @property
    def cost_s(self) -> float:
        """The same of a run of the network."""
        return self.calls * self.call_s

    @property
    def told_apart(self) -> bool:
        """Whether the turns agree that the two differ."""
        return abs(self.call_s) > self.spread_s

    @property
    def share(self) -> float:
        """The same, of what the task takes."""
        return self.cost_s / (self.calls * self.usual_s)


@dataclass(frozen=True)
class Advice:
    """All findings of a network, and the tasks that there was no time for. `busy` says when this
    machine was busy and why, nothing if it was not.
    """

    findings: tuple[Finding, ...]
    left: tuple[str, ...] = ()
    busy: str = ""

    def of(self, question: str) -> list[Finding]:
        """Those of one question: the most costly first, of 1x1 convolutions the least; what cannot
        be told apart comes last.
        """
        mine = [f for f in self.findings if f.question == question]
        if question == DEEPER:
            return sorted(mine, key=lambda f: (not f.told_apart, f.share))
        return sorted(mine, key=lambda f: (not f.told_apart, -f.cost_s))


def advise(
    model: Model | ModelSet | Task | str | Path,
    *,
    db: str | Path | None = None,
    minutes: float | None = None,
    told: Told = lambda *_: None,
) -> Advice:
    """Measure what a model's activations, odd shapes, additional 1x1 convolutions and float32
    (where the CPU multiplies fewer bits) cost on this machine's CPU.

    Of `db` the best programs are measured where it has one of a task and of its variant. After
    `minutes` no task is begun. `told` hears of every task. Raises InputError for an argument that
    cannot be, RecordsError for a database that cannot be used, and BuildError, RunError or
    WrongAnswer when a task as it is cannot be measured.
    """
    if minutes is not None:
        minutes = arguments.minutes(minutes)
    target = as_target(None)
    assert isinstance(target, CpuTarget)
    tasks, _ = merged(parts_of([as_tunable(model)], target))
    with (
        open_records(None if db is None else arguments.database(db)) as database,
        contextlib.closing(TaskMeasurer(target, options=RunOptions(repeats=1))) as measurer,
    ):
        disturbance = Disturbance(LoadWatch().look)
        return Adviser(target, measurer, database, disturbance).advise(tasks, minutes, told)


@dataclass(frozen=True)
class Adviser:
    """Asks the questions about tasks; `measurer` answers."""

    target: CpuTarget
    measurer: Measurer
    database: Database | None = None
    disturbance: Disturbance = field(default_factory=Disturbance)

    def advise(
        self,
        tasks: Sequence[TuningTask],
        minutes: float | None = None,
        told: Told = lambda *_: None,
    ) -> Advice:
        """The findings of some tasks, those that cost most first."""
        started = monotonic()
        order = sorted(tasks, key=lambda t: -t.weight * self._estimate(t))
        findings: list[Finding] = []
        left: list[str] = []
        for number, task in enumerate(order):
            if minutes is not None and number and monotonic() - started >= 60 * minutes:
                left = [t.name for t in order[number:]]
                break
            told(number, len(order), task.name)
            findings += self._ask(task)
            self.disturbance.note(monotonic() - started)
        if not left:
            told(len(order), len(order), "")
        return Advice(tuple(findings), tuple(left), self.disturbance.summary)

    def _estimate(self, task: TuningTask) -> float:
        space = task.space(self.target)
        return estimated_s(space, FeatureExtractor(space))

    def _ask(self, task: TuningTask) -> Iterator[Finding]:
        """All that there is to find out about a task; of sizes at their most."""
        task = replace(task, dag=task.dag.heaviest)
        changed: dict[tuple[str, str], ComputeDAG] = {}
        for stage, source in activations(task.dag):
            found = without(task.dag, stage, source)
            changed[ACTIVATION, f"without {stage.name}"] = found
        if (deeper := deepened(task.dag)) is not None:
            changed[DEEPER, "1x1 convolution and as many channels"] = deeper
        if changed:
            yield from self._compared(task, task.dag, changed)
        served = {x: types for x, types in FEWER.items() if fastest(self.target, *types)}
        narrow = {(BITS, x): narrower(task.dag, *types) for x, types in served.items()}
        if fewer := {key: dag for key, dag in narrow.items() if dag is not None}:
            yield from self._compared(task, task.dag, fewer)
        lanes = self.target.lanes(task.dag.outputs[0].dtype)
        if (pair := aligned(task.dag, lanes)) is not None:
            alone, whole = pair
            shapes = ("x".join(map(str, _extents(dag))) for dag in pair)
            yield from self._compared(task, alone, {(SHAPE, " -> ".join(shapes)): whole})

    def _compared(
        self, task: TuningTask, usual: ComputeDAG, changed: Mapping[tuple[str, str], ComputeDAG]
    ) -> Iterator[Finding]:
        """A finding for each change whose two sides run."""
        sides = [replace(task, dag=dag) for dag in (usual, *changed.values())]
        mine, *others = self._in_turns(sides)
        for (question, change), dag, theirs in zip(changed, changed.values(), others, strict=True):
            if pairs := [(a, b) for a, b in zip(mine, theirs, strict=True) if a and b]:
                work = dag.useful_flops / usual.useful_flops if question == SHAPE else 1.0
                seconds = (median(a for a, _ in pairs), median(b for _, b in pairs))
                found = Finding(task.name, question, change, task.weight, *seconds, work)
                turns = (replace(found, usual_s=a, changed_s=b).call_s for a, b in pairs)
                yield replace(found, spread_s=_spread([s - found.call_s for s in turns]))

    def _in_turns(self, sides: Sequence[TuningTask]) -> list[list[float | None]]:
        """Seconds of each side's program in every turn, None where a variant fails."""
        genes = self._programs(sides)
        found: list[list[float | None]] = [[] for _ in sides]
        for _ in range(TURNS):
            for side, (default, gene), kept in zip(sides, genes, found, strict=True):
                seconds = None
                try:
                    (result,) = self.measurer.measure(side, default, [gene], None)
                    seconds = median(result.latencies_s) if result.latencies_s else None
                except TilewrightError as error:
                    if side is sides[0]:
                        raise
                    log.warning("%s: a variant cannot be measured: %s", side.name, error)
                kept.append(seconds)
        return found

    def _programs(self, sides: Sequence[TuningTask]) -> list[tuple[Gene, Gene]]:
        """Each side's default program, and the one to measure."""
        defaults = [default_gene(side.space(self.target)) for side in sides]
        if self.database is None:
            return [(gene, gene) for gene in defaults]
        trials = [find_match(side, self.database, self.target).trial for side in sides]
        if any(trial is None for trial in trials):
            return [(gene, gene) for gene in defaults]
        return [(d, t.gene) for d, t in zip(defaults, trials, strict=True) if t is not None]


def _extents(dag: ComputeDAG) -> tuple[int, ...]:
    """Of the axes of a computation of one stage."""
    compute = compute_of(dag.outputs[0])
    return sizes((*compute.axes, *compute.reduce_axes))


def _spread(deviations: Sequence[float]) -> float:
    """The largest deviation but for one turn's: a moment of a busy machine may spoil that."""
    ordered = sorted(map(abs, deviations))
    return ordered[-2] if len(ordered) > 2 else ordered[-1]
