"""Template `cutlass.b2b_gemm`: a matrix product of a matrix product in one kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from tilewright.cutlass.architectures import Architecture, Shape
from tilewright.cutlass.epilogue import COUNT, ELEMENTS
from tilewright.cutlass.matrices import Matrix, Packed, matrix_of
from tilewright.cutlass.pairs import Pair, pair_bytes, pair_candidates, pair_conditions, pair_of
from tilewright.cutlass.parameters import (
    FIELDS,
    Condition,
    Number,
    Parameters,
    shared_condition,
)
from tilewright.cutlass.template import Match, Pointer, shape_text
from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import ScheduleError


@dataclass(frozen=True)
class B2bMatch(Match):
    """What pairs of either kind have in common; `last` is the second contraction."""

    needed: ClassVar[tuple[str, ...]] = tuple(f for f in FIELDS if f not in ("pad", "shared"))

    pair: Pair

    @property
    @abstractmethod
    def lies(self) -> bool:
        """Whether the first factor can be read as it lies, by the widest accesses."""

    @abstractmethod
    def packed(self, left: bool, p: Parameters, columns: Mapping[str, int]) -> Packed:
        """One of the first contraction's factors, padded, with its columns filled up."""

    def bias(self, p: Parameters) -> int:
        """Columns of the first contraction's tile that have a bias (0 where it is padded)."""
        return 0 if self.pair.bias is None else int(p.block_n)

    def conditions(self, p: Parameters) -> list[Condition]:
        where = self.architecture
        used = self.dynamic_bytes(p) + self.static_bytes
        return [
            *pair_conditions(p, self.pair, where, self.dtype),
            shared_condition(used, where.shared_bytes, where.name),
            Condition(
                "alignment",
                (p.align == self.full)
                & (((p.pad == 1) & self.paddable) | ((p.pad == 0) & self.lies)),
                f"accesses of {p.align} elements suit the first factor as it lies or, where that "
                f"is one dimension, padded (all accesses must have {self.full})",
            ),
        ]

    def candidates(self) -> list[Parameters]:
        first, pad = self.pair.first, int(not self.lies)
        found = pair_candidates(self.pair, self.architecture, self.full, first.size(first.rows))
        return [replace(p, pad=pad) for p in found]

    def dynamic_bytes(self, p: Parameters) -> Number:
        return pair_bytes(p, self.dtype)

    def before(self, name: str) -> tuple[str, dict[str, str]]:
        text, helpers = self.pair.function(name)
        return text, dict(helpers)

    def grid(self, p: Parameters) -> Shape:
        first = self.pair.first
        return -(-first.size(first.rows) // int(p.block_m)), 1, 1

    def operands(self, p: Parameters) -> list[Pointer]:
        """The first contraction's factors, its bias (some other pointer where there is none), and
        the second's right factor, [columns, middle columns of the tile].
        """
        first, second, middle = self.pair.first, self.pair.second, int(p.block_n)
        one, bias = len(second.depth) == 1, self.pair.bias
        if not one and second.size(second.depth) != middle:
            raise ScheduleError(f"{self.template}: columns to be padded are of several axes")
        columns = {first.columns[0]: middle} if one else {}
        axes, filled = (*second.columns, *second.depth), {second.depth[0]: middle} if one else {}
        weights = Pointer(first.right, self.packed(False, p, columns))
        return [
            Pointer(first.left, self.packed(True, p, {}) if p.pad else None),
            weights,
            weights if bias is None else Pointer(bias, Packed.of(bias, first.columns, columns)),
            Pointer(second.right, Packed.of(second.right, axes, filled)),
        ]

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

    @cached_property
    def _matrix(self) -> Matrix | None:
        first = self.pair.first
        return matrix_of(first.left, (), first.rows, first.depth)

    @property
    def lies(self) -> bool:
        found = self._matrix
        return found is not None and found.k_contiguous and found.align == self.full

    @property
    def paddable(self) -> bool:
        return len(self.pair.first.depth) == 1

    def _depth(self, p: Parameters) -> int:
        return self.filled(self.pair.first.size(self.pair.first.depth), p)

    def packed(self, left: bool, p: Parameters, columns: Mapping[str, int]) -> Packed:
        first = self.pair.first
        factor, free = (first.left, first.rows) if left else (first.right, first.columns)
        deep = {first.depth[0]: self._depth(p)} if p.pad else {}
        return Packed.of(factor, (*free, *first.depth), {**deep, **columns})

    def problem(self, p: Parameters) -> tuple[int, ...]:
        first, second = self.pair.first, self.pair.second
        lies, k = self._matrix, self._depth(p)
        lda = k if p.pad or lies is None else lies.ld
        n0, n1 = int(p.block_n), second.size(second.columns)
        return first.size(first.rows), k, n0, n1, lda, k, n0, self.bias(p)

    def body(self, p: Parameters, name: str) -> str:
        column = "cutlass::layout::ColumnMajor"
        first = [ELEMENTS[self.dtype], column, p.align, column, p.align]
        return f"tw::B2bGemm<{', '.join(map(str, [*first, *self.tiles(p, name)]))}>"


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
