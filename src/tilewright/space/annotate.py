"""From derived sketches to searchable ones: locations, vector lanes, threads, unrolling.

    annotate(derivation) -> [Derivation, …]

Ansor §4.2 annotates at random; here every annotation that may vary becomes a decision, so that
sampling, mutation and crossover see it. Where a flexible stage is computed (root, inline, or
inside which consumer) changes the structure of the program: each combination is a variant of its
own. How deep inside that consumer is a decision.
"""

from __future__ import annotations

from tilewright.expr.nodes import Expr, Extent, as_expr, select
from tilewright.schedule.state import Role, Stage
from tilewright.schedule.steps import (
    Annotate,
    ComputeAt,
    ComputeInline,
    Mark,
    Parallel,
    Reorder,
    StoreAt,
)
from tilewright.space.decisions import TILE, Level, S
from tilewright.space.derivation import Derivation
from tilewright.space.predicates import block_length, is_inlinable, table_axes, vector_axis

STREAMED = (0, 1)
UNROLL_STEPS = (0, 16, 64, 512)
MAX_VARIANTS = 12  # structures per derived sketch; each costs a fixed time per generation


def annotate(d: Derivation, streams: bool = False) -> list[Derivation]:
    """All structural variants of a derived sketch, fully annotated. With `streams`, whether the
    outputs are written past the caches is a decision, too.
    """
    variants = [d]
    for name in reversed(list(d.state.stages)):
        grown = [v for one in variants for v in _locations(one, name)]
        variants = (
            grown if len(grown) <= MAX_VARIANTS else [_locations(v, name)[0] for v in variants]
        )
    for v in variants:
        _order_loops(v)
        _annotate_stages(v)
        if streams:
            _stream_outputs(v)
    return variants


# ---- computation location -------------------------------------------------------------------


def _locations(d: Derivation, name: str) -> list[Derivation]:
    """One derivation for every place where the stage may be computed; the root comes last."""
    stage = d.state[name]
    fixed = name in d.within or stage.attach is not None or name in d.tiled or stage.form
    # Table products are unrolled and large: inside of another stage's loops they would be written
    # once for each of its versions (and tiles inside of theirs, see `_enclosing`).
    if fixed or d.state.is_output(name) or stage.role is Role.PARTIAL or table_axes(stage):
        return [d]
    found = []
    for target in _enclosing(d, stage):
        kept = _kept(d, stage, target)
        found += [kept] if kept is not None else []
        one = _named(d, name, f"at {target.name}")
        depth = max(1, len(target.groups) - 1)
        at = one.choose(f"{name}.at", name, "location", tuple(range(depth)))
        one.apply(ComputeAt(name, target.name, at))
        one.constraints += [at <= latest for latest in _latest(one, stage, target)]
        found.append(one)
    if is_inlinable(d.state, stage) and not d.state.attached(name) and name not in d.factors:
        one = _named(d, name, "inline")
        one.apply(ComputeInline(name))
        found.append(one)
    return [*found, _named(d, name, "root")]


def _named(d: Derivation, stage: str, where: str) -> Derivation:
    one = d.fork()
    one.variant = (*d.variant, f"{stage}: {where}")
    return one


def _enclosing(d: Derivation, stage: Stage) -> list[Stage]:
    """Stages in whose loops all consumers run, innermost first. None where what was inlined has
    taken the last consumer away: x * 0 reads no x.
    """
    chains = [_chain(d, c) for c in d.state.consumers(stage.name)]
    common = [s for s in chains[0] if all(s in chain for chain in chains[1:])] if chains else []
    loose = [d.state[s] for s in common if d.state[s].form is None]
    enclosing = [s for s in loose if len(s.leaves) > 1]
    if d.state.attached(stage.name):
        return [s for s in enclosing if not table_axes(s)]
    return enclosing


def _kept(d: Derivation, stage: Stage, target: Stage) -> Derivation | None:
    """The stage computed a chunk at a time where a reduction in the loops of `target` first reads
    it, and kept for those that read it after that: one pass over a row instead of two.
    """
    if stage.compute.reduce_axes or stage.relations or d.state.attached(stage.name):
        return None
    readers = d.state.consumers(stage.name)
    sums = [r for r in readers if r.compute.reduce_axes]
    if len(readers) == 1 or len(sums) != 1:
        return None
    (first,) = sums
    attach, axis = first.attach, vector_axis(d.state, first, d.target)
    if attach is None or attach.target != target.name or first.relations or axis is None:
        return None
    if d.state.attached(first.name) or not first.is_reduction(axis):
        return None
    one = _named(d, stage.name, f"in {first.name}, kept")
    _order_loops_of(one, one.state[first.name], axis)
    if one.state[first.name].leaves[-1] == axis:
        return None  # too short for chunks
    chunk = len(one.state[first.name].groups) - 2
    one.apply(
        StoreAt(stage.name, target.name, attach.level), ComputeAt(stage.name, first.name, chunk)
    )
    return one


def _latest(d: Derivation, stage: Stage, target: Stage) -> list[Extent]:
    """Tile levels of `target` at which consumers of `stage` run: it must not come after them."""
    found: list[Extent] = []
    for consumer in d.state.consumers(stage.name):
        inner = consumer
        while inner.attach is not None:
            if inner.attach.target == target.name:
                found.append(inner.attach.level)
            inner = d.state[inner.attach.target]
    return found


def _chain(d: Derivation, stage: Stage) -> list[str]:
    """The stage and those in whose loops it runs; of one that is kept, those around its storage:
    inside, what it reads would be computed again for every chunk.
    """
    chain = [] if stage.store is not None else [stage.name]
    while stage.attach is not None:
        stage = d.state[(stage.store or stage.attach).target]
        chain.append(stage.name)
    return chain


# ---- loop order, vectors, threads, unrolling ------------------------------------------------


def _order_loops(d: Derivation) -> None:
    """Untiled stages: spatial loops, reductions, and the vector axis innermost."""
    for stage in list(d.state.stages.values()):
        if stage.relations or stage.form is not None:
            continue
        axis = vector_axis(d.state, stage, d.target)
        if axis is not None:
            _order_loops_of(d, stage, axis)


def _order_loops_of(d: Derivation, stage: Stage, axis: str) -> None:
    """One stage's loops, `axis` along the lanes."""
    inner = _split_vector(d, stage, axis)
    unrolled = [x for x in stage.compute.hint("unroll") or () if x != axis]
    others = [x for x in stage.leaves if x != inner and x not in unrolled]
    spatial = [x for x in others if not stage.is_reduction(x)]
    reduction = [x for x in others if stage.is_reduction(x)]
    order = (*spatial, *reduction, *unrolled, inner)
    d.apply(Reorder(stage.name, tuple((x,) for x in order)))
    d.apply(Annotate(stage.name, inner, "vector"))
    d.apply(*(Annotate(stage.name, x, "unrolled") for x in unrolled))


def _split_vector(d: Derivation, stage: Stage, axis: str) -> str:
    """Split a long vector axis where its outer part can be a thread's or a tile's work."""
    extent = next(a.extent for a in stage.axes if a.name == axis)
    attached_copy = stage.attach is not None and not stage.compute.reduce_axes
    has_children = bool(d.state.attached(stage.name))
    lanes = d.target.lanes(stage.tensor.dtype)
    if attached_copy or has_children or not isinstance(extent, int) or extent <= lanes:
        return axis
    d.tile(stage, axis, (S, TILE), vector=True, within=block_length(stage, axis, d.target))
    return f"{axis}.1"


def _annotate_stages(d: Derivation) -> None:
    for stage in list(d.state.stages.values()):
        if stage.attach is None:
            _parallelise(d, stage)
        if stage.name in d.tiled:
            decide_unrolling(d, stage)


def decide_unrolling(d: Derivation, stage: Stage) -> None:
    """How many statements loops of a tiled stage may be written out to."""
    step = d.choose(f"{stage.work}.unroll", stage.work, "pragma", UNROLL_STEPS)
    d.apply(Mark(stage.name, "unroll_step", step))


def _stream_outputs(d: Derivation) -> None:
    for stage in d.state.stages.values():
        if d.state.is_output(stage.name) and stage.form is None:
            name = f"{stage.name}.streamed"
            streamed = d.choose(name, stage.work, "pragma", STREAMED, ordered=False)
            d.apply(Mark(stage.name, "streamed", streamed))


def _parallelise(d: Derivation, stage: Stage) -> None:
    """How many outer loops form the parallel region; never past an attached stage."""
    limit = _parallel_limit(stage, d.tiled.get(stage.name, ()))
    if limit == 0:
        return
    options = tuple(range(limit + 1))
    count = d.choose(f"{stage.name}.parallel", stage.name, "parallel", options)
    d.apply(Parallel(stage.name, count))
    for child in d.state.attached(stage.name):
        assert child.attach is not None
        d.constraints.append(count <= _leaves_until(stage, as_expr(child.attach.level)))


def _parallel_limit(stage: Stage, structure: tuple[Level, ...]) -> int:
    """Leading spatial loops, without the innermost (register or vector) level."""
    count = 0
    reductions = [i for i, level in enumerate(structure) if level.letter == "R"]
    for group in stage.groups[: reductions[0] if reductions else -1]:
        for leaf in group:
            if stage.is_reduction(leaf):
                return count
            count += 1
    return count


def _leaves_until(stage: Stage, level: Expr) -> Expr:
    """Number of loops up to and including tile level `level` (a decision)."""
    total = 0
    result: Expr = as_expr(0)
    for g, group in enumerate(stage.groups):
        total += len(group)
        result = as_expr(total) if g == 0 else select(level >= g, as_expr(total), result)
    return result
