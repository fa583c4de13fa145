"""ONNX operators that read between elements: resizing, grids, boxes, deformed windows.

Resizing is separable. Along one dimension an output is a weighted sum of a few inputs; which, and
with what weights, follows from attributes and is computed here. So every mode is one operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tilewright.graph.ir import Array, Value
from tilewright.graph.onnx_ops.call import Call, Translator
from tilewright.graph.onnx_ops.contraction import (
    channels_first,
    channels_last,
    per_axis,
    window_pads,
)

TAPS = 4  # inputs of an output: as many as a cubic kernel has

MODES = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "cubic": "cubic"}


def resize(call: Call) -> Value:
    """`Resize` since opset 10 and `Upsample`; scales, sizes and the region known at import."""
    x = call.input(0)
    modern = call.op_type == "Resize" and call.opset >= 11
    mode = call.attribute("mode", b"nearest").decode()
    if mode not in MODES:
        call.reject(f"mode {mode!r} is not supported; known: {', '.join(MODES)}")
    where = call.attribute("coordinate_transformation_mode", b"half_pixel").decode()
    rounding = call.attribute("nearest_mode", b"round_prefer_floor").decode()
    if not modern:
        where, rounding = "asymmetric", "floor"
    scales, sizes, axes = _sizes(call, x, modern)
    region = call.constant(1, "roi") if modern else None
    at: dict[int, Array] = {}
    for n, (d, scale, size) in enumerate(zip(axes, scales, sizes, strict=True)):
        low, high = 0.0, 1.0
        if region is not None and region.size:
            low, high = float(region[n]), float(region[n + len(axes)])
        call.table(size, TAPS)
        if size != x.shape[d] or scale != 1.0 or where == "tf_crop_and_resize":
            at[d] = _positions(where, x.shape[d], size, scale, low, high)
    image = x.rank > 2 and all(d >= 2 for d in at)
    y = channels_last(call, x) if image else x
    if MODES[mode] == "nearest":
        picks = {d: _nearest(v, rounding, x.shape[d]) for d, v in at.items()}
        y = _picked(call, y, {d - image: v for d, v in picks.items()})
    else:
        known = dict(zip(axes, scales, strict=True))
        for d, v in at.items():
            tables = _weights(call, MODES[mode], v, known[d], x.shape[d])
            y = _weighed(call, y, d - image, *tables)
    y = channels_first(call, y) if image else y
    if where == "tf_crop_and_resize":
        y = _filled_outside(call, x, y, at)
    return y


def _filled_outside(call: Call, x: Value, y: Value, at: dict[int, Array]) -> Value:
    """`y`, with the extrapolation value at positions outside of `x`."""
    fill = call.literal(float(call.attribute("extrapolation_value", 0.0)), y)
    for d, v in at.items():
        outside = (v < 0) | (v > x.shape[d] - 1)
        if outside.any():
            column = outside.reshape((-1,) + (1,) * (y.rank - d - 1))
            y = call.emit("where", call.literal(column), fill, y)
    return y


def _sizes(
    call: Call, x: Value, modern: bool
) -> tuple[Sequence[float], Sequence[int], Sequence[int]]:
    """Scales, output extents and the dimensions that they are for."""
    axes = [call.normal_axis(int(a), x.rank) for a in call.attribute("axes") or range(x.rank)]
    extents = [x.shape[d] for d in axes]
    sizes = call.constant(3, "sizes") if modern else None
    if sizes is not None and sizes.size:
        if len(sizes) != len(axes):
            call.reject(f"{len(sizes)} sizes for the dimensions {axes}")
        wanted = [int(n) for n in sizes]
        scales = [n / e for n, e in zip(wanted, extents, strict=True)]
        policy = call.attribute("keep_aspect_ratio_policy", b"stretch").decode()
        if policy != "stretch":
            common = min(scales) if policy == "not_larger" else max(scales)
            scales = [common] * len(axes)
            wanted = [int(np.floor(common * e + 0.5)) for e in extents]
        return scales, wanted, axes
    given = call.constant(2 if modern else 1, "scales")
    listed = call.attribute("scales") if given is None else given
    if listed is None or len(listed) != len(axes):
        call.reject(f"it needs scales or sizes for the dimensions {axes}")
    scales = [float(s) for s in listed]
    return scales, [int(np.floor(e * s)) for e, s in zip(extents, scales, strict=True)], axes


def _positions(where: str, extent: int, size: int, scale: float, low: float, high: float) -> Array:
    """The input coordinate of every output."""
    i = np.arange(size, dtype=np.float64)
    whole = scale * extent
    if where == "align_corners":
        return i * (extent - 1) / (whole - 1) if whole != 1 else i * 0
    if where == "asymmetric":
        return i / scale
    if where == "tf_crop_and_resize":
        if size == 1:
            return np.full(1, (low + high) * (extent - 1) / 2)
        return low * (extent - 1) + i * (high - low) * (extent - 1) / (whole - 1)
    if where == "pytorch_half_pixel" and size == 1:
        return np.full(1, -0.5 if whole == 1 else 0.5 / scale - 0.5)
    shift = extent / 2 * (1 - size / whole) if where == "half_pixel_symmetric" else 0.0
    return np.asarray(shift + (i + 0.5) / scale - 0.5)


ROUND: dict[str, Callable[[Array], Array]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round_prefer_floor": lambda v: np.ceil(v - 0.5),
    "round_prefer_ceil": lambda v: np.floor(v + 0.5),
}


def _nearest(at: Array, rounding: str, extent: int) -> Array:
    return np.clip(ROUND[rounding](at), 0, extent - 1).astype(np.int64)


def _triangle(u: Array) -> Array:
    return np.asarray(np.clip(1 - np.abs(u), 0, 1))


def _keys(a: float) -> Callable[[Array], Array]:
    """Keys' cubic convolution kernel."""

    def kernel(u: Array) -> Array:
        u = np.abs(u)
        near = ((a + 2) * u - (a + 3)) * u * u + 1
        far = ((a * u - 5 * a) * u + 8 * a) * u - 4 * a
        return np.where(u <= 1, near, np.where(u < 2, far, 0.0))

    return kernel


def _weights(call: Call, mode: str, at: Array, scale: float, extent: int) -> tuple[Array, Array]:
    """Inputs [outputs, taps], and their weights; a kernel is widened when it must not alias."""
    squeeze = min(scale, 1.0) if call.attribute("antialias", 0) else 1.0
    reach = 1
    kernel: Callable[[Array], Array] = _triangle
    if mode == "cubic":
        reach, kernel = 2, _keys(float(call.attribute("cubic_coeff_a", -0.75)))
    width = int(np.ceil(reach / squeeze))
    call.table(len(at), 2 * width)
    taps = np.floor(at).astype(np.int64)[:, None] + np.arange(1 - width, width + 1)
    weights = kernel((taps - at[:, None]) * squeeze)
    if call.attribute("exclude_outside", 0):
        weights = np.where((taps >= 0) & (taps < extent), weights, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.clip(taps, 0, extent - 1), weights


def _picked(call: Call, x: Value, at: dict[int, Array]) -> Value:
    """Elements at `at` along each dimension; index arithmetic where that says it, else tables."""
    shape = list(x.shape)
    for axis, v in dict(at).items():
        scaled = np.arange(len(v)) * x.shape[axis] // len(v)
        if 1 <= axis < x.rank - 1 and (v == scaled).all():
            shape[axis] = len(at.pop(axis))
    y = x if tuple(shape) == x.shape else call.emit("upsample_nearest", x, shape=tuple(shape[1:-1]))
    for axis, v in at.items():
        y = call.emit("gather", y, call.literal(v), axis=axis)
    return y


def _weighed(call: Call, x: Value, axis: int, at: Array, weights: Array) -> Value:
    kind = x.dtype
    if kind not in ("float16", "bfloat16", "float32", "float64"):
        x = call.emit("cast_to", x, dtype="float32")
    table = weights.astype(np.float64 if x.dtype == "float64" else np.float32)
    y = call.emit("resample", x, call.literal(at), call.literal(table), axis=axis)
    return (
        y if y.dtype == kind else call.emit("cast_to", call.emit("round_half_even", y), dtype=kind)
    )


def grid_sample(call: Call) -> Value:
    mode = call.attribute("mode", b"linear").decode().removeprefix("bi")
    if mode not in MODES:
        call.reject(f"mode {mode!r} is not supported; known: {', '.join(MODES)}")
    return call.emit(
        "grid_sample",
        call.input(0),
        call.input(1),
        mode=mode,
        padding=call.attribute("padding_mode", b"zeros").decode(),
        align_corners=bool(call.attribute("align_corners", 0)),
    )


def roi_align(call: Call) -> Value:
    samples = int(call.attribute("sampling_ratio", 0))
    if samples < 1:
        call.reject("sampling_ratio 0 makes the number of samples depend on the boxes")
    call.check_indices(call.input(2), call.input(0).shape[:1], call.input(0))
    where = call.attribute("coordinate_transformation_mode", b"half_pixel").decode()
    shape = tuple(int(call.attribute(f"output_{d}", 1)) for d in ("height", "width"))
    return call.emit(
        "roi_align",
        call.input(0),
        call.input(1),
        call.input(2),
        shape=shape,
        samples=samples,
        scale=float(call.attribute("spatial_scale", 1.0)),
        mode=call.attribute("mode", b"avg").decode(),
        half_pixel=call.opset >= 16 and where == "half_pixel",
    )


def deform_conv(call: Call) -> Value:
    x, w, offsets = (call.input(i) for i in range(3))
    mask, bias = call.optional(4), call.optional(3)
    y = call.emit(
        "deform_conv",
        *(v for v in (x, w, offsets, mask) if v is not None),
        stride=per_axis(call, "strides", x.rank - 2),
        padding=window_pads(call, x.shape[2:], w.shape[2:]),
        dilation=per_axis(call, "dilations", x.rank - 2),
        groups=int(call.attribute("group", 1)),
        offset_groups=int(call.attribute("offset_group", 1)),
    )
    if bias is None:
        return y
    return call.emit("add", y, call.builder.reshape(bias, (bias.elements, 1, 1)))


SAMPLING: dict[str, Translator] = {
    "DeformConv": deform_conv,
    "GridSample": grid_sample,
    "Resize": resize,
    "RoiAlign": roi_align,
    "Upsample": resize,
}
