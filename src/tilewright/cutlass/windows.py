"""A factor that is read in windows, as a convolution reads its image.

window = image_of(found)      x[n, h * 2 + rh - 1, w * 2 + rw - 1, rc], h first in memory or not
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.cutlass.matrices import Packed
from tilewright.expr.access import AffineIndex
from tilewright.expr.contraction.factors import AffineRead, NoMatch
from tilewright.expr.contraction.groups import Contraction
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


def image_of(found: Contraction[AffineRead]) -> Image | NoMatch:
    """How a contraction's left factor is read; why not, where it is no image of two directions."""
    factor = found.left
    name = factor.tensor.name
    if found.batch:
        return NoMatch(f"{name} is convolved by its channels' own weights")
    slides: list[Slide] = []
    channels: int | None = None
    for d, index in enumerate(factor.indices):
        if index.axis in found.depth:
            if channels is not None:
                return NoMatch(f"{name} has several dimensions of channels")
            channels = d
        elif index.coefficients or index.offset:
            slide = _slide(d, index, found)
            if slide is None:
                return NoMatch(f"{name} is read at other than a window's elements in dimension {d}")
            slides.append(slide)
        elif static_shape(factor.tensor)[d] > 1:
            return NoMatch(f"{name} has more dimensions than an image's")
    images = None
    if len(slides) == 3:
        first = slides.pop(0)
        if (first.stride, first.inner, first.pad) != (1, None, 0):
            return NoMatch(f"{name} is read in windows of three directions")
        images = first.dimension
    if len(slides) != 2:
        return NoMatch(f"{name} is read in windows of {len(slides)} directions, not two")
    return Image(images, slides[0], slides[1], channels)


def _slide(d: int, index: AffineIndex, found: Contraction[AffineRead]) -> Slide | None:
    """The direction of a dimension; None where it is read otherwise, or backwards."""
    outs = [(n, k) for n, k in index.coefficients if n in found.rows]
    inners = [(n, k) for n, k in index.coefficients if n in found.depth]
    out, stride = outs[0] if outs else (None, 1)
    inner, dilation = inners[0] if inners else (None, 1)
    if len(outs) > 1 or len(inners) > 1 or index.offset > 0 or min(stride, dilation) < 1:
        return None
    return Slide(d, out, inner, stride, dilation, -index.offset)


def rows_of(found: Contraction[AffineRead], image: Image) -> tuple[str, ...]:
    """The rows' axes as the kernel counts them: images, height, width."""
    first = None if image.images is None else found.left.indices[image.images].axis
    return tuple(a for a in (first, image.height.out, image.width.out) if a is not None)


def image_extents(factor: AffineRead, image: Image) -> tuple[int, int, int, int]:
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


def packed_image(factor: AffineRead, image: Image, channels: int) -> Packed:
    """The image as [n, h, w, `channels`]."""
    shape, last = static_shape(factor.tensor), _in_order(image)
    order = (*(d for d in range(len(shape)) if d not in last), *last)
    padded = (channels if d == image.channels else shape[d] for d in order)
    return Packed(factor, order, tuple(padded))


def is_channels_last(factor: AffineRead, image: Image) -> bool:
    """Whether the image lies as [n, h, w, c] already."""
    shape = static_shape(factor.tensor)
    listed = [d for d in _in_order(image) if shape[d] > 1]
    return listed == sorted(listed) and image.channels is not None


def _in_order(image: Image) -> list[int]:
    """Its dimensions as [n, h, w, c]."""
    order = [image.images, image.height.dimension, image.width.dimension, image.channels]
    return [d for d in order if d is not None]


def packed_weights(
    found: Contraction[AffineRead], image: Image, channels: int, outputs: Mapping[str, int]
) -> Packed:
    """The weights as [outputs, rows, columns, `channels`]; `outputs` fills up an axis of theirs."""
    last = None if image.channels is None else found.left.indices[image.channels].axis
    axes = (*found.columns, image.height.inner, image.width.inner, last)
    return Packed.of(found.right, axes, {**outputs, **({last: channels} if last else {})})
