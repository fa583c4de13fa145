"""A factor that is read in windows, as a convolution reads its image.

window = image_of(found)      x[n, h * 2 + rh - 1, w * 2 + rw - 1, rc], h first in memory or not
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.cutlass.matrices import Packed
from tilewright.expr.access import AffineIndex
from tilewright.expr.contraction import Contraction, Factor, NoMatchError
from tilewright.expr.reference import static_shape


@dataclass(frozen=True, slots=True)
class Slide:
    """One direction of a window: the image's dimension, the axis of the output and that of the
    window (None: one element), and how they make an index, `stride * out + dilation * in - pad`.
    """

    dimension: int
    out: str | None
    inner: str | None
    stride: int
    dilation: int
    pad: int


@dataclass(frozen=True, slots=True)
class Image:
    """An image's dimensions: that of images (None: there is one), two directions, and channels
    (None: one).
    """

    images: int | None
    height: Slide
    width: Slide
    channels: int | None


def image_of(found: Contraction) -> Image:
    """How a contraction's left factor is read. Raises NoMatchError for what is no image with two
    directions.
    """
    factor = found.left
    name = factor.tensor.name
    if found.batch:
        raise NoMatchError(f"{name} is convolved by its channels' own weights")
    slides: list[Slide] = []
    channels: int | None = None
    for d, index in enumerate(factor.indices):
        if index.axis in found.depth and not slides_on(found, index):
            if channels is not None:
                raise NoMatchError(f"{name} has several dimensions of channels")
            channels = d
        elif index.coefficients or index.offset:
            slides.append(_slide(d, index, found, name))
    images = None
    if len(slides) == 3:
        first = slides.pop(0)
        if (first.stride, first.inner, first.pad) != (1, None, 0):
            raise NoMatchError(f"{name} is read in windows of three directions")
        images = first.dimension
    if len(slides) != 2:
        raise NoMatchError(f"{name} is read in windows of {len(slides)} directions, not two")
    return Image(images, slides[0], slides[1], channels)


def slides_on(found: Contraction, index: AffineIndex) -> bool:
    """Whether an index also moves with an axis of the output."""
    return any(name in found.rows for name, _ in index.coefficients)


def _slide(d: int, index: AffineIndex, found: Contraction, name: str) -> Slide:
    outs = [(n, k) for n, k in index.coefficients if n in found.rows]
    inners = [(n, k) for n, k in index.coefficients if n in found.depth]
    if len(outs) > 1 or len(inners) > 1 or index.offset > 0:
        raise NoMatchError(f"{name} is read at more than a window's elements in dimension {d}")
    out, stride = outs[0] if outs else (None, 1)
    inner, dilation = inners[0] if inners else (None, 1)
    if stride < 1 or dilation < 1:
        raise NoMatchError(f"{name} is read backwards in dimension {d}")
    return Slide(d, out, inner, stride, dilation, -index.offset)


def rows_in_order(found: Contraction, image: Image) -> tuple[str, ...]:
    """The rows' axes as the kernel counts them: images, height, width. Raises NoMatchError where
    those are not all.
    """
    first = None
    if image.images is not None:
        first = found.left.indices[image.images].axis
    named = (first, image.height.out, image.width.out)
    ordered = tuple(a for a in named if a is not None)
    if set(ordered) != set(found.rows):
        raise NoMatchError("rows of the output are other than positions of windows")
    return ordered


def image_extents(factor: Factor, image: Image) -> tuple[int, int, int, int]:
    """Images, height, width, channels."""
    shape = static_shape(factor.tensor)

    def extent(d: int | None) -> int:
        return 1 if d is None else shape[d]

    return (
        extent(image.images),
        shape[image.height.dimension],
        shape[image.width.dimension],
        extent(image.channels),
    )


def packed_image(factor: Factor, image: Image, channels: int) -> Packed:
    """The image as [n, h, w, `channels`]."""
    order = [image.images, image.height.dimension, image.width.dimension, image.channels]
    padded = {} if image.channels is None else {image.channels: channels}
    return Packed.of(factor, [d for d in order if d is not None], padded)


def is_channels_last(factor: Factor, image: Image) -> bool:
    """Whether the image lies as [n, h, w, c] already."""
    shape = static_shape(factor.tensor)
    order = [image.images, image.height.dimension, image.width.dimension, image.channels]
    listed = [d for d in order if d is not None and shape[d] > 1]
    return listed == sorted(listed) and image.channels is not None


def packed_weights(
    found: Contraction, image: Image, channels: int, outputs: Mapping[str, int]
) -> Packed:
    """The weights as [outputs, rows, columns, `channels`]; `outputs` fills up an axis of theirs.
    Raises NoMatchError for weights that are not read element by element.
    """
    right = found.right
    if not right.is_plain:
        raise NoMatchError(f"{right.tensor.name} is not read element by element")
    depth = [image.height.inner, image.width.inner]
    last = None
    if image.channels is not None:
        last = found.left.indices[image.channels].axis
    axes = [*found.columns, *(a for a in depth if a is not None), *([last] if last else [])]
    dimensions = [d for d in (right.dimension(a) for a in axes) if d is not None]
    padded = {d: n for a, n in outputs.items() if (d := right.dimension(a)) is not None}
    place = right.dimension(last) if last else None
    if place is not None:
        padded[place] = channels
    return Packed.of(right, dimensions, padded)
