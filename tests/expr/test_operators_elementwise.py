"""Elementwise operators against NumPy and onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from operator_cases import close, like, normal, onnx_node, run, stages

from tilewright.expr import operators as op
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ExprError

BINARY: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (op.add, np.add),
    (op.subtract, np.subtract),
    (op.multiply, np.multiply),
    (op.divide, np.divide),
    (op.mod, np.mod),
    (op.floor_divide, np.floor_divide),
    (op.minimum, np.minimum),
    (op.maximum, np.maximum),
    (op.less, np.less),
    (op.less_equal, np.less_equal),
    (op.greater, np.greater),
    (op.greater_equal, np.greater_equal),
    (op.equal, np.equal),
    (op.not_equal, np.not_equal),
]


@pytest.mark.parametrize(("ours", "theirs"), BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "shapes", [((3, 4), (3, 4)), ((3, 1), (4,)), ((), (2, 3)), ((2, 1, 3), (1, 4, 1))]
)
def test_binary(ours: Any, theirs: Any, shapes: tuple[tuple[int, ...], ...]) -> None:
    a, b = (np.round(np.asarray(normal(*s, seed=n)) * 2) / 2 + 0.25 for n, s in enumerate(shapes))
    a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
    close(run(ours(like("a", a), like("b", b)), a=a, b=b), np.asarray(theirs(a, b)))


UNARY: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (op.negative, np.negative),
    (op.absolute, np.abs),
    (op.exp, np.exp),
    (op.tanh, np.tanh),
    (op.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    (op.sin, np.sin),
    (op.cos, np.cos),
    (op.floor, np.floor),
    (op.ceil, np.ceil),
    (op.round_half_even, np.round),
    (op.trunc, np.trunc),
    (op.sign, np.sign),
    (op.reciprocal, np.reciprocal),
    (op.relu, lambda x: np.maximum(x, 0)),
    (lambda x: op.log(op.absolute(x)), lambda x: np.log(np.abs(x))),
    (lambda x: op.sqrt(op.absolute(x)), lambda x: np.sqrt(np.abs(x))),
]


@pytest.mark.parametrize(("ours", "theirs"), UNARY)
def test_unary(ours: Any, theirs: Any) -> None:
    x = np.concatenate([normal(20) * 3, [0.5, 1.5, 2.5, -0.5]]).astype(np.float32)
    close(run(ours(like("x", x)), x=x), theirs(x))


ONNX: list[tuple[Callable[..., Any], str, dict[str, Any]]] = [
    (op.erf, "Erf", {}),
    (op.leaky_relu, "LeakyRelu", {"alpha": 0.01}),
    (lambda x: op.leaky_relu(x, 0.3), "LeakyRelu", {"alpha": 0.3}),
    (op.elu, "Elu", {}),
    (op.selu, "Selu", {}),
    (op.gelu, "Gelu", {}),
    (lambda x: op.gelu(x, approximate=True), "Gelu", {"approximate": "tanh"}),
    (op.hard_sigmoid, "HardSigmoid", {}),
    (op.hard_swish, "HardSwish", {}),
    (op.softplus, "Softplus", {}),
    (op.mish, "Mish", {}),
    (op.softsign, "Softsign", {}),
]


@pytest.mark.parametrize(
    ("ours", "node", "attributes"), ONNX, ids=lambda v: v if isinstance(v, str) else None
)
def test_activations(ours: Any, node: str, attributes: dict[str, Any]) -> None:
    x = normal(40) * 4
    close(run(ours(like("x", x)), x=x), onnx_node(node, x, **attributes))


def test_silu_and_prelu() -> None:
    x, slope = normal(3, 4) * 3, normal(4, seed=1)
    close(run(op.silu(like("x", x)), x=x), x / (1 + np.exp(-x)))
    y = op.prelu(like("x", x), like("slope", slope))
    close(run(y, x=x, slope=slope), np.where(x >= 0, x, x * slope))


def test_clip() -> None:
    x, low = normal(3, 4) * 3, np.float32([-1, 0, 1, 2])
    close(run(op.clip(like("x", x), 0.0, 6.0), x=x), np.clip(x, 0, 6))
    close(run(op.clip(like("x", x), high=1.0), x=x), np.minimum(x, 1))
    y = op.clip(like("x", x), like("low", low), 3.0)
    close(run(y, x=x, low=low), np.clip(x, low, 3))


def test_where_and_logic() -> None:
    a, b = normal(3, 4), normal(4, seed=1)
    p, q = a > 0, b > 0
    y = op.where(like("p", p), like("a", a), -1.0)
    close(run(y, p=p, a=a), np.where(p, a, -1))
    y = op.where(like("q", q), like("a", a), like("b", b))
    close(run(y, q=q, a=a, b=b), np.where(q, a, b))
    for ours, theirs in [
        (op.logical_and, np.logical_and),
        (op.logical_or, np.logical_or),
        (op.logical_xor, np.logical_xor),
    ]:
        np.testing.assert_array_equal(run(ours(like("p", p), like("q", q)), p=p, q=q), theirs(p, q))
    np.testing.assert_array_equal(run(op.logical_not(like("p", p)), p=p), ~p)


def test_nan_and_infinity() -> None:
    x = np.float32([0, np.nan, np.inf, -np.inf])
    np.testing.assert_array_equal(run(op.isnan(like("x", x)), x=x), np.isnan(x))
    np.testing.assert_array_equal(run(op.isinf(like("x", x)), x=x), np.isinf(x))
    y = np.float32([100, 1000, -1000, 0])
    assert np.isfinite(run(op.softplus(like("y", y)), y=y)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tanh_of_softplus_at_all_magnitudes(dtype: str) -> None:
    x = np.concatenate([np.linspace(-80, 80, 999), [500, -500, np.nan]]).astype(dtype)
    exact = np.tanh(np.log1p(np.exp(np.minimum(x.astype(np.float64), 50))))
    ours = run(op.tanh_softplus(like("x", x)), x=x)
    limits = np.finfo(dtype)
    np.testing.assert_allclose(ours, exact, rtol=8 * limits.eps, atol=limits.tiny)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "bool", "int64", "float64"])
def test_casts(dtype: str) -> None:
    x = np.float32([0.0, 1.0, 2.7, 100.9, 0.3])
    got = run(op.cast_to(like("x", x), dtype), x=x)
    np.testing.assert_array_equal(got, x.astype(dtype))


def test_integer_division_rounds_towards_zero() -> None:
    a, b = np.int32([7, -7, 7, -7, 6]), np.int32([2, 2, -2, -2, 3])
    got = run(op.divide(like("a", a), like("b", b)), a=a, b=b)
    np.testing.assert_array_equal(got, [3, -3, -3, 3, 2])
    u = np.uint8([7, 200])
    np.testing.assert_array_equal(run(op.divide(like("u", u), 2), u=u), [3, 100])


def test_power() -> None:
    a, b = np.abs(normal(3, 4)), normal(4, seed=1)
    close(run(op.power(like("a", a), like("b", b)), a=a, b=b), a**b)
    n = np.int32([-3, 0, 2, 7])
    np.testing.assert_array_equal(run(op.power(like("n", n), 3), n=n), n**3)


def test_results_keep_their_storage_type() -> None:
    half = placeholder((4,), "float16", name="h")
    assert op.relu(half).dtype.name == "float16"
    assert op.add(half, 1.0).dtype.name == "float16"
    assert op.greater(half, 0.0).dtype.name == "bool"
    assert op.add(placeholder((4,), "int8", name="i"), 1).dtype.name == "int8"


def test_each_is_one_named_stage() -> None:
    assert stages(op.gelu(placeholder((4,), name="x"), name="act")) == ["act"]


def test_operands_that_do_not_fit() -> None:
    a, b = placeholder((3,), name="a"), placeholder((4,), name="b")
    with pytest.raises(ExprError, match="do not broadcast"):
        op.add(a, b)
    with pytest.raises(ExprError, match="at least one tensor"):
        op.add(1.0, 2.0)
    with pytest.raises(ExprError, match="one of the two values"):
        op.where(op.less(a, 0.0), 1.0, 2.0)
    with pytest.raises(ExprError, match="cast one of them"):
        op.add(a, placeholder((3,), "int32", name="c"))


INVERSES: list[tuple[Callable[..., Any], Callable[..., Any], float, float]] = [
    (op.tan, np.tan, -1.5, 1.5),
    (op.asin, np.arcsin, -1, 1),
    (op.acos, np.arccos, -1, 1),
    (op.atan, np.arctan, -30, 30),
    (op.sinh, np.sinh, -20, 20),
    (op.cosh, np.cosh, -20, 20),
    (op.asinh, np.arcsinh, -1e3, 1e3),
    (op.acosh, np.arccosh, 1, 1e3),
    (op.atanh, np.arctanh, -0.999, 0.999),
]


@pytest.mark.parametrize(("dtype", "ulps"), [("float32", 8), ("float64", 8)])
@pytest.mark.parametrize(
    ("ours", "theirs", "low", "high"), INVERSES, ids=[ours.__name__ for ours, *_ in INVERSES]
)
def test_trigonometry(
    ours: Any, theirs: Any, low: float, high: float, dtype: str, ulps: float
) -> None:
    """A few units in the last place, near zero too, and at the ends of the domain."""
    near = np.geomspace(1e-6, 1e-1, 50)
    x = np.concatenate([np.linspace(low, high, 501), near if low < 0 else low + near, [low, high]])
    x = x.astype(dtype)
    expected = theirs(x.astype(np.longdouble))
    got = run(ours(like("x", x)), x=x)
    error = np.abs(got - expected) / np.maximum(np.abs(expected), np.finfo(dtype).tiny)
    assert float(error.max()) < ulps * np.finfo(dtype).eps


def test_trigonometry_outside_of_its_domain() -> None:
    x = np.float32([np.inf, -np.inf, np.nan, 2])
    with np.errstate(all="ignore"):
        for ours, theirs in ((op.atan, np.arctan), (op.asinh, np.arcsinh), (op.cosh, np.cosh),
                             (op.asin, np.arcsin), (op.atanh, np.arctanh)):  # fmt: skip
            got, expected = run(ours(like("x", x)), x=x), theirs(x)
            np.testing.assert_array_equal(np.isnan(got[2:]), np.isnan(expected[2:]))
        np.testing.assert_allclose(run(op.atan(like("x", x)), x=x), np.arctan(x), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64"])
def test_bits(dtype: str) -> None:
    rng, limits = np.random.default_rng(1), np.iinfo(dtype)
    a, b = (rng.integers(limits.min, limits.max, (3, 5), dtype=dtype) for _ in "ab")
    for ours, theirs in (
        (op.bitwise_and, np.bitwise_and), (op.bitwise_or, np.bitwise_or),
        (op.bitwise_xor, np.bitwise_xor),
    ):  # fmt: skip
        np.testing.assert_array_equal(run(ours(like("a", a), like("b", b)), a=a, b=b), theirs(a, b))
    np.testing.assert_array_equal(run(op.bitwise_not(like("a", a)), a=a), ~a)
    count = rng.integers(0, limits.bits, (3, 5)).astype(dtype)
    for ours, theirs in ((op.shift_left, np.left_shift), (op.shift_right, np.right_shift)):
        got = run(ours(like("a", a), like("n", count)), a=a, n=count)
        np.testing.assert_array_equal(got, theirs(a, count))


def test_a_shift_by_all_bits_leaves_the_sign() -> None:
    a, n = np.int8([-5, 5, -5, 5]), np.int8([8, 100, -1, -1])
    right = run(op.shift_right(like("a", a), like("n", n)), a=a, n=n)
    np.testing.assert_array_equal(right, [-1, 0, -1, 0])
    left = run(op.shift_left(like("a", a), like("n", n)), a=a, n=n)
    np.testing.assert_array_equal(left, [0, 0, 0, 0])


def test_bits_of_floats_are_refused() -> None:
    x = placeholder((3,), name="x")
    with pytest.raises(ExprError, match="bitand needs integer operands, not float32"):
        op.bitwise_and(x, x)
