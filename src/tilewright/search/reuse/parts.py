"""A program for contractions that share a kernel, from the records of their parts: each in loops of
its own, as the best program of that part by itself has it.

    parts = Parts(database, machine, target)
    parts.program(task)               Composed(gene, seconds, sources) or None

A model that was tuned while its contractions had kernels of their own has no record of the chain.
Its unchained sketches are those of the parts, one after the other, so that the parts' decisions are
decisions of the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from tilewright.contract.gene import Gene, Value, compact, read_decisions
from tilewright.contract.surroundings import Setting
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr.access import has_data_reuse
from tilewright.expr.dag import ComputeDAG, divided
from tilewright.expr.serialize import workload_hash
from tilewright.records.machine import Machine
from tilewright.records.reader import Reader
from tilewright.records.rows import DEFAULT, Trial, best_first
from tilewright.search.reuse.correspondence import renaming
from tilewright.search.tasks import TuningTask, task_hash
from tilewright.space.candidate_space import Producer
from tilewright.space.decisions import Decision
from tilewright.space.space import Space
from tilewright.target import Target

TRIED = 32  # programs of a part, its best: of their sketches one may be that of the whole


@dataclass(frozen=True)
class _Part:
    """A program of a part: its sketch and decisions, in the names of the whole."""

    name: str
    space: Space
    seconds: float
    sketch: Producer
    decisions: Mapping[str, Value]
    places: frozenset[str]
    untuned: Trial | None

    @property
    def untuned_s(self) -> tuple[float, float] | None:
        """What its untuned program took, and its estimate; None where that is not recorded."""
        seconds = None if self.untuned is None else self.untuned.measured_s
        found = None if self.untuned is None else self.space.row_of(self.untuned.gene)
        if seconds is None or found is None:
            return None
        return seconds, float(FeatureExtractor(self.space).latency(found)[0])


@dataclass(frozen=True)
class Composed:
    """A program made of those of recorded tasks."""

    gene: Gene
    parts: tuple[_Part, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """These tasks, by name."""
        return tuple(part.name for part in self.parts)

    @property
    def seconds(self) -> float:
        """What their programs took in all."""
        return _seconds(self.parts)

    @property
    def usual(self) -> float:
        """What their untuned programs took of their estimates, in the sum; 1 where these are not
        recorded.
        """
        pairs = [pair for pair in (part.untuned_s for part in self.parts) if pair is not None]
        took, expected = (sum(column) for column in zip(*pairs, strict=True)) if pairs else (1, 1)
        return took / expected


@dataclass(frozen=True)
class Parts:
    """What a machine's records know of the parts of chains."""

    database: Reader
    machine: Machine
    target: Target

    def program(self, task: TuningTask, space: Space | None = None) -> Composed | None:
        """The program of the task, in its `space` if at hand, that its recorded parts make up; None
        where one of them has no record, or the task no sketch of theirs.
        """
        for dags in divisions(task.dag.heaviest):
            found = self._programs(dags, task.setting)
            if not found:
                continue
            space = space or task.space(self.target)
            for parts in sorted(product(*found), key=_seconds):
                gene = _composed(space, parts)
                if gene is not None:
                    return Composed(gene, parts)
        return None

    def _programs(self, dags: Sequence[ComputeDAG], setting: Setting) -> list[list[_Part]]:
        """The programs of each part; none of any where one of them has none."""
        found = []
        for dag in dags:
            computation = workload_hash(dag)
            hashes = dict.fromkeys((task_hash(computation, setting), computation))
            programs = next(filter(None, (self._known(h, dag) for h in hashes)), None)
            if programs is None:
                return []
            found.append(programs)
        return found

    def _known(self, hash_: str, dag: ComputeDAG) -> list[_Part]:
        """The best recorded program of each sketch, of the best few."""
        row = self.database.workload(hash_)
        if row is None:
            return []
        trials = list(self.database.trials(hash_, self.machine.fingerprint))
        untuned = next((t for t in trials if t.origin == DEFAULT and t.ok), None)
        task = TuningTask.of(row)
        space, names = task.space(self.target), _Names.of(task.dag.heaviest, dag)
        found: dict[int, _Part] = {}
        for trial in best_first(trials)[:TRIED]:
            program = space.row_of(trial.gene)
            if program is None or trial.latency_s is None or int(program.sketch[0]) in found:
                continue
            sketch = space.sketches[int(program.sketch[0])]
            values = read_decisions(trial.gene.decisions)
            found[int(program.sketch[0])] = _Part(
                name=row.name,
                space=space,
                seconds=trial.latency_s,
                sketch=sketch,
                decisions={names.decision(d): values[d.name] for d in sketch.decisions},
                places=frozenset(map(names.place, sketch.variant)),
                untuned=untuned,
            )
        return list(found.values())


def _seconds(parts: Sequence[_Part]) -> float:
    return sum(part.seconds for part in parts)


def divisions(dag: ComputeDAG) -> Iterator[list[ComputeDAG]]:
    """The ways to cut a DAG into parts of one contraction each, first to last, each part but the
    last handing on one tensor.
    """
    contractions = [stage for stage in dag.stages if has_data_reuse(stage)]
    if len(contractions) < 2:
        return
    outputs = {t.name for t in dag.outputs}
    for stage in dag.stages:
        if stage.name in outputs:
            continue
        both = divided(dag, stage)
        if both is None or sum(map(has_data_reuse, both[0].stages)) != 1:
            continue
        first, rest = both
        if sum(map(has_data_reuse, rest.stages)) == 1:
            yield [first, rest]
        else:
            yield from ([first, *others] for others in divisions(rest))


@dataclass(frozen=True)
class _Names:
    """What the tensors of a recorded DAG are called in an equal one. Axes are called the same, some
    of them as a tensor is.
    """

    renamed: Callable[[str], str]

    @staticmethod
    def of(recorded: ComputeDAG, mine: ComputeDAG) -> _Names:
        return _Names(renaming(dict(zip(_tensors(recorded), _tensors(mine), strict=True))))

    def decision(self, decision: Decision) -> str:
        """A decision's name: `conv.w` becomes `conv2.w`, `conv.fetch.x` `conv2.fetch.y`."""
        what, *rest = decision.name.removeprefix(f"{decision.stage}.").split(".")
        return ".".join([self.renamed(decision.stage), what, *map(self.renamed, rest)])

    def place(self, text: str) -> str:
        """Where a stage is computed: `conv_pad: at conv` becomes `conv2_pad: at conv2`."""
        stage, _, where = text.partition(": ")
        return f"{self.renamed(stage)}: {self.renamed(where) if where[:3] == 'at ' else where}"


def _tensors(dag: ComputeDAG) -> list[str]:
    return [t.name for t in (*dag.inputs, *dag.constants, *dag.stages)]


def _composed(space: Space, parts: Sequence[_Part]) -> Gene | None:
    """The gene of the sketch that does what the parts' sketches do, if it is valid."""
    decisions = {name: value for part in parts for name, value in part.decisions.items()}
    rules = Counter(rule for part in parts for rule in part.sketch.rules)
    places = frozenset().union(*(part.places for part in parts))
    for sketch in space.sketches:
        named = {d.name for d in sketch.decisions}
        if Counter(sketch.rules) != rules or set(sketch.variant) != places or named - {*decisions}:
            continue
        gene = Gene(sketch.producer, compact({d.name: decisions[d.name] for d in sketch.decisions}))
        program = space.row_of(gene)
        if program is not None and space.valid(program).all():
            return gene
    return None
