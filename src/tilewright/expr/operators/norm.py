"""Norms and normalisations.

matrix_norm(x)                  [batch, n, m] -> [batch], the 2-norm of each matrix
softmax(x, axis=-1)             maximum, exponentials, their sum, quotient
layer_norm(x, scale, bias)      mean, squared deviations, scaled result
batch_norm(x, scale, bias, mean, variance)      inference: statistics are given
lrn(x, size=5)                  local response normalisation across channels
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tilewright.expr.index.extents import product
from tilewright.expr.nodes import Axis, Expr, Tensor, call
from tilewright.expr.operators.elementwise import elementwise
from tilewright.expr.operators.movement import pad, reshape
from tilewright.expr.operators.reduce import (
    Axes,
    reduce,
    reduce_l2,
    reduce_max,
    reduce_sum,
    reduce_sum_square,
)
from tilewright.expr.operators.shapes import axis_index, axis_indices, mean_of, number
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ExprError


def matrix_norm(x: Tensor, *, name: str = "norm") -> Tensor:
    """sqrt(Σ x²) over the last two dimensions (Ansor's NRM: [batch, n, m] -> [batch])."""
    if x.rank < 2:
        raise ExprError(f"{name}: matrix_norm needs matrices, got {x.shape}")
    return reduce_l2(x, (-2, -1), name=name)


def softmax(x: Tensor, axis: int = -1, *, name: str = "softmax") -> Tensor:
    """exp(x) / Σ exp(x) along `axis`, shifted by the maximum against overflow."""
    _, exps, total = _exponentials(x, axis, name)
    return elementwise(lambda e, s: e / s, exps, total, name=name)


def log_softmax(x: Tensor, axis: int = -1, *, name: str = "log_softmax") -> Tensor:
    """log(softmax(x)) along `axis`, without forming the quotient."""
    top, _, total = _exponentials(x, axis, name)
    return elementwise(lambda v, m, s: v - m - call("log", s), x, top, total, name=name)


def _exponentials(x: Tensor, axis: int, name: str) -> tuple[Tensor, Tensor, Tensor]:
    """The maximum along `axis`, exp(x - maximum), and their sum."""
    top = reduce_max(x, axis, keepdims=True, name=f"{name}_max")
    exps = elementwise(lambda v, m: call("exp", v - m), x, top, name=f"{name}_exp")
    return top, exps, reduce_sum(exps, axis, keepdims=True, name=f"{name}_sum")


def layer_norm(
    x: Tensor,
    scale: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    name: str = "layer_norm",
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) · scale + bias over the dimensions from `axis` on.

    `scale` and `bias` broadcast to `x`. The variance is that of the centred values, which keeps
    its accuracy where the mean is large.
    """
    axes = tuple(range(axis_index(axis, x.rank, name), x.rank))
    return _centred_norm(x, axes, scale, bias, epsilon, name)


def instance_norm(
    x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5, name: str = "instance_norm"
) -> Tensor:
    """Layer norm of each image and channel over its spatial dimensions; channels last."""
    return _centred_norm(x, tuple(range(1, x.rank - 1)), scale, bias, epsilon, name)


def group_norm(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    *,
    groups: int,
    epsilon: float = 1e-5,
    name: str = "group_norm",
) -> Tensor:
    """Layer norm of each image over its spatial dimensions and a group of the last channels."""
    *outer, last = x.shape
    channels = number(last, name)
    if channels % groups:
        raise ExprError(f"{name}: {groups} groups do not divide {channels} channels")
    grouped = reshape(x, (*outer, groups, channels // groups), name=f"{name}_grouped")
    axes = (*range(1, x.rank - 1), x.rank)
    centred = _centred_norm(grouped, axes, None, None, epsilon, f"{name}_unit")
    flat = reshape(centred, x.shape, name=f"{name}_flat")
    return elementwise(lambda v, s, b: v * s + b, flat, scale, bias, name=name)


def _centred_norm(
    x: Tensor,
    axes: tuple[int, ...],
    scale: Tensor | None,
    bias: Tensor | None,
    epsilon: float,
    name: str,
) -> Tensor:
    count = product(x.shape[d] for d in axes)
    total = reduce_sum(x, axes, keepdims=True, name=f"{name}_sum")

    def squares(v: Expr, over: tuple[Axis, ...]) -> Expr:
        centred = v - mean_of(total[_kept(v, axes)], count)
        return sum_over(centred * centred, over)

    spread = reduce(x, axes, squares, keepdims=True, dtype=total.dtype, name=f"{name}_squares")
    factor = elementwise(
        lambda v: 1.0 / call("sqrt", mean_of(v, count) + epsilon), spread, name=f"{name}_factor"
    )

    def body(v: Expr, s: Expr, f: Expr, *affine: Expr) -> Expr:
        result = (v - mean_of(s, count)) * f
        return _affine(result, scale is not None, affine)

    extra = [t for t in (scale, bias) if t is not None]
    return elementwise(body, x, total, factor, *extra, name=name, dtype=x.dtype)


def _kept(read: Any, axes: Sequence[int]) -> tuple[Any, ...]:
    """The indices of a read with those of the reduced dimensions at 0."""
    return tuple(0 if d in axes else i for d, i in enumerate(read.indices))


def _affine(value: Expr, scaled: bool, affine: Sequence[Expr]) -> Expr:
    """value · scale + bias, where `affine` holds those of the two that are given."""
    rest = list(affine)
    if scaled:
        value = value * rest.pop(0)
    return value + rest.pop(0) if rest else value


def rms_norm(
    x: Tensor,
    scale: Tensor | None = None,
    *,
    axes: Axes = -1,
    epsilon: float = 1e-5,
    name: str = "rms_norm",
) -> Tensor:
    """x / sqrt(mean of x² + epsilon) · scale over `axes` (Zhang and Sennrich, 2019)."""
    count = product(x.shape[d] for d in axis_indices(axes, x.rank, name))
    squares = reduce_sum_square(x, axes, keepdims=True, name=f"{name}_squares")
    factor = elementwise(
        lambda v: 1.0 / call("sqrt", mean_of(v, count) + epsilon), squares, name=f"{name}_factor"
    )
    extra = [] if scale is None else [scale]
    body: Callable[..., Expr] = lambda v, f, *s: _affine(v * f, scale is not None, s)  # noqa: E731
    return elementwise(body, x, factor, *extra, name=name, dtype=x.dtype)


def batch_norm(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    epsilon: float = 1e-5,
    name: str = "batch_norm",
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) · scale + bias, one of each a last-dimension channel.

    The four statistics become a factor and a shift a channel, in two small stages of their own.
    """
    for t in (scale, bias, mean, variance):
        if t.shape != x.shape[-1:]:
            raise ExprError(f"{name}: {t.name} has shape {t.shape}, not {x.shape[-1:]}")
    factor = elementwise(
        lambda s, v: s / call("sqrt", v + epsilon), scale, variance, name=f"{name}_factor"
    )
    shift = elementwise(lambda b, m, f: b - m * f, bias, mean, factor, name=f"{name}_shift")
    return elementwise(lambda v, f, s: v * f + s, x, factor, shift, name=name)


def lrn(
    x: Tensor,
    size: int,
    *,
    alpha: float = 1e-4,
    beta: float = 0.75,
    bias: float = 1.0,
    name: str = "lrn",
) -> Tensor:
    """x / (bias + alpha / size · Σ x²)^beta over `size` channels around each one (ONNX LRN).

    Channels are the last dimension; those beyond the ends count as zero.
    """
    if size < 1:
        raise ExprError(f"{name}: size {size} must be at least 1")
    before = (size - 1) // 2
    pads = ((0, 0),) * (x.rank - 1) + ((before, size - 1 - before),)
    padded = pad(x, pads, name=f"{name}_pad")
    r = reduce_axis(size, "rc")

    def squares(*index: Any) -> Expr:
        v = padded[(*index[:-1], index[-1] + r)]
        return sum_over(v * v, r)

    total = compute(x.shape, squares, name=f"{name}_squares", dtype=x.dtype.accumulator)
    return elementwise(
        lambda v, s: v / _power(s * (alpha / size) + bias, beta), x, total, name=name, dtype=x.dtype
    )


def _power(v: Expr, exponent: float) -> Expr:
    """v^exponent of a positive v; the usual exponents need square roots only."""
    root = call("sqrt", v)
    match exponent:
        case 1.0:
            return v
        case 0.5:
            return root
        case 0.75:
            return root * call("sqrt", root)
    return call("pow", v, exponent)
