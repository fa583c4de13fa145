"""Template `cutlass.b2b_conv`: a convolution and a 1 x 1 convolution of its result, one kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tilewright.cutlass.architectures import Architecture
from tilewright.cutlass.b2b_gemm import B2bMatch, bias_operand
from tilewright.cutlass.conv import conv_sizes, image_for, padded_channels
from tilewright.cutlass.epilogue import ELEMENTS
from tilewright.cutlass.pairs import pair_candidates, pair_of
from tilewright.cutlass.parameters import LOOKUP_BYTES, Condition, Parameters, shared_condition
from tilewright.cutlass.template import Operand
from tilewright.cutlass.windows import (
    Image,
    image_extents,
    is_channels_last,
    packed_image,
    packed_weights,
)
from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.dag import ComputeDAG


@dataclass(frozen=True)
class B2bConvMatch(B2bMatch):
    """`image` is how the first contraction's left factor is read."""

    template: ClassVar[str] = "cutlass.b2b_conv"
    header: ClassVar[str] = "tw_b2b_conv.h"
    sizes: ClassVar[str] = "tw::B2bConvSizes"

    image: Image

    @property
    def channels(self) -> int:
        return image_extents(self.pair.first.left, self.image)[3]

    def _lies(self) -> bool:
        """Whether the image can be read as it lies."""
        last = is_channels_last(self.pair.first.left, self.image)
        return last and self.channels % self.full == 0

    def conditions(self, p: Parameters) -> list[Condition]:
        where = self.architecture
        return [
            *super().conditions(p),
            shared_condition(self.dynamic_bytes(p) + LOOKUP_BYTES, where.shared_bytes, where.name),
            Condition(
                "alignment",
                (p.align == self.full) & ((p.pad == 1) | self._lies()),
                f"accesses of {p.align} elements suit {self.channels} channels, as they lie or "
                f"padded (all accesses must have {self.full})",
            ),
            Condition(
                "dtype in shared memory", (p.shared == 0) | (self.dtype == "float16"),
                f"what is kept in shared memory is float16, not {self.dtype}",
            ),
            Condition(
                "padding", (p.pad == 0) | (self.image.channels is not None),
                "channels to be padded are a dimension",
            ),
        ]  # fmt: skip

    def candidates(self) -> list[Parameters]:
        first = self.pair.first
        pad = int(not self._lies())
        found = pair_candidates(self.pair, self.architecture, self.full, first.size(first.rows))
        return [replace(p, pad=pad) for p in found]

    def operands(self, p: Parameters) -> list[Operand]:
        first = self.pair.first
        channels = padded_channels(self.channels, p, self.full)
        left = Operand(first.left)
        if p.pad:
            left = Operand(first.left, packed_image(first.left, self.image, channels))
        columns = {first.columns[-1]: int(p.block_n)} if len(first.columns) == 1 else {}
        weights = Operand(first.right, packed_weights(first, self.image, channels, columns))
        second = self.second_weights(p)
        return [left, weights, bias_operand(self.pair, weights, int(p.block_n)), second]

    def problem(self, p: Parameters) -> tuple[int, ...]:
        second = self.pair.second
        channels = padded_channels(self.channels, p, self.full)
        sizes = conv_sizes(self.pair.first, self.image, channels, int(p.block_n))
        return (*sizes, second.size(second.columns), self.bias(p))

    def body(self, p: Parameters, name: str) -> str:
        arguments = [ELEMENTS[self.dtype], *self.tiles(p, name)]
        return f"tw::B2bConv<{', '.join(map(str, arguments))}>"


class B2bConv:
    """Matches DAGs with a convolution and a contraction of its channels."""

    name = B2bConvMatch.template

    def match(self, dag: ComputeDAG, architecture: Architecture) -> B2bConvMatch | NoMatch:
        """What it computes of a DAG, or why nothing."""
        pair = pair_of(dag, architecture)
        if isinstance(pair, NoMatch):
            return pair
        if pair.first.left.is_plain:
            return NoMatch("the first contraction's factor is not read in windows")
        convolved = image_for(pair.first)
        if isinstance(convolved, NoMatch):
            return convolved
        first, image = convolved
        order = dict(zip(pair.first.rows, pair.second.rows, strict=True))
        second = replace(pair.second, rows=tuple(order[a] for a in first.rows))
        pair = replace(pair, first=first, second=second)
        return B2bConvMatch(dag, architecture, second, pair.follows, pair, image)
