"""Two contractions of which the second reads the first's elements: what the templates of two in one
kernel have in common (Bolt, section 3.1).

    pair = pair_of(dag, architecture)
    pair.first, pair.second      contractions; the second's left factor is the first's result
    pair.between                 what becomes of an element of the first, with its column's bias
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tilewright.cutlass.architectures import Architecture
from tilewright.cutlass.epilogue import group_stride, scalar_function
from tilewright.cutlass.gemm import epilogue_conditions, supported
from tilewright.cutlass.guidelines import FEW_BLOCKS, pipelines_of
from tilewright.cutlass.parameters import (
    Condition,
    Number,
    Parameters,
    element_bytes,
    epilogue_bytes,
    greater,
    stage_bytes,
    thread_registers,
    tile_conditions,
)
from tilewright.expr.contraction import (
    Contraction,
    Factor,
    Follows,
    NoMatchError,
    contraction_of,
    factor_of,
    grouped,
    packed_once,
    place_of,
    seen_through,
    sums,
    what_follows,
)
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.evaluate import evaluate
from tilewright.expr.nodes import (
    Binary,
    Const,
    Expr,
    Read,
    Reduce,
    Tensor,
    Var,
    children,
    reads,
    substitute,
    transform,
)
from tilewright.expr.reference import compute_of, sizes
from tilewright.expr.tensors import Placeholder

LEAST_OTHERS = 32  # registers of a thread beside both accumulators and operands
MIDDLE_PADDING = 8  # elements that a row of the middle value in shared memory is longer


@dataclass(frozen=True, slots=True)
class Pair:
    """See the module. `bias` is the tensor that `between` reads for a column, if it reads one."""

    first: Contraction
    second: Contraction
    follows: Follows
    between: Expr
    bias: Tensor | None

    @property
    def middle(self) -> int:
        """Columns of the middle value."""
        return self.first.size(self.first.columns)

    def function(self, name: str) -> tuple[str, Mapping[str, str]]:
        """`between` as a function of tw_b2b.h, and the helpers that it calls."""
        texts = {
            r: "x" if r.tensor.name == self.first.stage.name else "b" for r in reads(self.between)
        }
        return scalar_function(self.between, texts, name)

    @property
    def keeps_zeros_finite(self) -> bool:
        """Whether padded columns, whose sums and biases are 0, have finite values: then they add
        nothing, their weights being 0.
        """
        zero = transform(
            self.between, lambda e: Const(0.0, e.dtype) if isinstance(e, Read) else None
        )
        with np.errstate(all="ignore"):
            return bool(np.isfinite(np.asarray(evaluate(zero, {})).astype(np.float64)).all())


def pair_of(dag: ComputeDAG, architecture: Architecture) -> Pair:
    """Raises NoMatchError, which says why there is none."""
    stages = sums(dag)
    if len(stages) != 2:
        raise NoMatchError(f"there are {len(stages)} sums, not two")
    inner, outer = stages
    body = compute_of(outer).body
    assert isinstance(body, Reduce)
    product = body.body
    if body.op != "sum" or not isinstance(product, Binary) or product.op != "mul":
        raise NoMatchError(f"{outer.name} is no sum of products")
    parts = [seen_through(dag, e) for e in (product.a, product.b)]
    mine = [any(r.tensor.name == inner.name for r in reads(e)) for e in parts]
    if sum(mine) != 1:
        raise NoMatchError(f"{inner.name} is not one of {outer.name}'s two factors")
    value, other = parts if mine[0] else parts[::-1]
    first = _sorted(_first(dag, inner))
    supported(first, architecture)
    if first.batch:
        raise NoMatchError("the first contraction is a batch of several")
    if not first.columns:
        raise NoMatchError("the first contraction has one column: nothing to be summed is left")
    middle, bias = _middle(value, outer, first)
    if not isinstance(other, Read) or not isinstance(other.tensor.source, Placeholder):
        raise NoMatchError("a factor of the second contraction is computed, not read")
    compute = compute_of(outer)
    axes = (*compute.axes, *compute.reduce_axes)
    extents = dict(zip((a.name for a in axes), sizes(axes), strict=True))
    left = factor_of(middle, None, extents)
    right = factor_of(other, None, extents)
    if not left.is_plain or not right.is_plain:
        raise NoMatchError("the second contraction reads windows, or every second position")
    # The middle value is a matrix of the first factors' dtype; the sum itself is wider.
    left = replace(left, tensor=replace(left.tensor, dtype=right.tensor.dtype))
    second = grouped(outer, left, right)
    if second.batch or second.dtype != first.dtype:
        raise NoMatchError("the two contractions are not of one dtype and batch")
    second = _same_rows(first, second)
    follows = what_follows(dag, second)
    given = [] if bias is None else [Factor(bias, (), False)]
    packed_once((first.left, first.right, second.right, *given), follows)
    return Pair(first, second, follows, value, bias)


def _first(dag: ComputeDAG, inner: Tensor) -> Contraction:
    """The first contraction, with the factor that is read in windows, or else the one that has the
    rows of more elements, on the left.
    """
    both = [contraction_of(dag, inner, swapped) for swapped in (False, True)]
    both.sort(key=lambda c: (c.left.is_plain, not _is_weights(c)))
    return both[0]


def _is_weights(c: Contraction) -> bool:
    source = c.right.tensor.source
    return isinstance(source, Placeholder) and source.constant


def _sorted(c: Contraction) -> Contraction:
    """Axes of every group in the order of the left factor's memory; columns of the stage's."""
    order = {a.name: i for i, a in enumerate(compute_of(c.stage).axes)}
    return replace(
        c,
        rows=tuple(sorted(c.rows, key=lambda a: -c.left.stride(a))),
        columns=tuple(sorted(c.columns, key=order.__getitem__)),
        depth=tuple(sorted(c.depth, key=lambda a: -c.left.stride(a))),
    )


def _middle(value: Expr, outer: Tensor, first: Contraction) -> tuple[Read, Tensor | None]:
    """The read of the first contraction in the second's factor, and the bias's tensor."""
    read_at = [r for r in reads(value) if r.tensor.name == first.stage.name]
    if len(set(read_at)) != 1:
        raise NoMatchError(f"{outer.name} reads {first.stage.name} at several places")
    others = {r for r in reads(value) if r not in read_at}
    if len(others) > 1:
        raise NoMatchError("more than one tensor is read between the two contractions")
    if any(isinstance(v, Var) for v in _values(value)):
        raise NoMatchError("what is between the two contractions depends on the position: a border")
    for read in others:
        if not isinstance(read.tensor.source, Placeholder):
            raise NoMatchError(f"{read.tensor.name} between the two contractions is computed")
        if read.tensor.dtype != first.left.tensor.dtype:
            raise NoMatchError(f"{read.tensor.name} between is {read.tensor.dtype}")
        renamed = _in_terms_of(first, read, read_at[0])
        place = place_of(renamed, first)
        along = group_stride(place.strides, first.columns, first.extents)
        if any(place.strides.get(a) for a in first.rows) or along != 1 or place.offset:
            raise NoMatchError(f"{read.tensor.name} between is no bias of columns")
    return read_at[0], next((r.tensor for r in others), None)


def _in_terms_of(first: Contraction, read: Read, middle: Read) -> Read:
    """A read of the second contraction in the first one's axes: its columns are what the second one
    sums over.
    """
    named: dict[str, Expr] = {
        index.name: axis.var
        for axis, index in zip(compute_of(first.stage).axes, middle.indices, strict=True)
        if isinstance(index, Var)
    }
    return Read(read.tensor, tuple(substitute(i, named) for i in read.indices))


def _values(e: Expr) -> list[Expr]:
    """Nodes outside of reads."""
    if isinstance(e, Read):
        return []
    return [e, *(x for c in children(e) for x in _values(c))]


def _same_rows(first: Contraction, second: Contraction) -> Contraction:
    """The second contraction with groups in the first one's order. Raises NoMatchError where rows
    are not the same, or it does not sum over all of the first one's columns.
    """
    inner = compute_of(first.stage).axes
    axes = {
        a.name: i.axis
        for a, i in zip(inner, second.left.indices, strict=True)
        if first.extents[a.name] > 1
    }
    rows = tuple(str(axes.get(a)) for a in first.rows)
    depth = tuple(str(axes.get(a)) for a in first.columns)
    if set(rows) != set(second.rows) or set(depth) != set(second.depth):
        raise NoMatchError("the second contraction does not have the first one's rows as its own")
    if any(first.extents[a] != second.extents[str(x)] for a, x in axes.items()):
        raise NoMatchError("the second contraction reads a part of the first one's result")
    order = {a.name: i for i, a in enumerate(compute_of(second.stage).axes)}
    columns = tuple(sorted(second.columns, key=order.__getitem__))
    return replace(second, rows=rows, depth=depth, columns=columns)


def pair_conditions(
    p: Parameters, pair: Pair, architecture: Architecture, dtype: str
) -> list[Condition]:
    """Limits of two contractions in one kernel, of which each needs all of its columns in one block
    (threadblock residence, section 3.1.1).
    """
    second = second_tiles(p)
    n0, n1 = pair.middle, pair.second.size(pair.second.columns)
    _, _, k = architecture.instructions[dtype]
    size = element_bytes(dtype)
    registers = (p.warp_m * p.warp_n + p.warp_m1 * p.warp_n1) // 32
    fragments = 2 * (p.warp_m1 + p.warp_n1) * k * size // 4 // 32
    named = [
        replace(c, name=f"second: {c.name}") for c in tile_conditions(second, architecture, dtype)
    ]
    return [
        *tile_conditions(p, architecture, dtype),
        *named,
        Condition(
            "residence of the first", p.block_n >= n0,
            f"a block's tile has all {n0} columns of the first contraction, not {p.block_n}",
        ),
        Condition(
            "residence of the second", p.block_n1 >= n1,
            f"a block's tile has all {n1} columns of the second contraction, not {p.block_n1}",
        ),
        Condition(
            "middle in registers",
            (p.shared == 1)
            | ((p.warp_n == p.block_n) & (p.warp_n1 == p.block_n1) & (p.warp_m1 == p.warp_m)),
            f"a warp that keeps the middle value in registers has all columns: {p.warp_n} of "
            f"{p.block_n} and {p.warp_n1} of {p.block_n1}, and the same rows",
        ),
        Condition(
            "warps of both", p.warps == second.warps,
            f"both contractions have the same warps, not {p.warps} and {second.warps}",
        ),
        Condition(
            "steps of the second", (p.block_n % p.block_k == 0) & (p.block_n // p.block_k >= 1),
            f"the middle value's {p.block_n} columns are whole tiles of {p.block_k}",
        ),
        Condition(
            "registers of both",
            (p.shared == 1) | (registers + fragments + LEAST_OTHERS <= thread_registers(p)),
            f"both accumulators of a thread, {registers}, and operands fit into "
            f"{thread_registers(p)} registers",
        ),
        *epilogue_conditions(p.block_n1, p.warp_n1),
        Condition("residence", (p.shared == 0) | (p.shared == 1), f"0 or 1, not {p.shared}"),
        Condition(
            "padded columns", (p.block_n == n0) | pair.keeps_zeros_finite,
            f"what follows the first contraction is finite for a sum of 0, or {n0} columns are "
            f"all of the tile's {p.block_n}",
        ),
    ]  # fmt: skip


def second_tiles(p: Parameters) -> Parameters:
    """The second contraction's tiles as a contraction's own."""
    return replace(p, block_n=p.block_n1, warp_m=p.warp_m1, warp_n=p.warp_n1)


def pair_bytes(p: Parameters, dtype: str) -> Number:
    """Shared memory: both contractions use the same, one after the other, except for the middle
    value where that is kept there.
    """
    widest = greater(p.block_n, p.block_n1)
    loop = stage_bytes(p.block_m, widest, p, dtype)
    middle = p.shared * p.block_m * (p.block_n + MIDDLE_PADDING) * element_bytes(dtype)
    epilogue = epilogue_bytes(p.block_n1, p.block_m // p.warp_m1)
    return greater(loop + middle, epilogue)


# Tiles of warps where the middle value is in shared memory: rows and columns of the first, columns
# of the second; the second's rows follow, or are any of ROWS.
SHARED_TILES = ((32, 32, 32), (32, 32, 64), (64, 32, 64), (32, 64, 64))
ROWS = (16, 32, 64)


def pair_candidates(
    pair: Pair, architecture: Architecture, align: int, rows: int
) -> list[Parameters]:
    """Tiles for a pair: columns as few as hold all of them, rows by the number of blocks."""
    n0 = _tile_columns(pair.middle)
    n1 = _tile_columns(pair.second.size(pair.second.columns))
    heights = (128, 64, 256) if rows >= 128 * FEW_BLOCKS else (64, 128)
    tiles = [(warp_m, n0, warp_m, n1, 0) for warp_m in ROWS]
    tiles += [
        (warp_m, min(warp_n, n0), warp_m1, min(warp_n1, n1), 1)
        for warp_m, warp_n, warp_n1 in SHARED_TILES
        for warp_m1 in ROWS
    ]
    return [
        Parameters(m, n0, k, warp_m, warp_n, stages, 1, align, 0, n1, warp_m1, warp_n1, shared)
        for k, stages in pipelines_of(architecture)
        for m in heights
        for warp_m, warp_n, warp_m1, warp_n1, shared in dict.fromkeys(tiles)
    ]


def _tile_columns(n: int) -> int:
    """The least tile with so many columns."""
    return max(32, 1 << (n - 1).bit_length())
