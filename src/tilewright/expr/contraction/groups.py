"""A contraction as a product of matrices: its axes in groups, by the factors that they move.

    found = contraction_of(dag, stage)
    found.rows, found.columns, found.depth, found.batch     names of axes
    contraction_in_memory(dag, stage).left.tensor           where both factors are only read

Neither the order of axes nor that of the factors is asked for (Hidet, ASPLOS 2023, section 5.2: a
convolution is a product whose left factor is read in windows). A factor is seen through stages that
are no sums.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Generic, TypeAlias, TypeVar

from tilewright.expr.contraction.factors import AffineRead, Factor, NoMatch, in_memory
from tilewright.expr.dag import ComputeDAG, inline_reads
from tilewright.expr.dtypes import DTYPES, DType
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Binary, Cast, Expr, Read, Reduce, Tensor
from tilewright.expr.reference import compute_of, extents_of
from tilewright.expr.traversal import free_vars, reads

Axes: TypeAlias = tuple[str, ...]
Pair: TypeAlias = tuple[str, str]
F = TypeVar("F")

FLOATS = tuple(name for name, dtype in DTYPES.items() if dtype.is_float)
SUMMED_IN: Mapping[Pair, str] = {(a, b): "float32" for a in FLOATS for b in FLOATS}
"""The dtypes of two factors in memory that anybody multiplies, and what the products are summed in.
What only some can do is a part of these pairs (`refused`)."""
NARROW = {"int32": ("int8", "uint8", "int16"), "float32": ("bfloat16",)}
"""Types of factors whose products instructions add to a sum of this type."""


def alike(names: Collection[str]) -> frozenset[Pair]:
    """Pairs of two factors of one dtype."""
    return frozenset((name, name) for name in names)


@dataclass(frozen=True, slots=True)
class Contraction(Generic[F]):
    """`stage[batch, rows, columns] = sum(left * right)` over `depth`; groups hold the axes of more
    than one element, the outermost first. `rows` are the left factor's alone, `columns` the right
    one's.
    """

    stage: Tensor
    left: F
    right: F
    batch: Axes
    rows: Axes
    columns: Axes
    depth: Axes
    extents: Mapping[str, int]

    def size(self, axes: Axes) -> int:
        """Elements of a group."""
        return prod(self.extents[a] for a in axes)

    @property
    def spatial(self) -> Axes:
        return (*self.batch, *self.rows, *self.columns)

    @property
    def swapped(self) -> Contraction[F]:
        """The same with the second factor as the left one."""
        return replace(self, left=self.right, right=self.left, rows=self.columns, columns=self.rows)


def refused(left: DType, right: DType, pairs: Collection[Pair]) -> str:
    """Why factors are none of these pairs, which are all of one dtype each; "" where they are."""
    if (left.name, right.name) in pairs:
        return ""
    names = " and ".join(sorted({left.name, right.name}))
    return f"factors are {names}, not {' or '.join(f'both {a}' for a, _ in sorted(pairs)[::-1])}"


def narrow_factors(product: Expr) -> tuple[Read, Read] | None:
    """The two reads that a term of a sum multiplies, of tensors with fewer bits than the sum has;
    None where it is another term.
    """
    if not isinstance(product, Binary) or product.op != "mul":
        return None
    a, b = (e.x if isinstance(e, Cast) else e for e in (product.a, product.b))
    if not isinstance(a, Read) or not isinstance(b, Read):
        return None
    kinds = NARROW.get(product.dtype.name, ())
    fits = a.tensor.dtype.name in kinds and b.tensor.dtype.name in kinds
    return (a, b) if fits else None


def seen_through(dag: ComputeDAG, e: Expr) -> Expr:
    """`e` in terms of placeholders and sums: what else it reads is written out."""
    stages = {s.name: s for s in dag.stages if not isinstance(compute_of(s).body, Reduce)}
    while any(r.tensor.name in stages for r in reads(e)):
        e = inline_reads(e, stages)
    return e


def sums(dag: ComputeDAG) -> list[Tensor]:
    """The stages that reduce, in order."""
    return [s for s in dag.stages if isinstance(compute_of(s).body, Reduce)]


def contraction_of(dag: ComputeDAG, stage: Tensor) -> Contraction[Factor] | NoMatch:
    """The contraction that a stage is; why not, where it is none: it sums no products, in another
    type than any program does, or along an axis of no group.
    """
    compute = compute_of(stage)
    body = compute.body
    if not isinstance(body, Reduce) or body.op != "sum":
        return NoMatch(f"{stage.name} is no sum")
    if not isinstance(body.body, Binary) or body.body.op != "mul":
        return NoMatch(f"{stage.name} is no sum of products")
    parts = (body.body.a, body.body.b)
    left, right = (Factor(seen_through(dag, e), _stored(e)) for e in parts)
    if SUMMED_IN.get((left.dtype.name, right.dtype.name)) != stage.dtype.name:
        both = f"{left.dtype} by {right.dtype}"
        return NoMatch(f"{stage.name}, of {both}, is summed in {stage.dtype}")
    extents = extents_of((*compute.axes, *compute.reduce_axes))
    mine, others = (free_vars(simplify(factor.value)) for factor in (left, right))
    spatial = [a.name for a in compute.axes if extents[a.name] > 1]
    depth = [a.name for a in compute.reduce_axes if extents[a.name] > 1]
    for axis in depth:
        if axis not in mine or axis not in others:
            return NoMatch(f"{stage.name}: only one factor moves along {axis}")
    for axis in spatial:
        if axis not in mine and axis not in others:
            return NoMatch(f"{stage.name} does not move along {axis}")
    return Contraction(
        stage,
        left,
        right,
        batch=tuple(a for a in spatial if a in mine and a in others),
        rows=tuple(a for a in spatial if a not in others),
        columns=tuple(a for a in spatial if a not in mine),
        depth=tuple(depth),
        extents=extents,
    )


def _stored(part: Expr) -> DType:
    """The dtype in which a factor is in memory, or would be."""
    while isinstance(part, Cast):
        part = part.x
    return part.tensor.dtype if isinstance(part, Read) else part.dtype


def contraction_in_memory(dag: ComputeDAG, stage: Tensor) -> Contraction[AffineRead] | NoMatch:
    """The same of two factors that are read; why not, where they are computed."""
    g = contraction_of(dag, stage)
    if isinstance(g, NoMatch):
        return g
    left, right = (in_memory(factor.value, g.extents) for factor in (g.left, g.right))
    if isinstance(left, NoMatch):
        return left
    if isinstance(right, NoMatch):
        return right
    return Contraction(g.stage, left, right, g.batch, g.rows, g.columns, g.depth, g.extents)
