"""Evaluation of expressions and whole DAGs against NumPy written by hand."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.expr import reference
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.evaluate import evaluate
from tilewright.expr.nodes import Expr, Tensor, Var, binary, call, cast, const, select
from tilewright.expr.tensors import compute, placeholder, reduce_axis, table
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import min as min_over
from tilewright.expr.tensors import prod as prod_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ExprError, InputError

i, j = Var("i"), Var("j")
quick = settings(max_examples=40, deadline=None, derandomize=True)


def matmul(m: int, n: int, k: int, dtype: str = "float32") -> Tensor:
    a, b = placeholder((m, k), dtype, name="A"), placeholder((k, n), dtype, name="B")
    r = reduce_axis(k)
    return compute((m, n), lambda i, j: sum_over(a[i, r] * b[r, j], r), name="C", dtype=dtype)


def padded_conv2d(n: int, size: int, ci: int, co: int, kernel: int, stride: int) -> Tensor:
    x = placeholder((n, size, size, ci), name="X")
    w = placeholder((kernel, kernel, ci, co), name="W", constant=True)
    p, full = kernel // 2, size + 2 * (kernel // 2)

    def padded(b: Expr, h: Expr, v: Expr, c: Expr) -> Expr:
        inside = (h >= p) & (h < size + p) & (v >= p) & (v < size + p)
        return select(inside, x[b, h - p, v - p, c], 0.0)

    pad = compute((n, full, full, ci), padded, name="pad")
    out = (full - kernel) // stride + 1
    rh, rw, rc = reduce_axis(kernel, "rh"), reduce_axis(kernel, "rw"), reduce_axis(ci, "rc")
    return compute(
        (n, out, out, co),
        lambda b, h, v, o: sum_over(
            pad[b, h * stride + rh, v * stride + rw, rc] * w[rh, rw, rc, o], (rh, rw, rc)
        ),
        name="Y",
    )


def conv2d_by_hand(x: np.ndarray, w: np.ndarray, stride: int) -> np.ndarray:
    p = w.shape[0] // 2
    padded = np.pad(x.astype(np.float64), ((0, 0), (p, p), (p, p), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[:2], axis=(1, 2))
    return np.einsum("bhvckl,klco->bhvo", windows[:, ::stride, ::stride], w.astype(np.float64))


def softmax(rows: int, columns: int) -> Tensor:
    x = placeholder((rows, columns), name="X")
    k, m = reduce_axis(columns, "k"), reduce_axis(columns, "m")
    top = compute((rows,), lambda i: max_over(x[i, k], k), name="top")
    e = compute((rows, columns), lambda i, j: call("exp", x[i, j] - top[i]), name="e")
    total = compute((rows,), lambda i: sum_over(e[i, m], m), name="total")
    return compute((rows, columns), lambda i, j: e[i, j] / total[i], name="S")


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def every_point(shape: tuple[int, ...]) -> np.ndarray:
    return np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1)


@quick
@given(m=st.integers(1, 9), n=st.integers(1, 9), k=st.integers(1, 20))
def test_matmul(m: int, n: int, k: int) -> None:
    dag = ComputeDAG([matmul(m, n, k)])
    a, b = normal(m, k), normal(k, n)
    found = dag.evaluate({"A": a, "B": b})["C"]
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5)
    points = every_point((m, n))
    found = dag.evaluate_points(dag.outputs[0], points, {"A": a, "B": b})
    np.testing.assert_allclose(found, exact.ravel(), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("size", "kernel", "stride"), [(7, 3, 1), (8, 3, 2), (5, 5, 1), (6, 1, 2)])
def test_padded_conv2d(size: int, kernel: int, stride: int) -> None:
    dag = ComputeDAG([padded_conv2d(2, size, 3, 4, kernel, stride)])
    inputs = {"X": normal(2, size, size, 3), "W": normal(kernel, kernel, 3, 4)}
    exact = conv2d_by_hand(inputs["X"], inputs["W"], stride)
    np.testing.assert_allclose(dag.evaluate(inputs)["Y"], exact, rtol=1e-4, atol=1e-4)
    exactly = dag.evaluate(inputs, float64=True)["Y"]
    assert exactly.dtype == np.float64
    np.testing.assert_allclose(exactly, exact, rtol=1e-12, atol=1e-12)
    points = every_point(exact.shape)[::3]
    found = dag.evaluate_points(dag.outputs[0], points, inputs)
    np.testing.assert_allclose(found, exact[tuple(points.T)], rtol=1e-12, atol=1e-12)


def test_softmax_points_need_whole_rows_only() -> None:
    dag = ComputeDAG([softmax(50, 17)])
    x = normal(50, 17)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    exact = e / e.sum(1, keepdims=True)
    np.testing.assert_allclose(dag.evaluate({"X": x})["S"], exact, rtol=1e-5)
    x[10:] = np.nan  # rows that no point needs
    points = every_point((10, 17))
    found = dag.evaluate_points(dag.outputs[0], points, {"X": x})
    np.testing.assert_allclose(found, exact[:10].ravel(), rtol=1e-13)


def test_blocks_do_not_change_values(monkeypatch: pytest.MonkeyPatch) -> None:
    dag = ComputeDAG([padded_conv2d(2, 7, 3, 4, 3, 1)])
    inputs = {"X": normal(2, 7, 7, 3), "W": normal(3, 3, 3, 4)}
    whole = dag.evaluate(inputs, float64=True)["Y"]
    points = every_point(whole.shape)
    for budget in (1, 5, 37, 1000):
        monkeypatch.setattr(reference, "BLOCK", budget)
        found = dag.evaluate(inputs, float64=True)["Y"]
        np.testing.assert_allclose(found, whole, rtol=1e-12)
        if budget > 5:
            found = dag.evaluate_points(dag.outputs[0], points, inputs)
            np.testing.assert_allclose(found, whole.ravel(), rtol=1e-12)


@quick
@given(extents=st.lists(st.integers(1, 7), max_size=4), budget=st.integers(1, 60))
def test_blocks_cover_every_point_once(extents: list[int], budget: int) -> None:
    seen = np.zeros(extents, int)
    for block in reference.blocks(extents, budget):
        assert seen[block].size <= budget
        seen[block] += 1
    assert (seen == 1).all()


def test_floor_division_and_remainder_round_down() -> None:
    x = placeholder((24,), name="X")
    y = compute((4, 6), lambda a, b: x[(b * 4 + a) // 6 * 6 + (a * 6 + b) % 6], name="Y")
    values = np.arange(24, dtype=np.float32)
    a, b = np.mgrid[:4, :6]
    expected = values[(b * 4 + a) // 6 * 6 + (a * 6 + b) % 6]
    np.testing.assert_array_equal(ComputeDAG([y]).evaluate({"X": values})["Y"], expected)
    points = np.arange(-9, 10)
    np.testing.assert_array_equal(evaluate(i // 4, {"i": points}), np.floor(points / 4))
    np.testing.assert_array_equal(evaluate(i % -4, {"i": points}), points % -4)


@pytest.mark.parametrize(
    ("reduction", "by_hand"),
    [(sum_over, np.sum), (max_over, np.max), (min_over, np.min), (prod_over, np.prod)],
)
def test_reductions_over_two_axes(reduction: object, by_hand: object) -> None:
    x = placeholder((3, 4, 5), name="X")
    a, b = reduce_axis(3, "a"), reduce_axis(5, "b")
    y = compute((4,), lambda m: reduction(x[a, m, b], (a, b)), name="Y")  # type: ignore[operator]
    values = normal(3, 4, 5)
    found = ComputeDAG([y]).evaluate({"X": values})["Y"]
    np.testing.assert_allclose(found, by_hand(values, axis=(0, 2)), rtol=1e-5)  # type: ignore[operator]


def test_a_body_without_its_reduction_axis_is_still_repeated() -> None:
    x = placeholder((3,), name="X")
    k = reduce_axis(5)
    y = compute((3,), lambda m: sum_over(x[m], k), name="Y")
    found = ComputeDAG([y]).evaluate({"X": np.float32([1, 2, 3])})["Y"]
    np.testing.assert_array_equal(found, [5, 10, 15])


def test_scalars_tables_and_gathers() -> None:
    x, scale = placeholder((6, 2), name="X"), placeholder((), name="scale")
    where = placeholder((3,), "int32", name="where")
    weights = table(np.float32([[1, 2], [3, 4]]), name="weights")
    r = reduce_axis(2)
    g = compute((3, 2), lambda a, b: x[cast("int64", where[a]), b] * scale[()], name="g")
    y = compute((3, 2), lambda a, b: sum_over(g[a, r] * weights[r, b], r), name="Y")
    dag = ComputeDAG([y])
    inputs = {"X": normal(6, 2), "scale": np.float32(3), "where": np.int32([5, 0, 5])}
    expected = inputs["X"][[5, 0, 5]] * 3 @ np.float32([[1, 2], [3, 4]])
    np.testing.assert_allclose(dag.evaluate(inputs)["Y"], expected, rtol=1e-5)
    points = every_point((3, 2))
    found = dag.evaluate_points(dag.outputs[0], points, inputs)
    np.testing.assert_allclose(found, expected.ravel(), rtol=1e-5)


def test_a_scalar_output_has_points_too() -> None:
    x, k = placeholder((8,), name="X"), reduce_axis(8)
    dag = ComputeDAG([compute((), lambda: sum_over(x[k], k), name="Y")])
    values = normal(8)
    assert dag.evaluate({"X": values})["Y"] == pytest.approx(values.sum(), rel=1e-5)
    found = dag.evaluate_points(dag.outputs[0], np.zeros((3, 0), int), {"X": values})
    np.testing.assert_allclose(found, [values.sum(dtype=np.float64)] * 3)


@pytest.mark.parametrize(
    ("fn", "by_hand"),
    [
        ("neg", np.negative), ("abs", np.abs), ("exp", np.exp), ("tanh", np.tanh),
        ("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("round", np.round),
        ("sin", np.sin), ("cos", np.cos), ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
        ("erf", lambda x: np.vectorize(__import__("math").erf)(x)),
    ],
)  # fmt: skip
def test_intrinsics(fn: str, by_hand: object) -> None:
    x = placeholder((40,), name="X")
    values = normal(40) * 3
    found = evaluate(call(fn, x[i]), {"i": np.arange(40)}, {"X": values})
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_hand(values), rtol=2e-6, atol=1e-7)  # type: ignore[operator]
    exact = evaluate(call(fn, x[i]), {"i": np.arange(40)}, {"X": values}, float64=True)
    assert exact.dtype == np.float64
    np.testing.assert_allclose(exact, by_hand(values.astype(np.float64)), rtol=1e-14)  # type: ignore[operator]


def test_intrinsics_of_several_operands_and_special_values() -> None:
    x, y, z = Var("x", FLOAT32), Var("y", FLOAT32), Var("z", FLOAT32)
    env = {"x": np.float32([2, -3]), "y": np.float32([3, 2]), "z": np.float32([1, 5])}
    np.testing.assert_array_equal(evaluate(call("fma", x, y, z), env), [7, -1])
    np.testing.assert_array_equal(evaluate(call("pow", x, y), env), [8, 9])
    nan = {"x": np.float32([np.nan, np.inf]), "y": np.float32([1, 1])}
    np.testing.assert_array_equal(evaluate(call("isnan", x), nan), [True, False])
    np.testing.assert_array_equal(evaluate(call("isinf", x), nan), [False, True])
    assert np.isnan(evaluate(binary("max", y, x), nan)[0])
    assert np.isnan(evaluate(binary("min", x, y), nan)[0])
    np.testing.assert_array_equal(evaluate(cast("int64", x), {"x": np.float32(-2.7)}), -2)


def test_narrow_floats_are_computed_wide_and_stored_narrow() -> None:
    half = matmul(4, 4, 2048, "float16")
    dag = ComputeDAG([half])
    ones = np.full((4, 2048), 0.1, np.float16), np.full((2048, 4), 0.1, np.float16)
    found = dag.evaluate({"A": ones[0], "B": ones[1]})["C"]
    assert found.dtype == np.float16
    exact = 2048 * float(np.float16(0.1)) ** 2
    np.testing.assert_allclose(found.astype(float), exact, rtol=1e-3)  # a float16 sum stops at 16

    x = placeholder((5,), "bfloat16", name="X")
    y = compute((5,), lambda a: x[a] * 1.5 + 0.25, name="Y", dtype="bfloat16")
    values = normal(5).astype(ml_dtypes.bfloat16)
    expected = (values.astype(np.float32) * 1.5 + 0.25).astype(ml_dtypes.bfloat16)
    found = ComputeDAG([y]).evaluate({"X": values})["Y"]
    assert found.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(found.astype(float), expected.astype(float))


def test_narrow_integers_are_summed_wide() -> None:
    x, k = placeholder((300,), "int8", name="X"), reduce_axis(300)
    y = compute((1,), lambda a: sum_over(x[k], k), name="Y", dtype="int32")
    found = ComputeDAG([y]).evaluate({"X": np.full(300, 100, np.int8)})["Y"]
    assert found.dtype == np.int32 and found[0] == 30000


def test_a_select_reads_nothing_on_the_branch_not_taken() -> None:
    x = placeholder((4,), name="X")
    guarded = select((i >= 1) & (i < 5), select(i < 3, x[i - 1], x[i - 3 + j]), -1.0)
    env = {"i": np.arange(6).reshape(6, 1), "j": np.array([0, 2])}
    values = np.float32([10, 11, 12, 13])
    found = evaluate(guarded, env, {"X": values})
    np.testing.assert_array_equal(
        found, [[-1, -1], [10, 10], [11, 11], [10, 12], [11, 13], [-1, -1]]
    )
    with pytest.raises(ExprError, match="index 4 of dimension 0 is outside"):
        evaluate(select(i < 4, x[i + 1], 0.0), {"i": np.arange(6)}, {"X": values})
    with pytest.raises(ExprError, match="index -1"):
        evaluate(x[i - 1], {"i": np.arange(3)}, {"X": values})


def test_missing_values_are_named() -> None:
    x = placeholder((4,), name="X")
    with pytest.raises(ExprError, match="tensor X"):
        evaluate(x[i], {"i": np.arange(3)}, {})
    with pytest.raises(ExprError, match="variable j"):
        evaluate(i + j, {"i": np.arange(3)})
    with pytest.raises(ExprError, match="reduction"):
        evaluate(sum_over(x[i], reduce_axis(4)), {"i": 0}, {"X": normal(4)})
    dag = ComputeDAG([matmul(2, 3, 4)])
    with pytest.raises(InputError, match="no array for B"):
        dag.evaluate({"A": normal(2, 4)})
    with pytest.raises(InputError, match=r"A must be float32\[2, 4\], not float32\[4, 2\]"):
        dag.evaluate({"A": normal(4, 2), "B": normal(4, 3)})
    with pytest.raises(InputError, match="not float64"):
        dag.evaluate({"A": normal(2, 4).astype(float), "B": normal(4, 3)})


def test_literals_keep_their_precision() -> None:
    for float64 in (False, True):
        found = evaluate(const(0.1, FLOAT32), {}, float64=float64)
        assert found.dtype == (np.float64 if float64 else np.float32)
        assert found.item() == np.float32(0.1)


def test_a_sortable_number_is_that_of_the_stored_one() -> None:
    """However exactly the others are reckoned."""
    values = np.float32([-np.inf, -1.5, -0.0, 0.0, 1e-40, 0.1, np.inf, np.nan])
    x = placeholder((8,), name="X")
    for exact in (False, True):
        found = evaluate(call("sortable", x[i]), {"i": np.arange(8)}, {"X": values}, float64=exact)
        assert found.dtype == np.int32 and found[2] == found[3] == 0
        assert (np.diff(found[[0, 1, 2, 4, 5, 6, 7]]) > 0).all()
    with pytest.raises(ExprError, match="sortable needs a float"):
        call("sortable", i)


@pytest.mark.parametrize("narrow", ["float16", "bfloat16"])
def test_points_are_of_what_is_stored_in_fewer_bits(narrow: str) -> None:
    x = placeholder((4, 32), name="X")
    stored = compute((4, 32), lambda i, k: cast(narrow, x[i, k]), name="S", dtype=narrow)
    k = reduce_axis(32, "k")
    total = compute((4,), lambda i: sum_over(cast("float32", stored[i, k]), k), name="T")
    values = np.random.default_rng(0).standard_normal((4, 32), np.float32)
    found = ComputeDAG([total]).evaluate_points(total, np.arange(4)[:, None], {"X": values})
    rounded = values.astype(stored.dtype.numpy).astype(np.float64)
    np.testing.assert_allclose(found, rounded.sum(1), rtol=1e-14)
