"""The gate lets rounding through and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.contract.artifact import numpy_dtype
from tilewright.ground.errors import WrongAnswer
from tilewright.measure.gate import BLOCK, OutputGate, Tolerance
from tilewright.runtime import BufferSpec

Array = np.ndarray[Any, np.dtype[Any]]


def gate(expected: Array, tolerance: Tolerance | None = None) -> OutputGate:
    spec = BufferSpec("C", expected.shape, expected.dtype.name)
    return OutputGate(spec, expected, tolerance or Tolerance())


def products(k: int, n: int = 2000) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    return (rng.standard_normal((n, k), np.float32), rng.standard_normal((n, k), np.float32))


@pytest.mark.parametrize("k", [1, 16, 500, 4608])
def test_other_summation_orders_pass_and_a_lost_term_does_not(k: int) -> None:
    a, b = products(k)
    terms = a * b
    forward = np.add.accumulate(terms, axis=1, dtype=np.float32)[:, -1]
    backward = np.add.accumulate(terms[:, ::-1], axis=1, dtype=np.float32)[:, -1]
    checked = gate(forward, Tolerance(depth=k))
    checked.check(backward)
    checked.check(terms.sum(axis=1, dtype=np.float64).astype(np.float32))
    lost = forward.copy()
    lost[1234] -= np.float32(1.0)
    with pytest.raises(WrongAnswer, match=r"C differs .* at 1 of 2000 elements; at \(1234,\)"):
        checked.check(lost)


def test_depth_matters() -> None:
    expected = np.ones(10, np.float32)
    off = expected + np.float32(3e-5)
    gate(expected, Tolerance(depth=10_000)).check(off)
    with pytest.raises(WrongAnswer, match=r"expected 1.0 within .*, got 1.00003"):
        gate(expected, Tolerance(depth=100)).check(off)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_outputs_may_differ_by_their_own_rounding(dtype: str) -> None:
    expected = np.array([1.0, 3.0, -7.5], numpy_dtype(dtype))
    one_ulp = np.nextafter(expected, numpy_dtype(dtype).type(100))
    gate(expected).check(one_ulp)
    three = np.nextafter(np.nextafter(one_ulp, one_ulp + 1), one_ulp + 1)
    with pytest.raises(WrongAnswer):
        gate(expected).check(three)


def test_nan_and_infinity_must_be_at_the_same_places() -> None:
    expected = np.array([1.0, np.nan, np.inf, -np.inf], np.float32)
    checked = gate(expected)
    checked.check(expected.copy())
    for position, value in ((0, np.nan), (1, 0.0), (2, 1e30), (2, -np.inf), (3, np.nan)):
        got = expected.copy()
        got[position] = value
        with pytest.raises(WrongAnswer, match=rf"at \({position},\)"):
            checked.check(got)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "int64", "bool"])
def test_every_unwritten_element_is_found(dtype: str) -> None:
    values = np.arange(256).astype(numpy_dtype(dtype))
    if dtype == "float32":
        values[7] = np.nan
    checked = gate(values)
    for missing in (0, 7, 255):
        array = np.empty_like(values)
        checked.poison(array)
        array[:missing] = values[:missing]
        array[missing + 1 :] = values[missing + 1 :]
        with pytest.raises(WrongAnswer, match=rf"at 1 of 256 elements; at \({missing},\)"):
            checked.check(array)


def test_position_is_found_in_any_block() -> None:
    expected = np.zeros((3, BLOCK), np.int32)
    got = expected.copy()
    got[2, 5] = 1
    with pytest.raises(WrongAnswer, match=r"1 of 49152 elements; at \(2, 5\) expected 0, got 1"):
        gate(expected).check(got)


def test_flips_allow_a_share_of_differences() -> None:
    expected = np.zeros(1000, np.int64)
    got = expected.copy()
    got[[3, 500]] = 1
    gate(expected, Tolerance(flips=0.002)).check(got)
    got[900] = 1
    with pytest.raises(WrongAnswer, match="3 of 1000"):
        gate(expected, Tolerance(flips=0.002)).check(got)


def test_scalar_outputs() -> None:
    checked = gate(np.array(2.0, np.float32))
    checked.check(np.array(2.0, np.float32))
    with pytest.raises(WrongAnswer, match=r"at \(\) expected 2.0"):
        checked.check(np.array(2.1, np.float32))
