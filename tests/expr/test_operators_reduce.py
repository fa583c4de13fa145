"""Reductions against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operator_cases import close, like, normal, run, stages

from tilewright.expr import operators as op
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ExprError

REDUCTIONS: list[tuple[Any, Any]] = [
    (op.reduce_sum, np.sum),
    (op.reduce_mean, np.mean),
    (op.reduce_max, np.max),
    (op.reduce_min, np.min),
    (op.reduce_prod, np.prod),
    (op.reduce_l1, lambda x, axis, keepdims: np.abs(x).sum(axis, keepdims=keepdims)),
    (op.reduce_l2, lambda x, axis, keepdims: np.sqrt((x * x).sum(axis, keepdims=keepdims))),
    (op.reduce_sum_square, lambda x, axis, keepdims: (x * x).sum(axis, keepdims=keepdims)),
    (
        op.reduce_logsumexp,
        lambda x, axis, keepdims: np.log(np.exp(x).sum(axis, keepdims=keepdims)),
    ),
]


@pytest.mark.parametrize(("ours", "theirs"), REDUCTIONS)
@pytest.mark.parametrize("axes", [None, 1, (-1,), (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(ours: Any, theirs: Any, axes: Any, keepdims: bool) -> None:
    x = normal(3, 4, 5)
    expected = theirs(x.astype(np.float64), axis=axes, keepdims=keepdims)
    close(run(ours(like("x", x), axes, keepdims=keepdims), x=x), np.asarray(expected))


def test_logsumexp_neither_overflows_nor_invents_nan() -> None:
    x = np.float32([[1000, 1000], [-np.inf, -np.inf], [np.inf, 0]])
    got = run(op.reduce_logsumexp(like("x", x), 1), x=x)
    np.testing.assert_allclose(got, [1000 + np.log(2), -np.inf, np.inf], rtol=1e-6)


def test_narrow_integers_widen() -> None:
    x = normal(50, 3, dtype="int8")
    total = op.reduce_sum(like("x", x), 0)
    assert total.dtype.name == "int32"
    np.testing.assert_array_equal(run(total, x=x), x.sum(0, dtype=np.int32))
    mean = run(op.reduce_mean(like("x", x), 0), x=x)
    np.testing.assert_array_equal(mean, np.trunc(x.sum(0) / 50).astype(np.int32))
    assert op.reduce_max(like("x", x)).dtype.name == "int8"


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_positions_of_extremes(axis: int, keepdims: bool) -> None:
    x = np.random.default_rng(0).integers(0, 4, (4, 5, 6)).astype(np.float32)  # many equals
    t = like("x", x)
    got = run(op.argmax(t, axis, keepdims=keepdims), x=x)
    assert got.dtype == np.int64
    np.testing.assert_array_equal(got, x.argmax(axis, keepdims=keepdims))
    got = run(op.argmin(t, axis, keepdims=keepdims), x=x)
    np.testing.assert_array_equal(got, x.argmin(axis, keepdims=keepdims))
    last = x.shape[axis] - 1 - np.flip(x, axis).argmax(axis, keepdims=keepdims)
    got = run(op.argmax(t, axis, keepdims=keepdims, select_last=True), x=x)
    np.testing.assert_array_equal(got, last)


def test_positions_stay_in_range_without_an_equal() -> None:
    x = np.full((2, 3), np.nan, np.float32)
    got = run(op.argmax(like("x", x), 1), x=x)
    assert ((got >= 0) & (got < 3)).all()


def test_stages() -> None:
    x = placeholder((4, 5), name="x")
    assert stages(op.reduce_sum(x, 1, name="s")) == ["s"]
    assert stages(op.reduce_mean(x, 1, name="m")) == ["m_sum", "m"]
    assert stages(op.argmax(x, 1, name="a")) == ["a_value", "a"]


@pytest.mark.parametrize(("axes", "says"), [((0, -2), "twice"), (2, "outside"), ((), "no axes")])
def test_axes_that_do_not_fit(axes: Any, says: str) -> None:
    with pytest.raises(ExprError, match=says):
        op.reduce_sum(placeholder((4, 5), name="x"), axes)
