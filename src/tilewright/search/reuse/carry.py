"""A program for an operator without records: a relative's, carried over and not measured.

    carrier = Carrier(database, machine, target)
    carrier.program(task)                          Carried(gene, source) or None

The nearest recorded relatives are asked. One whose search made little of its untuned program says
that there is little to make. Of the others the best program is carried where a cost model that has
learnt from that relative's records expects it to be so much faster than the operator's own untuned
program. (The estimate cannot tell: untuned programs are what it likes best.)
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

from tilewright.contract.gene import Gene
from tilewright.cost.candidates import Population, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.features import COLUMNS
from tilewright.records.machine import Machine
from tilewright.records.reader import Reader
from tilewright.records.rows import best_first
from tilewright.search.model.cost_model import GradientBoostedModel
from tilewright.search.model.training_set import TrainingSet, pretrain
from tilewright.search.reuse.correspondence import Correspondence, Named
from tilewright.search.reuse.edges import distance
from tilewright.search.reuse.family import Family, Operator
from tilewright.search.reuse.parts import Parts
from tilewright.search.reuse.run import gain_of, well_known
from tilewright.search.reuse.strategy import KNOWN, WORTH
from tilewright.search.strategies.table import GuidedScore
from tilewright.search.tasks import TuningTask
from tilewright.space.default import default_of
from tilewright.space.space import Space
from tilewright.target import Target

ASKED = 3  # relatives, the nearest ones
TRIED = 8  # of a relative's best programs, until one has a counterpart


@dataclass(frozen=True)
class Carried:
    """A program as that of another operator, `source` by name."""

    gene: Gene
    source: str


@dataclass
class Carrier:
    """Knows the operators that a machine's records hold good programs of."""

    database: Reader
    machine: Machine
    target: Target
    _models: dict[str, GradientBoostedModel] = field(default_factory=dict)

    def program(self, task: TuningTask) -> Carried | None:
        """What the records of a task's parts make up, or the nearest relative's program; None where
        none promises to be any faster than the untuned one.
        """
        composed = Parts(self.database, self.machine, self.target).program(task)
        if composed is not None:
            space = task.space(self.target)
            extractor = FeatureExtractor(space)
            expected_s = composed.usual * extractor.latency(default_of(space, extractor))[0]
            is_faster = composed.seconds < expected_s
            return Carried(composed.gene, ", ".join(composed.sources)) if is_faster else None
        here = Operator.of(task.dag.heaviest)

        def far(source: TuningTask) -> float:
            return distance(here.nest, Operator.of(source.dag.heaviest).nest)

        relatives = sorted(self._known.get(here.family, ()), key=far)[:ASKED]
        if not relatives:
            return None
        mine = Named(task.space(self.target), here)
        for source in relatives:
            found = self._carried(mine, source)
            if found is not None:
                return Carried(found, source.name)
        return None

    @cached_property
    def _known(self) -> dict[Family, list[TuningTask]]:
        found: dict[Family, list[TuningTask]] = defaultdict(list)
        for task in well_known(self.database, self.machine.fingerprint):
            found[Operator.of(task.dag.heaviest).family].append(task)
        return found

    def _carried(self, mine: Named, source: TuningTask) -> Gene | None:
        """The best of a source's programs that has a counterpart, if it is worth it."""
        trials = list(self.database.trials(source.hash, self.machine.fingerprint))
        if gain_of(trials) < WORTH:
            return None
        there = Named(source.space(self.target), Operator.of(source.dag.heaviest))
        genes = [trial.gene for trial in best_first(trials)[:TRIED]]
        for program in filter(None, map(there.space.row_of, genes)):
            like = Correspondence(there, int(program.sketch[0]), mine)
            near = like.nearest(program.rows[0])
            if len(near):
                return self._if_faster(mine.space, near, source.hash, there.space)
        return None

    def _if_faster(
        self, space: Space, program: Population, source: str, taught: Space
    ) -> Gene | None:
        """A program's gene where a model that knows the source's records expects WORTH of it."""
        extractor = FeatureExtractor(space)
        if source not in self._models:
            rows = TrainingSet(len(COLUMNS))
            pretrain(rows, self.database, self.machine.fingerprint, {source: taught})
            self._models[source] = GradientBoostedModel()
            self._models[source].update(rows)
        score = GuidedScore(extractor, self._models[source], measured=KNOWN)
        carried, untuned = score(concatenate([program, default_of(space, extractor)]))
        if carried < WORTH * untuned:
            return None
        return space.gene(int(program.sketch[0]), program.rows[0])
