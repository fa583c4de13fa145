"""Template `cutlass.b2b_gemm`: a matrix product of a matrix product in one kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tilewright.cutlass.architectures import Architecture, Shape
from tilewright.cutlass.epilogue import COUNT, ELEMENTS
from tilewright.cutlass.matrices import Packed, view
from tilewright.cutlass.pairs import Pair, pair_bytes, pair_candidates, pair_conditions, pair_of
from tilewright.cutlass.parameters import (
    FIELDS,
    Condition,
    Number,
    Parameters,
    shared_condition,
)
from tilewright.cutlass.template import Match, Operand, shape_text
from tilewright.expr.contraction import Contraction, Factor, NoMatchError
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.reference import static_shape


@dataclass(frozen=True)
class B2bMatch(Match):
    """What pairs of either kind have in common; `last` is the second contraction."""

    needed: ClassVar[tuple[str, ...]] = tuple(f for f in FIELDS if f not in ("pad", "shared"))

    pair: Pair

    def bias(self, p: Parameters) -> int:
        """Columns of the first contraction's tile that have a bias (0 where it is padded)."""
        return 0 if self.pair.bias is None else int(p.block_n)

    def conditions(self, p: Parameters) -> list[Condition]:
        where = self.architecture
        return [
            *pair_conditions(p, self.pair, where, self.dtype),
            shared_condition(self.dynamic_bytes(p), where.shared_bytes, where.name),
        ]

    def dynamic_bytes(self, p: Parameters) -> Number:
        return pair_bytes(p, self.dtype)

    def before(self, name: str) -> tuple[str, dict[str, str]]:
        text, helpers = self.pair.function(name)
        return text, dict(helpers)

    def grid(self, p: Parameters) -> Shape:
        first = self.pair.first
        return -(-first.size(first.rows) // int(p.block_m)), 1, 1

    def second_weights(self, p: Parameters) -> Operand:
        """The second contraction's right factor, [columns, middle columns of the tile]."""
        second = self.pair.second
        right = second.right
        axes = [*second.columns, *second.depth]
        dimensions = [d for d in (right.dimension(a) for a in axes) if d is not None]
        return Operand(right, Packed.of(right, dimensions, filled(second, int(p.block_n))))

    def tiles(self, p: Parameters, name: str) -> list[object]:
        """Arguments of both bodies from the architecture on."""
        return [
            COUNT,
            f"cutlass::arch::{self.architecture.tag}",
            shape_text(p.block_m, p.block_n, p.block_k),
            shape_text(p.warp_m, p.warp_n, p.block_k),
            shape_text(p.block_m, p.block_n1, p.block_k),
            shape_text(p.warp_m1, p.warp_n1, p.block_k),
            shape_text(*self.architecture.instructions[self.dtype]),
            p.stages,
            "true" if p.shared else "false",
            f"{name}_between",
        ]


def filled(found: Contraction, depth: int) -> dict[int, int]:
    """The right factor's dimension of the sum, filled up to `depth` elements."""
    d = found.right.dimension(found.depth[-1])
    if len(found.depth) == 1 and d is not None:
        return {d: depth}
    if found.size(found.depth) != depth:
        raise NoMatchError("columns to be padded are of several axes")
    return {}


@dataclass(frozen=True)
class B2bGemmMatch(B2bMatch):
    """Both factors on the right are packed with K side by side."""

    template: ClassVar[str] = "cutlass.b2b_gemm"
    header: ClassVar[str] = "tw_b2b.h"
    sizes: ClassVar[str] = "tw::B2bGemmSizes"

    def natural(self) -> int:
        """Elements of an access that suits K as the left factor lies; 0 where K is not contiguous
        there.
        """
        first = self.pair.first
        lies = view(first.left, (), first.rows, first.depth, first.extents)
        return 0 if lies is None or not lies.k_contiguous else lies.align

    def conditions(self, p: Parameters) -> list[Condition]:
        natural = self.natural()
        one = len(self.pair.first.depth) == 1
        return [
            *super().conditions(p),
            Condition(
                "alignment",
                (p.align == self.full) & ((p.pad == 1) & one | (natural == self.full)),
                f"accesses of {p.align} elements suit K, which allows {natural} as it lies "
                f"(padded: {self.full}, which all accesses must have)",
            ),
        ]

    def candidates(self) -> list[Parameters]:
        first = self.pair.first
        pad = int(self.natural() < self.full)
        found = pair_candidates(self.pair, self.architecture, self.full, first.size(first.rows))
        return [replace(p, pad=pad) for p in found]

    def _depth(self, p: Parameters) -> int:
        k = self.pair.first.size(self.pair.first.depth)
        return -(-k // self.full) * self.full if p.pad else k

    def operands(self, p: Parameters) -> list[Operand]:
        first, k = self.pair.first, self._depth(p)
        left = Operand(first.left)
        if p.pad:
            left = Operand(first.left, _packed(first, True, {first.depth[-1]: k}))
        columns = {first.columns[-1]: int(p.block_n)} if len(first.columns) == 1 else {}
        padded = {**({first.depth[-1]: k} if p.pad else {}), **columns}
        weights = Operand(first.right, _packed(first, False, padded))
        second = self.second_weights(p)
        return [left, weights, bias_operand(self.pair, weights, int(p.block_n)), second]

    def problem(self, p: Parameters) -> tuple[int, ...]:
        first, second = self.pair.first, self.pair.second
        lies = view(first.left, (), first.rows, first.depth, first.extents)
        k = self._depth(p)
        lda = k if p.pad or lies is None else lies.ld
        n0, n1 = int(p.block_n), second.size(second.columns)
        return first.size(first.rows), k, n0, n1, lda, k, n0, self.bias(p)

    def body(self, p: Parameters, name: str) -> str:
        column = "cutlass::layout::ColumnMajor"
        first = [ELEMENTS[self.dtype], column, p.align, column, p.align]
        return f"tw::B2bGemm<{', '.join(map(str, [*first, *self.tiles(p, name)]))}>"


def _packed(found: Contraction, left: bool, filled_axes: dict[str, int]) -> Packed:
    factor = found.left if left else found.right
    axes = [*(found.rows if left else found.columns), *found.depth]
    dimensions = [d for d in (factor.dimension(a) for a in axes) if d is not None]
    padded = {d: n for a, n in filled_axes.items() if (d := factor.dimension(a)) is not None}
    return Packed.of(factor, dimensions, padded)


def bias_operand(pair: Pair, instead: Operand, columns: int) -> Operand:
    """The bias, filled up to so many columns: two are read at once. Some other pointer where none
    is read.
    """
    if pair.bias is None:
        return instead
    factor = Factor(pair.bias, (), False)
    last = max(range(pair.bias.rank), key=lambda d: (static_shape(factor.tensor)[d], d))
    return Operand(factor, Packed.of(factor, [last], {last: columns}))


class B2bGemm:
    """Matches DAGs with two contractions, the second of the first's result, neither in windows."""

    name = B2bGemmMatch.template

    def match(self, dag: ComputeDAG, architecture: Architecture) -> B2bGemmMatch:
        """Raises NoMatchError, which says why."""
        pair = pair_of(dag, architecture)
        if not (pair.first.left.is_plain and pair.first.right.is_plain):
            raise NoMatchError("the first contraction's factor is read in windows")
        return B2bGemmMatch(dag, architecture, pair.second, pair.follows, pair)
