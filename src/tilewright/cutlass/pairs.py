"""Two contractions of which the second reads the first's elements: what the templates of two in one
kernel have in common (Bolt, section 3.1).

    pair = pair_of(dag, architecture)
    pair.first, pair.second      contractions; the second's left factor is the first's result
    pair.between                 what becomes of an element of the first, with its column's bias
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tilewright.cutlass.architectures import Architecture
from tilewright.cutlass.epilogue import scalar_function, unwritable, variables
from tilewright.cutlass.gemm import epilogue_conditions, multiplied
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
from tilewright.expr.contraction.factors import AffineRead, Factor, NoMatch, in_memory, read_of
from tilewright.expr.contraction.follows import Follows, of_elements, what_follows
from tilewright.expr.contraction.groups import Contraction, contraction_of, sums
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.evaluate import evaluate
from tilewright.expr.nodes import Axis, Const, Expr, Read, Var
from tilewright.expr.reference import compute_of
from tilewright.expr.tensors import is_constant
from tilewright.expr.traversal import reads, transform

LEAST_OTHERS = 32  # registers of a thread beside both accumulators and operands
MIDDLE_PADDING = 8  # elements that a row of the middle value in shared memory is longer


@dataclass(frozen=True, slots=True)
class Pair:
    """See the module. `bias` is what `between` reads for a column, if it reads anything."""

    first: Contraction[AffineRead]
    second: Contraction[AffineRead]
    follows: Follows
    between: Expr
    bias: AffineRead | None

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


def pair_of(dag: ComputeDAG, architecture: Architecture) -> Pair | NoMatch:
    """The two contractions of a DAG; why there are none, where it has others."""
    stages = sums(dag)
    if len(stages) != 2:
        return NoMatch(f"there are {len(stages)} sums, not two")
    inner, outer = stages
    g = contraction_of(dag, outer)
    if isinstance(g, NoMatch):
        return g
    mine = [[r for r in reads(f.value) if r.tensor.name == inner.name] for f in (g.left, g.right)]
    if all(mine) or not any(mine):
        return NoMatch(f"{inner.name} is not one of {outer.name}'s two factors")
    (middle, *_), g = (mine[0], g) if mine[0] else (mine[1], g.swapped)
    found = multiplied(dag, inner, architecture)
    if isinstance(found, NoMatch):
        return found
    first = _first(found)
    if first.batch:
        return NoMatch("the first contraction is a batch of several")
    if not first.columns:
        return NoMatch("the first contraction has one column: nothing to be summed is left")
    return _paired(dag, first, g, middle)


def _paired(
    dag: ComputeDAG, first: Contraction[AffineRead], g: Contraction[Factor], middle: Read
) -> Pair | NoMatch:
    """The first contraction with the second, `g`, whose left factor reads it at `middle`."""
    if variables(g.left.value):
        return NoMatch("what is between the two contractions depends on the position: a border")
    left, right = read_of(middle, g.extents), in_memory(g.right.value, g.extents)
    if isinstance(right, NoMatch):
        return right
    if isinstance(left, NoMatch) or not (left.is_plain and right.is_plain):
        return NoMatch("the second contraction reads windows, or every second position")
    if g.batch or right.dtype != first.right.dtype:
        return NoMatch("the two contractions are not of one dtype and batch")
    between = of_elements(dag, g.left.value, first.stage, _moving(g))
    if isinstance(between, NoMatch):
        return between
    value, names = between
    bias = _bias(value, first)
    if isinstance(bias, NoMatch):
        return bias
    order = {e.name: axis for axis, e in names.items() if isinstance(e, Var)}
    rows, depth = (tuple(order.get(a, "") for a in axes) for axes in (first.rows, first.columns))
    if set(rows) != set(g.rows) or set(depth) != set(g.depth):
        return NoMatch("the second contraction does not have the first one's rows as its own")
    second = Contraction(g.stage, left, right, (), rows, _as_stored(g), depth, g.extents)
    follows = what_follows(dag, second)
    if isinstance(follows, NoMatch):
        return follows
    packed = [first.left, first.right, right, *([] if bias is None else [bias])]
    reason = unwritable(follows, second, packed)
    return NoMatch(reason) if reason else Pair(first, second, follows, value, bias)


def _moving(g: Contraction[Any]) -> list[Axis]:
    """The axes that may move the left factor."""
    compute = compute_of(g.stage)
    return [a for a in (*compute.axes, *compute.reduce_axes) if a.name not in g.columns]


def _first(found: Contraction[AffineRead]) -> Contraction[AffineRead]:
    """The first contraction, with the factor that is read in windows, or else the one that is no
    constant, on the left; axes of every group in the order of that one's memory, columns of the
    stage's.
    """
    both = (found, found.swapped)
    c = min(both, key=lambda c: (c.left.is_plain, not is_constant(c.right.tensor)))
    rows, depth = (tuple(sorted(a, key=lambda a: -c.left.stride(a))) for a in (c.rows, c.depth))
    return replace(c, rows=rows, columns=_as_stored(c), depth=depth)


def _as_stored(c: Contraction[Any]) -> tuple[str, ...]:
    """Columns in the order of the stage's axes."""
    return tuple(a.name for a in compute_of(c.stage).axes if a.name in c.columns)


def _bias(value: Expr, first: Contraction[AffineRead]) -> AffineRead | NoMatch | None:
    """The bias of columns that is read besides an element of the first contraction, if any is."""
    others = {r for r in reads(value) if r.tensor.name != first.stage.name}
    if len(others) > 1:
        return NoMatch("more than one tensor is read between the two contractions")
    for read in others:
        found = read_of(read, first.extents)
        if read.tensor.dtype != first.left.dtype:
            return NoMatch(f"{read.tensor.name} between is {read.tensor.dtype}")
        if (
            isinstance(found, NoMatch)
            or any(map(found.stride, first.rows))
            or found.offset
            or (found.step(first.columns) != 1)
        ):
            return NoMatch(f"{read.tensor.name} between is no bias of columns")
        return found
    return None


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
