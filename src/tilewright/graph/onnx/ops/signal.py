"""ONNX's Fourier transforms, as products with matrices of cosines and sines.

A complex array has a last dimension of 2, a real one of 1. The matrix of a transform of n points
has n² entries: right for the lengths of frames. A longer one of a·b points is b transforms of a
points, turned by twiddle factors, and a transforms of b points (Cooley and Tukey, 1965), each of
which may be made of two again; only a prime length keeps its matrix.
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.expr.index.extents import add, floordiv, sub
from tilewright.expr.operators.shapes import number
from tilewright.expr.sizes import least, most
from tilewright.expr.text import extent_text
from tilewright.graph.ir import Array, Value
from tilewright.graph.onnx.ops.call import Given, OperatorCall, Translator

GREATEST_MATRIX = 512  # points: up to here one product is as fast as several with turns between


def _matrix(points: int, length: int, outputs: int, inverse: bool) -> Array:
    """exp(±2πi · k · n / length), complex [points, outputs]; an inverse divides by `length`."""
    k, n = np.arange(outputs), np.arange(points)
    turns = np.outer(n, k) % length / length
    sign = 2j if inverse else -2j
    return np.asarray(np.exp(sign * np.pi * turns) / (length if inverse else 1))


def _hermitian(length: int, outputs: int, inverse: bool, half: int) -> Array:
    """As `_matrix`, of `half` points that stand for themselves and their conjugates."""
    matrix = _matrix(half, length, outputs, inverse)
    twice = np.full(half, 2.0)
    twice[0] = 1.0
    if length % 2 == 0 and half == length // 2 + 1:
        twice[-1] = 1.0
    return np.asarray(matrix * twice[:, None])


def _real(matrix: Array, parts: int, results: int) -> Array:
    """A complex matrix as a real one [points · parts, outputs · results]."""
    rows = [np.stack([matrix.real, matrix.imag], -1), np.stack([-matrix.imag, matrix.real], -1)]
    whole = np.stack(rows[:parts], 1)[..., :results]
    return whole.reshape(matrix.shape[0] * parts, matrix.shape[1] * results)


def transform(call: OperatorCall, x: Value, axis: int, matrix: Array, results: int) -> Value:
    """`x` times a complex `matrix` along `axis`; its last dimension holds the parts."""
    parts = number(x.extents[-1], x.name)
    last = x.rank - 2
    order = [d for d in range(x.rank - 1) if d != axis] + [axis, x.rank - 1]
    moved = call.builder.transpose(x, order)
    if matrix.shape[0] < number(x.extents[axis], x.name):
        moved = call.cut(moved, last, 0, matrix.shape[0])
    table = _real(matrix[: number(moved.extents[last], x.name)], parts, results)
    outer = moved.extents[:last]
    flat = call.builder.reshape(moved, (*outer, table.shape[0]) if outer else (1, table.shape[0]))
    y = call.emit("matmul", flat, call.literal(table, x))
    y = call.builder.reshape(y, (*outer, matrix.shape[1], results))
    back = [order.index(d) for d in range(x.rank)]
    return call.builder.transpose(y, back)


def dft(
    call: OperatorCall,
    x: Value,
    dft_length: Value | None = None,
    axis: Given = None,
    *,
    inverse: bool = False,
    onesided: bool = False,
) -> Value:
    """The axis is an input since opset 20, an attribute before."""
    axis = call.axis(call.number(axis, "axis", -2 if call.opset >= 20 else 1), x.rank)
    extent = number(x.extents[axis], x.name)
    whole = 2 * (extent - 1) if inverse and onesided else extent
    length = call.number(dft_length, "dft_length", whole)
    outputs = length // 2 + 1 if onesided else length
    if length > GREATEST_MATRIX and _factor(length) > 1:
        if inverse and onesided:
            x = _whole_spectrum(call, x, axis, length)
        y = _transformed(call, _fitted(call, x, axis, length), axis, inverse)
        if onesided and inverse:
            return call.cut(y, x.rank - 1, 0, 1)
        return call.cut(y, axis, 0, outputs) if onesided else y
    call.table(4, min(extent, length), length)
    if inverse and onesided:
        half = min(extent, length // 2 + 1)
        return transform(call, x, axis, _hermitian(length, length, True, half), 1)
    return transform(call, x, axis, _matrix(min(extent, length), length, outputs, inverse), 2)


def _factor(length: int) -> int:
    """The greatest divisor of `length` that is not above its square root."""
    return next(d for d in range(math.isqrt(length), 0, -1) if length % d == 0)


def _fitted(call: OperatorCall, x: Value, axis: int, length: int) -> Value:
    """`x` cut off, or zeros after it."""
    extent = number(x.extents[axis], x.name)
    if extent >= length:
        return call.cut(x, axis, 0, length) if extent > length else x
    pads = tuple((0, length - extent) if d == axis else (0, 0) for d in range(x.rank))
    return call.emit("pad", x, pads=pads, mode="constant", value=0)


def _whole_spectrum(call: OperatorCall, x: Value, axis: int, length: int) -> Value:
    """`length` points, of which those behind the middle are conjugates of those before it."""
    half = length // 2 + 1
    k = np.arange(length)
    mirrored = call.emit(
        "gather", _fitted(call, x, axis, half), call.literal(np.minimum(k, length - k)), axis=axis
    )
    signs = np.ones((length, *(1 for _ in range(axis + 1, x.rank - 1)), 2))
    signs[half:, ..., 1] = -1
    return call.emit("multiply", mirrored, call.literal(signs, x))


def _transformed(call: OperatorCall, x: Value, axis: int, inverse: bool) -> Value:
    """All points of a transform along `axis`, complex; an inverse is divided by their number.

    x[b·p + q] gives y[r + a·s]: over p, turned by exp(±2πi · q · r / length), then over q.
    """
    length = number(x.extents[axis], x.name)
    a = _factor(length)
    if length <= GREATEST_MATRIX or a == 1:
        call.table(4, length, length)
        return transform(call, x, axis, _matrix(length, length, length, inverse), 2)
    b, before, after = length // a, x.extents[:axis], x.extents[axis + 1 :]
    parts = call.builder.reshape(x, (*before, a, b, *after))
    parts = transform(call, parts, axis, _matrix(a, a, a, inverse), 2)
    parts = _transformed(call, _turned(call, parts, axis, inverse), axis + 1, inverse)
    order = [*range(axis), axis + 1, axis, *range(axis + 2, x.rank + 1)]
    return call.builder.reshape(
        call.builder.transpose(parts, order), (*before, length, *after[:-1], 2)
    )


def _turned(call: OperatorCall, x: Value, axis: int, inverse: bool) -> Value:
    """Complex `x` times exp(±2πi · q · r / (a·b)) along its axes r, of `a`, and q, of `b`."""
    a, b = (number(e, x.name) for e in x.extents[axis : axis + 2])
    turns = np.outer(np.arange(a), np.arange(b)) % (a * b) / (a * b)
    factors = np.exp((2j if inverse else -2j) * np.pi * turns)
    shape = (a, b, *(1 for _ in range(axis + 2, x.rank - 1)))
    straight = factors.real.reshape(*shape, 1)
    across = np.stack([-factors.imag, factors.imag], -1).reshape(*shape, 2)
    swapped = call.emit("gather", x, call.literal(np.array([1, 0])), axis=x.rank - 1)
    return call.emit(
        "add",
        call.emit("multiply", x, call.literal(straight, x)),
        call.emit("multiply", swapped, call.literal(across, x)),
    )


def stft(
    call: OperatorCall,
    x: Value,
    frame_step: Value,
    window: Value | None = None,
    frame_length: Value | None = None,
    *,
    onesided: bool = True,
) -> Value:
    """Frames [batch, frames, length, parts], times a window, transformed one by one."""
    step = int(call.known(frame_step, "frame_step").item())
    samples, sizes = x.extents[1], call.builder.sizes
    given = None if frame_length is None else call.number(frame_length, "frame_length", 0)
    length = given or (number(samples, x.name) if window is None else window.elements)
    if step < 1 or not 1 <= length <= least(samples, sizes):
        call.reject(f"frames of {length} every {step} of {extent_text(samples)} samples")
    count = add(floordiv(sub(samples, length), step), 1)
    call.table(most(count, sizes), length)
    call.table(4, length, length)
    at = np.arange(most(count, sizes))[:, None] * step + np.arange(length)
    if x.rank == 2:
        x = call.builder.reshape(x, (*x.extents, 1))
    frames = call.emit("gather", x, call.cut(call.literal(at), 0, 0, count), axis=1)
    if window is not None:
        frames = call.emit("multiply", frames, call.builder.reshape(window, (window.elements, 1)))
    outputs = length // 2 + 1 if onesided else length
    return transform(call, frames, 2, _matrix(length, length, outputs, False), 2)


SIGNAL: dict[str, Translator] = {"DFT": dft, "STFT": stft}
