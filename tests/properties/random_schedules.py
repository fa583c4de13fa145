"""Random schedules by hand: every step, in orders that no sketch rule would choose.

    state = random_schedule(rng, dag)       a State with up to 16 legal steps applied

An illegal step must raise ScheduleError and leave the state as it was; that is checked here too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.expr.contraction.groups import narrow_factors
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Select, Var
from tilewright.expr.rewrites.winograd import find
from tilewright.expr.rewrites.zero_terms import is_solvable
from tilewright.expr.traversal import reads
from tilewright.ground.errors import ScheduleError
from tilewright.schedule import steps
from tilewright.schedule.state import SplitRelation, Stage, State
from tilewright.space.predicates import element_expr

LENGTHS = (1, 2, 3, 4, 5, 8)
TRIES = 16

Maker = Callable[[np.random.Generator, State, Stage], steps.Step]


def one(rng: np.random.Generator, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def _split(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    lengths = tuple(one(rng, LENGTHS) for _ in range(int(rng.integers(1, 4))))
    return steps.Split(stage.name, one(rng, stage.leaves), lengths)


def _splits(state: State) -> list[tuple[str, SplitRelation]]:
    stages = state.stages.values()
    return [(s.name, r) for s in stages for r in s.relations if isinstance(r, SplitRelation)]


def _follow(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    found = _splits(state)
    if not found:
        return _split(rng, state, stage)
    source, relation = one(rng, found)
    if rng.random() < 0.5:
        leaves = tuple(r.parent for s, r in found if s == source)
        level = int(rng.integers(0, 3))
        return steps.FollowFusedSplit(stage.name, one(rng, stage.leaves), source, leaves, level)
    parts = int(rng.integers(1, len(relation.children) + 2))
    return steps.FollowSplit(stage.name, one(rng, stage.leaves), source, relation.parent, parts)


def _fuse(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    at = int(rng.integers(len(stage.leaves)))
    return steps.Fuse(stage.name, tuple(stage.leaves[at : at + int(rng.integers(2, 4))]))


def _reorder(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    leaves = [stage.leaves[i] for i in rng.permutation(len(stage.leaves))]
    levels, rest = [], leaves
    while rest:
        size = int(rng.integers(1, 4))
        levels.append(tuple(rest[:size]))
        rest = rest[size:]
    return steps.Reorder(stage.name, tuple(levels))


def _compute_at(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    target = one(rng, state.consumers(stage.name) or list(state.stages.values()))
    while target.attach is not None and rng.random() < 0.3:
        target = state[target.attach.target]
    return steps.ComputeAt(stage.name, target.name, int(rng.integers(len(target.groups) + 1)))


def _store_at(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    """Where a stage is computed now, if it is inside another."""
    inside = [s for s in state.stages.values() if s.attach is not None]
    if not inside:
        return _compute_at(rng, state, stage)
    kept = one(rng, inside)
    assert kept.attach is not None
    return steps.StoreAt(kept.name, kept.attach.target, kept.attach.level)


def _cache_read(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    return steps.CacheRead(one(rng, reads(stage.compute.body)).tensor.name, (stage.name,))


def _widen_read(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    """Of a product of narrow numbers if there is one."""
    found = [
        (s.name, factor.tensor.name)
        for s in state.stages.values()
        for factor in narrow_factors(element_expr(s)) or ()
    ]
    other = (stage.name, one(rng, reads(stage.compute.body)).tensor.name)
    return steps.WidenRead(*one(rng, found or [other]))


def _pack_read(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    """Along two plain indices of a read if there are any; else of what has no such read."""
    found = [
        (s.name, r.tensor.name, [i.name for i in r.indices if isinstance(i, Var)])
        for s in state.stages.values()
        for r in reads(s.compute.body)
    ]
    name, tensor, plain = one(rng, [f for f in found if len({*f[2]}) > 1] or found)
    depth, lanes = rng.permutation(plain)[:2] if len({*plain}) > 1 else ("k", "j")
    return steps.PackRead(name, tensor, str(depth), str(lanes), one(rng, LENGTHS))


def _rfactor(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    axis = one(rng, stage.compute.reduce_axes or stage.axes).name
    return steps.RFactor(stage.name, axis, one(rng, LENGTHS), bool(rng.random() < 0.5))


def _annotate(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    kind = one(rng, ("vector", "unrolled", "serial"))
    return steps.Annotate(stage.name, one(rng, stage.leaves), kind)


def _parallel(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    return steps.Parallel(stage.name, int(rng.integers(0, 3)))


def _align(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    return steps.Mark(stage.name, "align", one(rng, LENGTHS))


def _rewrite(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    return steps.LayoutRewrite(stage.name, one(rng, reads(stage.compute.body)).tensor.name)


def _skip_zeros(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    """Where there are zeros to skip; else inline a stage that may insert some; else somewhere."""
    solvable = [s for s in state.stages.values() if is_solvable(s.compute)]
    if solvable:
        return steps.SkipZeros(one(rng, solvable).name)
    inserting = [s for s in state.stages.values() if isinstance(s.compute.body, Select)]
    if inserting:
        return steps.ComputeInline(one(rng, inserting).name)
    return steps.SkipZeros(stage.name)


def _winograd(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    """Of a convolution if there is one; tiles of 2, for which small integers are not rounded."""
    found = [(s, w) for s in state.stages.values() if (c := find(s.compute)) for w in c.windows]
    if not found:
        return steps.Winograd(stage.name, (stage.axes[0].name,), 2)
    chosen, window = one(rng, found)
    windows = tuple(w.axis for s, w in found if s is chosen)
    kind = one(rng, (steps.Winograd, steps.WinogradGrid))
    return kind(chosen.name, one(rng, ((window.axis,), windows)), 2)


def _stream(rng: np.random.Generator, state: State, stage: Stage) -> steps.Step:
    return steps.Mark(one(rng, state.dag.outputs).name, "streamed", int(rng.integers(0, 2)))


MAKERS: tuple[tuple[Maker, float], ...] = (
    (_split, 5), (_follow, 2), (_fuse, 2), (_reorder, 4), (_compute_at, 5), (_store_at, 1),
    (_cache_read, 1), (_widen_read, 1), (_pack_read, 0.5),
    (lambda rng, state, stage: steps.ComputeInline(stage.name), 1),
    (lambda rng, state, stage: steps.ComputeRoot(stage.name), 0.3),
    (lambda rng, state, stage: steps.CacheWrite(stage.name), 1),
    (lambda rng, state, stage: steps.Mark(stage.name, "unroll_step", 16), 0.3),
    (_skip_zeros, 2.5), (_winograd, 2.5), (_stream, 0.5),
    (_rfactor, 1), (_annotate, 2), (_parallel, 1), (_align, 1), (_rewrite, 1),
)  # fmt: skip
_WEIGHTS = np.array([w for _, w in MAKERS]) / sum(w for _, w in MAKERS)


def random_step(rng: np.random.Generator, state: State) -> steps.Step:
    """Some step on some stage; it may well be illegal."""
    stage = one(rng, list(state.stages.values()))
    make = MAKERS[int(rng.choice(len(MAKERS), p=_WEIGHTS))][0]
    if not stage.leaves or not stage.compute.axes or not reads(stage.compute.body):
        return steps.ComputeRoot(stage.name)
    return make(rng, state, stage)


def random_schedule(rng: np.random.Generator, dag: ComputeDAG) -> State:
    """Apply random steps, skipping the illegal ones."""
    state = State(dag)
    for _ in range(TRIES):
        step = random_step(rng, state)
        before = repr((state.stages, state.trace))
        try:
            state.apply(step)
        except ScheduleError as error:
            assert str(error), step
            assert repr((state.stages, state.trace)) == before, f"{step} failed half way: {error}"
    return state
