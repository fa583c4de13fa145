"""Infinities, NaN, zeros and great numbers leave a network as they do step by step in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from graph_reference import Array, make_model

import tilewright as tw
from tilewright.front.models import LazyGraph, Model
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.passes import simplify

INF, NAN = np.inf, np.nan
DATA = np.float32(
    [[0.0, -0.0, 1, -1, 3, 49], [INF, -INF, NAN, 1e30, -1e30, 98], [1e-20, 7, -49, 0.5, 1e4, 2]]
)
CONSTANTS = (0.0, -0.0, 1.0, -2.0, 3.0, 49.0, INF, -INF, NAN, 1e38, 3e38, 1e20, 1e-20, 2e-38, 1e-40)
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
}
Step = tuple[str, bool, Any]
"""Operator, whether the constant stands on the left, and the constant."""


def flushed(a: Array) -> Array:
    """`a` as kernels see it: denormal numbers are zero."""
    return np.where(np.abs(a) < np.finfo(np.float32).tiny, a * np.float32(0), a)


def by_steps(x: Array, steps: Sequence[Step]) -> Array:
    for op, left, c in steps:
        fixed = flushed(np.float32(c))
        x = flushed(OPERATORS[op](fixed, x) if left else OPERATORS[op](x, fixed))
    return x


def compiled(steps: Sequence[Step], x: Array, weights: Array | None = None) -> Array:
    """What a network of `steps` makes of `x`, after a product with `weights`."""
    b = GraphBuilder("steps")
    y = b.input("x", x.shape, x.dtype.name)
    if weights is not None:
        y = b.emit("matmul", y, b.constant("w", weights))
    for op, left, c in steps:
        fixed = b.constant("c", np.asarray(c, x.dtype))
        y = b.emit(op, *((fixed, y) if left else (y, fixed)))
    graph = simplify(b.build([y], ["y"]))
    return np.asarray(tw.compile(Model("steps", LazyGraph(graph))).run({"x": x})[0])


def agree(ours: Array, theirs: Array, rtol: float = 2e-6, atol: float = 1e-37) -> None:
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)


@pytest.mark.parametrize("op", OPERATORS)
def test_one_step(op: str) -> None:
    """Every constant, on either side, in channels of one network; zeros keep their signs."""
    for left in (False, True):
        wide = np.repeat(DATA.reshape(-1, 1), len(CONSTANTS), axis=1)
        for c in (np.float32(CONSTANTS), np.float32(CONSTANTS[:6] * 2 + CONSTANTS[:3])):
            with np.errstate(all="ignore"):
                theirs = by_steps(wide, [(op, left, c)])
            ours = compiled([(op, left, c)], wide)
            agree(ours, theirs)
            zeros = (theirs == 0) & (np.abs(wide) < 1e30)
            np.testing.assert_array_equal(np.signbit(ours[zeros]), np.signbit(theirs[zeros]))


def random_steps(rng: np.random.Generator) -> list[Step]:
    """A chain of several steps; each with one constant, or one a channel."""
    steps: list[Step] = []
    for _ in range(rng.integers(2, 5)):
        op = str(rng.choice(list(OPERATORS)))
        c = rng.choice(CONSTANTS if rng.random() < 0.4 else CONSTANTS[2:6], 6)
        left = bool(rng.random() < 0.3) and op != "divide"
        steps.append((op, left, c if rng.random() < 0.5 else c[0]))
    return steps


@pytest.mark.parametrize("seed", range(15))
def test_a_chain_of_steps(seed: int) -> None:
    steps = random_steps(np.random.default_rng(seed))
    with np.errstate(all="ignore"):
        agree(compiled(steps, DATA), by_steps(DATA, steps), 1e-5, 1e-15)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize(
    "steps",
    [
        [("divide", False, 0.0)],
        [("multiply", False, INF), ("add", False, 1.0)],
        [("divide", False, 60000.0), ("multiply", False, 60000.0)],
        [("multiply", False, 300.0), ("multiply", False, 300.0)],
        [("multiply", False, 300.0), ("add", False, 300.0), ("divide", False, 300.0)],
        [("subtract", False, [1.0, 2.0, 0.5]), ("divide", False, [1.0, 0.0, 3.0])],
        [("multiply", False, 0.0), ("add", False, 1.0)],
        [("multiply", False, [0.0, 2e-7, 1.0]), ("add", False, [0.0, 0.0, 1.0])],
    ],
    ids=str,
)
def test_steps_after_a_product(kind: str, steps: list[Step]) -> None:
    """Factors go into weights only where those can hold them."""
    dtype = np.dtype(ml_dtypes.bfloat16 if kind == "bfloat16" else kind)
    x = np.array([[1.0, 2.0], [-0.5, 4.0], [0.0, 0.0], [200.0, -3.0]]).astype(dtype)
    w = np.array([[1.0, 0.01, -3.0], [0.5, 0.02, 500.0]]).astype(dtype)
    with np.errstate(all="ignore"):
        wide = np.dtype("float64" if kind == "float64" else "float32")
        y = x.astype(wide) @ w.astype(wide)
        for op, _, c in steps:
            y = OPERATORS[op](y, np.asarray(c, dtype).astype(wide))
        ours = compiled(steps, x, w)
        step = float(ml_dtypes.finfo(dtype).eps)
        agree(ours, y.astype(dtype), rtol=4 * step, atol=4 * float(ml_dtypes.finfo(dtype).tiny))


@pytest.mark.parametrize("after", ["floor", "ceil", "round_half_even", "cast_to"])
@pytest.mark.parametrize(
    "parts",
    [[("divide", 49.0)], [("add", 0.5), ("divide", 49.0)], [("multiply", 0.1), ("divide", 0.3)]],
)
def test_what_is_rounded_next_is_exact(parts: list[tuple[str, float]], after: str) -> None:
    x = np.arange(2000, dtype=np.float32)
    b = GraphBuilder("rounded")
    y, theirs = b.input("x", x.shape, "float32"), x
    for op, c in parts:
        y = b.emit(op, y, b.constant("c", np.float32(c)))
        theirs = OPERATORS[op](theirs, np.float32(c))
    y = b.emit(after, y, **({"dtype": "int32"} if after == "cast_to" else {}))
    last = {"floor": np.floor, "ceil": np.ceil, "round_half_even": np.rint}
    theirs = last[after](theirs) if after in last else theirs.astype(np.int32)
    net = tw.compile(Model("rounded", LazyGraph(simplify(b.build([y], ["y"])))))
    np.testing.assert_array_equal(net.run({"x": x})[0], theirs)


def normalised(kind: int, statistics: dict[str, list[float]], epsilon: float) -> onnx.ModelProto:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
    weights = {k: np.asarray(v, dtype) for k, v in statistics.items()}
    weights["w"] = np.eye(4, dtype=dtype).reshape(4, 4, 1, 1)
    nodes = [
        onnx.helper.make_node("Conv", ["x", "w"], ["t"]),
        onnx.helper.make_node("BatchNormalization", ["t", *statistics], ["y"], epsilon=epsilon),
    ]
    return make_model(nodes, {"x": (1, 4, 2, 3)}, weights, dtypes={"x": kind})


@pytest.mark.parametrize("kind", [onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16])
def test_batch_norm_with_extreme_statistics(kind: int) -> None:
    """No variance, a great one, factors that are nearly nothing, shifts beyond float16."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
    statistics = {
        "s": [10.0, 1e-7, 0.0, 30.0],
        "b": [0.5, -1.0, 0.0, 2.0],
        "m": [40.0, 1.0, 3.0, 100.0],
        "v": [0.0, 60000.0, 1.0, 0.0],
    }
    model = normalised(kind, statistics, 1e-5)
    x = np.array([40.0, 1.5, 3.0, 100.0]).reshape(1, 4, 1, 1) + np.linspace(-1, 1, 6).reshape(2, 3)
    ours = tw.compile(tw.load(model)).run({"x": x.astype(dtype)})[0]
    s, b, m, v = (np.asarray(a).astype(dtype).reshape(4, 1, 1) for a in statistics.values())
    wide = [np.asarray(a, np.float64) for a in (s, b, m, v)]
    theirs = (x.astype(dtype) - wide[2]) / np.sqrt(wide[3] + 1e-5) * wide[0] + wide[1]
    np.testing.assert_allclose(ours, theirs.astype(dtype), rtol=2e-3, atol=0.1)


def test_factors_that_are_nearly_nothing_still_go_into_the_weights() -> None:
    """As training leaves them of channels that it has given up."""
    statistics = {
        "s": [1e-30, 1e-41, 0.0, 1.0],
        "b": [0.5, -1.0, 0.0, 2.0],
        "m": [0.0, 1.0, 3.0, 1.0],
        "v": [1e-3, 1.0, 1.0, 1e-20],
    }
    graph = tw.load(normalised(onnx.TensorProto.FLOAT, statistics, 1e-5)).partition.graph
    assert "multiply" not in [n.op for n in graph.nodes]
