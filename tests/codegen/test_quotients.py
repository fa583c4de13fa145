"""Quotients by a number that all lanes share, or that is known: to the last bit where a step
follows.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tilewright as tw
from tilewright.codegen.llvm.quotients import doubtful, reciprocal_of
from tilewright.front.machine import as_target

pytestmark = pytest.mark.cpu
BITS = 30  # of a quotient between 1/4 and 4, all of which a whole number shows


def quotients(x: np.ndarray, y: np.ndarray, scale: float) -> np.ndarray:
    """x[n] / y[m] for all pairs, times `scale`, as whole numbers."""
    a = tw.placeholder(x.shape, name="a")
    b = tw.placeholder(y.shape, name="b")
    q = tw.compute(
        (len(y), len(x)), lambda j, i: tw.cast("int64", tw.round(a[i] / b[j] * scale)), name="q"
    )
    (found,) = tw.compile(tw.Task([a, b, q]), target=as_target("cpu cores=1"))(x, y)
    return np.asarray(found)


def test_every_bit_of_a_quotient() -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(1, 4, n).astype(np.float32) for n in (4096, 64))
    wanted = (x[None] / y[:, None]).astype(np.float64) * 2**BITS
    np.testing.assert_array_equal(quotients(x, y, 2.0**BITS), wanted.astype(np.int64))


def test_divisors_of_every_size() -> None:
    rng = np.random.default_rng(1)
    y = np.float32(2.0) ** np.arange(-120, 121, 8, dtype=np.float32)
    y = (y * rng.uniform(1, 2, y.shape)).astype(np.float32)
    for divisor in y:
        x = (divisor * rng.uniform(-1000, 1000, 256)).astype(np.float32)
        wanted = np.rint(x / divisor).astype(np.int64)
        np.testing.assert_array_equal(quotients(x, divisor[None], 1.0)[0], wanted)


def test_zero_infinity_and_nan() -> None:
    """By comparisons, since a whole number cannot be either."""
    x = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3e38, 1e-30], np.float32)
    y = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 0.5, 3e38], np.float32)
    a = tw.placeholder(x.shape, name="a")
    b = tw.placeholder(y.shape, name="b")
    q = tw.compute((len(y), len(x)), lambda j, i: tw.round(a[i] / b[j]), name="q")
    (found,) = tw.compile(tw.Task([a, b, q]), target=as_target("cpu cores=1"))(x, y)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, np.rint(x[None] / y[:, None]))


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3e38, 1e-30]


@pytest.mark.parametrize("seed", range(6))
def test_every_bit_of_a_quotient_by_a_literal(seed: int) -> None:
    """Of random numerators, and of those whose quotients are next to the middle of two floats."""
    rng = np.random.default_rng(seed)
    y = np.float32(rng.uniform(1, 2) * 2.0 ** int(rng.integers(-20, 20)) * rng.choice([-1, 1]))
    size = Fraction(abs(float(y)))
    hard = [x for x, _, _ in doubtful(size)]
    x = np.array([*hard, *rng.integers(2**23, 2**24, 4096), *SPECIAL], np.float32)
    a = tw.placeholder(x.shape, name="a")
    exact = x / y
    scale = np.float32(2.0) ** (BITS - np.floor(np.log2(float(abs(exact[0])))) - 8)
    q = tw.compute(x.shape, lambda i: tw.round(a[i] / float(y) * float(scale)), name="q")
    (found,) = tw.compile(tw.Task([a, q]), target=as_target("cpu cores=1"))(x)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, np.rint(exact * scale))


def test_literals_that_two_operations_divide_by() -> None:
    """Most of them; a power of two takes one, and what has no normal reciprocal is divided by."""
    rng = np.random.default_rng(0)
    found = [reciprocal_of(float(np.float32(y))) for y in rng.uniform(1e-3, 1, 200)]
    assert sum(pair is not None for pair in found) > 150
    assert reciprocal_of(-0.25) == (-4.0, -0.0)
    assert not any(map(reciprocal_of, (0.0, float("inf"), float("nan"), 1e-38, 3e38)))
