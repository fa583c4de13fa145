"""Template `cutlass.b2b_conv`: a convolution and a 1 x 1 convolution of its result, one kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from tilewright.cutlass.architectures import Architecture
from tilewright.cutlass.b2b_gemm import B2bMatch
from tilewright.cutlass.conv import conv_sizes, image_for
from tilewright.cutlass.epilogue import ELEMENTS
from tilewright.cutlass.matrices import Packed
from tilewright.cutlass.pairs import pair_of
from tilewright.cutlass.parameters import LOOKUP_BYTES, Condition, Parameters
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
    static_bytes: ClassVar[int] = LOOKUP_BYTES

    image: Image

    @property
    def channels(self) -> int:
        return image_extents(self.pair.first.left, self.image)[3]

    @property
    def lies(self) -> bool:
        last = is_channels_last(self.pair.first.left, self.image)
        return last and self.channels % self.full == 0

    @property
    def paddable(self) -> bool:
        return self.image.channels is not None

    def conditions(self, p: Parameters) -> list[Condition]:
        return [
            *super().conditions(p),
            Condition(
                "dtype in shared memory", (p.shared == 0) | (self.dtype == "float16"),
                f"what is kept in shared memory is float16, not {self.dtype}",
            ),
        ]  # fmt: skip

    def packed(self, left: bool, p: Parameters, columns: Mapping[str, int]) -> Packed:
        first, channels = self.pair.first, self.filled(self.channels, p)
        if left:
            return packed_image(first.left, self.image, channels)
        return packed_weights(first, self.image, channels, columns)

    def problem(self, p: Parameters) -> tuple[int, ...]:
        second = self.pair.second
        channels = self.filled(self.channels, p)
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
