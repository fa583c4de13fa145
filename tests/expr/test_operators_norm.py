"""Norms and normalisations against NumPy and onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from operator_cases import (
    Array,
    channels_first,
    channels_last,
    close,
    like,
    normal,
    onnx_node,
    run,
    stages,
)

from tilewright.expr import operators as op
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ExprError


def test_matrix_norm() -> None:
    x = normal(3, 5, 7)
    y = op.matrix_norm(like("x", x), name="nrm")
    assert y.shape == (3,)
    assert stages(y) == ["nrm_squares", "nrm"]
    close(run(y, x=x), np.sqrt((x.astype(np.float64) ** 2).sum((1, 2))))


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmax(axis: int) -> None:
    x = normal(3, 4, 5) * 40  # overflows without the shift
    e = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    expected = e / e.sum(axis, keepdims=True)
    close(run(op.softmax(like("x", x), axis), x=x), expected)
    logs = onnx_node("LogSoftmax", x, axis=axis)
    close(run(op.log_softmax(like("x", x), axis), x=x), logs)


@pytest.mark.parametrize("axis", [-1, 1])
def test_layer_norm(axis: int) -> None:
    x = normal(2, 3, 8) * 3 + 50  # a large mean: E[x²] - E[x]² would lose its digits
    shape = x.shape[axis:]
    scale, bias = normal(*shape, seed=1), normal(*shape, seed=2)
    y = op.layer_norm(like("x", x), like("scale", scale), like("bias", bias), axis=axis)
    wide = x.astype(np.float64)
    axes = tuple(range(axis % 3, 3))
    unit = (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + 1e-5)
    close(run(y, x=x, scale=scale, bias=bias), unit * scale + bias, 1e-4)
    close(run(op.layer_norm(like("x", x), axis=axis), x=x), unit, 1e-4)
    shifted = op.layer_norm(like("x", x), None, like("bias", bias), axis=axis)
    close(run(shifted, x=x, bias=bias), unit + bias, 1e-4)


def test_rms_norm() -> None:
    x, scale = normal(2, 3, 8), normal(8, seed=1)
    y = op.rms_norm(like("x", x), like("scale", scale), epsilon=1e-6)
    expected = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)
    close(run(y, x=x, scale=scale), expected * scale)
    close(run(op.rms_norm(like("x", x), epsilon=1e-6), x=x), expected)


def channel_arrays(channels: int) -> dict[str, Array]:
    return {
        "scale": normal(channels, seed=1),
        "bias": normal(channels, seed=2),
        "mean": normal(channels, seed=3),
        "variance": np.abs(normal(channels, seed=4)) + 0.1,
    }


def test_batch_norm() -> None:
    x, arrays = normal(2, 4, 5, 3), channel_arrays(3)
    y = op.batch_norm(like("x", x), *(like(n, a) for n, a in arrays.items()), epsilon=1e-3)
    expected = onnx_node("BatchNormalization", channels_first(x), *arrays.values(), epsilon=1e-3)
    close(run(y, x=x, **arrays), channels_last(expected))


def test_instance_norm() -> None:
    x, arrays = normal(2, 4, 5, 3), channel_arrays(3)
    scale, bias = arrays["scale"], arrays["bias"]
    y = op.instance_norm(like("x", x), like("scale", scale), like("bias", bias))
    expected = onnx_node("InstanceNormalization", channels_first(x), scale, bias)
    close(run(y, x=x, scale=scale, bias=bias), channels_last(expected))


def test_group_norm() -> None:
    x, arrays = normal(2, 4, 5, 6), channel_arrays(6)
    scale, bias = arrays["scale"], arrays["bias"]
    y = op.group_norm(like("x", x), like("scale", scale), like("bias", bias), groups=2)
    expected = onnx_node("GroupNormalization", channels_first(x), scale, bias, num_groups=2)
    close(run(y, x=x, scale=scale, bias=bias), channels_last(expected))


@pytest.mark.parametrize("size", [1, 3, 4, 5])
@pytest.mark.parametrize("beta", [0.75, 0.5, 1.0, 0.6])
def test_lrn(size: int, beta: float) -> None:
    x = normal(2, 3, 4, 7) * 4
    y = op.lrn(like("x", x), size, alpha=0.3, beta=beta, bias=2.0)
    # onnxruntime takes odd sizes only.
    before = (size - 1) // 2
    squares = np.pad(x**2, ((0, 0),) * 3 + ((before, size - 1 - before),))
    total = sum(squares[..., r : r + 7] for r in range(size))
    close(run(y, x=x), x / (2.0 + 0.3 / size * total) ** beta)
    if size % 2:
        options = {"size": size, "alpha": 0.3, "beta": beta, "bias": 2.0}
        close(run(y, x=x), channels_last(onnx_node("LRN", channels_first(x), **options)))


def test_shapes_that_do_not_fit() -> None:
    x, three = placeholder((1, 4, 4, 4), name="x"), placeholder((3,), name="s")
    with pytest.raises(ExprError, match=r"s has shape \(3,\), not \(4,\)"):
        op.batch_norm(x, three, three, three, three)
    with pytest.raises(ExprError, match="3 groups do not divide 4"):
        op.group_norm(x, three, three, groups=3)
    with pytest.raises(ExprError, match="size 0"):
        op.lrn(x, 0)
    with pytest.raises(ExprError, match="needs matrices"):
        op.matrix_norm(three)
