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
from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.reference import static_shape
from tilewright.ground.errors import ScheduleError


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
        second, depth = self.pair.second, int(p.block_n)
        if len(second.depth) > 1 and second.size(second.depth) != depth:
            raise ScheduleError(f"{self.template}: columns to be padded are of several axes")
        filled = {second.depth[-1]: depth} if len(second.depth) == 1 else {}
        axes = (*second.columns, *second.depth)
        return Operand(second.right, Packed.of(second.right, axes, filled))

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
        lies = view(first.left, (), first.rows, first.depth)
        return 0 if lies is None or not lies.k_contiguous else lies.align

    def conditions(self, p: Parameters) -> list[Condition]:
        natural = self.natural()
        one = len(self.pair.first.depth) == 1 and self.pair.first.left.is_whole
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
        deep = {first.depth[-1]: k} if p.pad else {}
        if p.pad:
            packed = Packed.of(first.left, (*first.rows, *first.depth), deep)
            left = Operand(first.left, packed)
        columns = {first.columns[-1]: int(p.block_n)} if len(first.columns) == 1 else {}
        axes = (*first.columns, *first.depth)
        weights = Operand(first.right, Packed.of(first.right, axes, {**deep, **columns}))
        second = self.second_weights(p)
        return [left, weights, bias_operand(self.pair, weights, int(p.block_n)), second]

    def problem(self, p: Parameters) -> tuple[int, ...]:
        first, second = self.pair.first, self.pair.second
        lies = view(first.left, (), first.rows, first.depth)
        k = self._depth(p)
        lda = k if p.pad or lies is None else lies.ld
        n0, n1 = int(p.block_n), second.size(second.columns)
        return first.size(first.rows), k, n0, n1, lda, k, n0, self.bias(p)

    def body(self, p: Parameters, name: str) -> str:
        column = "cutlass::layout::ColumnMajor"
        first = [ELEMENTS[self.dtype], column, p.align, column, p.align]
        return f"tw::B2bGemm<{', '.join(map(str, [*first, *self.tiles(p, name)]))}>"


def bias_operand(pair: Pair, instead: Operand, columns: int) -> Operand:
    """The bias, filled up to so many columns: two are read at once. Some other pointer where none
    is read.
    """
    if pair.bias is None:
        return instead
    shape = static_shape(pair.bias.tensor)
    last = max(range(len(shape)), key=lambda d: (shape[d], d))
    return Operand(pair.bias, Packed.ordered(pair.bias, [last], {last: columns}))


class B2bGemm:
    """Matches DAGs with two contractions, the second of the first's result, neither in windows."""

    name = B2bGemmMatch.template

    def match(self, dag: ComputeDAG, architecture: Architecture) -> B2bGemmMatch | NoMatch:
        """What it computes of a DAG, or why nothing."""
        pair = pair_of(dag, architecture)
        if isinstance(pair, NoMatch):
            return pair
        if not (pair.first.left.is_plain and pair.first.right.is_plain):
            return NoMatch("the first contraction's factor is read in windows")
        return B2bGemmMatch(dag, architecture, pair.second, pair.follows, pair)
