"""Bound inference: extents of every loop, values of every axis, windows of attached stages.

    infer_bounds(state)["conv"] -> StageBounds

Consumers come first. A stage at the root computes its whole tensor. An attached stage computes,
per axis, the *window* its consumers read while the loops outside its attach point stand still:
an index expression is split into a base (a function of those outer loops) and a span (how far it
moves over all inner loops). Everything is arithmetic on extents, so one implementation serves ints
and decision variables; only `isinstance(x, int)` decides, never an extent's value. An extent that
is an expression gets a name (`|conv.f.2|`), defined once, so that what is built on it stays small.
A tile is never clipped by a size.

Example: conv reads pad[y + ry] with y = y.0*7 + y.1, ry < 3. Attached after y.0 the window of pad
is base y.0*7, span 7 + 3 - 1 = 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilewright.contract.sizes import Sizes
from tilewright.expr.index.extents import add, ceildiv, minimum, mul, plain, product
from tilewright.expr.index.intervals import Interval
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Expr, Extent, Var, as_expr, select
from tilewright.expr.sizes import most, ranges_of
from tilewright.expr.traversal import free_vars, reads, substitute
from tilewright.ground.errors import ScheduleError
from tilewright.nest.nodes import THREADS, Kind, Scope
from tilewright.schedule.kept import covers, nest_in
from tilewright.schedule.state import At, FuseRelation, SplitRelation, Stage, State
from tilewright.schedule.windows import Surroundings, Window, clip, union, window


@dataclass(slots=True)
class StageBounds:
    """What lowering and features need of one stage.

    `extents` and `positions` (from 0 on) of axes, split or fused loops and leaves by name; `base`
    and `shape` of the window of its storage; `values` of the axes: position in the window that is
    computed, plus where that starts (`base`, unless more is kept). All are expressions over loop
    variables.
    """

    extents: dict[str, Extent]
    positions: dict[str, Expr]
    base: tuple[Expr, ...]
    shape: tuple[Extent, ...]
    values: dict[str, Expr]


def loop_var(stage: str, leaf: str) -> Var:
    """The loop variable of a leaf: unique in the program."""
    return Var(f"{stage}.{leaf}")


@dataclass(slots=True)
class Bounds:
    """Bounds of all stages by name. `definitions` are the expressions behind named extents; those
    over `sizes`, and those over sizes that are `free` alone, have no names.
    """

    sizes: Sizes = ()
    free: frozenset[str] = frozenset()
    stages: dict[str, StageBounds] = field(default_factory=dict)
    definitions: dict[str, Expr] = field(default_factory=dict)

    def __getitem__(self, stage: str) -> StageBounds:
        return self.stages[stage]

    def named(self, name: str, extent: Extent) -> Extent:
        """The extent itself if it is simple, otherwise a variable that stands for it."""
        e = extent if isinstance(extent, int) else plain(simplify(extent))
        if isinstance(e, (int, Var)) or self.sizes or free_vars(e) <= self.free:
            return e
        symbol = f"|{name}|"
        self.definitions[symbol] = e
        return Var(symbol)


def infer_bounds(state: State, free: bool = False) -> Bounds:
    """Bounds of every stage. Pure; `state` is not changed. With `free` sizes are variables of which
    nothing is known, as decisions are.
    """
    sizes = state.dag.sizes
    bounds = Bounds((), frozenset(s.name for s in sizes)) if free else Bounds(sizes)
    for stage in reversed(list(state.stages.values())):
        kept = None
        if stage.attach is None:
            windows = [Window(as_expr(0), a.extent) for a in stage.compute.axes]
        elif stage.store is None:
            windows = _required(state, stage, stage.attach, state.consumers(stage.name), bounds)
        else:
            windows, kept = _kept(state, stage, stage.attach, stage.store, bounds)
        bounds.stages[stage.name] = _stage_bounds(stage, windows, bounds, kept)
    return bounds


def _stage_bounds(
    stage: Stage, windows: list[Window], bounds: Bounds, kept: list[Window] | None
) -> StageBounds:
    """Bounds of a stage that computes these windows; what is `kept` of it, if that is more."""
    spatial = stage.compute.axes
    spans = tuple(
        bounds.named(f"{stage.name}.{a.name}", w.span)
        for a, w in zip(spatial, windows, strict=True)
    )
    extents: dict[str, Extent] = {a.name: s for a, s in zip(spatial, spans, strict=True)}
    extents |= {a.name: a.extent for a in stage.compute.reduce_axes}
    _pass_down(stage, extents, bounds)
    positions = _positions(stage, extents, bounds.sizes)
    values = {a.name: positions[a.name] for a in stage.axes}
    for axis, w in zip(spatial, windows, strict=True):
        values[axis.name] = simplify(w.base + values[axis.name])
    if kept is not None:
        windows = kept
        spans = tuple(
            bounds.named(f"{stage.name}.{a.name}.kept", w.span)
            for a, w in zip(spatial, windows, strict=True)
        )
    base = tuple(w.base for w in windows)
    return StageBounds(extents, positions, base, _aligned(stage, spans), values)


def _pass_down(stage: Stage, extents: dict[str, Extent], bounds: Bounds) -> None:
    def name(loop: str, extent: Extent) -> Extent:
        return bounds.named(f"{stage.name}.{loop}", extent)

    for relation in stage.relations:
        if isinstance(relation, SplitRelation):
            rest = extents[relation.parent]
            for child, length in zip(relation.children[:0:-1], relation.lengths[::-1], strict=True):
                varies = bounds.sizes and not isinstance(rest, int)
                extents[child] = name(child, length if varies else minimum(length, rest))
                rest = name(f"{relation.parent}/{child}", ceildiv(rest, extents[child]))
            extents[relation.children[0]] = rest
        else:
            first, *inner = (extents[p] for p in relation.parts)
            whole = product((first, *(in_fused(e, bounds.sizes) for e in inner)))
            extents[relation.fused] = name(relation.fused, whole)


def in_fused(extent: Extent, sizes: Sizes) -> Extent:
    """What a loop within a fused one counts to: with sizes its most, so that its number is a
    remainder by a number; the iterations beyond the size are for nobody.
    """
    return most(extent, sizes) if sizes else extent


def _positions(stage: Stage, extents: Mapping[str, Extent], sizes: Sizes) -> dict[str, Expr]:
    """Axes and loops as expressions over the leaves' loop variables (a loop of extent 1 is 0)."""
    values: dict[str, Expr] = {
        leaf: as_expr(0) if extents[leaf] == 1 else loop_var(stage.name, leaf)
        for leaf in stage.leaves
    }
    for relation in reversed(stage.relations):
        if isinstance(relation, SplitRelation):
            # a child shorter than its length has only loops of extent 1 outside
            stride: Extent = 1
            total: Expr = as_expr(0)
            for child, length in zip(relation.children[:0:-1], relation.lengths[::-1], strict=True):
                total = values[child] * as_expr(stride) + total
                stride = mul(stride, length)
            values[relation.parent] = values[relation.children[0]] * as_expr(stride) + total
        else:
            _unfuse(relation, extents, values, sizes)
    return values


def _unfuse(
    relation: FuseRelation, extents: Mapping[str, Extent], values: dict[str, Expr], sizes: Sizes
) -> None:
    rest = values[relation.fused]
    for part in relation.parts[:0:-1]:
        extent = as_expr(in_fused(extents[part], sizes))
        values[part] = rest % extent
        rest = rest // extent
    values[relation.parts[0]] = rest


def _aligned(stage: Stage, spans: tuple[Extent, ...]) -> tuple[Extent, ...]:
    """Storage shape: the window's, with the padding that the mark "align" asks for."""
    unit = stage.marks.get("align", 0)
    if unit == 0:
        return spans
    row = spans[-1]
    padding = (as_expr(unit // 2) - as_expr(row)) % as_expr(unit)
    return (*spans[:-1], add(row, plain(padding)))


# ---- windows of attached stages -------------------------------------------------------------


def outside(state: State, at: At) -> dict[str, Expr | bool]:
    """Loop variables that enclose an attach point -> True, or the condition that they do."""
    target = state[at.target]
    found: dict[str, Expr | bool] = {}
    for level, group in enumerate(target.groups):
        live: Expr | bool = (
            level <= at.level if isinstance(at.level, int) else as_expr(at.level) >= level
        )
        for leaf in group:
            found[loop_var(target.name, leaf).name] = live
    if target.attach is not None:
        found |= outside(state, target.attach)
    return found


def _kept(
    state: State, stage: Stage, at: At, store: At, done: Bounds
) -> tuple[list[Window], list[Window]]:
    """What a stage computes at a time for those that read it there, and what is kept for all.

    Raises ScheduleError where others read more than these made it compute (of numbers only).
    """
    readers = state.consumers(stage.name)
    inside = [c for c in readers if nest_in(state, c, at.target) is not None]
    later = [c for c in readers if c not in inside]
    if not inside:
        raise ScheduleError(f"{stage.name}: nothing reads it in {at.target}, where it is computed")
    computed = _required(state, stage, at, inside, done)
    extents = {
        loop_var(name, leaf).name: bounds.extents[leaf]
        for name, bounds in done.stages.items()
        for leaf in state[name].leaves
    }
    nest = nest_in(state, stage, store.target)
    assert nest is not None and nest.attach is not None  # see `loop_steps.StoreAt`
    around = outside(state, nest.attach)
    between = {
        v: extents[v]
        for v, live in outside(state, at).items()
        if live is not False and around.get(v, False) is not True
    }
    numbers = {v: n for v, n in between.items() if isinstance(n, int)}
    read = _required(state, stage, nest.attach, later, done) if later else []
    is_symbolic = len(numbers) < len(between) or not all(isinstance(w.span, int) for w in computed)
    if later and not is_symbolic and not covers(computed, numbers, read, stage.compute.axes):
        raise ScheduleError(
            f"{stage.name} is not all computed in {at.target} when "
            f"{', '.join(c.name for c in later)} read it in {store.target}"
        )
    return computed, _required(state, stage, store, readers, done)


def _required(
    state: State, stage: Stage, at: At, readers: list[Stage], done: Bounds
) -> list[Window]:
    """What these consumers read of a stage while the loops around an attach point stand still."""
    axes = stage.compute.axes
    windows: list[Window | None] = [None] * len(axes)
    for consumer in readers:
        where = _surroundings(state, at, stage.scope, consumer, done)
        values = done[consumer.name].values
        for read in reads(consumer.compute.body):
            if read.tensor.name != stage.name:
                continue
            for d, index in enumerate(read.indices):
                here = window(simplify(substitute(index, values)), where)
                windows[d] = union(windows[d], here, axes[d])
    has_sizes = bool(done.sizes)
    return [clip(w, axis, has_sizes) for w, axis in zip(windows, axes, strict=True)]


def _surroundings(
    state: State, at: At, scope: Scope, consumer: Stage, done: Bounds
) -> Surroundings:
    """The loops around a consumer, seen from an attach point further out.

    Storage that the threads of a block share has the window of all of them: to it, thread loops
    are inside wherever they stand.

    A loop that does not enclose the consumer (or, further out, the attach point's target) by a
    position decision stands at 0 there.
    """
    around = outside(state, at)
    if scope is Scope.SHARED:
        around = {v: live for v, live in around.items() if v not in _thread_loops(state, at)}
    found = Surroundings({}, {})
    mine = {loop_var(consumer.name, leaf).name: True for leaf in consumer.leaves}
    here: dict[str, Expr | bool] = {**mine}
    if consumer.attach is not None:
        here |= outside(state, consumer.attach)
    for name, bounds in done.stages.items():
        for leaf in state[name].leaves:
            var, extent = loop_var(name, leaf).name, bounds.extents[leaf]
            live = around.get(var, False)
            if live is not False:
                found.outside[var] = _where(live, extent, 1)
            if live is False:
                found.inside[var] = _where(here.get(var, False), extent, 1)
            elif live is not True and name == at.target:
                found.inside[var] = _where(live, 1, _where(here.get(var, False), extent, 1))
    return found


def _thread_loops(state: State, at: At) -> set[str]:
    """Variables of the thread and virtual thread loops of an attach point's stages."""
    target = state[at.target]
    found = {
        loop_var(target.name, leaf).name
        for leaf, kind in target.kinds.items()
        if kind is Kind.VIRTUAL or kind in THREADS
    }
    return found | (_thread_loops(state, target.attach) if target.attach is not None else set())


def _where(test: Expr | bool, yes: Extent, no: Extent) -> Extent:
    if isinstance(test, bool):
        return yes if test else no
    return yes if yes == no else select(test, as_expr(yes), as_expr(no))


def loop_ranges(state: State, bounds: Bounds) -> dict[str, Interval]:
    """Loop variable or size -> its interval, for the simplifier (concrete extents only)."""
    ranges: dict[str, Interval] = {}
    for name, b in bounds.stages.items():
        for leaf in state[name].leaves:
            extent = b.extents[leaf]
            known = isinstance(extent, int) or bool(bounds.sizes)
            high = most(extent, bounds.sizes) - 1 if known else None
            ranges[loop_var(name, leaf).name] = Interval(0, high)
    return ranges | ranges_of(bounds.sizes)
