"""Which contractions stand back to back: one reads, through other stages, what another made.

conv 3x3, bias, relu, conv 1x1        relu links the two; a chain of two ends in the second
QKᵀ, scale, softmax, PV               the reductions between are part of the chain
scale, shift, relu, conv 1x1          relu is a prologue, the first of a chain without contraction
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from tilewright.expr.access import (
    LONGEST_CHAIN,
    MIN_REUSE,
    branches_on_position,
    is_movement,
    uses,
)
from tilewright.expr.nodes import Axis, Read
from tilewright.expr.tensors import is_constant
from tilewright.expr.traversal import free_vars, reads
from tilewright.schedule.state import Stage, State
from tilewright.space.predicates import fusible_consumer, has_data_reuse, is_factored, table_axes

Movers: TypeAlias = tuple[frozenset[str], ...]
"""For each dimension of a tensor the axes, of the stage that ends a chain, that move it."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Contractions that a stage reads through other stages: these `sources`, the nearest first,
    with what moves each, and all `stages` from them on. The last source may be a `prologue`, of
    which no contraction is a part.
    """

    sources: Mapping[str, Movers]
    stages: frozenset[str]
    prologue: str | None = None

    def moves(self, axis: str) -> bool:
        """Whether an axis moves every source: its iterations use different elements of each."""
        return all(any(axis in d for d in movers) for movers in self.sources.values())

    def moves_alone(self, axis: str) -> bool:
        """Whether its iterations have no element in common, too."""
        every = [d for movers in self.sources.values() for d in movers]
        return self.moves(axis) and all(len(d) == 1 for d in every if axis in d)

    def neighbours(self, axes: Iterable[Axis]) -> list[tuple[Axis, Axis]]:
        """Pairs of axes that move a prologue's dimensions, the outer one first."""
        if self.prologue is None:
            return []
        moving = [a for d in self.sources[self.prologue] for a in axes if a.name in d]
        return list(combinations([a for a in moving if a.extent != 1], 2))


def chains(state: State, stage: Stage) -> list[Chain]:
    """The chains of contractions that end in `stage`, shortest first."""
    if _is_factored(state):
        return []
    found: list[Chain] = []
    movers: dict[str, Movers] = {}
    sources: dict[str, Movers] = {}
    last = stage
    while len(sources) + 1 < LONGEST_CHAIN and (link := _link(state, last)) is not None:
        source, names = link
        for name in names:
            if not all(c.name in movers or c is stage for c in state.consumers(name)):
                return found
            movers[name] = _movers(state, name, stage, movers)
        sources[source] = movers[source]
        last = state[source]
        prologue = None if has_data_reuse(last) else source
        found.append(Chain(dict(sources), frozenset(movers), prologue))
    return found


def _link(state: State, stage: Stage) -> tuple[str, list[str]] | None:
    """What `stage` reads of a chain, and all stages of that, consumers first: the one contraction
    behind it, and what is between; or its prologue, and what is behind. None where there is none,
    or more, or where one must stay outside: its values are results, or tables make it large.
    """
    behind, sources = _behind(state, stage)
    if not sources:
        sources = {p.name for p in state.producers(stage.name) if is_prologue(state, p)}
        behind = set[str]().union(*(_behind(state, state[name])[0] for name in sources))
    if len(sources) != 1 or stage.name in behind:
        return None
    order = list(state.stages)
    names = sorted(behind | sources, key=order.index, reverse=True)
    if any(state.is_output(n) or table_axes(state[n]) for n in names):
        return None
    return sources.pop(), names


def _behind(state: State, stage: Stage) -> tuple[set[str], set[str]]:
    """Stages between `stage` and contractions, and these; all stages behind it where there are no
    contractions.
    """
    sources: set[str] = set()
    others: set[str] = set()
    waiting = [stage]
    while waiting:
        for producer in state.producers(waiting.pop().name):
            if producer.name in sources | others:
                continue
            if has_data_reuse(producer):
                sources.add(producer.name)
            else:
                others.add(producer.name)
                waiting.append(producer)
    if not sources:
        return others, sources
    reached = set(sources)
    for name in (n for n in state.stages if n in others):
        if any(p.name in reached for p in state.producers(name)):
            reached.add(name)
    return reached - sources, sources


def _movers(state: State, name: str, end: Stage, known: Mapping[str, Movers]) -> Movers:
    """What moves a stage, all of whose consumers are `known` or the `end`."""
    found = [frozenset[str]() for _ in state[name].compute.axes]
    for consumer in state.consumers(name):
        if consumer is end:
            theirs = {a.name: frozenset((a.name,)) for a in end.axes}
        else:
            axes = [a.name for a in consumer.compute.axes]
            theirs = dict(zip(axes, known[consumer.name], strict=True))
        for read in reads(consumer.compute.body):
            if read.tensor.name == name:
                for d, index in enumerate(read.indices):
                    found[d] = found[d].union(*(theirs.get(n, ()) for n in free_vars(index)))
    return tuple(found)


def links_contractions(state: State, stage: Stage) -> bool:
    """Whether a contraction reads, moved at most, what this stage makes of another's results: its
    elements are then used many times, and worth storing.
    """
    compute = stage.compute
    if _is_factored(state):
        return False
    if compute.reduce_axes or isinstance(compute.body, Read) or branches_on_position(compute):
        return False
    if fusible_consumer(state, stage) is not None:
        return False
    return _feeds_contraction(state, stage) and bool(_behind(state, stage)[1])


def is_prologue(state: State, stage: Stage) -> bool:
    """Whether this is an operand that arithmetic alone makes of given tensors, and whose elements
    the only reader, a contraction, uses many times.
    """
    readers = state.consumers(stage.name)
    if _is_factored(state) or len(readers) != 1:
        return False
    if state.is_output(stage.name) or not has_data_reuse(readers[0]) or table_axes(readers[0]):
        return False
    found = [r for r in reads(readers[0].compute.body) if r.tensor.name == stage.name]
    if len(found) != 1 or uses(readers[0].tensor, found[0]) < MIN_REUSE:
        return False
    behind, sources = _behind(state, stage)
    computes = [stage.compute, *(state[n].compute for n in behind)]
    if sources or any(c.reduce_axes for c in computes):
        return False
    given = {r.tensor for c in computes for r in reads(c.body) if r.tensor.name not in behind}
    return not all(map(is_constant, given)) and not all(is_movement(c.body) for c in computes)


def _feeds_contraction(state: State, stage: Stage) -> bool:
    """Whether a contraction reads the stage, through others that reduce nothing."""
    seen: set[str] = set()
    waiting = [stage]
    while waiting:
        for consumer in state.consumers(waiting.pop().name):
            if has_data_reuse(consumer):
                return True
            if consumer.name not in seen and not consumer.compute.reduce_axes:
                seen.add(consumer.name)
                waiting.append(consumer)
    return False


def _is_factored(state: State) -> bool:
    """Whether a reduction was split in two stages, which is no chain."""
    return any(map(is_factored, state.stages.values()))
