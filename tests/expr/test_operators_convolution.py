"""Convolutions against onnxruntime (channels first there) and plain NumPy."""

from __future__ import annotations

from typing import Any

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


def onnx_weights(w: Array) -> Array:
    """[*kernel, c, o] -> [o, c, *kernel]."""
    return np.ascontiguousarray(np.moveaxis(w, (-1, -2), (0, 1)))


def onnx_pads(pads: tuple[tuple[int, int], ...]) -> list[int]:
    return [p[0] for p in pads] + [p[1] for p in pads]


CONV = [
    # spatial, kernel, channels, outputs, stride, pads, dilation, groups
    ((9,), (3,), 4, 5, (2,), ((1, 1),), (1,), 1),
    ((9,), (3,), 4, 6, (1,), ((0, 2),), (2,), 2),
    ((7, 8), (3, 3), 3, 5, (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((7, 8), (1, 1), 4, 5, (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((9, 8), (3, 2), 6, 9, (2, 3), ((2, 1), (0, 3)), (1, 2), 3),
    ((4, 5, 6), (2, 3, 1), 4, 6, (1, 2, 1), ((1, 0), (1, 1), (0, 0)), (1, 1, 1), 2),
]


@pytest.mark.parametrize("case", CONV)
@pytest.mark.parametrize("with_bias", [False, True])
def test_conv(case: Any, with_bias: bool) -> None:
    spatial, kernel, channels, outputs, stride, pads, dilation, groups = case
    x = normal(2, *spatial, channels)
    w = normal(*kernel, channels // groups, outputs, seed=1)
    bias = normal(outputs, seed=2)
    arrays = {"x": x, "w": w, **({"bias": bias} if with_bias else {})}
    y = op.conv(
        like("x", x),
        like("w", w),
        like("bias", bias) if with_bias else None,
        stride=stride,
        padding=pads,
        dilation=dilation,
        groups=groups,
    )
    expected = onnx_node(
        "Conv",
        channels_first(x),
        onnx_weights(w),
        *([bias] if with_bias else []),
        strides=stride,
        pads=onnx_pads(pads),
        dilations=dilation,
        group=groups,
    )
    close(run(y, **arrays), channels_last(expected))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_conv_of_each_rank_takes_plain_options(rank: int) -> None:
    x, w = normal(1, *(5,) * rank, 2), normal(*(3,) * rank, 2, 3, seed=1)
    fn = (op.conv1d, op.conv2d, op.conv3d)[rank - 1]
    y = fn(like("x", x), like("w", w), stride=2, padding=1)
    options = {"strides": [2] * rank, "pads": [1] * 2 * rank}
    expected = onnx_node("Conv", channels_first(x), onnx_weights(w), **options)
    close(run(y, x=x, w=w), channels_last(expected))


def test_stages_and_axes() -> None:
    x, w = placeholder((1, 8, 8, 4), name="x"), placeholder((3, 3, 4, 8), name="w")
    assert stages(op.conv2d(x, w, padding=1, name="c")) == ["c_pad", "c"]
    y = op.conv2d(x, w, placeholder((8,), name="b"), name="c")
    assert stages(y) == ["c_sum", "c"]
    assert [a.name for a in y.source.axes] == ["n", "h", "w", "c"]  # type: ignore[union-attr]


@pytest.mark.parametrize("multiplier", [1, 3])
def test_depthwise(multiplier: int) -> None:
    x, w = normal(2, 7, 6, 4), normal(3, 3, 4, multiplier, seed=1)
    y = op.depthwise_conv(like("x", x), like("w", w), stride=2, padding=1)
    weights = np.ascontiguousarray(w.reshape(3, 3, 4 * multiplier).transpose(2, 0, 1)[:, None])
    options = {"strides": [2, 2], "pads": [1] * 4, "group": 4}
    close(run(y, x=x, w=w), channels_last(onnx_node("Conv", channels_first(x), weights, **options)))


TRANSPOSED = [
    # spatial, kernel, channels, outputs, stride, pads, dilation, output_padding, groups
    ((4, 4), (4, 4), 3, 5, (2, 2), ((1, 1), (1, 1)), (1, 1), (0, 0), 1),
    ((5,), (3,), 4, 6, (3,), ((0, 1),), (1,), (2,), 2),
    ((4, 3), (3, 2), 4, 6, (1, 2), ((0, 0), (2, 1)), (2, 1), (0, 1), 1),
    ((3, 4, 2), (2, 2, 2), 2, 3, (2, 1, 2), ((1, 0), (0, 0), (0, 1)), (1, 1, 1), (1, 0, 0), 1),
    ((6,), (1,), 2, 2, (2,), ((1, 1),), (1,), (0,), 1),
]


@pytest.mark.parametrize("case", TRANSPOSED)
def test_conv_transpose(case: Any) -> None:
    spatial, kernel, channels, outputs, stride, pads, dilation, extra, groups = case
    x, w = normal(2, *spatial, channels), normal(*kernel, channels, outputs // groups, seed=1)
    y = op.conv_transpose(
        like("x", x),
        like("w", w),
        stride=stride,
        padding=pads,
        dilation=dilation,
        output_padding=extra,
        groups=groups,
    )
    expected = onnx_node(
        "ConvTranspose",
        channels_first(x),
        np.ascontiguousarray(np.moveaxis(w, (-2, -1), (0, 1))),
        strides=stride,
        pads=onnx_pads(pads),
        dilations=dilation,
        output_padding=extra,
        group=groups,
    )
    close(run(y, x=x, w=w), channels_last(expected))


def test_capsule_conv2d() -> None:
    x, w = normal(1, 5, 5, 2, 3, 4), normal(3, 3, 3, 2, 4, 5, seed=1)
    y = op.capsule_conv2d(like("x", x), like("w", w), stride=2, padding=1)
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0), (0, 0), (0, 0)))
    expected = np.zeros((1, 3, 3, 2, 2, 5), np.float32)
    for r in range(3):
        for s in range(3):
            part = wide[:, r : r + 5 : 2, s : s + 5 : 2]
            expected += np.einsum("nhwikc,kjco->nhwijo", part, w[r, s])
    close(run(y, x=x, w=w), expected)


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda x, w: op.conv2d(x, w, groups=3), "3 groups do not fit"),
        (lambda x, w: op.conv2d(x, w, stride=(1, 2, 3)), "needs 2 values"),
        (lambda x, w: op.conv2d(x, w, stride=0), "must be at least 1"),
        (lambda x, w: op.conv2d(x, w, padding=-1), "must not be negative"),
        (lambda x, w: op.conv2d(x, w, dilation=5), "does not fit 8 elements"),
        (lambda x, w: op.conv3d(x, w), "conv3d needs 5 dimensions"),
        (lambda x, w: op.conv2d(x, w, placeholder((3,), name="b")), "the bias has shape"),
        (lambda x, w: op.depthwise_conv(x, placeholder((3, 3, 5, 1), name="v")), "are for 5"),
        (lambda x, w: op.conv_transpose(x, w, padding=9), "leaves no output"),
        (lambda x, w: op.capsule_conv2d(x, w), "needs 6 dimensions"),
    ],
)
def test_options_that_do_not_fit(build: Any, says: str) -> None:
    x, w = placeholder((1, 8, 8, 4), name="x"), placeholder((3, 3, 4, 8), name="w")
    with pytest.raises(ExprError, match=says):
        build(x, w)
