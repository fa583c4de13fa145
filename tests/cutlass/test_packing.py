"""Packed factors have what is read of a tensor, in another order, filled up with zeros."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.cutlass.matrices import Packed
from tilewright.expr.access import AffineIndex
from tilewright.expr.contraction.factors import AffineRead
from tilewright.expr.tensors import placeholder

Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def packed(values: Array, sizes: tuple[int, ...]) -> Array:
    """What tw_pack.h makes of an array."""
    rank = len(sizes) // 3
    to, there, strides = (sizes[i * rank : (i + 1) * rank] for i in range(3))
    at = np.indices(to)
    inside = np.logical_and.reduce([i < n for i, n in zip(at, there, strict=True)])
    flat = sum(i * s for i, s in zip(at, strides, strict=True))
    found = values.ravel()[np.where(inside, flat, 0)]
    return np.where(inside, found, np.float32(0)).astype(np.float32)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_read_of_a_tensor_is_packed(seed: int) -> None:
    """Of some dimensions a part is read, of some the first element."""
    rng = np.random.default_rng(seed)
    names = [str(n) for n in rng.permutation(list("abc"))]
    read = {n: int(rng.integers(2, 7)) for n in names}
    indices, shape, slices = [], [], []
    for name in [*names, None, None][: int(rng.integers(3, 6))]:
        beyond = int(rng.integers(0, 3)) * int(rng.random() < 0.5)
        indices.append(AffineIndex(() if name is None else ((name, 1),), 0))
        extent = 1 if name is None else read[name]
        shape.append(extent + beyond)
        slices.append(slice(extent))
    factor = AffineRead(placeholder(tuple(shape), "float16", name="x"), tuple(indices), read)
    values = rng.standard_normal(shape).astype(np.float32)
    order = [str(n) for n in rng.permutation(list("abc"))]
    whole = -(-read[order[-1]] // 8) * 8
    result = Packed.of(factor, order, {order[-1]: whole})
    part = values[tuple(slices)].reshape([read[n] for n in names])
    want = np.zeros([*(read[n] for n in order[:-1]), whole], np.float32)
    want[..., : read[order[-1]]] = part.transpose([names.index(n) for n in order])
    np.testing.assert_array_equal(packed(values, result.values).ravel(), want.ravel())
    assert factor.is_whole == (part.size == values.size)
    if factor.is_whole:
        np.testing.assert_array_equal(result.packing.apply(values).ravel(), want.ravel())
