"""The contraction of a DAG as the product of two matrices, which is all that templates know of it.

    anchor = anchor_of(dag)                     sums[batch, row, column] of left and right
    anchor.left.tensor                          left[batch, row, depth], which is nowhere in memory
    anchor.fused(nest)                          the nest with what is before and after it

What makes a factor and what follows the sums are put into the finished nest (`nest.fuse`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from tilewright.expr.contraction.factors import AffineRead, Factor, NoMatch, read_of
from tilewright.expr.contraction.follows import Follows, what_follows
from tilewright.expr.contraction.groups import Axes, Contraction, contraction_of, sums
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import DType
from tilewright.expr.index.intervals import Interval
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Const, Expr, Read, Select, Tensor, as_expr
from tilewright.expr.reference import compute_of
from tilewright.expr.tensors import Placeholder, View
from tilewright.expr.traversal import free_vars, reads, substitute, transform, walk
from tilewright.nest.fuse import Prologue, fused
from tilewright.nest.gpu.swizzle import PIECE_BYTES
from tilewright.nest.gpu.task_map import digits
from tilewright.nest.nodes import Node, Store

LEFT, RIGHT, SUMS = "left", "right", "sums"
PIECES = (8, 4, 2, 1)  # elements of one access, of at most 16 bytes


@dataclass(frozen=True, slots=True)
class Operand:
    """A factor: `tensor[batch, outer, depth]` is `value` over the axes of the contraction.

    `by_depth`: memory runs along the depth, else along its rows or columns; `piece` elements of
    that are one aligned access. `is_computed`: it is no read (nor 0 at a border). `view` has it in
    memory, `[batch, outer, depth]`, or what memory runs along last; None where its rows are not
    evenly apart, or not aligned to pieces of 16 bytes.
    """

    tensor: Tensor
    value: Expr
    by_depth: bool
    piece: int
    is_computed: bool
    view: Tensor | None

    @property
    def dtype(self) -> DType:
        return self.tensor.dtype


@dataclass(frozen=True)
class Anchor:
    """See the module: the contraction's groups, and what becomes of an element of its sums."""

    dag: ComputeDAG
    groups: Contraction[Factor]
    left: Operand
    right: Operand
    follows: Follows

    @property
    def batch(self) -> int:
        return self.groups.size(self.groups.batch)

    @property
    def rows(self) -> int:
        return self.groups.size(self.groups.rows)

    @property
    def columns(self) -> int:
        return self.groups.size(self.groups.columns)

    @property
    def depth(self) -> int:
        return self.groups.size(self.groups.depth)

    @cached_property
    def sums(self) -> Tensor:
        """The product, which a template's nest stores each element of once."""
        return Tensor(SUMS, (self.batch, self.rows, self.columns), self.groups.stage.dtype)

    def fused(self, node: Node) -> Node:
        """A nest over `left`, `right` and `sums` as one over the DAG's own tensors."""
        g, follows = self.groups, self.follows

        def factor(operand: Operand, outer: Axes) -> Prologue:
            return lambda b, o, k: substitute(
                operand.value, self._axes((g.batch, b), (outer, o), (g.depth, k))
            )

        def store(indices: tuple[Expr, ...], value: Expr) -> Node:
            axes = self._axes(*zip((g.batch, g.rows, g.columns), indices, strict=True))
            element = _replaced(follows.value, g.stage, value)
            at = tuple(substitute(i, axes) for i in follows.output.indices)
            return Store(follows.output.tensor, at, substitute(element, axes))

        prologues = {LEFT: factor(self.left, g.rows), RIGHT: factor(self.right, g.columns)}
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


def anchor_of(dag: ComputeDAG) -> Anchor | NoMatch:
    """The anchor of a DAG: its only sum; why not, where there is none, or where what follows it is
    not made element by element.
    """
    every = sums(dag)
    if len(every) != 1:
        return NoMatch(f"{len(every)} stages reduce, not one")
    (stage,) = every
    found = contraction_of(dag, stage)
    if isinstance(found, NoMatch):
        return found
    spatial = [a.name for a in compute_of(stage).axes if a.name in (*found.rows, *found.columns)]
    if spatial and spatial[-1] in found.rows:
        # elements of the output that lie side by side are columns
        found = found.swapped
    factors = found.left, found.right
    for read in (r for factor in factors for r in reads(factor.value)):
        if not isinstance(read.tensor.source, Placeholder):
            return NoMatch(f"a factor reads {read.tensor.name}, which is not given")
    follows = what_follows(dag, found)
    if isinstance(follows, NoMatch):
        return follows

    every_read = [read_of(r, found.extents) for factor in factors for r in reads(factor.value)]
    strides = [f.strides for f in every_read if isinstance(f, AffineRead)]

    def steps(axis: str) -> int:
        """Of the depth, those come last that memory runs along."""
        return min((abs(s[axis]) for s in strides if s.get(axis)), default=0)

    found = replace(found, depth=tuple(sorted(found.depth, key=steps, reverse=True)))
    left = _operand(LEFT, found.left, found.rows, found)
    right = _operand(RIGHT, found.right, found.columns, found)
    return Anchor(dag, found, left, right, follows)


def _operand(name: str, factor: Factor, outer: Axes, found: Contraction[Factor]) -> Operand:
    ranges = {a: Interval(0, e - 1) for a, e in found.extents.items()}
    value, dtype = simplify(factor.value, ranges), factor.dtype
    every = [read_of(r, found.extents) for r in reads(value)]
    tested = {n for e in walk(value) if isinstance(e, Select) for n in free_vars(e.cond)}

    def piece_of(axes: Axes) -> int:
        """The most elements along a group that are one aligned access, under one condition."""
        last = axes[-1] if axes else ""
        for piece in PIECES if axes and last not in tested else ():
            if found.extents[last] % piece == 0 and all(
                isinstance(f, AffineRead)
                and piece * f.dtype.bytes <= PIECE_BYTES
                and f.is_run(last, piece)
                for f in every
            ):
                return piece
        return 1

    along_depth, along_outer = piece_of(found.depth), piece_of(outer)
    by_depth = along_depth >= along_outer
    runs = (outer, found.depth) if by_depth else (found.depth, outer)
    is_read = isinstance(value, Read) and value.tensor.dtype == dtype
    return Operand(
        Tensor(name, tuple(map(found.size, (found.batch, outer, found.depth))), dtype),
        value,
        by_depth=by_depth,
        piece=max(along_depth, along_outer),
        is_computed=_is_computed(value, dtype),
        view=_view(name, every[0], (found.batch, *runs)) if is_read else None,
    )


def _view(name: str, lies: AffineRead | NoMatch, groups: tuple[Axes, ...]) -> Tensor | None:
    """What is read, by one number for each group of axes, if that is how it lies in memory."""
    if isinstance(lies, NoMatch):
        return None
    batch, rows, columns = (lies.step(axes) for axes in groups)
    shape = tuple(prod(lies.extents[a] for a in axes) for axes in groups)
    piece = PIECE_BYTES // lies.dtype.bytes
    if rows == 0:
        rows = -(-shape[2] // piece) * piece  # there is one
    if batch == 0:
        batch = (rows or 0) * shape[1]
    offset = lies.offset
    if batch is None or rows is None or columns not in (0, 1):
        return None
    if min(batch, rows, offset) < 0 or any(s % piece for s in (batch, rows, offset)):
        return None
    return Tensor(f"{name}.view", shape, lies.dtype, View(lies.tensor, offset, (batch, rows, 1)))


def _is_computed(value: Expr, dtype: DType) -> bool:
    """Whether a factor is more than what is in memory, or 0."""
    match value:
        case Select(_, a, Const(0 | 0.0)):
            return _is_computed(a, dtype)
        case Read(tensor):
            return tensor.dtype != dtype
    return True
