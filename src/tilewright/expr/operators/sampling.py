"""Reading between the elements: resampling with weights, and at positions that are data.

    resample(x, at, weights, axis)        y[.., o, ..] = Σ weights[o, t] · x[.., at[o, t], ..]
    grid_sample(x, grid)                  [n, c, *in] at [n, *out, rank] -> [n, c, *out]
    roi_align(x, rois, batch, (7, 7))     [n, c, h, w] in boxes [r, 4] -> [r, c, 7, 7]
    deform_conv(x, w, offsets)            a convolution whose taps are moved by `offsets`

Channels come second here, as the positions do not depend on them.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from itertools import product
from typing import Any, TypeAlias

from tilewright.expr.dtypes import INT64, DType
from tilewright.expr.nodes import Expr, Tensor, as_expr, binary, call, cast, const, select
from tilewright.expr.operators.movement import clamped_index
from tilewright.expr.operators.shapes import (
    accumulated,
    at_axis,
    axis_index,
    clamped,
    number,
    numbers,
)
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ExprError

Tap: TypeAlias = tuple[Expr, Expr]
"""An int64 position, which may lie outside, and its weight."""

CUBIC = -0.75
"""The free coefficient of Keys' cubic convolution (1981), as image libraries choose it."""


def resample(
    x: Tensor, at: Tensor, weights: Tensor, axis: int = 0, *, name: str = "resample"
) -> Tensor:
    """Weighted sums of elements along `axis`: `at` and `weights` are [outputs, taps]."""
    d = axis_index(axis, x.rank, name)
    outputs, taps = weights.shape[0], number(weights.shape[1], name)
    t = reduce_axis(taps, "t")

    def body(*index: Any) -> Any:
        where = clamped_index(at[index[d], t], x.shape[d], name)
        value = accumulated(x[at_axis(index, d, where)])
        return sum_over(cast(value.dtype, weights[index[d], t]) * value, t)

    return compute(at_axis(x.shape, d, outputs), body, name=name, dtype=x.dtype)


def _near(v: Expr, extent: int) -> Expr:
    """A position that becomes an integer; none further out than these reads anything else."""
    return binary("min", binary("max", select(call("isnan", v), -3.0, v), -3.0), extent + 2.0)


def _taps(v: Expr, mode: str) -> list[Tap]:
    """What an output at position `v` of a dimension, which is `_near`, reads, of a kernel one or
    two elements wide.
    """
    if mode == "nearest":
        return [(cast(INT64, call("round", v)), const(1, v.dtype))]
    low = call("floor", v)
    f, first = v - low, cast(INT64, low)
    if mode == "linear":
        return [(first, 1 - f), (first + 1, f)]
    a = CUBIC

    def outer(u: Expr) -> Expr:
        return ((u * a - 5 * a) * u + 8 * a) * u - 4 * a

    def inner(u: Expr) -> Expr:
        return (u * (a + 2) - (a + 3)) * u * u + 1

    weights = (outer(f + 1), inner(f), inner(1 - f), outer(2 - f))
    return [(first + (n - 1), w) for n, w in enumerate(weights)]


def _reflected(v: Expr, low: float, high: float) -> Expr:
    """`v` mirrored at `low` and `high` until it lies between them."""
    span = high - low
    if span <= 0:
        return v * 0 + low
    away = call("abs", v - low)
    turns = call("floor", away / span)
    rest = away - turns * span
    odd = turns - call("floor", turns * 0.5) * 2
    return select(odd > 0.5, high - rest, rest + low)


def grid_sample(
    x: Tensor,
    grid: Tensor,
    *,
    mode: str = "linear",
    padding: str = "zeros",
    align_corners: bool = False,
    name: str = "grid_sample",
) -> Tensor:
    """`x` [n, c, *in] at the positions `grid` [n, *out, rank], whose last dimension runs backwards.

    -1 and 1 are the first and last elements' centres with `align_corners`, else their outer edges.
    `mode` is "nearest", "linear" or "cubic"; `padding` is "zeros", "border" or "reflection". The
    positions are tensors of their own: all channels share them.
    """
    spatial = numbers(x.shape, name)[2:]
    rank = len(spatial)
    if numbers(grid.shape, name)[-1] != rank or grid.rank != rank + 2 or padding not in PADDING:
        raise ExprError(f"{name}: grid {grid.shape} and {padding=} for {x.shape}")
    kind = x.dtype.compute
    borders = [(0.0, n - 1.0) if align_corners else (-0.5, n - 0.5) for n in spatial]

    def position(index: Sequence[Any], d: int) -> Expr:
        g = cast(kind, grid[(*index, rank - 1 - d)])
        n = spatial[d]
        v = (g + 1) * (0.5 * (n - 1)) if align_corners else ((g + 1) * n - 1) * 0.5
        if mode == "nearest":
            v = call("round", v)
        if padding == "border" and mode != "cubic":
            return binary("min", binary("max", v, 0.0), n - 1.0)
        return _reflected(v, *borders[d]) if padding == "reflection" else v

    def positions(d: int) -> Tensor:
        return compute(
            numbers(grid.shape, name)[:-1],
            lambda *index: _near(position(index, d), spatial[d]),
            name=f"{name}_at{d}",
            hints={"inline": False},
        )

    def within(i: Expr, d: int) -> Expr:
        if padding == "reflection":
            i = cast(INT64, _reflected(cast(kind, i), *borders[d]))
        return clamped(i, spatial[d])

    def body(n: Any, c: Any, *out: Any) -> Expr:
        taps = [_taps(t[(n, *out)], mode) for t in at]

        def term(chosen: Sequence[Tap]) -> Expr:
            value: Expr = x[(n, c, *(within(i, d) for d, (i, _) in enumerate(chosen)))]
            if padding == "zeros":
                value = select(_inside([i for i, _ in chosen], spatial), value, const(0, kind))
            return reduce(operator.mul, (weight for _, weight in chosen), value)

        return reduce(operator.add, map(term, product(*taps)))

    at = [positions(d) for d in range(rank)]
    shape = (*numbers(x.shape, name)[:2], *numbers(grid.shape, name)[1:-1])
    return compute(shape, body, name=name, dtype=x.dtype)


PADDING = ("zeros", "border", "reflection")


def _inside(at: Sequence[Expr], spatial: Sequence[int]) -> Expr:
    tests = [t for i, extent in zip(at, spatial, strict=True) for t in (i >= 0, i < extent)]
    return reduce(operator.and_, tests)


def roi_align(
    x: Tensor,
    rois: Tensor,
    batch: Tensor,
    shape: tuple[int, int],
    *,
    samples: int,
    scale: float = 1.0,
    mode: str = "avg",
    half_pixel: bool = True,
    name: str = "roi_align",
) -> Tensor:
    """Each box of `rois` [r, (x1, y1, x2, y2)], times `scale`, cut into `shape` bins.

    A bin is the mean (or maximum) of `samples`² points between the elements of image `batch[r]`.
    """
    _, channels, height, width = numbers(x.shape, name)
    kind = x.dtype.compute
    i, j = reduce_axis(samples, "i"), reduce_axis(samples, "j")

    def along(r: Any, bin_: Any, step: Any, first: int, extent: int, bins: int) -> list[Any]:
        """Validity, and two (index, weight) pairs, of a sample of a box in one dimension."""
        shift = 0.5 if half_pixel else 0.0
        low = cast(kind, rois[r, first]) * scale - shift
        size = cast(kind, rois[r, first + 2]) * scale - shift - low
        size = size if half_pixel else binary("max", size, 1.0)
        part = (cast(kind, as_expr(step)) + 0.5) * (1 / samples)
        v = low + (cast(kind, as_expr(bin_)) + part) * (size * (1 / bins))
        valid = (v >= -1.0) & (v <= float(extent))
        v = binary("min", binary("max", select(call("isnan", v), 0.0, v), 0.0), extent - 1.0)
        lower = call("floor", v)
        at = clamped(cast(INT64, lower), extent)
        after = binary("min", at + 1, extent - 1)
        return [valid, (at, 1 - (v - lower)), (after, v - lower)]

    def points(r: Any, c: Any, h: Any, w: Any) -> list[Expr]:
        valid_y, *rows = along(r, h, i, 1, height, shape[0])
        valid_x, *columns = along(r, w, j, 0, width, shape[1])
        image = clamped_index(batch[r], numbers(x.shape, name)[0], name)
        zero = const(0, kind)
        return [
            select(valid_y & valid_x, x[image, c, a, b] * p * q, zero)
            for (a, p), (b, q) in product(rows, columns)
        ]

    def body(r: Any, c: Any, h: Any, w: Any) -> Any:
        terms = points(r, c, h, w)
        if mode == "avg":
            return sum_over(reduce(operator.add, terms) * (1 / samples**2), (i, j))
        return max_over(reduce(lambda a, b: binary("max", a, b), terms), (i, j))

    whole = (numbers(rois.shape, name)[0], channels, *shape)
    return compute(whole, body, name=name, dtype=x.dtype)


def deform_conv(
    x: Tensor,
    w: Tensor,
    offsets: Tensor,
    mask: Tensor | None = None,
    *,
    stride: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    groups: int = 1,
    offset_groups: int = 1,
    name: str = "deform_conv",
) -> Tensor:
    """A 2-D convolution (w: [o, c / groups, kh, kw]) that reads between elements, 0 outside.

    Tap (p, q) of a window is moved by offsets[n, ((g·kh + p)·kw + q)·2 + {0, 1}, i, j] and weighed
    by mask[n, (g·kh + p)·kw + q, i, j]; g is the channel's group of `offset_groups`. What the taps
    read is a tensor of its own, from which all outputs are summed.
    """
    batch, channels, *spatial = numbers(x.shape, name)
    outputs, depth, *kernel = numbers(w.shape, name)
    if len(spatial) != 2 or depth * groups != channels or channels % offset_groups:
        raise ExprError(f"{name}: input {x.shape} and weights {w.shape} in {groups} groups")
    kind: DType = x.dtype.compute
    c, p, q = reduce_axis(depth, "rc"), reduce_axis(kernel[0], "rh"), reduce_axis(kernel[1], "rw")
    image = numbers(offsets.shape, name)[2:]

    def sampled(n: Any, channel: Any, p: Any, q: Any, i: Any, j: Any) -> Expr:
        group = as_expr(channel) // (channels // offset_groups)
        tap = (group * kernel[0] + p) * kernel[1] + q
        taps = []
        for d, (at, r) in enumerate(((i, p), (j, q))):
            base = cast(kind, at * stride[d] - padding[d][0] + r * dilation[d])
            moved = base + cast(kind, offsets[n, tap * 2 + d, i, j])
            taps.append(_taps(_near(moved, spatial[d]), "linear"))

        def term(chosen: Sequence[Tap]) -> Expr:
            (a, u), (b, v) = chosen
            value = x[n, channel, clamped(a, spatial[0]), clamped(b, spatial[1])]
            return select(_inside((a, b), spatial), value, const(0, kind)) * u * v

        total = reduce(operator.add, map(term, product(*taps)))
        return total if mask is None else total * cast(kind, mask[n, tap, i, j])

    taken = compute((batch, channels, *kernel, *image), sampled, name=f"{name}_taps")

    def body(n: Any, o: Any, i: Any, j: Any) -> Any:
        channel = (o // (outputs // groups)) * depth + c if groups > 1 else as_expr(c)
        return sum_over(taken[n, channel, p, q, i, j] * w[o, c, p, q], (c, p, q))

    return compute((batch, outputs, *image), body, name=name, dtype=x.dtype)
