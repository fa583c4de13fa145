"""Template `cutlass.gemm`: matrix products, one or a batch, operands in either order in memory."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from tilewright.cutlass.architectures import Architecture, Shape
from tilewright.cutlass.epilogue import COUNT, ELEMENTS, unwritable
from tilewright.cutlass.guidelines import gemm_tiles
from tilewright.cutlass.matrices import Matrix, Packed, matrix_of
from tilewright.cutlass.parameters import (
    EPILOGUE_WARP_COLUMNS,
    Condition,
    Number,
    Parameters,
    epilogue_bytes,
    greater,
    shared_condition,
    stage_bytes,
    tile_conditions,
)
from tilewright.cutlass.template import Match, Pointer, shape_text, swizzled_grid
from tilewright.expr.contraction.factors import AffineRead, NoMatch, read_of
from tilewright.expr.contraction.follows import Follows, what_follows
from tilewright.expr.contraction.groups import (
    Axes,
    Contraction,
    alike,
    contraction_in_memory,
    sums,
)
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import is_constant

MOST_BATCH = 65535  # blocks in a grid's third dimension
# Of rows that are contiguous a warp loads 32 at a time: CUTLASS finds no other warp's tile between.
LEAST_ROWS = 32


@dataclass(frozen=True)
class TiledMatch(Match):
    """What a product and a convolution have in common: one contraction, in tiles of one shape."""

    @property
    def extents(self) -> Shape:
        """M, N, K of one product."""
        c = self.last
        return c.size(c.rows), c.size(c.columns), c.size(c.depth)

    @property
    def batch(self) -> int:
        return self.last.size(self.last.batch)

    @abstractmethod
    def natural(self) -> int:
        """Elements of an access that suits the factors where they are not padded; 0 where one of
        them has no such place.
        """

    def conditions(self, p: Parameters) -> list[Condition]:
        where, natural = self.architecture, self.natural()
        used = self.dynamic_bytes(p) + self.static_bytes
        return [
            *tile_conditions(p, where, self.dtype),
            shared_condition(used, where.shared_bytes, where.name),
            Condition(
                "alignment",
                (p.align <= self.full)
                & (((p.pad == 1) & (p.align == self.full)) | ((p.pad == 0) & (p.align <= natural))),
                f"accesses of {p.align} elements suit the factors, which allow {natural} as they "
                f"lie (padded: {self.full})",
            ),
            Condition("padding", (p.pad == 0) | self.paddable, "what is padded is one dimension"),
            Condition("swizzle", (p.swizzle >= 1) & (p.swizzle <= 8), f"1 to 8, not {p.swizzle}"),
            *epilogue_conditions(p.block_n, p.warp_n),
        ]

    def candidates(self) -> list[Parameters]:
        """Tiles with the accesses that they allow: as things lie, and padded where that is wider.
        Of either kind the best first, in turns.
        """
        tiles = gemm_tiles(self.architecture, self.dtype, *self.extents[:2], self.batch)
        natural = self.natural()
        found = [replace(p, align=natural) for p in tiles if natural]
        if natural < self.full and self.paddable:
            padded = [replace(p, align=self.full, pad=1) for p in tiles]
            pairs = zip(padded, found, strict=False) if found else ((p,) for p in padded)
            found = [p for pair in pairs for p in pair]
        return found

    def grid(self, p: Parameters) -> Shape:
        m, n, _ = self.extents
        tiles = -(-m // int(p.block_m)), -(-n // int(p.block_n))
        return swizzled_grid(*tiles, self.batch, int(p.swizzle))

    def dynamic_bytes(self, p: Parameters) -> Number:
        loop = stage_bytes(p.block_m, p.block_n, p, self.dtype)
        return greater(loop, epilogue_bytes(p.block_n, p.block_m // p.warp_m))

    def tile_arguments(self, p: Parameters) -> list[object]:
        """The last arguments of the body's C++ template."""
        return [
            COUNT,
            f"cutlass::arch::{self.architecture.tag}",
            shape_text(p.block_m, p.block_n, p.block_k),
            shape_text(p.warp_m, p.warp_n, p.block_k),
            shape_text(*self.architecture.instructions[self.dtype]),
            p.stages,
            p.swizzle,
            "cutlass::arch::OpMultiplyAdd",
        ]


def epilogue_conditions(block_n: Number, warp_n: Number) -> list[Condition]:
    """Limits of the way of accumulators through shared memory, where halves are written 8 at a
    time: of more than 64 columns of a warp CUTLASS's compiled kernels write some to others' places
    (TileIteratorTensorOpMixed of 4.2 takes one pointer for all of them).
    """
    return [
        Condition("columns of the epilogue", block_n % COUNT == 0, f"{block_n} are whole accesses"),
        Condition(
            "columns of a warp in the epilogue",
            warp_n <= EPILOGUE_WARP_COLUMNS,
            f"a warp has at most {EPILOGUE_WARP_COLUMNS} columns of the result, not {warp_n}",
        ),
    ]


@dataclass(frozen=True)
class GemmMatch(TiledMatch):
    """`last` is the contraction; rows are M, columns N, depth K."""

    template: ClassVar[str] = "cutlass.gemm"
    header: ClassVar[str] = "tw_gemm.h"
    sizes: ClassVar[str] = "tw::GemmSizes"

    def _side(self, left: bool) -> tuple[AffineRead, Axes]:
        c = self.last
        return (c.left, c.rows) if left else (c.right, c.columns)

    def lies(self, left: bool) -> Matrix | None:
        """A factor as it lies. A constant does not: it is packed when the function is loaded."""
        factor, free = self._side(left)
        if is_constant(factor.tensor):
            return None
        return matrix_of(factor, self.last.batch, free, self.last.depth)

    def natural(self) -> int:
        k = self.extents[2]
        given = [left for left in (True, False) if not is_constant(self._side(left)[0].tensor)]
        found = map(self.lies, given)
        return min(self.full, k & -k, *(0 if lies is None else lies.align for lies in found))

    @property
    def paddable(self) -> bool:
        return len(self.last.depth) <= 1 or self.extents[2] % self.full == 0

    @property
    def _has_contiguous_depth(self) -> bool:
        """Whether the left factor has K contiguous: as it lies, or where it is packed."""
        lies = self.lies(True)
        return lies is None or lies.k_contiguous

    def conditions(self, p: Parameters) -> list[Condition]:
        return [
            *super().conditions(p),
            Condition(
                "rows of a warp",
                (p.warp_m >= LEAST_ROWS) | self._has_contiguous_depth,
                f"a warp has at least {LEAST_ROWS} rows where these are contiguous, not {p.warp_m}",
            ),
            Condition(
                "batch", self.batch <= MOST_BATCH, f"a batch has at most {MOST_BATCH} products"
            ),
        ]

    def _operand(self, left: bool, p: Parameters) -> tuple[Pointer, Matrix]:
        """What the kernel reads, and how that lies."""
        c = self.last
        factor, free = self._side(left)
        lies, k = self.lies(left), self.filled(self.extents[2], p)
        suits = lies is not None and lies.align == self.full
        if lies is not None and (not p.pad or (suits and k == self.extents[2])):
            return Pointer(factor), lies
        filled = {c.depth[-1]: k} if len(c.depth) == 1 else {}
        packed = Packed.of(factor, (*c.batch, *free, *c.depth), filled)
        step = c.size(free) * k if c.batch else 0
        return Pointer(factor, packed), Matrix(True, k, step, int(p.align))

    def operands(self, p: Parameters) -> list[Pointer]:
        return [self._operand(left, p)[0] for left in (True, False)]

    def problem(self, p: Parameters) -> tuple[int, ...]:
        m, n, k = self.extents
        a, b = (self._operand(left, p)[1] for left in (True, False))
        return m, n, self.filled(k, p), a.ld, b.ld, a.step, b.step

    def body(self, p: Parameters, name: str) -> str:
        a, b = (self._operand(left, p)[1] for left in (True, False))
        row, column = "cutlass::layout::RowMajor", "cutlass::layout::ColumnMajor"
        arguments = [
            ELEMENTS[self.dtype],
            row if a.k_contiguous else column,
            p.align,
            column if b.k_contiguous else row,
            p.align,
            *self.tile_arguments(p),
        ]
        return f"tw::Gemm<{', '.join(map(str, arguments))}>"


class Gemm:
    """Matches DAGs with one contraction whose factors are read element by element."""

    name = GemmMatch.template

    def match(self, dag: ComputeDAG, architecture: Architecture) -> GemmMatch | NoMatch:
        """What it computes of a DAG, or why nothing."""
        found = only_contraction(dag, architecture)
        if isinstance(found, NoMatch):
            return found
        if not (found[0].left.is_plain and found[0].right.is_plain):
            return NoMatch("a factor is read in windows")
        return GemmMatch(dag, architecture, *found)


Found: TypeAlias = "tuple[Contraction[AffineRead], Follows]"


def only_contraction(dag: ComputeDAG, architecture: Architecture) -> Found | NoMatch:
    """The one contraction of a DAG and what follows it, with the factors in the order in which the
    columns are side by side in the output, or are those that a reduction is over.
    """
    stages = sums(dag)
    if len(stages) not in (1, 2):
        return NoMatch(f"there are {len(stages)} sums, not one, or two of which one is of rows")
    found = multiplied(dag, stages[0], architecture)
    if isinstance(found, NoMatch):
        return found
    either = [_ordered(dag, c) for c in (found, found.swapped)]
    ordered = [ways for ways in either if not isinstance(ways, NoMatch)]
    if not ordered:
        return next(ways for ways in either if isinstance(ways, NoMatch))
    chosen, follows, _ = max(ordered, key=lambda ways: ways[2])
    reason = unwritable(follows, chosen, (chosen.left, chosen.right))
    return NoMatch(reason) if reason else (chosen, follows)


def _ordered(
    dag: ComputeDAG, found: Contraction[AffineRead]
) -> tuple[Contraction[AffineRead], Follows, bool] | NoMatch:
    """A contraction with the axes of each group as they lie, the outermost first: rows and depth in
    the left factor, batch and columns in the output (columns that are reduced: in the right one).
    What follows it, and whether columns are side by side in the output.
    """
    follows = what_follows(dag, found)
    if isinstance(follows, NoMatch):
        return follows
    output = read_of(follows.output, found.extents)
    if isinstance(output, NoMatch):
        return output
    along = {**found.right.strides, **output.strides}

    def outside(axis: str) -> int:
        return -along.get(axis, 0)

    def inside(axis: str) -> int:
        return -found.left.stride(axis)

    ordered = replace(
        found,
        batch=tuple(sorted(found.batch, key=outside)),
        rows=tuple(sorted(found.rows, key=inside)),
        columns=tuple(sorted(found.columns, key=outside)),
        depth=tuple(sorted(found.depth, key=inside)),
    )
    return ordered, follows, any(output.stride(a) == 1 for a in found.columns)


def multiplied(
    dag: ComputeDAG, stage: Tensor, architecture: Architecture
) -> Contraction[AffineRead] | NoMatch:
    """The contraction that a stage is, of factors that the architecture's instructions multiply."""
    found = contraction_in_memory(dag, stage)
    if isinstance(found, NoMatch):
        return found
    dtypes = found.left.dtype.name, found.right.dtype.name
    if dtypes not in alike(architecture.instructions):
        both = " by ".join(dict.fromkeys(dtypes))
        return NoMatch(f"{architecture.name} multiplies no {both} by tensor cores")
    return found if found.depth else NoMatch("there is nothing to be summed")
