"""Resizing along dimensions that vary with sizes.

    at = (i + 0.5) · in / out − 0.5        of every output i of a call, from its extents

Positions, taps and weights are values here, computed in each call by small kernels, where those of
known extents are tables (`sampling`). By a whole factor, the nearest element is index arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tilewright.expr.index.extents import floordiv, maximum, minimum, mul, sub
from tilewright.expr.nodes import Extent
from tilewright.expr.sizes import least, most, simplified
from tilewright.expr.text import extent_text
from tilewright.graph.ir import Array, Value
from tilewright.graph.onnx.ops.call import OperatorCall

LONGEST_FRACTION = 64
"""Scales are numerator / denominator up to here."""


@dataclass(frozen=True)
class Moving:
    """A dimension with its extents before and after: by `scale`, or None where by the extents."""

    before: Extent
    after: Extent
    scale: float | None = None

    @property
    def factor(self) -> int:
        """The whole number of outputs for each input; 0 where there is none."""
        found = (k for k in range(1, LONGEST_FRACTION) if mul(self.before, k) == self.after)
        return next(found, 0) if self.scale is None else int(self.scale) * self.scale.is_integer()


def scaled(call: OperatorCall, before: Extent, scale: float) -> Moving:
    """A dimension that is resized by a constant scale."""
    whole, parts = next(
        (
            (round(scale * parts), parts)
            for parts in range(1, LONGEST_FRACTION)
            if abs(round(scale * parts) / parts - scale) < 1e-6 * scale
        ),
        (0, 1),
    )
    if not whole:
        call.reject(f"its scale {scale:g} of {extent_text(before)} is no simple fraction")
    after = floordiv(mul(before, whole), parts)
    return Moving(before, simplified(after, call.builder.sizes), scale)


def picked(
    call: OperatorCall, x: Value, axis: int, moving: Moving, where: str, rounding: str
) -> Value:
    """The nearest elements along `axis` of `x`, channels last."""
    factor = moving.factor
    if factor and 1 <= axis < x.rank - 1 and _repeats(factor, where, rounding):
        shape = list(x.extents)
        shape[axis] = moving.after
        return call.emit("upsample_nearest", x, shape=tuple(shape[1:-1]))
    at = _rounded(call, _positions(call, moving, where), rounding)
    return call.emit("gather", x, _inside(call, call.cast(at, "int64"), moving), axis=axis)


def weighed(
    call: OperatorCall, moving: Moving, where: str, cubic: float | None
) -> tuple[Value, Value]:
    """The inputs [outputs, taps] of each output, and their weights: two of a linear kernel, four of
    Keys' with the coefficient `cubic`.
    """
    at = _positions(call, moving, where)
    low = call.emit("floor", at)
    share, first = call.emit("subtract", at, low), call.cast(low, "int64")
    rest = call.emit("subtract", call.literal(1.0, share), share)
    weights = [rest, share] if cubic is None else _cubic(call, share, rest, cubic)
    steps = range(1 - len(weights) // 2, len(weights) // 2 + 1)
    taps = [call.emit("add", first, call.literal(n, first)) for n in steps]
    inside = [_inside(call, t, moving) for t in taps]
    return call.builder.stacked(inside, 1), call.builder.stacked(weights, 1)


def filtered(
    call: OperatorCall,
    moving: Moving,
    where: str,
    cubic: float | None,
    *,
    antialias: float = 0,
    exclude_outside: float = 0,
    **_: float,
) -> tuple[Value, Value]:
    """The same of a kernel that is widened where outputs are fewer, or without what is outside, its
    weights as shares of their sum. There are as many taps as any call needs.
    """
    at, emit = _positions(call, moving, where), call.emit
    reach = 1 if cubic is None else 2
    width = math.ceil(reach * _widest(call, moving)) if antialias else reach
    call.table(most(moving.after, call.builder.sizes), 2 * width)
    column = call.builder.reshape(at, (moving.after, 1))
    steps = call.literal(np.arange(1 - width, width + 1, dtype=np.float32), at)
    taps = emit("add", emit("floor", column), steps)
    away = emit("absolute", emit("subtract", taps, column))
    if antialias:
        squeeze = emit("minimum", _scale(call, moving, at), call.literal(1.0, at))
        away = emit("multiply", away, squeeze)
    weights = _triangle(call, away) if cubic is None else _by_distance(call, away, cubic)
    taps = call.cast(taps, "int64")
    inside = _inside(call, taps, moving)
    if exclude_outside:
        weights = emit("where", emit("equal", inside, taps), weights, call.literal(0.0, weights))
    total = emit("reduce_sum", weights, axes=(1,), keepdims=True)
    return inside, emit("divide", weights, total)


def _widest(call: OperatorCall, moving: Moving) -> float:
    """How many inputs there are for each output at most, and at least 1."""
    if moving.scale is not None:
        return max(1.0, 1 / moving.scale)
    sizes = call.builder.sizes
    return max(1.0, most(moving.before, sizes) / max(1, least(moving.after, sizes)))


def _triangle(call: OperatorCall, away: Value) -> Value:
    rest = call.emit("subtract", call.literal(1.0, away), away)
    return call.emit("maximum", rest, call.literal(0.0, away))


def _by_distance(call: OperatorCall, away: Value, a: float) -> Value:
    """Keys' weights of distances."""
    near, far = (_polynomial(call, away, coefficients) for coefficients in keys(a))

    def within(reach: float, inner: Value, outer: Value) -> Value:
        test = call.emit("less", away, call.literal(reach, away))
        return call.emit("where", test, inner, outer)

    return within(1.0, near, within(2.0, far, call.literal(0.0, away)))


def keys(a: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Keys' cubic convolution kernel (1981): its polynomials of a distance up to 1, and from there
    to 2, the highest power first.
    """
    return (a + 2, -(a + 3), 0.0, 1.0), (a, -5 * a, 8 * a, -4 * a)


def _cubic(call: OperatorCall, share: Value, rest: Value, a: float) -> list[Value]:
    """The weights of four inputs, of which two are nearer than one, `share` and `rest` away."""
    near, far = keys(a)
    outer = [call.emit("add", u, call.literal(1.0, u)) for u in (share, rest)]
    inner = [_polynomial(call, u, near) for u in (share, rest)]
    return [_polynomial(call, outer[0], far), *inner, _polynomial(call, outer[1], far)]


def _polynomial(call: OperatorCall, u: Value, coefficients: tuple[float, ...]) -> Value:
    found = call.literal(coefficients[0], u)
    for c in coefficients[1:]:
        found = call.emit("multiply", found, u)
        found = call.emit("add", found, call.literal(c, u)) if c else found
    return found


def _positions(call: OperatorCall, moving: Moving, where: str) -> Value:
    """The float32 input coordinate of every output (see `sampling`)."""
    after, before, emit = moving.after, moving.before, call.emit
    i = call.steps(after, call.literal(np.float32(0)))
    if where == "align_corners":
        last = _number(call, maximum(sub(after, 1), 1), i)
        return emit("divide", emit("multiply", i, _number(call, sub(before, 1), i)), last)
    if where not in SHIFTS:
        call.reject(f"coordinates by {where} need a number where the extent is {before}")
    ahead, back = SHIFTS[where]
    at = emit("add", i, call.literal(ahead, i)) if ahead else i
    at = emit("divide", at, _scale(call, moving, i))
    at = emit("subtract", at, call.literal(back, at)) if back else at
    if where == "half_pixel_symmetric" and moving.scale is not None:  # else nothing is left over
        whole, count = _number(call, before, i), _number(call, after, i)
        rest = emit("subtract", whole, emit("divide", count, call.literal(moving.scale, i)))
        at = emit("add", at, emit("multiply", rest, call.literal(0.5, i)))
    if where == "pytorch_half_pixel":  # a single output has the first element
        at = emit("multiply", at, _number(call, minimum(maximum(sub(after, 1), 0), 1), at))
    return at


def _scale(call: OperatorCall, moving: Moving, like: Value) -> Value:
    """How many outputs there are for each input."""
    if moving.scale is not None:
        return call.literal(moving.scale, like)
    after, before = (_number(call, e, like) for e in (moving.after, moving.before))
    return call.emit("divide", after, before)


SHIFTS = {
    "asymmetric": (0.0, 0.0),
    "half_pixel": (0.5, 0.5),
    "half_pixel_symmetric": (0.5, 0.5),
    "pytorch_half_pixel": (0.5, 0.5),
    "tf_half_pixel_for_nn": (0.5, 0.0),
}
"""What is added to an output's number before it is divided by the scale, and taken off after."""


def _number(call: OperatorCall, extent: Extent, like: Value) -> Value:
    """An extent as a number of the dtype of `like`."""
    if isinstance(extent, int):
        return call.literal(extent, like)
    return call.cast(call.builder.tensor(call.number_of(extent)), like.dtype)


def _rounded(call: OperatorCall, at: Value, rounding: str) -> Value:
    op, shift = ROUNDED[rounding]
    return call.emit(op, call.emit("add", at, call.literal(shift, at)) if shift else at)


ROUNDED = {
    "floor": ("floor", 0.0),
    "ceil": ("ceil", 0.0),
    "round_prefer_floor": ("ceil", -0.5),
    "round_prefer_ceil": ("floor", 0.5),
}
"""What is done, after something is added."""


def rounded(at: Array, rounding: str) -> Array:
    """Known positions, rounded as `rounding` says."""
    op, shift = ROUNDED[rounding]
    return np.asarray(np.floor(at + shift) if op == "floor" else np.ceil(at + shift))


def _repeats(factor: int, where: str, rounding: str) -> bool:
    """Whether outputs from `i * factor` on all have input i."""
    if where not in SHIFTS:
        return False
    ahead, back = SHIFTS[where]
    return not rounded((np.arange(factor) + ahead) / factor - back, rounding).any()


def _inside(call: OperatorCall, at: Value, moving: Moving) -> Value:
    """Positions from 0 to the last; there is none before."""
    low = call.emit("maximum", at, call.literal(0, at))
    return call.emit("minimum", low, _number(call, sub(moving.before, 1), at))
