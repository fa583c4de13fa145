"""One operator's program as programs of another: which sketches and decisions stand for which.

    here = Correspondence(relative, sketch, mine)
    here.sketches                         numbers of this space's sketches that do the same
    here.neighbours(rng, row, 2048)       valid programs of theirs near candidate `row` there

Stages go by what they are to the major one: itself, its operands, theirs, what comes after it; axes
by their position in the stage. What one side lacks (padding, an axis of one element) is not asked
for, or free.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from tilewright.cost.candidates import Floats, Ints, Population, concatenate
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.reference import compute_of
from tilewright.schedule.producers import takes
from tilewright.schedule.state import Role
from tilewright.schedule.templates import templates_of
from tilewright.search.reuse.family import Operator
from tilewright.space.candidate_space import Producer
from tilewright.space.decisions import Decision, TileFactors
from tilewright.space.derivation import Rule, derive
from tilewright.space.rules import rules_of
from tilewright.space.space import Space
from tilewright.space.templates import BY_TEMPLATE
from tilewright.target import Target

OUTWARD = 0.5  # what a tile level counts, relative to the next inner one
OTHER_CHOICE = 2.0  # how far another option is, in octaves of an innermost tile
NEAR = 512  # programs near one, to take the nearest valid one of
TEMPERATURE = 1.0  # octaves further, and a value is drawn 1/e as often


LAST = "m>1"  # the role of the stage that stores results
OF_STORED = ("parallel", "streamed")  # decisions of the loops that store a stage's results


def kin(rules: Iterable[str]) -> tuple[str, ...]:
    """The rules of a sketch that tell what it can do: a write cache only stands for the consumer
    that an operator by itself lacks.
    """
    return tuple(name for name in rules if name != "add_cache_write")


def abilities(
    dag: ComputeDAG, target: Target, rules: Sequence[Rule] | None
) -> frozenset[tuple[str, ...]]:
    """The `kin` of all sketches of a DAG, by these rules or the target's, without its space; and of
    templates, where the target has some for it.
    """
    derived = derive(dag, target, rules_of(target) if rules is None else rules)
    made = [(BY_TEMPLATE,) for template in templates_of(target) if takes(dag, template)]
    return frozenset([*(kin(d.rules) for d in derived), *made])


class Named:
    """A space whose sketches and decisions go by what they are to the operator's major stage."""

    def __init__(self, space: Space, operator: Operator) -> None:
        self.space, self.operator = space, operator
        every = [s for sketch in space.sketches for s in sketch.stages.values()]
        caches = [s.name for s in every if s.role is Role.CACHE and s.work == operator.stage]
        known = roles(space.dag, operator.stage)
        self._renamed = renaming(known | dict.fromkeys(caches, "m"))

    def places(self, sketch: Producer) -> set[str]:
        """Where a sketch has its stages computed: `conv_pad: at conv` becomes `m<0: at m`."""
        return {self._place(text, sketch) for text in sketch.variant}

    def decision(self, decision: Decision, sketch: Producer) -> str:
        """A decision's name: `conv.rc` becomes `m.#6`, `conv.fetch.x.conv` `m.fetch.m<0.m`."""
        axes = self._axes(decision.stage, sketch)
        what, *rest = decision.name.removeprefix(f"{decision.stage}.").split(".")
        words = [axes[what], *rest] if what in axes else [what, self._renamed(".".join(rest))]
        stage = self._stage(decision.stage, sketch) if what in OF_STORED else None
        return ".".join([stage or self._renamed(decision.stage), *filter(None, words)])

    def _place(self, text: str, sketch: Producer) -> str:
        stage, _, what = text.partition(": ")
        *words, last = what.split(" ")
        at = words == ["at"]
        last = self._stage(last, sketch) if at else self._axes(stage, sketch).get(last, last)
        return f"{self._stage(stage, sketch)}: {' '.join([*words, last])}"

    def _stage(self, name: str, sketch: Producer) -> str:
        """A stage's role: where the major one has a write cache, what copies that is to it what the
        last stage is to others.
        """
        others = (s for s in sketch.stages.values() if s.name != name)
        is_copy = name == self.operator.stage and any(s.work == name for s in others)
        return LAST if is_copy else self._renamed(name)

    def _axes(self, name: str, sketch: Producer) -> Mapping[str, str]:
        """The axes of the stage of the DAG that one is, or is made of, by number."""
        if name not in sketch.stages:
            return {}
        compute = compute_of(self.space.dag.tensor(sketch.stages[name].node))
        return {a.name: f"#{i}" for i, a in enumerate((*compute.axes, *compute.reduce_axes))}


def renaming(names: Mapping[str, str]) -> Callable[[str], str]:
    """What puts other names of tensors into a text."""
    longest = sorted(names, key=lambda name: (-len(name), name))
    pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, longest))})(?!\w)")
    return lambda text: pattern.sub(lambda found: names[found[0]], text)


def roles(dag: ComputeDAG, major: str) -> dict[str, str]:
    """What each tensor is to the major stage, by name: "m" itself, "m<0" its first operand, "m<0<1"
    the second operand of that, "m>1" the last stage that is none of these, "m>2" the one before.
    """
    found = {major: "m"}
    queue = [major]
    for name in queue:  # which grows meanwhile
        for i, tensor in enumerate(dag.producers(dag.tensor(name))):
            if tensor.name not in found:
                found[tensor.name] = f"{found[name]}<{i}"
                queue.append(tensor.name)
    after = [t for t in dag.stages if t.name not in found]
    for number, stage in enumerate(reversed(after), 1):
        found[stage.name] = f"m>{number}"
    for stage in after:
        for i, tensor in enumerate(dag.producers(stage)):
            found.setdefault(tensor.name, f"{found[stage.name]}<{i}")
    return found


class Correspondence:
    """Between one sketch of a relative's space, `there`, and the space `here`."""

    def __init__(self, there: Named, sketch: int, here: Named) -> None:
        self.there, self.here = there, here
        self._sketch = sketch
        given = there.space.sketches[sketch]
        self._given = {there.decision(d, given): there.space.span(d) for d in given.decisions}

    @cached_property
    def sketches(self) -> list[int]:
        """The sketches here of the same rules, with most stages in the same places."""
        theirs = self.there.space.sketches[self._sketch]
        places = self.there.places(theirs)
        agreement = {
            k: len(places & self.here.places(sketch))
            for k, sketch in enumerate(self.here.space.sketches)
            if kin(sketch.rules) == kin(theirs.rules)
        }
        most = max(agreement.values(), default=0)
        return [k for k, n in agreement.items() if n == most]

    def distances(self, row: Ints, sketch: int) -> list[Floats]:
        """How far each value of each decision of a sketch here is from what the relative's
        candidate `row` has, in octaves.
        """
        found = []
        mine = self.here.space.sketches[sketch]
        for decision in mine.decisions:
            span = self._given.get(self.here.decision(decision, mine))
            found.append(_distance(decision, None if span is None else row[span]))
        return found

    def neighbours(self, rng: np.random.Generator, row: Ints, n: int) -> Population:
        """At most `n` valid programs here near candidate `row` there, the nearest first. Values are
        drawn more often the nearer they are.
        """
        share = -(-n // max(1, len(self.sketches)))
        drawn = [self._drawn(rng, row, k, share) for k in self.sketches]
        every = concatenate([self.here.space.nobody, *(population for population, _ in drawn)])
        far = np.concatenate([np.zeros(0), *(far for _, far in drawn)])
        _, first = np.unique(np.column_stack([every.sketch, every.rows]), axis=0, return_index=True)
        first = first[self.here.space.satisfied(every[first])]
        return every[first[np.argsort(far[first], kind="stable")]]

    def nearest(self, row: Ints) -> Population:
        """The nearest valid program here to candidate `row` there, if one is found: choices taken
        one by one may exclude each other.
        """
        return self.neighbours(np.random.default_rng(0), row, NEAR)[:1]

    def _drawn(
        self, rng: np.random.Generator, row: Ints, number: int, n: int
    ) -> tuple[Population, Floats]:
        """Programs of one sketch, the nearest values of all first, and how far they are."""
        space = self.here.space
        rows, total = np.zeros((n, space.width), np.int64), np.zeros(n)
        decisions = space.sketches[number].decisions
        for decision, far in zip(decisions, self.distances(row, number), strict=True):
            odds = np.exp((far.min() - far) / TEMPERATURE)
            at = rng.choice(len(far), n, p=odds / odds.sum())
            at[:1] = far.argmin()
            rows[:, space.span(decision)] = decision.table[at]
            total += far[at]
        return Population(rows, np.full(n, number)), total


def _distance(decision: Decision, given: Ints | None) -> Floats:
    """How far each value of a decision is from a relative's, `[cardinality]`; a tile that the
    relative does not have is 1, any option is as near as the others.
    """
    table = decision.table
    if isinstance(decision, TileFactors):
        levels = table.shape[1]
        wanted = np.ones(levels) if given is None or len(given) != levels else given
        octaves: Floats = np.abs(np.log2(table / wanted)) @ OUTWARD ** np.arange(levels)[::-1]
        return octaves
    if given is None:
        return np.zeros(len(table))
    return np.where((table == given).all(axis=1), 0.0, OTHER_CHOICE)
