"""ONNX operators that read between elements: resizing, grids, boxes, deformed windows.

Resizing is separable. Along one dimension an output is a weighted sum of a few inputs; which, and
with what weights, follows from attributes and is computed here. So every mode is one operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.expr.nodes import Shape
from tilewright.expr.operators.sampling import CUBIC
from tilewright.expr.operators.shapes import number, numbers
from tilewright.graph.ir import Array, Value
from tilewright.graph.onnx.ops.call import Given, OperatorCall, Translator
from tilewright.graph.onnx.ops.contraction import Ints, channels_first, channels_last, sliding
from tilewright.graph.onnx.ops.resizing import (
    Moving,
    filtered,
    keys,
    picked,
    rounded,
    scaled,
    weighed,
)

TAPS = 4  # inputs of an output: as many as a cubic kernel has

MODES = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "cubic": "cubic"}


def resize(
    call: OperatorCall,
    x: Value,
    roi: Value | None = None,
    scales: Given = None,
    sizes: Value | None = None,
    *,
    mode: str = "nearest",
    axes: Ints | None = None,
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    keep_aspect_ratio_policy: str = "stretch",
    extrapolation_value: float = 0.0,
    **kernel: float,
) -> Value:
    """Scales, sizes and the region must be known at import, but for sizes of the model's."""
    if call.opset < 11:
        return upsample(call, x, roi, mode=mode)
    if mode not in MODES:
        call.reject(f"mode {mode!r} is not supported; known: {', '.join(MODES)}")
    where = coordinate_transformation_mode
    over = [call.axis(int(a), x.rank) for a in axes or range(x.rank)]
    wanted = () if sizes is None else call.extents(sizes, "sizes")
    factors = None if wanted else call.constant(scales, "scales")
    moving: dict[int, Moving] = {}
    if x.varies or not all(isinstance(n, int) for n in wanted):
        if roi is not None and roi.elements:
            call.reject("its region is of an image that varies")
        over, wanted, factors, moving = _numbered(call, x, over, wanted, factors)
    if moving and keep_aspect_ratio_policy != "stretch":
        call.reject(f"it resizes {x} in a way that needs numbers: {keep_aspect_ratio_policy}")
    sides = {d: number(x.extents[d], x.name) for d in over}
    if wanted or not sides:
        found = _from_sizes(call, sides, numbers(wanted, "its size"), keep_aspect_ratio_policy)
    else:
        found = _from_scales(call, sides, factors)
    at = _all_positions(call, where, sides, found, call.constant(roi, "roi"))
    image = x.rank > 2 and all(d >= 2 for d in (*at, *moving))
    y = channels_last(call, x) if image else x
    if MODES[mode] == "nearest":
        picks = {d: _nearest(v, nearest_mode, sides[d]) for d, v in at.items()}
        y = _picked(call, y, {d - image: v for d, v in picks.items()})
        for d, m in moving.items():
            y = picked(call, y, d - image, m, where, nearest_mode)
    else:
        scale_of = {d: scale for d, (scale, _) in zip(over, found, strict=True)}
        for d, v in at.items():
            taps, shares = _weights(call, MODES[mode], v, scale_of[d], sides[d], **kernel)
            kind = np.float64 if y.dtype == "float64" else np.float32
            tables = call.literal(taps), call.literal(shares.astype(kind))
            y = _weighed(call, y, d - image, *tables)
        cubic = kernel.get("cubic_coeff_a", CUBIC) if mode == "cubic" else None
        is_filtered = kernel.get("antialias") or kernel.get("exclude_outside")
        for d, m in moving.items():
            if is_filtered:
                tables = filtered(call, m, where, cubic, **kernel)
            else:
                tables = weighed(call, m, where, cubic)
            y = _weighed(call, y, d - image, *tables)
    y = channels_first(call, y) if image else y
    if where == "tf_crop_and_resize":
        y = _filled_outside(call, sides, y, at, extrapolation_value)
    return y


def upsample(
    call: OperatorCall,
    x: Value,
    scales: Given = None,
    *,
    mode: str = "nearest",
    height_scale: float = 1.0,
    width_scale: float = 1.0,
) -> Value:
    """`Upsample`, and `Resize` of opset 10, where the second input has the scales; before opset 7
    images have two.
    """
    scales = (1.0, 1.0, height_scale, width_scale) if scales is None else scales
    return resize(
        replace(call, opset=11),
        x,
        scales=scales,
        mode=mode,
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


def _filled_outside(
    call: OperatorCall, sides: Sides, y: Value, at: dict[int, Array], outer: float
) -> Value:
    """`y`, with `outer` at positions outside of the `sides`."""
    fill = call.literal(outer, y)
    for d, v in at.items():
        outside = (v < 0) | (v > sides[d] - 1)
        if outside.any():
            column = outside.reshape((-1,) + (1,) * (y.rank - d - 1))
            y = call.emit("where", call.literal(column), fill, y)
    return y


Extents = list[tuple[float, int]]
"""Scale and output extent of each dimension that is resized."""
Sides = dict[int, int]
"""Extents of these dimensions."""


def _numbered(
    call: OperatorCall, x: Value, axes: Ints, sizes: Shape, scales: Array | None
) -> tuple[list[int], Shape, Array | None, dict[int, Moving]]:
    """The dimensions that are numbers, and their sizes and scales; and the others that move."""
    if len(axes) not in (len(sizes), 0 if scales is None else len(scales)):
        call.reject(f"it needs scales or sizes for the dimensions {axes}")
    ends = [(x.extents[d], sizes[n] if sizes else x.extents[d]) for n, d in enumerate(axes)]
    kept = [n for n, both in enumerate(ends) if all(isinstance(e, int) for e in both)]
    moving = {}
    for n in sorted(set(range(len(axes))) - set(kept)):
        before, after = ends[n]
        scale = 1.0 if scales is None else float(scales[n])
        if before != after or scale != 1.0:
            by_scale = scales is not None
            moving[axes[n]] = scaled(call, before, scale) if by_scale else Moving(before, after)
    return (
        [axes[n] for n in kept],
        tuple(sizes[n] for n in kept) if sizes else (),
        None if scales is None else scales[kept],
        moving,
    )


def _from_sizes(call: OperatorCall, sides: Sides, sizes: Ints, policy: str) -> Extents:
    if len(sizes) != len(sides):
        call.reject(f"{len(sizes)} sizes for the dimensions {list(sides)}")
    scales = [int(n) / side for n, side in zip(sizes, sides.values(), strict=True)]
    if policy == "stretch":
        return list(zip(scales, map(int, sizes), strict=True))
    common = min(scales) if policy == "not_larger" else max(scales)
    return [(common, int(np.floor(common * side + 0.5))) for side in sides.values()]


def _from_scales(call: OperatorCall, sides: Sides, scales: Array | None) -> Extents:
    if scales is None or len(scales) != len(sides):
        call.reject(f"it needs scales or sizes for the dimensions {list(sides)}")
    rows = zip(sides.values(), scales.tolist(), strict=True)
    # The product is one of float32: 10 · 0.7 are 7 outputs, though 0.7 is no float32.
    return [(s, int(np.floor(np.float32(n) * np.float32(s)))) for n, s in rows]


def _all_positions(
    call: OperatorCall, where: str, sides: Sides, found: Extents, region: Array | None
) -> dict[int, Array]:
    """The positions along each dimension that is resized."""
    at: dict[int, Array] = {}
    for n, (d, (scale, size)) in enumerate(zip(sides, found, strict=True)):
        low, high = 0.0, 1.0
        if region is not None and region.size:
            low, high = float(region[n]), float(region[n + len(sides)])
        call.table(size, TAPS)
        if size != sides[d] or scale != 1.0 or where == "tf_crop_and_resize":
            at[d] = _positions(where, sides[d], size, scale, low, high)
    return at


def _positions(where: str, extent: int, size: int, scale: Any, low: Any, high: Any) -> Array:
    """The float32 input coordinate of every output, as PyTorch and onnxruntime take it.

    Theirs are float32, too: 3 / 0.6 is 5 there, and which element is nearest depends on that.
    Corners are those of the `size` outputs that there are, where ONNX's own evaluation takes the
    fraction `scale * extent`.
    """
    i = np.arange(size, dtype=np.float32)
    scale, low, high = map(np.float32, (scale, low, high))
    if where == "align_corners":
        return i * (extent - 1) / max(size - 1, 1)
    if where == "asymmetric":
        return np.asarray(i / scale)
    if where == "tf_half_pixel_for_nn":
        return np.asarray((i + 0.5) / scale)
    if where == "tf_crop_and_resize":
        if size == 1:
            return np.full(1, (low + high) * (extent - 1) / 2)
        return np.asarray(low * (extent - 1) + i * (high - low) * (extent - 1) / (size - 1))
    if where == "pytorch_half_pixel" and size == 1:
        return np.zeros(1)
    shift = extent / 2 * (1 - size / (scale * extent)) if where == "half_pixel_symmetric" else 0.0
    return np.asarray(shift + (i + 0.5) / scale - 0.5)


def _nearest(at: Array, rounding: str, extent: int) -> Array:
    return np.clip(rounded(at.astype(np.float64), rounding), 0, extent - 1).astype(np.int64)


def _triangle(u: Array) -> Array:
    return np.asarray(np.clip(1 - np.abs(u), 0, 1))


def _keys(a: float) -> Callable[[Array], Array]:
    """Keys' cubic convolution kernel."""
    near, far = keys(a)

    def kernel(u: Array) -> Array:
        u = np.abs(u)
        return np.where(u <= 1, np.polyval(near, u), np.where(u < 2, np.polyval(far, u), 0.0))

    return kernel


def _weights(
    call: OperatorCall,
    mode: str,
    at: Array,
    scale: float,
    extent: int,
    *,
    antialias: float = 0,
    cubic_coeff_a: float = CUBIC,
    exclude_outside: float = 0,
) -> tuple[Array, Array]:
    """Inputs [outputs, taps], and their weights; a kernel is widened when it must not alias."""
    squeeze = min(scale, 1.0) if antialias else 1.0
    reach, kernel = (2, _keys(cubic_coeff_a)) if mode == "cubic" else (1, _triangle)
    width = int(np.ceil(reach / squeeze))
    call.table(len(at), 2 * width)
    taps = np.floor(at).astype(np.int64)[:, None] + np.arange(1 - width, width + 1)
    weights = kernel((taps - at[:, None]) * squeeze)
    if exclude_outside:
        weights = np.where((taps >= 0) & (taps < extent), weights, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.clip(taps, 0, extent - 1), weights


def _picked(call: OperatorCall, x: Value, at: dict[int, Array]) -> Value:
    """Elements at `at` along each dimension; index arithmetic where that says it, else tables."""
    shape = list(x.extents)
    for axis, v in dict(at).items():
        scaled = np.arange(len(v)) * number(shape[axis], x.name) // len(v)
        if 1 <= axis < x.rank - 1 and (v == scaled).all():
            shape[axis] = len(at.pop(axis))
    y = x
    if tuple(shape) != x.extents:
        y = call.emit("upsample_nearest", x, shape=tuple(shape[1:-1]))
    for axis, v in at.items():
        y = call.emit("gather", y, call.literal(v), axis=axis)
    return y


def _weighed(call: OperatorCall, x: Value, axis: int, at: Value, weights: Value) -> Value:
    kind = x.dtype
    x = x if as_dtype(kind).is_float else call.cast(x, "float32")
    table = call.cast(weights, "float64" if x.dtype == "float64" else "float32")
    y = call.emit("resample", x, at, table, axis=axis)
    return y if y.dtype == kind else call.cast(call.emit("round_half_even", y), kind)


def grid_sample(
    call: OperatorCall,
    x: Value,
    grid: Value,
    *,
    mode: str = "linear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Value:
    """The modes were called bilinear and bicubic before opset 20."""
    kind = mode.removeprefix("bi")
    if kind not in MODES:
        call.reject(f"mode {mode!r} is not supported; known: {', '.join(MODES)}")
    how = MODES[kind]
    return call.emit(
        "grid_sample", x, grid, mode=how, padding=padding_mode, align_corners=align_corners
    )


def roi_align(
    call: OperatorCall,
    x: Value,
    rois: Value,
    batch: Value,
    *,
    sampling_ratio: int = 0,
    output_height: int = 1,
    output_width: int = 1,
    spatial_scale: float = 1.0,
    mode: str = "avg",
    coordinate_transformation_mode: str = "half_pixel",
) -> Value:
    if sampling_ratio < 1:
        call.reject("sampling_ratio 0 makes the number of samples depend on the boxes")
    call.check_indices(batch, x.shape[:1], x)
    return call.emit(
        "roi_align",
        *(x, rois, batch),
        shape=(output_height, output_width),
        samples=sampling_ratio,
        scale=spatial_scale,
        mode=mode,
        half_pixel=call.opset >= 16 and coordinate_transformation_mode == "half_pixel",
    )


def deform_conv(
    call: OperatorCall,
    x: Value,
    w: Value,
    offsets: Value,
    bias: Value | None = None,
    mask: Value | None = None,
    *,
    group: int = 1,
    offset_group: int = 1,
    kernel_shape: Ints | None = None,
    **window: Any,
) -> Value:
    operands = (x, w, offsets) if mask is None else (x, w, offsets, mask)
    options = sliding(call, x.shape[2:], w.shape[2:], **window)
    y = call.emit("deform_conv", *operands, **options, groups=group, offset_groups=offset_group)
    if bias is None:
        return y
    return call.emit("add", y, call.builder.reshape(bias, (bias.elements, 1, 1)))


SAMPLING: dict[str, Translator] = {
    "DeformConv": deform_conv,
    "GridSample": grid_sample,
    "Resize": resize,
    "RoiAlign": roi_align,
    "Upsample": upsample,
}
