"""One tuning task: a subgraph, its search space, and what has been measured of it.

    task = TuningTask("conv1", dag, weight=3)
    search = TaskSearch(task, target, model, make_strategy)
    batch = search.propose(seed, n)          deterministic given what was told before
    search.tell(batch, results)

After a kill a new `TaskSearch` is told the recorded rounds in order, and goes on as the old one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from math import log
from typing import Any, Protocol

import numpy as np

from tilewright.contract.arguments import described
from tilewright.contract.gene import Gene
from tilewright.contract.sizes import timed_points
from tilewright.contract.surroundings import ALONE, Setting
from tilewright.cost.candidates import Population, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.serialize import (
    dag_from_json,
    dag_to_json,
    extents,
    structure_hash,
    workload_hash,
)
from tilewright.ground.errors import InputError, RunError
from tilewright.ground.text import one_line
from tilewright.records.rows import Trial, WorkloadRow
from tilewright.schedule.by_size import KEY as BY_SIZE
from tilewright.schedule.by_size import programs_of
from tilewright.schedule.templates import Template
from tilewright.search.model.cost_model import CostModel
from tilewright.search.model.training_set import TrainingSet
from tilewright.search.strategies.evolution import TEMPLATE, Scored, named
from tilewright.search.strategies.memory import Candidate, Listed, ProposalMemory, as_population
from tilewright.search.strategies.table import Maker, Strategy
from tilewright.search.task_scheduler import TaskInfo
from tilewright.space.by_size import SAVING, combined
from tilewright.space.derivation import Rule
from tilewright.space.space import Space
from tilewright.target import CpuTarget, Target

UNFINISHED = "unfinished"
"""The stage of a program that had no time to end, which is not known to fail."""
PARTS = "parts"  # where what the records of the task's parts make up comes from
FEW = 64  # programs of a space that tell roughly what a task takes, by their estimates


@dataclass(frozen=True, eq=False)
class TuningTask:
    """A subgraph to optimise. `weight` is how often the model runs it, `setting` among what."""

    name: str
    dag: ComputeDAG
    weight: float = 1.0
    setting: Setting = ALONE

    @staticmethod
    def of(row: WorkloadRow) -> TuningTask:
        """A recorded task, of weight 0: nobody waits for it."""
        dag = dag_from_json(row.dag)
        return TuningTask(row.name, dag, 0.0, Setting(row.between_bytes))

    @cached_property
    def hash(self) -> str:
        """The workload's hash: another one in a network, where other programs are best."""
        return task_hash(self.computation, self.setting)

    @cached_property
    def computation(self) -> str:
        """The hash of the computation: names and constant values do not count."""
        return workload_hash(self.dag)

    @cached_property
    def structure(self) -> str:
        """The shape-free hash: tasks with equal ones are similar."""
        return structure_hash(self.dag)

    def space(
        self,
        target: Target,
        rules: Sequence[Rule] | None = None,
        templates: Sequence[Template] | None = None,
    ) -> Space:
        """The programs it can be, by the target's own rules and templates where none are given."""
        return Space(self.dag, target, rules, self.setting, templates)

    @cached_property
    def flops(self) -> int:
        """Those of a call: with sizes the mean over the points, as its latency is."""
        if not self.dag.sizes:
            return self.dag.useful_flops
        points = timed_points(self.dag.sizes)
        return round(sum(p.weight * self.dag.at(p.values).useful_flops for p in points))

    @property
    def row(self) -> WorkloadRow:
        """What the records say of it."""
        return WorkloadRow(
            hash=self.hash,
            name=self.name,
            dag=dag_to_json(self.dag),
            structure_hash=self.structure,
            extents=tuple(extents(self.dag.heaviest)),
            flops=self.flops,
            between_bytes=self.setting.between_bytes,
        )


def task_hash(computation: str, setting: Setting) -> str:
    """What a task is known by: its computation, which is another task where others run between,
    however much these read.
    """
    if setting.is_alone:
        return computation
    return sha256(f"network {computation}".encode()).hexdigest()


def infos_of(tasks: Sequence[TuningTask], latencies: Sequence[float]) -> list[TaskInfo]:
    """What a scheduler knows of tasks whose default programs take so many seconds."""
    pairs = zip(tasks, latencies, strict=True)
    return [TaskInfo(task.name, task.flops, task.structure, s) for task, s in pairs]


def nearest(
    rows: Iterable[WorkloadRow], tasks: Sequence[TuningTask], count: int
) -> list[WorkloadRow]:
    """The recorded workloads that say most of `tasks`: others than these, of the same structure
    first, then those whose FLOPs differ least.
    """
    mine = {task.hash for task in tasks}

    def distance(row: WorkloadRow) -> tuple[bool, float, str]:
        away = [
            (row.structure_hash != t.structure, abs(log(max(row.flops, 1) / max(t.flops, 1))))
            for t in tasks
        ]
        return *min(away), row.hash

    return sorted((row for row in rows if row.hash not in mine), key=distance)[:count]


class AllFailedError(RunError):
    """Every candidate of a batch failed in the same way; `results` are theirs, to be recorded."""

    def __init__(self, message: str, results: Sequence[Measured]) -> None:
        super().__init__(message)
        self.results = tuple(results)


class Measured(Protocol):
    """One candidate's result, as a measurer gives it. `latencies_s` is empty after a failure.
    `region_s` is what a region without work took beside it; None where that is not known.
    `points_s` are the latencies at the points of a task with sizes.
    """

    @property
    def latencies_s(self) -> Sequence[float]: ...

    @property
    def stage(self) -> str: ...

    @property
    def error(self) -> str | None: ...

    @property
    def message(self) -> str: ...

    @property
    def build_s(self) -> float: ...

    @property
    def run_s(self) -> float: ...

    @property
    def region_s(self) -> float | None: ...

    @property
    def points_s(self) -> Sequence[float]: ...


class Measurer(Protocol):
    """Builds, checks and times candidates. The tuner wires no device; this is all it sees."""

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
    ) -> Sequence[Measured]:
        """Results of programs, in order, checked against those of the program `default`; as if that
        took `default_s`, which was measured before (None: as they are).

        Raises AllFailedError for a batch that fails alike, others when nothing can be measured.
        """
        ...

    def confirm(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene]
    ) -> Sequence[Sequence[float]]:
        """Latencies of finalists, one for each of some fresh processes, where they take turns with
        the default program; none of a program that failed.
        """
        ...

    def close(self) -> None:
        """Stop worker processes."""
        ...


def estimated_s(space: Space, extractor: FeatureExtractor) -> float:
    """About what the default program of a space takes: the least estimate of a few programs."""
    few = space.sample(np.random.default_rng(0), FEW)
    return float(extractor.latency(few).min())


@dataclass
class TaskSearch:
    """Search state of one task.

    `reference_s` is what the default program took first, which all figures of the search compare
    with. `default_s` and `best_s` are what is told: the search's own figures, and once `confirmed`
    those of turns that the two programs took. `expected_s` is what the default program is taken
    for while it was not measured, `fault` what came of it instead of a figure. `composed` is what
    the records of the task's parts make up. `rounds` have been told, so many more are `under_way`.
    `points_s` are latencies of programs with sizes at the points. `placed` were seen in the network
    that the task is of.
    """

    task: TuningTask
    space: Space
    strategy: Strategy
    extractor: FeatureExtractor
    rounds: int = 0
    trials: int = 0
    errors: int = 0
    default_s: float | None = None
    reference_s: float | None = None
    default: Gene | None = None
    best_s: float | None = None
    best: Gene | None = None
    finalists: list[tuple[float, Gene]] = field(default_factory=list)
    exhausted: bool = False
    confirmed: bool = False
    expected_s: float | None = None
    fault: str = ""
    composed: Gene | None = None
    under_way: int = 0
    points_s: dict[Gene, Sequence[float]] = field(default_factory=dict)
    placed: set[Gene] = field(default_factory=set)

    def __post_init__(self) -> None:
        """What no strategy proposes is measured first."""
        self.offered = Listed(ProposalMemory(self.space), self._offered, with_score=False)

    @staticmethod
    def start(
        task: TuningTask,
        space: Space,
        model: CostModel,
        make: Maker,
        composed: Gene | None = None,
    ) -> TaskSearch:
        """A search that has measured nothing."""
        extractor = FeatureExtractor(space)
        strategy = make(space, extractor, model)
        for name in ("ask", "tell"):
            if not callable(getattr(strategy, name, None)):
                raise InputError(
                    f"a strategy has the methods ask(rng, n) and tell(batch, latencies); "
                    f"{described(strategy)} has no {name}"
                )
        return TaskSearch(task, space, strategy, extractor, composed=composed)

    def _offered(self) -> Scored:
        """What the records of the task's parts make up, then vendors' programs: they are as good as
        measured ones get; then the programs that a default one by size is made of.
        """
        composed = [] if self.composed is None else [self.composed]
        begun = [] if self.default is None else [gene for _, gene in programs_of(self.default)]
        first, rest = self._rows(composed), self.space.offered
        parts = self._rows([gene for gene in begun if gene != self.default])
        origins = (PARTS, first), (TEMPLATE, rest), (BY_SIZE, parts)
        origin = np.concatenate([named(name, len(found)) for name, found in origins])
        return Scored(concatenate([first, rest, parts]), np.zeros(len(origin)), origin)

    def _rows(self, genes: Iterable[Gene]) -> Population:
        """The candidates that genes are."""
        found = (self.space.row_of(gene) for gene in genes)
        return concatenate([self.space.nobody, *(one for one in found if one is not None)])

    @property
    def begun(self) -> bool:
        """Whether its default program is known, though it may have failed."""
        return self.default is not None

    def estimate_s(self) -> float:
        """About what its default program takes: the least estimate of a few programs."""
        return estimated_s(self.space, self.extractor)

    @property
    def next_round(self) -> int:
        """The number of the round to be proposed."""
        return self.rounds + self.under_way

    @property
    def is_open(self) -> bool:
        """Whether a round may be proposed before the last ones are told."""
        return not self.under_way or callable(getattr(self.strategy, "expect", None))

    def propose(self, seed: int, n: int) -> list[Candidate]:
        """The candidates of the next round; the same ones whenever the state is the same."""
        entropy = [seed, zlib.crc32(self.task.hash.encode()), self.next_round]
        rng = np.random.default_rng(entropy)
        batch = [*self._by_size(), *self.offered.ask(rng, n)][:n]
        if len(batch) < n:
            asked = self.strategy.ask(rng, n - len(batch))
            if not isinstance(asked, list) or not all(isinstance(c, Candidate) for c in asked):
                raise InputError(
                    f"the strategy {type(self.strategy).__name__} gives, when asked, no list of "
                    f"candidates, as ProposalMemory makes them, but {one_line(repr(asked), 80)}"
                )
            batch += asked
        self.exhausted = not batch
        return batch

    def _by_size(self) -> list[Candidate]:
        """What measured programs make together, if that is new and promises more than the best.
        A GPU's launches know no conditions.
        """
        is_cpu = isinstance(self.space.target, CpuTarget)
        found = combined(self.task.dag.sizes, self.points_s) if is_cpu else None
        if found is None or self.best_s is None:
            return []
        gene, seconds = found
        is_known = gene in self.offered.memory.genes or seconds > (1 - SAVING) * self.best_s
        proposed = [] if is_known else [self._beside(gene, BY_SIZE)]
        self.offered.memory.remember(proposed)
        return proposed

    def _beside(self, gene: Gene, origin: str) -> Candidate:
        """A program of no sketch."""
        return Candidate(len(self.space.sketches), (0,) * self.space.width, gene, origin)

    def see(self, trials: Iterable[Trial]) -> None:
        """Remember latencies at points."""
        self.points_s |= {t.gene: t.points_s for t in trials if t.points_s}

    def expect(self, batch: Sequence[Candidate]) -> None:
        """A round that is to be measured, and told later."""
        self.under_way += 1
        if callable(expect := getattr(self.strategy, "expect", None)):
            expect(*self._scored(batch))

    def tell(self, batch: Sequence[Candidate], latencies: Sequence[float | None]) -> None:
        """Close a round with its results: seconds, or None for a failure."""
        self.under_way = max(0, self.under_way - 1)
        self.offered.tell(batch, latencies)
        self.strategy.tell(*self._scored(batch, latencies))
        self.rounds += 1
        self.trials += len(batch)
        for one, latency in zip(batch, latencies, strict=True):
            if latency is None:
                self.errors += 1
            else:
                self.note(latency, one.gene)

    def note(self, latency: float, gene: Gene) -> None:
        """Consider a measured program for the best ones."""
        self.finalists.append((latency, gene))
        self.finalists = sorted(self.finalists, key=lambda found: (found[0], found[1].text))[:4]
        if self.best_s is None or latency < self.best_s:
            self.best_s, self.best = latency, gene

    def learn(
        self,
        rows: TrainingSet,
        batch: Sequence[Candidate],
        latencies: Sequence[float | None],
        regions_s: Sequence[float | None],
    ) -> None:
        """Add a round to the training set; a failed program has a throughput of 0."""
        batch, latencies, regions_s = self._scored(batch, latencies, regions_s)
        if not batch:
            return
        features, owner = self.extractor.extract(as_population(batch))
        rows.append(
            features,
            owner,
            np.array([0.0 if s is None else 1.0 / s for s in latencies]),
            workload=self.task.hash,
            round_id=self.rounds,
            region_s=np.array(regions_s, np.float64),
        )

    def candidate(self, trial: Trial) -> Candidate | None:
        """A recorded program as a candidate; None where it is none of this task."""
        if trial.gene.key == BY_SIZE:
            return self._beside(trial.gene, trial.origin)
        here = self.space.row_of(trial.gene)
        if here is None:
            return None
        return Candidate.at(here, trial.gene, trial.origin, trial.predicted)

    def _scored(self, batch: Sequence[Candidate], *columns: Sequence[Any]) -> list[Any]:
        """A batch and what is known of it, without programs of which no model speaks: strategies
        do not see them.
        """
        kept = [i for i, one in enumerate(batch) if one.sketch < len(self.space.sketches)]
        return [[column[i] for i in kept] for column in (batch, *columns)]
