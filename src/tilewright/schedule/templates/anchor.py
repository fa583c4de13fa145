"""The contraction of a DAG as the product of two matrices, which is all that templates know of it.

    anchor = anchor_of(dag)                     sums[batch, row, column] of left and right
    anchor.left.tensor                          left[batch, row, depth], which is nowhere in memory
    anchor.fused(nest)                          the nest with what is before and after it

Axes are grouped into batch, rows, columns and depth by what they move, so that a convolution is a
product whose left factor is read in windows (Hidet, ASPLOS 2023, section 5.2). What makes a factor
and what follows the sums are put into the finished nest (`nest.fuse`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from tilewright.expr.contraction import (
    Axes,
    Factor,
    Groups,
    NoMatchError,
    axes_of,
    factor_of,
    factors_of,
    groups_of,
    of_elements,
    sums,
)
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import DType
from tilewright.expr.index.intervals import Interval
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import (
    Binary,
    Cast,
    Const,
    Expr,
    Read,
    Reduce,
    Select,
    Tensor,
    as_expr,
    free_vars,
    reads,
    substitute,
    transform,
    walk,
)
from tilewright.expr.reference import compute_of
from tilewright.expr.tensors import Placeholder, View
from tilewright.nest.fuse import Prologue, fused
from tilewright.nest.gpu.swizzle import PIECE_BYTES
from tilewright.nest.gpu.task_map import digits
from tilewright.nest.nodes import Node, Store

LEFT, RIGHT, SUMS = "left", "right", "sums"
PIECES = (8, 4, 2, 1)  # elements of one access, of at most 16 bytes


@dataclass(frozen=True, slots=True)
class Operand:
    """A factor: `tensor[batch, outer, depth]` is `value` over the axes of the contraction.

    `by_depth`: memory runs along the depth, else along `outer`, its rows or columns; `piece`
    elements of that are one aligned access. `is_computed`: it is no read (nor 0 at a border).
    `view` has it in memory, `[batch, outer, depth]`, or what memory runs along last; None where
    its rows are not evenly apart, or not aligned to pieces of 16 bytes.
    """

    tensor: Tensor
    value: Expr
    outer: Axes
    by_depth: bool
    piece: int
    is_computed: bool
    view: Tensor | None

    @property
    def dtype(self) -> DType:
        return self.tensor.dtype


@dataclass(frozen=True)
class Anchor:
    """See the module. `after` is what becomes of an element of the sums, over the axes of the
    contraction, and `at` where in the DAG's output that is.
    """

    dag: ComputeDAG
    groups: Groups
    left: Operand
    right: Operand
    after: Expr
    at: tuple[Expr, ...]

    @property
    def batch(self) -> int:
        return self.groups.size(self.groups.batch)

    @property
    def rows(self) -> int:
        return self.groups.size(self.left.outer)

    @property
    def columns(self) -> int:
        return self.groups.size(self.right.outer)

    @property
    def depth(self) -> int:
        return self.groups.size(self.groups.depth)

    @cached_property
    def sums(self) -> Tensor:
        """The product, which a template's nest stores each element of once."""
        return Tensor(SUMS, (self.batch, self.rows, self.columns), self.groups.stage.dtype)

    def fused(self, node: Node) -> Node:
        """A nest over `left`, `right` and `sums` as one over the DAG's own tensors."""
        g = self.groups

        def factor(operand: Operand) -> Prologue:
            return lambda b, o, k: substitute(
                operand.value, self._axes((g.batch, b), (operand.outer, o), (g.depth, k))
            )

        def store(indices: tuple[Expr, ...], value: Expr) -> Node:
            (output,) = self.dag.outputs
            groups = zip((g.batch, self.left.outer, self.right.outer), indices, strict=True)
            axes = self._axes(*groups)
            element = _replaced(self.after, g.stage, value)
            at = tuple(substitute(i, axes) for i in self.at)
            return Store(output, at, substitute(element, axes))

        prologues = {LEFT: factor(self.left), RIGHT: factor(self.right)}
        return fused(node, prologues, {SUMS: store})

    def _axes(self, *numbers: tuple[Axes, Expr]) -> dict[str, Expr]:
        """The values of axes, those of each group as the digits of a number."""
        found = {name: as_expr(0) for name in self.groups.extents}
        for axes, number in numbers:
            extents = [self.groups.extents[a] for a in axes]
            found |= dict(zip(axes, map(as_expr, digits(number, extents)), strict=True))
        return found


def _replaced(e: Expr, stage: Tensor, value: Expr) -> Expr:
    """`e` with `value` for what it reads of a stage."""

    def leaf(x: Expr) -> Expr | None:
        return value if isinstance(x, Read) and x.tensor.name == stage.name else None

    return transform(e, leaf)


def anchor_of(dag: ComputeDAG) -> Anchor:
    """The anchor of a DAG: its only sum. Raises NoMatchError, which says why, where there is none,
    or where what follows it is not made element by element.
    """
    if len(dag.outputs) != 1:
        raise NoMatchError("there are several outputs")
    every = sums(dag)
    if len(every) != 1:
        raise NoMatchError(f"{len(every)} stages reduce, not one")
    (stage,) = every
    left, right = factors_of(dag, stage)
    groups = groups_of(stage, axes_of(left), axes_of(right))
    body = compute_of(stage).body
    assert isinstance(body, Reduce) and isinstance(body.body, Binary)
    parts = (body.body.a, left), (body.body.b, right)
    spatial = [a.name for a in compute_of(stage).axes if a.name in (*groups.rows, *groups.columns)]
    if spatial and spatial[-1] in groups.rows:
        # elements of the output that lie side by side are columns
        parts = parts[::-1]
        groups = replace(groups, rows=groups.columns, columns=groups.rows)
    groups = replace(groups, depth=_ordered(groups, [value for _, value in parts]))
    a, b = (
        _operand(name, _stored(part), value, outer, groups)
        for name, outer, (part, value) in zip(
            (LEFT, RIGHT), (groups.rows, groups.columns), parts, strict=True
        )
    )
    (output,) = dag.outputs
    compute = compute_of(output)
    after: Expr = compute.body
    if output.name == stage.name:
        after = Read(output, tuple(axis.var for axis in compute.axes))
    value, names = of_elements(dag, after, stage, compute.axes)
    return Anchor(dag, groups, a, b, value, tuple(names[axis.name] for axis in compute.axes))


def _stored(part: Expr) -> DType:
    """The dtype in which a factor is in memory, or would be."""
    while isinstance(part, Cast):
        part = part.x
    return part.tensor.dtype if isinstance(part, Read) else part.dtype


def _ordered(groups: Groups, values: list[Expr]) -> Axes:
    """The axes of the depth, those last that memory runs along."""

    def steps(axis: str) -> int:
        found = [f.stride(axis) for value in values for f in _factors(value, groups)]
        return min((abs(s) for s in found if s), default=0)

    return tuple(sorted(groups.depth, key=steps, reverse=True))


def _factors(value: Expr, groups: Groups) -> list[Factor]:
    """What is read of placeholders, at indices that are affine."""
    found = []
    for read in dict.fromkeys(reads(value)):
        try:
            found.append(factor_of(read, None, groups.extents))
        except NoMatchError:
            continue
    return found


def _operand(name: str, dtype: DType, value: Expr, outer: Axes, groups: Groups) -> Operand:
    every = list(dict.fromkeys(reads(value)))
    for read in every:
        if not isinstance(read.tensor.source, Placeholder):
            raise NoMatchError(f"a factor reads {read.tensor.name}, which is not given")
    ranges = {a: Interval(0, e - 1) for a, e in groups.extents.items()}
    value = simplify(value, ranges)
    along_depth, along_outer = (_piece(value, axes, groups) for axes in (groups.depth, outer))
    size = (groups.size(groups.batch), groups.size(outer), groups.size(groups.depth))
    by_depth = along_depth >= along_outer
    runs = (outer, groups.depth) if by_depth else (groups.depth, outer)
    return Operand(
        Tensor(name, size, dtype),
        value,
        outer,
        by_depth=by_depth,
        piece=max(along_depth, along_outer),
        is_computed=_is_computed(value, dtype),
        view=_view(name, dtype, value, (groups.batch, *runs), groups),
    )


def _view(
    name: str, dtype: DType, value: Expr, dimensions: tuple[Axes, Axes, Axes], groups: Groups
) -> Tensor | None:
    """What is read, by one number for each group of axes, if that is how it lies in memory."""
    if not isinstance(value, Read) or value.tensor.dtype != dtype:
        return None
    try:
        factor = factor_of(value, None, groups.extents)
    except NoMatchError:
        return None
    batch, rows, columns = (_step(factor, axes, groups) for axes in dimensions)
    shape = tuple(map(groups.size, dimensions))
    piece = PIECE_BYTES // dtype.bytes
    if rows == 0:
        rows = -(-shape[2] // piece) * piece  # there is one
    if batch == 0:
        batch = (rows or 0) * shape[1]
    offset = factor.offset
    if batch is None or rows is None or columns not in (0, 1):
        return None
    if min(batch, rows, offset) < 0 or any(s % piece for s in (batch, rows, offset)):
        return None
    return Tensor(f"{name}.view", shape, dtype, View(value.tensor, offset, (batch, rows, 1)))


def _step(factor: Factor, axes: Axes, groups: Groups) -> int | None:
    """Elements from one value of the number of a group's axes to the next; 0 where there is one
    value, None where they are not evenly apart.
    """
    if not axes:
        return 0
    width = factor.stride(axes[-1])
    for axis in reversed(axes):
        if factor.stride(axis) != width:
            return None
        width *= groups.extents[axis]
    return factor.stride(axes[-1]) or None


def _is_computed(value: Expr, dtype: DType) -> bool:
    """Whether a factor is more than what is in memory, or 0."""
    match value:
        case Select(_, a, Const(0 | 0.0)):
            return _is_computed(a, dtype)
        case Read(tensor):
            return tensor.dtype != dtype
    return True


def _piece(value: Expr, axes: Axes, groups: Groups) -> int:
    """The most elements along a group that are read at once, aligned and under one condition."""
    factors, last = _factors(value, groups), axes[-1] if axes else ""
    if not axes or len(factors) < len(set(reads(value))) or last in _tested(value):
        return 1
    for piece in PIECES:
        fits = all(piece * f.tensor.dtype.bytes <= PIECE_BYTES for f in factors)
        whole = groups.extents[last] % piece == 0
        if fits and whole and all(_is_run(f, last, piece, groups) for f in factors):
            return piece
    return 1


def _tested(value: Expr) -> frozenset[str]:
    """The axes that conditions of selects depend on."""
    conds = [e.cond for e in walk(value) if isinstance(e, Select)]
    return frozenset[str]().union(*map(free_vars, conds))


def _is_run(factor: Factor, axis: str, piece: int, groups: Groups) -> bool:
    """Whether so many neighbours along an axis are one element, or a run from a multiple on."""
    step = factor.stride(axis)
    if step == 0:
        return True
    others = [factor.stride(a) for a in groups.extents if a != axis]
    along = axis in dict(factor.indices[-1].coefficients)
    return step == 1 and along and all(s % piece == 0 for s in (*others, factor.offset))
