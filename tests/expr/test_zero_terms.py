"""Sums without the terms that inserted zeros make zero: equal values, as few terms as the math."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG, inline_reads
from tilewright.expr.nodes import Tensor, cast, select
from tilewright.expr.reference import compute_of, sizes
from tilewright.expr.rewrites.zero_terms import (
    is_solvable,
    nonzero_terms,
    periods,
    without_zero_terms,
)
from tilewright.expr.tensors import Compute, compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over

EXTENT = 5
OPTIONS = [
    (k, s, d, p, e)
    for k, s, d, p, e in product((1, 2, 3, 4, 5), (2, 3, 4), (1, 2, 3), (0, 1), (0, 1))
    if (EXTENT - 1) * s + (k - 1) * d + 1 + e > 2 * p
]


def transposed(kernel: int, stride: int, dilation: int, pad: int, extra: int) -> Tensor:
    """A transposed convolution in one dimension, its stage of zeros inlined."""
    x, w = placeholder((1, EXTENT, 2), name="x"), placeholder((kernel, 2, 3), name="w")
    options: dict[str, Any] = {"stride": stride, "dilation": dilation, "output_padding": extra}
    dag = ComputeDAG([ops.conv_transpose(x, w, padding=pad, name="y", **options)])
    (y,) = dag.outputs
    source = compute_of(y)
    body = inline_reads(source.body, {"y_dilate": dag.tensor("y_dilate")})
    return replace(y, source=replace(source, body=body))


def products(kernel: int, stride: int, dilation: int, pad: int, extra: int, columns: int) -> int:
    """Terms at multiples of the stride, counted one by one."""
    reach = (kernel - 1) * dilation + 1
    out = (EXTENT - 1) * stride - 2 * pad + reach + extra
    first = reach - 1 - pad
    pairs = product(range(out), range(kernel))
    return columns * sum((h + r * dilation - first) % stride == 0 for h, r in pairs)


def iterations(c: Compute) -> int:
    return prod(sizes((*c.axes, *c.reduce_axes)))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_skipping_zeros_keeps_values(options: tuple[int, ...]) -> None:
    y = transposed(*options)
    skipped = without_zero_terms(compute_of(y))
    rng = np.random.default_rng(0)
    arrays = {t.name: rng.integers(-4, 5, t.shape).astype("f4") for t in ComputeDAG([y]).inputs}
    expected = ComputeDAG([y]).evaluate(arrays)["y"]
    found = ComputeDAG([replace(y, source=skipped)]).evaluate(arrays)["y"]
    np.testing.assert_array_equal(found, expected)
    assert not is_solvable(skipped)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_terms_are_counted_and_iterated_as_the_stride_asks(options: tuple[int, ...]) -> None:
    kernel, stride, dilation, *_ = options
    c = compute_of(transposed(*options))
    assert nonzero_terms(c) == products(*options, columns=2 * 3)
    step = stride // np.gcd(stride, dilation)
    assert is_solvable(c) == (step > 1)
    assert periods(c) == ({"w": stride} if step > 1 else {})
    skipped = without_zero_terms(c)
    assert iterations(skipped) == iterations(c) // kernel * -(-kernel // step)


def test_narrow_inputs_and_plain_sums_skip_zeros_too() -> None:
    x, r = placeholder((6,), "float16", name="x"), reduce_axis(4, "r")
    test = lambda h: ((h + r) % 2).eq(0)  # noqa: E731
    wide = compute(
        (8,), lambda h: sum_over(cast("float32", select(test(h), x[(h + r) // 2], 0.0)), r)
    )
    assert is_solvable(compute_of(wide)) and nonzero_terms(compute_of(wide)) == 8 * 2


def test_terms_that_are_not_zero_stay() -> None:
    x, r = placeholder((12,), name="x"), reduce_axis(4, "r")
    one = compute((8,), lambda h: sum_over(select(((h + r) % 2).eq(0), x[h + r], 1.0), r))
    product_sum = compute((8,), lambda h: sum_over(select((h * r % 2).eq(0), x[h + r], 0.0), r))
    spatial = compute((8,), lambda h: sum_over(select((h % 2).eq(0), x[h + r], 0.0), r))
    for y in (one, product_sum, spatial):
        assert not is_solvable(compute_of(y))
        assert without_zero_terms(compute_of(y)) == compute_of(y)


def test_a_sum_of_zeros_alone_keeps_what_it_reads() -> None:
    x, w, r = placeholder((1, 4), name="x"), placeholder((2,), name="w"), reduce_axis(2, "r")

    def body(i: Any, j: Any) -> Any:
        u = j + r * 2 + 9
        term = select((u % 2).eq(0) & (u // 2 < 4), x[i, u // 2], 0.0)
        return sum_over(term * w[r], r)

    assert not is_solvable(compute_of(compute((1, 3), body, name="y")))
