"""Unroll the axes that index tables (Ansor's rule for constant tensors, as in Winograd).

    V[e, n, p, c] = Σ_{r,s} d[p, c, r, s] · B[r, e] · B[s, n]      B a table of 0, ±1, …

Every axis that indexes a table is unrolled, so each table element becomes a literal: products
with 0 vanish and those with ±1 become additions. The other spatial axes are the outer loops; one
of them runs along the vector lanes.
"""

from __future__ import annotations

from tilewright.schedule.steps import Annotate, Reorder, extent_int
from tilewright.space.decisions import TILE, S
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.predicates import table_axes, vector_axis

UNROLL_LIMIT = 1296  # iterations: F(4x4, 3x3) has 6·6·6·6 in its data transform


def _can_unroll(d: Derivation) -> Verdict:
    stage = d.working
    axes = table_axes(stage)
    if stage.relations or not any(a.name in axes for a in stage.compute.reduce_axes):
        return Verdict.NO
    iterations = 1
    for axis in stage.axes:
        if axis.name in axes:
            iterations *= extent_int(axis.extent)
    return Verdict.ONLY if iterations <= UNROLL_LIMIT else Verdict.NO


def _unroll(d: Derivation) -> list[Derivation]:
    stage = d.working
    unrolled = table_axes(stage)
    free = [a for a in stage.compute.axes if a.name not in unrolled]
    vector = vector_axis(d.state, stage, d.target)
    if vector in unrolled or all(a.name != vector for a in free):
        vector = free[-1].name if free else None
    inner: tuple[str, ...] = ()
    outer = [a.name for a in free if a.name != vector]
    if vector is not None:
        d.tile(stage, vector, (S, TILE), vector=True)
        d.apply(Annotate(stage.name, f"{vector}.1", "vector"))
        outer.append(f"{vector}.0")
        inner = (f"{vector}.1",)
    spatial = tuple(a.name for a in stage.compute.axes if a.name in unrolled)
    reduction = tuple(a.name for a in stage.compute.reduce_axes if a.name in unrolled)
    others = tuple(a.name for a in stage.compute.reduce_axes if a.name not in unrolled)
    for axis in (*spatial, *reduction):
        d.apply(Annotate(stage.name, axis, "unrolled"))
    levels = [*((x,) for x in outer), others, (*spatial, *reduction, *inner)]
    d.apply(Reorder(stage.name, tuple(level for level in levels if level)))
    d.variant = (*d.variant, f"{stage.name}: tables unrolled")
    return [d.advance()]


UNROLL_CONSTANT_TENSOR = Rule("unroll_constant_tensor", _can_unroll, _unroll)
