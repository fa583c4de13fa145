"""Graph operators that are no elementwise ones: contractions, windows, reductions, movement.

    STRUCTURED["conv"](x, w, strides=(1, 1), pads=((1, 1), (1, 1)), name="t")

Each entry adapts one function of the operator library to a node's operands and attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.expr import operators as lib
from tilewright.expr.nodes import Tensor


def conv(x: Tensor, w: Tensor, **attributes: Any) -> Tensor:
    """[n, *spatial, c] with [*kernel, c / groups, o]."""
    return lib.conv(x, w, **_window_options(attributes))


def depthwise_conv(x: Tensor, w: Tensor, **attributes: Any) -> Tensor:
    """[n, *spatial, c] with [*kernel, c, m]."""
    return lib.depthwise_conv(x, w, **_window_options(attributes))


def conv_transpose(x: Tensor, w: Tensor, **attributes: Any) -> Tensor:
    """[n, *spatial, c] with [*kernel, c, o / groups]."""
    return lib.conv_transpose(x, w, **_window_options(attributes))


def max_pool(x: Tensor, *, kernel: tuple[int, ...], **attributes: Any) -> Tensor:
    return lib.max_pool(x, kernel, **_window_options(attributes))


def avg_pool(x: Tensor, *, kernel: tuple[int, ...], **attributes: Any) -> Tensor:
    return lib.avg_pool(x, kernel, **_window_options(attributes))


def _window_options(attributes: dict[str, Any]) -> dict[str, Any]:
    """The node's plural attribute names as the library's options."""
    words = {"strides": "stride", "pads": "padding", "dilations": "dilation"}
    return {words.get(k, k): v for k, v in attributes.items()}


def product(a: Tensor, b: Tensor, *, name: str) -> Tensor:
    """`a @ b`; a matrix `b` is shared by every batch of `a`."""
    if b.rank == 2:
        return lib.dense(a, b, name=name)
    return lib.batch_matmul(a, b, name=name)


def reduction(fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def build(x: Tensor, *, axes: tuple[int, ...], keepdims: bool, name: str) -> Tensor:
        return fn(x, axes, keepdims=keepdims, name=name)

    return build


def layer_norm(x: Tensor, *affine: Tensor, axis: int, epsilon: float, name: str) -> Tensor:
    """Operands after `x`: the scale, then the bias; either or both may be missing."""
    return lib.layer_norm(x, *affine, axis=axis, epsilon=epsilon, name=name)


def rms_norm(x: Tensor, scale: Tensor, *, axis: int, epsilon: float, name: str) -> Tensor:
    """Over the dimensions from `axis` on."""
    return lib.rms_norm(x, scale, axes=tuple(range(axis, x.rank)), epsilon=epsilon, name=name)


def max_pool_indices(x: Tensor, *, kernel: tuple[int, ...], **attributes: Any) -> Tensor:
    return lib.max_pool_indices(x, kernel, **_window_options(attributes))


def sum_pool(x: Tensor, *, kernel: tuple[int, ...], **attributes: Any) -> Tensor:
    return lib.sum_pool(x, kernel, **_window_options(attributes))


def col2im(
    x: Tensor, *, shape: tuple[int, ...], kernel: tuple[int, ...], **attributes: Any
) -> Tensor:
    return lib.col2im(x, shape, kernel, **_window_options(attributes))


def deform_conv(x: Tensor, w: Tensor, *operands: Tensor, **attributes: Any) -> Tensor:
    """Operands after `w`: the offsets, then the mask, which may be missing."""
    return lib.deform_conv(x, w, *operands, **_window_options(attributes))


def einsum(*tensors: Tensor, equation: str, name: str) -> Tensor:
    return lib.einsum(equation, *tensors, name=name)


STRUCTURED: dict[str, Callable[..., Tensor]] = {
    "conv": conv,
    "depthwise_conv": depthwise_conv,
    "conv_transpose": conv_transpose,
    "matmul": product,
    "max_pool": max_pool,
    "avg_pool": avg_pool,
    "lrn": lib.lrn,
    "softmax": lib.softmax,
    "log_softmax": lib.log_softmax,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "instance_norm": lib.instance_norm,
    "group_norm": lib.group_norm,
    "argmax": lib.argmax,
    "argmin": lib.argmin,
    "reduce_l1": reduction(lib.reduce_l1),
    "reduce_l2": reduction(lib.reduce_l2),
    "reduce_logsumexp": reduction(lib.reduce_logsumexp),
    "reduce_max": reduction(lib.reduce_max),
    "reduce_mean": reduction(lib.reduce_mean),
    "reduce_min": reduction(lib.reduce_min),
    "reduce_prod": reduction(lib.reduce_prod),
    "reduce_sum": reduction(lib.reduce_sum),
    "reduce_sum_square": reduction(lib.reduce_sum_square),
    "concat": lambda *parts, axis, name: lib.concat(parts, axis, name=name),
    "depth_to_space": lib.depth_to_space,
    "expand": lib.broadcast_to,
    "gather_nd": lib.gather_nd,
    "scatter_elements": lib.scatter_elements,
    "scatter_nd": lib.scatter_nd,
    "cumulative": lib.cumulative,
    "top_indices": lib.top_indices,
    "triangle": lib.triangle,
    "reverse_sequence": lib.reverse_sequence,
    "write_slice": lib.write_slice,
    "count_grams": lib.count_grams,
    "determinant": lib.determinant,
    "resample": lib.resample,
    "grid_sample": lib.grid_sample,
    "roi_align": lib.roi_align,
    "deform_conv": deform_conv,
    "einsum": einsum,
    "max_pool_indices": max_pool_indices,
    "sum_pool": sum_pool,
    "col2im": col2im,
    "gather": lib.gather,
    "gather_elements": lib.gather_elements,
    "pad": lib.pad,
    "reshape": lib.reshape,
    "slice": lib.strided_slice,
    "space_to_depth": lib.space_to_depth,
    "tile": lib.tile,
    "transpose": lib.transpose,
    "upsample": lib.upsample_nearest,
}
