"""Rows by blocks: what is reduced over the rows of a tensor and what is made of a row are one
kernel (softmax, layer norm), whose threads share every row however many there are.

    y[i, j] = f(x[i, j], max[i], sum[i])      i: block, thread.y    j: thread.x
    max[i], sum[i]                            inside, by the threads of the row

Without it each reduction is a kernel of its own, and passes over the rows once more.
"""

from __future__ import annotations

from math import prod

from tilewright.expr.index.extents import mul
from tilewright.expr.nodes import Var, as_expr
from tilewright.expr.traversal import reads
from tilewright.schedule.state import At, Stage, State
from tilewright.schedule.steps import (
    Annotate,
    ComputeAt,
    Reorder,
    RFactor,
    SetScope,
    Split,
    extent_int,
)
from tilewright.space.annotate_gpu import access_widths
from tilewright.space.decisions import divisors, variables
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.predicates import has_data_reuse
from tilewright.space.rules.cross_thread import ROWS
from tilewright.target import GpuTarget


def _reductions(state: State, stage: Stage) -> dict[str, tuple[str, ...]]:
    """The reductions that a stage reads, itself or through others, and nobody else does, with the
    axes of the stage that say which row. Contractions are computed before, and so are results.
    """
    known: dict[str, dict[str, str]] = {stage.name: {a.name: a.name for a in stage.compute.axes}}
    found: dict[str, tuple[str, ...]] = {}
    waiting = [stage.name]
    for name in waiting:
        for producer in state.producers(name):
            axes = _axes(state[name], producer, known[name])
            if axes is None or state.is_output(producer.name) or has_data_reuse(producer):
                continue
            if producer.name not in known:
                known[producer.name] = axes
                waiting.append(producer.name)
            elif any(known[producer.name].get(k, v) != v for k, v in axes.items()):
                return {}
            if producer.compute.reduce_axes:
                found[producer.name] = tuple(axes.values())
    inside = all(c.name in known for name in found for c in state.consumers(name))
    return found if inside else {}


def _axes(consumer: Stage, producer: Stage, known: dict[str, str]) -> dict[str, str] | None:
    """The axis of the end stage that each of a producer's axes is; None where one is none. Of a
    reduction's terms the axes that are reduced have none.
    """
    spatial = {a.name: a for a in producer.compute.axes}
    places = {r.indices for r in reads(consumer.compute.body) if r.tensor.name == producer.name}
    if len(places) != 1:
        return None
    reduced = {a.name for a in consumer.compute.reduce_axes}
    found: dict[str, str] = {}
    for axis, index in zip(spatial.values(), next(iter(places)), strict=True):
        if extent_int(axis.extent) == 1:
            continue
        if not isinstance(index, Var) or (index.name not in known and index.name not in reduced):
            return None
        if index.name in known:
            found[axis.name] = known[index.name]
    return found


def _rows(d: Derivation) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The reductions that go into the working stage's rows, and the axes that say which row."""
    stage = d.working
    found = _reductions(d.state, stage)
    rows = max(found.values(), key=len, default=())
    leading = tuple(a.name for a in stage.compute.axes)[: len(rows)]
    same = all(axes == rows for axes in found.values())
    return (found, rows) if rows and same and rows == leading else ({}, ())


def _counts(d: Derivation, found: dict[str, tuple[str, ...]], columns: int) -> tuple[int, ...]:
    """How many threads can share a row: a warp's at least, and they divide all that is shared."""
    assert isinstance(d.target, GpuTarget)
    lengths = [columns]
    for name in found:
        lengths.append(extent_int(d.state[name].compute.reduce_axes[-1].extent))
    least, most = d.target.warp, d.target.threads
    return tuple(
        n for n in divisors(columns) if least <= n <= most and all(k % n == 0 for k in lengths)
    )


def _can(d: Derivation) -> Verdict:
    stage = d.working
    if stage.relations or stage.attach is not None or stage.compute.reduce_axes:
        return Verdict.NO
    found, rows = _rows(d)
    if not found or not _counts(d, found, _columns(stage, rows)):
        return Verdict.NO
    return Verdict.APPLY


def _columns(stage: Stage, rows: tuple[str, ...]) -> int:
    return prod(extent_int(a.extent) for a in stage.compute.axes if a.name not in rows)


def _by_rows(d: Derivation) -> list[Derivation]:
    stage = d.working
    name = stage.name
    assert isinstance(d.target, GpuTarget)
    found, rows = _rows(d)
    counts = _counts(d, found, _columns(stage, rows))
    along = d.fuse(name, tuple(a.name for a in stage.compute.axes if a.name not in rows))
    *outer, row = rows
    count = d.choose(f"{name}.threads", name, "thread", counts)
    beside = d.choose(f"{name}.rows", name, "thread", ROWS)
    width = d.choose(f"{name}.width", name, "thread", access_widths(stage.tensor.dtype))
    d.apply(Split(name, row, (beside,)), Split(name, along, (count, width)))
    blocks = (*outer, f"{row}.0")
    loops = (*blocks, f"{row}.1", f"{along}.0", f"{along}.1", f"{along}.2")
    d.apply(Reorder(name, tuple((loop,) for loop in loops)))
    d.apply(*(Annotate(name, loop, "block") for loop in blocks))
    d.apply(Annotate(name, f"{row}.1", "thread.y"))
    d.apply(Annotate(name, f"{along}.1", "thread.x"), Annotate(name, f"{along}.2", "vector"))
    d.constraints.append(as_expr(mul(count, beside)) <= d.target.threads)
    d.within |= dict.fromkeys(found, At(name, len(blocks) - 1))
    d.variant = (*d.variant, f"{name}: rows of {', '.join(found)}")
    return [d.advance()]


def _is_inside(d: Derivation) -> Verdict:
    return Verdict.ONLY if d.stage in d.within else Verdict.NO


def _inside(d: Derivation) -> list[Derivation]:
    """The threads of a row share the reduction; what they find is for all of them to see."""
    stage = d.working
    name, at = stage.name, d.within[stage.name]
    assert at is not None
    axis = stage.compute.reduce_axes[-1].name
    rows = tuple(a.name for a in stage.compute.axes)
    (count,) = variables(d.decisions[f"{at.target}.threads"])
    d.apply(RFactor(name, axis, count))
    d.apply(Annotate(name, d.fuse(name, rows), "thread.y"), Annotate(name, f"{axis}.f", "thread.x"))
    d.compute_next(name, len(d.working.groups) - 1)
    d.apply(ComputeAt(name, at.target, at.level), SetScope(name, "shared"))
    return [d]


BY_ROWS = Rule("by_rows", _can, _by_rows)
ROW_REDUCTION = Rule("row_reduction", _is_inside, _inside)
"""Must come before all rules that decide about a stage but inlining."""
