"""What a reuse will measure: the edges of a plan's graph, for either way to reuse.

    edges = ReuseEdges(target, rules, WHOLE)
    edges.programs(member, source)       153.2, as many as algorithm 1 is expected to have
    edges.into(member, family)           {source: programs}, for the sources that come into question

RANKED   `LENGTH` programs near good ones of the source (`strategy.py`), whatever the shapes are; of
         sources of equal costs the nearest is preferred.
WHOLE    all programs of the published tuner (`rounds.py`): the mean over sampled programs that the
         source may be best in, of the sketch that has most programs while its own is not known
         (ETO, section 6.1). Sources far away have wider ranges, so just the nearest are asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log2, prod

from tilewright.cost.extractor import FeatureExtractor
from tilewright.records.rows import RECORDED
from tilewright.search.reuse.family import Nest, Operator, comparable, ratios
from tilewright.search.reuse.rounds import expected_programs
from tilewright.search.reuse.strategy import LENGTH
from tilewright.search.strategies.table import RANKED, WHOLE
from tilewright.search.tasks import TuningTask
from tilewright.space.candidate_space import Producer
from tilewright.space.derivation import Rule
from tilewright.space.space import Space
from tilewright.target import Target

NEAREST = {RANKED: 64, WHOLE: 4}  # sources that a task is given to choose from
SAMPLES = 4  # programs that a source may be best in; the paper has 10
NEARER = 1e-3  # programs that an octave counts, where two edges cost the same
APART = 4.0  # octaves between shapes of which none dominates the other


@dataclass(frozen=True)
class Member:
    """An operator that may reuse and be reused. Its records are this machine's (RECORDED), another
    one's (FOREIGN) or none.
    """

    task: TuningTask
    operator: Operator
    rules: frozenset[tuple[str, ...]]
    records: str | None = None

    @property
    def is_helper(self) -> bool:
        """Whether it has to be tuned for others alone: a bridge, or what another machine tuned."""
        return not self.task.weight and self.records != RECORDED


def distance(target: Nest, source: Nest) -> float:
    """How far a shape is from another one, in octaves between the numbers of iterations."""
    return abs(log2(prod(target) / prod(source))) + APART * (not comparable(target, source))


@dataclass
class ReuseEdges:
    """Expected programs of reuses in one `mode`; with `dominated` one of two operators has to
    dominate the other (ETO, definition 2).
    """

    target: Target
    rules: Sequence[Rule] | None
    mode: str = RANKED
    dominated: bool = False
    _known: dict[tuple[str, str], float] = field(default_factory=dict)
    _spaces: dict[str, tuple[Space, FeatureExtractor, int]] = field(default_factory=dict)

    @property
    def least(self) -> int:
        """What no reuse measures less than."""
        return LENGTH if self.mode == RANKED else 1

    def into(self, target: Member, family: Sequence[Member]) -> dict[str, float]:
        """The sources of a family that come into question, by hash, with what they cost."""
        found = [
            (self._far(target.operator, source.operator), i)
            for i, source in enumerate(family)
            if source is not target and self._may_reuse(target, source)
        ]
        nearest = (family[i] for _, i in sorted(found)[: NEAREST[self.mode]])
        costs = ((source.task.hash, self.programs(target, source)) for source in nearest)
        return {source: programs for source, programs in costs if programs}

    def programs(self, target: Member, source: Member) -> float:
        """How many `target` will measure near the programs of `source`; 0 where it has none."""
        far = NEARER * distance(target.operator.nest, source.operator.nest)
        return far + LENGTH if self.mode == RANKED else self._expected(target, source)

    def _may_reuse(self, target: Member, source: Member) -> bool:
        nests = target.operator.nest, source.operator.nest
        return target.rules <= source.rules and (not self.dominated or comparable(*nests))

    def _far(self, target: Operator, source: Operator) -> float:
        if self.mode == RANKED:
            return distance(target.nest, source.nest)
        return sum(abs(log2(ratio)) for ratio in ratios(target, source))

    def _expected(self, target: Member, source: Member) -> float:
        edge = target.task.hash, source.task.hash
        if edge not in self._known:
            space, extractor, sketch = self._space(target.task)
            self._known[edge] = expected_programs(
                space, sketch, target.operator, source.operator, SAMPLES, extractor=extractor
            )
        return self._known[edge]

    def _space(self, task: TuningTask) -> tuple[Space, FeatureExtractor, int]:
        """A task's programs, and the sketch that has most."""
        if task.hash not in self._spaces:
            space = task.space(self.target, self.rules)
            sketch = max(range(len(space.sketches)), key=lambda k: _size(space.sketches[k]))
            self._spaces[task.hash] = space, FeatureExtractor(space), sketch
        return self._spaces[task.hash]


def _size(sketch: Producer) -> float:
    return sum(log2(len(decision.table)) for decision in sketch.decisions)
