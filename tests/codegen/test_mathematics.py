"""Accuracy of math intrinsics, in units in the last place, on vectors and scalars."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from kernel_nests import S, V, nest
from kernel_runs import HOST, run

from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Tensor, Var, call
from tilewright.expr.tensors import placeholder
from tilewright.nest.nodes import Program, Store
from tilewright.target import Target

pytestmark = pytest.mark.cpu

EXACT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
}
ULP = {"exp": 2, "log": 2, "tanh": 3, "sin": 2, "cos": 2, "erf": 3, "sigmoid": 3}
HOST_TARGETS = [HOST, Target.parse("cpu:x86-64 cores=1")] if "x86" in HOST.triple else [HOST]


def mapped(fn: str, dtype: str, n: int, vector: bool = True) -> Program:
    x = placeholder((n,), dtype, name="x")
    y, i = Tensor("y", (n,), x.dtype), Var("i")
    kind = V if vector else S
    return Program("f", (x,), (), (), (y,), nest([("i", n, kind)], Store(y, (i,), call(fn, x[i]))))


def arguments(fn: str, dtype: str) -> np.ndarray:
    """Both signs, all magnitudes where the function still moves, dense around 0."""
    rng = np.random.default_rng(1)
    spread = 10 ** rng.uniform(-5, 1.9, 3000)
    x = np.concatenate([rng.normal(0, 4, 3000), spread, -spread])
    if fn in ("log", "sqrt"):
        x = np.concatenate([np.abs(x), 10 ** rng.uniform(-37, 38, 2000)])
    if fn == "sigmoid":
        x = x[x > -80]  # beyond it the result is subnormal
    return x.astype(dtype)


@pytest.mark.parametrize("target", HOST_TARGETS, ids=lambda t: t.cpu)
@pytest.mark.parametrize("vector", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fn", EXACT)
def test_accuracy(fn: str, dtype: str, vector: bool, target: Target) -> None:
    x = arguments(fn, dtype)
    y = run(mapped(fn, dtype, x.size, vector), {"x": x}, target)["y"]
    exact = EXACT[fn](x.astype(np.longdouble if fn != "erf" else np.float64))
    units = np.abs(y - exact) / np.spacing(np.abs(exact).astype(dtype))
    assert float(units.max()) <= ULP.get(fn, 0.51) + 2 * (dtype == "float64")


SPECIAL = {
    "exp": [1, np.inf, 0, np.nan, np.inf, 0],
    "log": [-np.inf, np.inf, np.nan, np.nan, np.log(200), np.nan],
    "tanh": [0, 1, -1, np.nan, 1, -1],
    "erf": [0, 1, -1, np.nan, 1, -1],
    "sigmoid": [0.5, 1, 0, np.nan, 1, 0],
    "sin": [0, np.nan, np.nan, np.nan, np.sin(200), np.sin(-200)],
    "sqrt": [0, np.inf, np.nan, np.nan, np.sqrt(200), np.nan],
}


@pytest.mark.parametrize("target", HOST_TARGETS, ids=lambda t: t.cpu)
@pytest.mark.parametrize("fn", SPECIAL)
def test_ends_of_the_range(fn: str, target: Target) -> None:
    """In whole registers and in what is left."""
    x = np.array([-0.0, np.inf, -np.inf, np.nan, 200, -200] * 9, np.float32)
    y = run(mapped(fn, "float32", x.size), {"x": x}, target)["y"]
    expected = np.array(SPECIAL[fn] * 9, np.float32)
    np.testing.assert_allclose(y, expected, rtol=3e-7, atol=1e-44)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers(dtype: str) -> None:
    x, z = (placeholder((50,), dtype, name=n) for n in "xz")
    y, i = Tensor("y", (50,), x.dtype), Var("i")
    body = nest([("i", 50, V)], Store(y, (i,), call("pow", x[i], z[i])))
    rng = np.random.default_rng(2)
    arrays = {
        "x": rng.uniform(0.1, 9, 50).astype(dtype),
        "z": rng.uniform(-4, 4, 50).astype(dtype),
    }
    y_values = run(Program("pow", (x, z), (), (), (y,), body), arrays)["y"]
    exact = arrays["x"].astype(np.longdouble) ** arrays["z"].astype(np.longdouble)
    units = np.abs(y_values - exact) / np.spacing(exact.astype(dtype))
    assert float(units.max()) <= 4


def patterns(dtype: str) -> np.ndarray:
    """All 65,536 patterns, less those that are subnormal as float32: kernels run without them."""
    x = np.arange(1 << 16, dtype=np.uint16).view(DTYPES[dtype].numpy)
    wide = x.astype(np.float32)
    return x[(wide == 0) | ~(np.abs(wide) < 1.2e-38)]


@pytest.mark.parametrize("target", HOST_TARGETS, ids=lambda t: t.cpu)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_narrow_float_survives_a_round_trip(dtype: str, target: Target) -> None:
    """Widened to float32 and rounded back, all values stay (NaN stays NaN)."""
    kind = DTYPES[dtype].numpy
    x = patterns(dtype)
    y = run(mapped("floor", dtype, x.size), {"x": x}, target)["y"]
    with np.errstate(all="ignore"):
        whole = np.floor(x.astype(np.float32)).astype(kind)
    np.testing.assert_array_equal(y.astype(np.float32), whole.astype(np.float32))


@pytest.mark.parametrize("target", HOST_TARGETS, ids=lambda t: t.cpu)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rounding_to_nearest_even(dtype: str, target: Target) -> None:
    kind = DTYPES[dtype].numpy
    x = patterns(dtype)
    source = placeholder((x.size,), dtype, name="x")
    y, i = Tensor("y", (x.size,), source.dtype), Var("i")
    body = nest([("i", x.size, V)], Store(y, (i,), source[i] * 1.0009765625))
    got = run(Program("scale", (source,), (), (), (y,), body), {"x": x}, target)["y"]
    with np.errstate(all="ignore"):
        expected = (x.astype(np.float32) * np.float32(1.0009765625)).astype(kind)
    np.testing.assert_array_equal(got.astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize("target", HOST_TARGETS, ids=lambda t: t.cpu)
@pytest.mark.parametrize("divisor", [3.0, -1e-37, 1e19, 2.5e38, 0.0, math.inf, math.nan])
def test_division_by_a_scalar_of_any_magnitude(divisor: float, target: Target) -> None:
    rng = np.random.default_rng(2)
    some = rng.normal(size=60) * 10.0 ** rng.uniform(-36, 38, 60)
    x = np.concatenate([some, [0.0, -0.0, math.inf, math.nan]]).astype(np.float32)
    y, i = Tensor("y", (64,), DTYPES["float32"]), Var("i")
    a, b = placeholder((64,), name="x"), placeholder((1,), name="d")
    body = nest([("i", 64, V)], Store(y, (i,), a[i] / b[0]))
    program = Program("f", (a, b), (), (), (y,), body)
    got = run(program, {"x": x, "d": np.array([divisor], np.float32)}, target)["y"]
    with np.errstate(all="ignore"):
        exact = x.astype(np.float64) / np.float64(np.float32(divisor))
        wanted = exact.astype(np.float32)
    wanted = np.where(np.abs(exact) < np.finfo(np.float32).tiny, 0, wanted)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_allclose(got, wanted, rtol=2e-7, atol=1.2e-38)
