"""What becomes of a contraction's elements, as one expression of an element of it.

follows = what_follows(dag, found)
follows.value                   relu(sums[n, o] + bias[o]), over the contraction's axes
follows.output                  y[o, n], where that is stored
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilewright.expr.access import AffineIndex, affine_index
from tilewright.expr.contraction.factors import NoMatch, live
from tilewright.expr.contraction.groups import Contraction, seen_through, sums
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import Axis, Binary, Const, Expr, Read, Reduce, Tensor, Var, as_expr
from tilewright.expr.reference import compute_of, extents_of, static_shape
from tilewright.expr.tensors import Placeholder
from tilewright.expr.traversal import reads, substitute


@dataclass(frozen=True, slots=True)
class Reduction:
    """What a row's columns become together: `op` of REDUCTIONS over all of them, then `value` in
    terms of `stage`, the reduced tensor.
    """

    op: str
    stage: Tensor
    value: Expr


@dataclass(frozen=True, slots=True)
class Follows:
    """What becomes of a contraction's elements: `value` over its axes, stored at `output`, or
    reduced over the columns before that.
    """

    value: Expr
    output: Read
    reduction: Reduction | None = None

    @property
    def given(self) -> list[Read]:
        """What is read besides sums."""
        values = (self.value,) if self.reduction is None else (self.value, self.reduction.value)
        found = [r for e in values for r in reads(e)]
        return [r for r in found if isinstance(r.tensor.source, Placeholder)]


def what_follows(dag: ComputeDAG, found: Contraction[Any]) -> Follows | NoMatch:
    """The stages after a contraction as one expression, or as one up to a reduction over its
    columns and one from there on; why not, where an element of the output is not made of one
    element of the contraction, or of one row.
    """
    if len(dag.outputs) != 1:
        return NoMatch("there are several outputs")
    (output,) = dag.outputs
    compute, last = compute_of(output), sums(dag)[-1]
    after: Expr = compute.body
    if output.name == last.name:
        after = Read(output, tuple(a.var for a in compute.axes))
    of_last = of_elements(dag, after, last, compute.axes)
    if isinstance(of_last, NoMatch):
        return of_last
    value, names = of_last
    stored = Read(output, tuple(names[a.name] for a in compute.axes))
    if last.name == found.stage.name:
        return Follows(value, stored)
    reduced = compute_of(last)
    body = reduced.body
    assert isinstance(body, Reduce)
    of_first = of_elements(dag, body.body, found.stage, (*reduced.axes, *reduced.reduce_axes))
    if isinstance(of_first, NoMatch):
        return of_first
    first, inner = of_first
    over = {e.name for a in reduced.reduce_axes if isinstance(e := inner[a.name], Var)}
    if over != set(found.columns):
        return NoMatch(f"{last.name} is not over all columns of {found.stage.name}")
    at = tuple(substitute(i, inner) for i in stored.indices)
    return Follows(first, Read(output, at), Reduction(body.op, last, substitute(value, inner)))


def of_elements(
    dag: ComputeDAG, e: Expr, stage: Tensor, axes: Sequence[Axis]
) -> tuple[Expr, dict[str, Expr]] | NoMatch:
    """`e`, over `axes`, as an expression of one element of `stage` and over its axes; and what each
    of `axes` is there.
    """
    body = seen_through(dag, e)
    mine = {r for r in reads(body) if r.tensor.name == stage.name}
    others = {r.tensor for r in reads(body) if r.tensor.name != stage.name}
    if len(mine) != 1:
        return NoMatch(f"{stage.name} is read at other than one place")
    if any(not isinstance(t.source, Placeholder) for t in others):
        return NoMatch(f"what is neither given nor {stage.name} is read beside it")
    extents = extents_of(axes)
    outside = _axes_of(mine.pop(), extents)
    if outside is None:
        return NoMatch(f"{stage.name} is not read element by element")
    if {a.name for a in axes if extents[a.name] > 1} != set(outside):
        return NoMatch(f"elements of {stage.name} are used for several of the output")
    names: dict[str, Expr] = {a.name: outside.get(a.name, Const(0, a.var.dtype)) for a in axes}
    return substitute(body, names), names


def _axes_of(read: Read, extents: Mapping[str, int]) -> dict[str, Expr] | None:
    """What each of the axes of `extents` is in terms of those of the tensor that is read, as
    variables: one of them, digits of one, or a number whose digits some of them are (a reshape).
    None where they are none of that.
    """
    simplifier = Simplifier()
    inner = compute_of(read.tensor).axes
    found: dict[str, Expr] = {}
    parts: dict[str, list[tuple[int, int, Var]]] = {}
    for axis, index, extent in zip(inner, read.indices, static_shape(read.tensor), strict=True):
        if extent == 1:
            continue
        form = affine_index(index, extents, simplifier)
        digits = None if form is None else _digits(live(form, extents), axis.var, extent, extents)
        part = None if digits else _part(simplifier.simplify(index), extent)
        if digits is not None and not digits.keys() & found.keys():
            found |= digits
        elif part is not None:
            parts.setdefault(part[0], []).append((part[1], extent, axis.var))
        else:
            return None
    for name, pieces in parts.items():
        joined = _joined(pieces, extents[name])
        if name in found or joined is None:
            return None
        found[name] = joined
    return found


def _digits(
    form: AffineIndex, var: Var, extent: int, extents: Mapping[str, int]
) -> dict[str, Expr] | None:
    """The axes that an index is made of, as digits of its value `var`; None where they are none."""
    found: dict[str, Expr] = {}
    place = 1
    for name, k in sorted(form.coefficients, key=lambda term: term[1]):
        if k != place:
            return None
        place *= extents[name]
        digit: Expr = var if k == 1 else var // k
        found[name] = digit if place == extent else digit % extents[name]
    return found if place == extent and not form.offset else None


def _part(index: Expr, extent: int) -> tuple[str, int] | None:
    """An axis and the place of a digit of it that an index of `extent` is: `axis // place`, or the
    remainder of that.
    """
    if isinstance(index, Binary) and index.op == "mod" and index.b == Const(extent, index.b.dtype):
        index = index.a
    match index:
        case Var(name):
            return name, 1
        case Binary("floordiv", Var(name), Const(place)):
            return name, int(place)
    return None


def _joined(pieces: list[tuple[int, int, Var]], extent: int) -> Expr | None:
    """The axis whose digits, at these places and of these extents, variables are; None where these
    are not all.
    """
    total, expected = as_expr(0), 1
    for place, count, var in sorted(pieces, key=lambda piece: piece[0]):
        if place != expected:
            return None
        expected *= count
        total = (var if place == 1 else var * place) + total
    return total if expected == extent else None
