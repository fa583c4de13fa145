"""Numbers at the ends of their types in compiled functions: wrapped, rounded, NaN, masked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.expr import operators as op
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Expr, Tensor
from tilewright.runtime.function import CompiledFunction

pytestmark = pytest.mark.cpu

Array = np.ndarray[Any, Any]
INTEGERS = [name for name, kind in DTYPES.items() if kind.kind in ("int", "uint")]
SPECIAL = np.float32([0.0, 1.0, -2.5, 65504.0, 70000.0, -70000.0, 3.14159, 1e30,
                      np.inf, -np.inf, np.nan])  # fmt: skip


def run(arrays: dict[Tensor, Array], *outputs: Tensor) -> list[Array]:
    compiled = tw.compile(tw.Task([*arrays, *outputs]))
    assert isinstance(compiled, CompiledFunction)
    return list(compiled(*arrays.values()))


def every(name: str, count: int = 182, seed: int = 0) -> Array:
    """Integers of a whole range, the ends among them."""
    info, rng = np.iinfo(name), np.random.default_rng(seed)
    values = rng.integers(info.min, info.max, count, dtype=name, endpoint=True)
    ends = [info.min, info.max, info.min + 1, info.max - 1, 0, 1, info.max // 2]
    return rng.permutation(np.concatenate([values, np.array(ends * 3, name)]))


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_wrap_around(name: str) -> None:
    """Doubled and halved again, signs of differences, hashes, the least number negated."""
    a, b = every(name), every(name, seed=1)
    x, y = (tw.placeholder(a.shape, name, name=t) for t in "xy")
    low, high = np.iinfo(name).min, np.iinfo(name).max
    factor = high // 3 * 2 + 1
    cases: list[Callable[[Any, Any, Any], Any]] = [
        lambda a, b, where: (a * 2) // 2,
        lambda a, b, where: (a * 3) % 3,
        lambda a, b, where: (a + high) // 7 - a % 5,
        lambda a, b, where: where(a - b < 0, a, b),
        lambda a, b, where: where(a + 1 > a, a, b),
        lambda a, b, where: where(a * 2 <= b * 2, a * 4, b - a),
        lambda a, b, where: (a * factor + 77) % 100,
        lambda a, b, where: -a + low,
        lambda a, b, where: (a // 4 + high) // 4,
        lambda a, b, where: (a % 6 + b * 3) % 3,
    ]
    outputs = [
        tw.compute(a.shape, lambda i, case=case: case(x[i], y[i], tw.select), name=f"y{n}")
        for n, case in enumerate(cases)
    ]
    with np.errstate(all="ignore"):
        for found, case in zip(run({x: a, y: b}, *outputs), cases, strict=True):
            np.testing.assert_array_equal(found, case(a, b, np.where))


def test_numbers_of_steps_wrap_around_too() -> None:
    """A hash of where an element is: what no index does."""
    made = tw.compute((9, 31), lambda i, j: (i * 6364136223846793005 + j * 2**62) % 1000)
    i, j = np.ogrid[:9, :31]
    with np.errstate(all="ignore"):
        (found,) = run({}, made)
        np.testing.assert_array_equal(found, (i * 6364136223846793005 + j * 2**62) % 1000)


@pytest.mark.parametrize("name", ["int8", "int32", "int64", "uint8"])
def test_quotients_round_towards_zero(name: str) -> None:
    a, b = every(name), every(name, seed=2)
    b[b == 0] = 3
    x, y = (tw.placeholder(a.shape, name, name=t) for t in "xy")
    outputs = [op.divide(x, y), op.fmod(x, y), op.divide(op.multiply(x, 2), 2)]
    with np.errstate(all="ignore"):
        rest = np.fmod(a, b)
        doubled = a * 2
        expected = [(a - rest) // b, rest, (doubled - np.fmod(doubled, 2)) // 2]
    for found, wanted in zip(run({x: a, y: b}, *outputs), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_a_cast_to_a_narrow_float_rounds_wherever_it_is(name: str) -> None:
    """Inlined, in a chain of narrow stages, and stored between others."""
    kind = DTYPES[name].numpy
    rng = np.random.default_rng(0)
    values = np.concatenate([SPECIAL, (rng.standard_normal(50) * 300).astype(np.float32)])
    x = tw.placeholder(values.shape, name="x")
    narrow = op.cast_to(x, name)
    back = op.cast_to(narrow, "float32")
    chain = op.cast_to(op.relu(op.add(op.multiply(narrow, narrow), narrow)), "float32")
    inside = tw.compute(values.shape, lambda i: tw.cast(name, x[i]) * 3.0 - tw.cast(name, x[i] + 1))
    with np.errstate(all="ignore"):
        n = values.astype(kind)
        expected = [n.astype(np.float32)]
        expected.append(np.maximum(n * n + n, kind.type(0)).astype(np.float32))
        expected.append(expected[0] * np.float32(3) - (values + 1).astype(kind).astype(np.float32))
    for found, wanted in zip(run({x: values}, back, chain, inside), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("literal", [np.nan, -np.nan, np.inf, -np.inf, 0.0])
def test_literals_that_are_no_usual_numbers(literal: float) -> None:
    x = tw.placeholder(SPECIAL.shape, name="x")
    least = tw.compute(SPECIAL.shape, lambda i: tw.minimum(x[i], literal))
    most = tw.compute(SPECIAL.shape, lambda i: tw.maximum(literal, x[i]))
    sums = tw.compute(SPECIAL.shape, lambda i: x[i] + literal)
    below = tw.compute(SPECIAL.shape, lambda i: x[i] < literal)
    with np.errstate(all="ignore"):
        value = np.float32(literal)
        expected = [np.minimum(SPECIAL, value), np.maximum(value, SPECIAL), SPECIAL + value]
        expected.append(value > SPECIAL)
    for found, wanted in zip(run({x: SPECIAL}, least, most, sums, below), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_bools_are_conditions_however_they_are_made() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.random((2, 37)) < 0.5
    a, b = (tw.placeholder((37,), "bool", name=t) for t in "ab")
    cases: list[tuple[Callable[[Expr, Expr], Expr], Array]] = [
        (tw.maximum, p | q), (tw.minimum, p & q), (lambda s, t: s + t, p | q),
        (lambda s, t: s * t, p & q), (lambda s, t: tw.maximum(s & t, ~s), (p & q) | ~p),
    ]  # fmt: skip
    outputs = [
        tw.compute((37,), lambda i, f=f: tw.select(f(a[i], b[i]), 1.0, 0.0), name=f"y{n}")
        for n, (f, _) in enumerate(cases)
    ]
    for found, (_, wanted) in zip(run({a: p, b: q}, *outputs), cases, strict=True):
        np.testing.assert_array_equal(found, wanted.astype(np.float32))


@pytest.mark.parametrize("width", [1, 5, 32])
@pytest.mark.parametrize("by_data", [False, True])
def test_a_masked_term_is_left_out_whatever_its_factors(width: int, by_data: bool) -> None:
    """Infinite weights where the mask says no: a zero times such a one would be NaN."""
    rng = np.random.default_rng(width)
    data = rng.integers(-4, 5, (6, 40)).astype(np.float32)
    weights = rng.integers(-4, 5, (40, width)).astype(np.float32)
    mask = rng.random(40) < 0.6
    counts = (np.arange(40) < 23) & (np.arange(40) >= 2) & (mask if by_data else True)
    weights[~counts] = np.resize(np.float32([np.inf, np.nan, -np.inf]), (40, 1))[~counts]
    x, w = tw.placeholder(data.shape, name="x"), tw.placeholder(weights.shape, name="w")
    m, k = tw.placeholder((40,), "bool", name="m"), tw.reduce_axis(40, "k")

    def body(i: Any, o: Any) -> Any:
        inside = (k >= 2) & (k < 23)
        inside = inside & m[k] if by_data else inside
        # read two places further on: outside of x behind column 38
        return tw.sum(tw.select(inside, x[i, k + 2] * w[k, o], 0.0), k)

    moved = np.zeros_like(data)
    moved[:, :-2] = data[:, 2:]
    arrays = {x: data, w: weights, **({m: mask} if by_data else {})}
    (found,) = run(arrays, tw.compute((6, width), body))
    np.testing.assert_array_equal(found, moved[:, counts] @ weights[counts])
