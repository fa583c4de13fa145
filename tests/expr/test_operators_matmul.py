"""Matrix products against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from operator_cases import close, like, normal, run, stages

from tilewright.expr import operators as op
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ExprError


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_matmul(transpose_a: bool, transpose_b: bool) -> None:
    a = normal(5, 4) if transpose_a else normal(4, 5)
    b = normal(6, 5) if transpose_b else normal(5, 6)
    y = op.matmul(like("a", a), like("b", b), transpose_a=transpose_a, transpose_b=transpose_b)
    close(run(y, a=a, b=b), (a.T if transpose_a else a) @ (b.T if transpose_b else b))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 4, 5), (3, 5, 2)),
        ((2, 3, 4, 5), (3, 5, 2)),
        ((1, 4, 5), (6, 5, 2)),
        ((4, 5), (2, 5, 3)),
    ],
)
def test_batches_broadcast(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = normal(*left), normal(*right)
    close(run(op.batch_matmul(like("a", a), like("b", b)), a=a, b=b), a @ b)


def test_a_tensor_times_itself() -> None:
    x = normal(2, 4, 4)
    t = like("x", x)
    close(run(op.batch_matmul(t, t, transpose_b=True), x=x), x @ x.transpose(0, 2, 1))


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_dense(shape: tuple[int, ...]) -> None:
    x, w, bias = normal(*shape), normal(7, 5), normal(7, seed=1)
    y = op.dense(like("x", x), like("w", w), like("bias", bias), transpose_w=True, name="fc")
    close(run(y, x=x, w=w, bias=bias), x @ w.T + bias)
    assert stages(y) == ["fc_sum", "fc"]


def test_narrow_integers_are_summed_in_int32() -> None:
    a, b = normal(4, 100, dtype="int8"), normal(100, 3, dtype="int8")
    y = op.matmul(like("a", a), like("b", b))
    assert y.dtype.name == "int32"
    np.testing.assert_array_equal(run(y, a=a, b=b), a.astype(np.int32) @ b.astype(np.int32))


def test_halves_are_summed_in_float32_and_stored_narrow() -> None:
    a, b = normal(4, 64, dtype="float16"), normal(64, 3, dtype="float16")
    y = op.matmul(like("a", a), like("b", b))
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    np.testing.assert_allclose(run(y, a=a, b=b), expected, rtol=2e-3)


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        ((4, 5), (4, 5), "reduce over 5 and 4"),
        ((4,), (4, 5), "needs matrices|two matrices"),
        ((2, 4, 5), (3, 5, 4), "do not broadcast"),
    ],
)
def test_shapes_that_do_not_fit(a: tuple[int, ...], b: tuple[int, ...], says: str) -> None:
    with pytest.raises(ExprError, match=says):
        op.batch_matmul(placeholder(a, name="a"), placeholder(b, name="b"))


def test_dtypes_that_differ() -> None:
    with pytest.raises(ExprError, match="cast one of them"):
        op.matmul(placeholder((2, 2), name="a"), placeholder((2, 2), "float64", name="b"))
