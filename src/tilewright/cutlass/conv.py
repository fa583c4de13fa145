"""Template `cutlass.conv`: convolutions in two directions as implicit matrix products. Rows are
positions of the output, columns its channels, depth the window's elements and channels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from tilewright.cutlass.architectures import Architecture
from tilewright.cutlass.epilogue import ELEMENTS
from tilewright.cutlass.gemm import (
    TiledMatch,
    only_contraction,
)
from tilewright.cutlass.parameters import (
    LOOKUP_BYTES,
    Condition,
    Parameters,
    greater,
    large_registers,
    loads_of,
    thread_registers,
)
from tilewright.cutlass.template import Pointer
from tilewright.cutlass.windows import (
    Image,
    Slide,
    image_extents,
    image_of,
    is_channels_last,
    packed_image,
    packed_weights,
    rows_of,
)
from tilewright.expr.contraction.factors import AffineRead, NoMatch
from tilewright.expr.contraction.groups import Contraction
from tilewright.expr.dag import ComputeDAG

MOST_ACCESSES = 16  # beyond, what an iterator keeps of them is an array in memory
MOST_WINDOW = 32  # elements of a window in one direction: its iterators keep a mask of so many bits


@dataclass(frozen=True)
class ConvMatch(TiledMatch):
    """`last` is the contraction, `image` how its left factor is read."""

    template: ClassVar[str] = "cutlass.conv"
    header: ClassVar[str] = "tw_conv.h"
    sizes: ClassVar[str] = "tw::ConvSizes"
    static_bytes: ClassVar[int] = LOOKUP_BYTES

    image: Image

    @property
    def channels(self) -> int:
        return image_extents(self.last.left, self.image)[3]

    def natural(self) -> int:
        c = self.channels
        if not is_channels_last(self.last.left, self.image):
            return 0
        return min(self.full, c & -c)

    @property
    def paddable(self) -> bool:
        return self.image.channels is not None

    def conditions(self, p: Parameters) -> list[Condition]:
        left, right = loads_of(p, self.dtype)
        narrow = greater(left, right) * (self.full // p.align)
        slots = (left + right) * 3 // 2
        return [
            *super().conditions(p),
            Condition(
                "accesses of the iterators", narrow <= MOST_ACCESSES,
                f"a thread has at most {MOST_ACCESSES} accesses of a tile, not {narrow}",
            ),
            Condition(
                "registers of the iterators",
                large_registers(p, self.architecture, self.dtype) + slots <= thread_registers(p),
                f"what iterators keep of {left} and {right} loads fits beside the accumulators",
            ),
        ]  # fmt: skip

    def operands(self, p: Parameters) -> list[Pointer]:
        c, channels = self.last, self.filled(self.channels, p)
        image = packed_image(c.left, self.image, channels) if p.pad else None
        weights = packed_weights(c, self.image, channels, {})
        return [Pointer(c.left, image), Pointer(c.right, weights)]

    def problem(self, p: Parameters) -> tuple[int, ...]:
        channels = self.filled(self.channels, p)
        return conv_sizes(self.last, self.image, channels, self.last.size(self.last.columns))

    def body(self, p: Parameters, name: str) -> str:
        arguments = [
            ELEMENTS[self.dtype],
            p.align,
            p.align,
            *self.tile_arguments(p),
        ]
        return f"tw::Conv<{', '.join(map(str, arguments))}>"


def conv_sizes(
    found: Contraction[AffineRead], image: Image, channels: int, outputs: int
) -> tuple[int, ...]:
    """`ConvSizes` of tw_conv.h."""
    n, h, w, _ = image_extents(found.left, image)

    def outside(slide: Slide) -> int:
        return 1 if slide.out is None else found.extents[slide.out]

    def inside(slide: Slide) -> int:
        return 1 if slide.inner is None else found.extents[slide.inner]

    two = (image.height, image.width)
    return (
        n, h, w, channels, outputs, *map(inside, two), *map(outside, two),
        *(s.pad for s in two), *(s.stride for s in two), *(s.dilation for s in two),
    )  # fmt: skip


def image_for(
    found: Contraction[AffineRead],
) -> tuple[Contraction[AffineRead], Image] | NoMatch:
    """A contraction with its rows as the kernel counts them and its image; why there is none."""
    image = image_of(found)
    if isinstance(image, NoMatch):
        return image
    rows = rows_of(found, image)
    if set(rows) != set(found.rows):
        return NoMatch("rows of the output are other than positions of windows")
    inner = [s.inner for s in (image.height, image.width) if s.inner is not None]
    if any(found.extents[a] > MOST_WINDOW for a in inner):
        return NoMatch(f"a window has more than {MOST_WINDOW} elements in one direction")
    own = [] if image.channels is None else [found.left.indices[image.channels].axis]
    if {*inner, *own} != set(found.depth):
        return NoMatch("the sum is over other than a window and channels")
    if not found.right.is_plain:
        return NoMatch(f"{found.right.tensor.name} is not read element by element")
    return replace(found, rows=rows), image


class Conv:
    """Matches DAGs with one contraction whose one factor is read in windows."""

    name = ConvMatch.template

    def match(self, dag: ComputeDAG, architecture: Architecture) -> ConvMatch | NoMatch:
        """What it computes of a DAG, or why nothing."""
        found = only_contraction(dag, architecture)
        if isinstance(found, NoMatch):
            return found
        if found[0].left.is_plain:
            return NoMatch("no factor is read in windows")
        convolved = image_for(found[0])
        if isinstance(convolved, NoMatch):
            return convolved
        last, image = convolved
        return ConvMatch(dag, architecture, last, found[1], image)
