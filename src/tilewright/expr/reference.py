"""Reference semantics of stages: their values by direct evaluation with NumPy.

    evaluate_stage(C, reader)          -> every element of C, block by block
    PointEvaluator(arrays).values(C, points) -> C at a few points, in float64, from the inputs alone

Both visit the iteration space in blocks of at most `BLOCK` elements, so memory stays bounded.
A reduction is kept in the dtype of its body. `PointEvaluator` computes of earlier stages only what
the points need, through padding, gathers and several reductions (softmax); what they store in fewer
bits is rounded to those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from tilewright.expr.evaluate import Array, Reader, evaluate, working_dtype
from tilewright.expr.nodes import NARROWING, Axis, Extent, Reduce, Tensor
from tilewright.expr.tensors import Compute, Table
from tilewright.expr.text import extent_text
from tilewright.ground.errors import ExprError

BLOCK = 1 << 22
"""Elements evaluated at once: 16 MiB of float32 a temporary."""

Block: TypeAlias = tuple[slice, ...]

COMBINE: dict[str, Any] = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


def evaluate_stage(tensor: Tensor, read: Reader, *, float64: bool = False) -> Array:
    """All elements of a computed tensor, in its storage dtype (float64 where asked and float)."""
    compute = compute_of(tensor)
    shape = static_shape(tensor)
    out = np.empty(shape, result_dtype(tensor, float64))
    work = prod(sizes(compute.reduce_axes))
    for block in blocks(shape, max(1, BLOCK // min(work, BLOCK))):
        env = open_grid([a.name for a in compute.axes], block)
        extent = tuple(s.stop - s.start for s in block)
        found = _evaluate_block(compute, env, extent, read, float64)
        with np.errstate(all="ignore"):
            out[block] = found
    return out


def _evaluate_block(
    compute: Compute,
    env: Mapping[str, Array],
    shape: tuple[int, ...],
    read: Reader,
    float64: bool,
) -> Array:
    """Elements at the index arrays `env` (which broadcast to `shape`), reduced completely."""
    body = compute.body
    if not isinstance(body, Reduce):
        return np.broadcast_to(evaluate(body, env, read, float64=float64), shape)
    rank, combine = len(body.axes), COMBINE[body.op]
    spatial = {n: np.reshape(x, np.shape(x) + (1,) * rank) for n, x in env.items()}
    total: Array | None = None
    for block in blocks(sizes(body.axes), max(1, BLOCK // prod(shape))):
        grid = open_grid([a.name for a in body.axes], block)
        found = evaluate(body.body, {**spatial, **grid}, read, float64=float64)
        whole = np.broadcast_to(found, shape + tuple(s.stop - s.start for s in block))
        with np.errstate(all="ignore"):
            part = combine.reduce(whole, axis=tuple(range(-rank, 0)), dtype=found.dtype)
            total = part if total is None else combine(total, part)
    assert total is not None
    return total


def blocks(extents: Sequence[int], budget: int) -> Iterator[Block]:
    """Boxes of at most `budget` points (at least one) that cover the extents in order."""
    steps = list(extents)
    for d in range(len(steps)):
        inner = prod(steps[d + 1 :])
        steps[d] = min(steps[d], max(1, budget // inner))
        if steps[d] > 1:
            break
    ranges = [range(0, e, s) for e, s in zip(extents, steps, strict=True)]
    for start in product(*ranges):
        yield tuple(slice(b, min(b + s, e)) for b, s, e in zip(start, steps, extents, strict=True))


def open_grid(names: Sequence[str], block: Block) -> dict[str, Array]:
    """Index arrays of a box by axis name, each along its own dimension."""
    rank = len(block)
    return {
        name: np.arange(s.start, s.stop).reshape((-1,) + (1,) * (rank - d - 1))
        for d, (name, s) in enumerate(zip(names, block, strict=True))
    }


def compute_of(tensor: Tensor) -> Compute:
    """The definition of a computed tensor; raises ExprError for others."""
    if not isinstance(tensor.source, Compute):
        raise ExprError(f"{tensor.name} is not computed; it has values of its own")
    return tensor.source


def static_shape(tensor: Tensor) -> tuple[int, ...]:
    """The shape as ints; raises ExprError where it is symbolic."""
    return _ints(tensor.shape, tensor.name)


def sizes(axes: Sequence[Axis]) -> tuple[int, ...]:
    """The extents of axes as ints; raises ExprError where one is symbolic."""
    return _ints([a.extent for a in axes], ", ".join(a.name for a in axes))


def extents_of(axes: Sequence[Axis]) -> dict[str, int]:
    """The same by the axes' names."""
    return dict(zip((a.name for a in axes), sizes(axes), strict=True))


def _ints(extents: Sequence[Extent], name: str) -> tuple[int, ...]:
    found = tuple(e for e in extents if isinstance(e, int))
    if len(found) != len(extents):
        listed = ", ".join(map(extent_text, extents))
        raise ExprError(f"{name}: the extents {listed} are symbolic; evaluation needs ints")
    return found


def result_dtype(tensor: Tensor, float64: bool) -> np.dtype[np.generic]:
    """The NumPy dtype a tensor's values are returned in."""
    return working_dtype(tensor.dtype, True) if float64 else tensor.dtype.numpy


class PointEvaluator:
    """Float64 values of tensors at single points; what was computed is remembered.

    `arrays` holds the values of placeholders by name; tables bring their own.
    """

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.arrays = arrays
        self._known: dict[str, tuple[Array, Array]] = {}

    def values(self, tensor: Tensor, points: Array) -> Array:
        """Values [p] of `tensor` at `points` [p, rank]."""
        columns = tuple(np.asarray(points, np.int64).reshape(len(points), tensor.rank).T)
        return (
            self._read(tensor, columns)
            if columns
            else np.repeat(self._read(tensor, ()), len(points))
        )

    def read(self, tensor: Tensor, indices: tuple[Array, ...]) -> Array:
        """Values at broadcasting index arrays, as they are stored; a `Reader` for `evaluate`."""
        found = self._read(tensor, indices)
        if tensor.dtype.name not in NARROWING:
            return found
        with np.errstate(all="ignore"):
            return found.astype(tensor.dtype.numpy).astype(found.dtype)

    def _read(self, tensor: Tensor, indices: tuple[Array, ...]) -> Array:
        if isinstance(tensor.source, Table):
            return np.asarray(tensor.source.values[indices])
        if tensor.name in self.arrays:
            return np.asarray(self.arrays[tensor.name][indices])
        shape = static_shape(tensor)
        flat: Any = np.zeros((), np.int64)
        for index, extent in zip(indices, shape, strict=True):
            flat = flat * extent + index
        wanted, inverse = np.unique(flat, return_inverse=True)
        return self._at(tensor, shape, wanted)[inverse].reshape(np.shape(flat))

    def _at(self, tensor: Tensor, shape: tuple[int, ...], wanted: Array) -> Array:
        """Values at sorted flat positions, computing those not yet known."""
        empty = np.empty(0, np.int64), np.empty(0, result_dtype(tensor, True))
        keys, values = self._known.get(tensor.name, empty)
        missing = np.setdiff1d(wanted, keys, assume_unique=True)
        if missing.size:
            found = self._compute(tensor, shape, missing)
            keys, values = np.concatenate([keys, missing]), np.concatenate([values, found])
            order = np.argsort(keys, kind="stable")
            keys, values = keys[order], values[order]
            self._known[tensor.name] = keys, values
        return values[np.searchsorted(keys, wanted)]

    def _compute(self, tensor: Tensor, shape: tuple[int, ...], flat: Array) -> Array:
        compute = compute_of(tensor)
        out = np.empty(len(flat), result_dtype(tensor, True))
        work = prod(sizes(compute.reduce_axes))
        step = max(1, BLOCK // min(work, BLOCK))
        for at in range(0, len(flat), step):
            part = flat[at : at + step]
            columns = np.unravel_index(part, shape) if shape else ()
            env = {a.name: c for a, c in zip(compute.axes, columns, strict=True)}
            out[at : at + step] = _evaluate_block(compute, env, part.shape, self.read, True)
        return out
