"""Pooling against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operator_cases import (
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

CASES = [
    # spatial, kernel, stride, pads, dilation, ceil
    ((8, 9), (2, 3), (2, 2), ((0, 0), (0, 0)), (1, 1), False),
    ((8, 9), (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), False),
    ((8, 9), (3, 3), (2, 2), ((0, 1), (1, 0)), (1, 1), False),
    ((8, 9), (3, 2), (2, 3), ((0, 0), (0, 0)), (1, 1), True),
    ((7, 7), (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), True),
    ((6, 6), (2, 2), (3, 3), ((0, 0), (1, 1)), (1, 1), True),
    ((9, 9), (2, 3), (1, 2), ((1, 1), (2, 2)), (2, 2), False),
    ((11,), (4,), (3,), ((2, 1),), (1,), True),
    ((4, 5, 6), (2, 2, 3), (2, 1, 2), ((0, 1), (1, 0), (1, 1)), (1, 1, 1), False),
]


def attributes(case: Any) -> dict[str, Any]:
    _, kernel, stride, pads, dilation, ceil = case
    return {
        "kernel_shape": kernel,
        "strides": stride,
        "pads": [p[0] for p in pads] + [p[1] for p in pads],
        "dilations": dilation,
        "ceil_mode": int(ceil),
    }


@pytest.mark.parametrize("case", CASES)
def test_max_pool(case: Any) -> None:
    spatial, kernel, stride, pads, dilation, ceil = case
    x = normal(2, *spatial, 3) - 5  # all negative: padding with zero would win
    y = op.max_pool(
        like("x", x), kernel, stride=stride, padding=pads, dilation=dilation, ceil_mode=ceil
    )
    expected = onnx_node("MaxPool", channels_first(x), **attributes(case))
    np.testing.assert_array_equal(run(y, x=x), channels_last(expected))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("include", [False, True])
def test_avg_pool(case: Any, include: bool) -> None:
    spatial, kernel, stride, pads, dilation, ceil = case
    x = normal(2, *spatial, 3)
    y = op.avg_pool(
        like("x", x),
        kernel,
        stride=stride,
        padding=pads,
        dilation=dilation,
        ceil_mode=ceil,
        count_include_pad=include,
    )
    expected = onnx_node(
        "AveragePool", channels_first(x), **attributes(case), count_include_pad=int(include)
    )
    close(run(y, x=x), channels_last(expected))


def test_global_pools() -> None:
    x = normal(2, 4, 5, 3)
    close(run(op.global_avg_pool(like("x", x)), x=x), x.mean((1, 2), keepdims=True))
    close(run(op.global_max_pool(like("x", x)), x=x), x.max((1, 2), keepdims=True))


def test_integers_pad_with_their_least_value() -> None:
    x = np.full((1, 4, 4, 1), -100, np.int8)
    assert (run(op.max_pool(like("x", x), 3, padding=1), x=x) == -100).all()


def test_no_padding_stage_without_padding() -> None:
    x = placeholder((1, 8, 8, 2), name="x")
    assert stages(op.max_pool(x, 2, stride=2, name="p")) == ["p"]
    assert stages(op.avg_pool(x, 3, stride=2, padding=1, name="p")) == ["p_pad", "p_sum", "p"]


def test_padding_as_wide_as_the_window_is_refused() -> None:
    with pytest.raises(ExprError, match="as wide as a window, 2 elements"):
        op.max_pool(placeholder((1, 8, 8, 2), name="x"), 2, padding=2)
