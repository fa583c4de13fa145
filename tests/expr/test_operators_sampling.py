"""Reading between the elements, against onnxruntime and NumPy; new pooling operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operator_cases import channels_first, channels_last, close, like, normal, onnx_node, run

from tilewright.expr import operators as op
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ExprError

equal = np.testing.assert_array_equal


def test_resample() -> None:
    x = normal(2, 5, 3)
    at, weights = np.array([[0, 1], [4, 4], [2, 0]]), np.float32([[1, 2], [0.5, 0.5], [-1, 1]])
    y = op.resample(like("x", x), like("a", at), like("w", weights), 1)
    parts = [x[:, at[:, t]] * weights[:, t, None] for t in range(2)]
    close(run(y, x=x, a=at, w=weights), parts[0] + parts[1])


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_grid_sample(mode: str, padding: str, align: int) -> None:
    x = normal(2, 3, 5, 4)
    grid = np.random.default_rng(3).uniform(-1.6, 1.6, (2, 3, 7, 2)).astype(np.float32)
    y = op.grid_sample(
        like("x", x), like("g", grid), mode=mode, padding=padding, align_corners=bool(align)
    )
    names = {"linear": "bilinear", "cubic": "bicubic"}
    options: Any = {"mode": names.get(mode, mode), "padding_mode": padding, "align_corners": align}
    close(run(y, x=x, g=grid), onnx_node("GridSample", x, grid, opset=16, **options), 1e-4)


def test_grid_sample_reads_nothing_outside() -> None:
    """Positions far outside, infinite or no numbers at all read zeros, and no other memory."""
    x = normal(1, 1, 3, 3)
    grid = np.float32([[[[np.nan, 0], [np.inf, 0], [-1e30, 1e30], [0, 0]]]])
    got = run(op.grid_sample(like("x", x), like("g", grid)), x=x, g=grid)
    assert got.shape == (1, 1, 1, 4)
    equal(got[0, 0, 0, :3], [0, 0, 0])


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("where", ["half_pixel", "output_half_pixel"])
def test_roi_align(where: str, mode: str) -> None:
    x, batch = normal(2, 3, 8, 9), np.array([0, 1, 0])
    rois = np.float32([[1, 1, 6, 7], [0, 2, 15, 11], [3.3, 2.7, 3.9, 3.1]])
    y = op.roi_align(
        like("x", x), like("r", rois), like("b", batch), (3, 2),
        samples=2, scale=0.7, mode=mode, half_pixel=where == "half_pixel",
    )  # fmt: skip
    expected = onnx_node(
        "RoiAlign", x, rois, batch, opset=16, output_height=3, output_width=2, sampling_ratio=2,
        spatial_scale=0.7, mode=mode, coordinate_transformation_mode=where,
    )  # fmt: skip
    close(run(y, x=x, r=rois, b=batch), expected, 1e-4)


def test_deform_conv_without_offsets_is_a_convolution() -> None:
    x, w = normal(1, 4, 6, 7), normal(6, 2, 3, 2)
    offsets = np.zeros((1, 2 * 3 * 2 * 2, 6, 3), np.float32)
    y = op.deform_conv(
        like("x", x), like("w", w), like("o", offsets), stride=(1, 2), padding=((1, 1), (0, 0)),
        dilation=(1, 2), groups=2, offset_groups=2,
    )  # fmt: skip
    expected = onnx_node("Conv", x, w, strides=[1, 2], pads=[1, 0, 1, 0], dilations=[1, 2], group=2)
    close(run(y, x=x, w=w, o=offsets), expected, 1e-4)


def test_deform_conv_moves_and_weighs_its_taps() -> None:
    """One tap, moved by whole elements and by halves."""
    x, w = normal(1, 1, 4, 4), np.ones((1, 1, 1, 1), np.float32)
    offsets, mask = np.zeros((1, 2, 4, 4), np.float32), np.full((1, 1, 4, 4), 0.5, np.float32)
    offsets[0, 0], offsets[0, 1] = 1.0, 0.5
    y = op.deform_conv(
        like("x", x), like("w", w), like("o", offsets), like("m", mask),
        stride=(1, 1), padding=((0, 0), (0, 0)), dilation=(1, 1),
    )  # fmt: skip
    padded = np.pad(x[0, 0], ((0, 1), (0, 1)))
    expected = 0.25 * (padded[1:, :-1] + padded[1:, 1:])
    close(run(y, x=x, w=w, o=offsets, m=mask)[0, 0], expected)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("pads", [0, 1])
def test_max_pool_indices(pads: int, order: int) -> None:
    x = normal(2, 3, 7, 6)
    node = {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [pads, 0, pads, 0]}
    indices = pool_places(x, order, node)
    y = op.max_pool_indices(
        like("x", channels_last(x)), (3, 2), stride=2, padding=((pads, pads), (0, 0)),
        column_major=bool(order),
    )  # fmt: skip
    equal(run(y, x=np.ascontiguousarray(channels_last(x))), channels_last(indices))


def pool_places(x: Any, order: int, node: Any) -> Any:
    """Where the maxima are, found from onnxruntime's values (all elements differ)."""
    values = onnx_node("MaxPool", x, **node)
    places = np.empty(values.shape, np.int64)
    _, c, h, w = x.shape
    for at in np.ndindex(values.shape):
        row, column = np.argwhere(x[at[0], at[1]] == values[at])[0]
        inner = row + column * h if order else row * w + column
        places[at] = (at[0] * c + at[1]) * h * w + inner
    return places


def test_max_pool_indices_of_nan_are_places() -> None:
    x = np.full((1, 3, 3, 1), np.nan, np.float32)
    got = run(op.max_pool_indices(like("x", x), 2), x=x)
    assert ((got >= 0) & (got < 9)).all()


def test_sum_pool() -> None:
    x = normal(1, 2, 6, 5)
    y = op.sum_pool(like("x", channels_last(x)), 3, stride=2, padding=1)
    node = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    expected = 9 * onnx_node("AveragePool", x, count_include_pad=1, **node)
    got = run(y, x=np.ascontiguousarray(channels_last(x)))
    close(channels_first(got), expected, 1e-5)


@pytest.mark.parametrize(("stride", "pads", "dilation"), [(1, 0, 1), (2, 1, 1), (1, 1, 2)])
def test_col2im(stride: int, pads: int, dilation: int) -> None:
    shape, kernel = (6, 7), (2, 3)
    counts = [(n + 2 * pads - (k - 1) * dilation - 1) // stride + 1
              for n, k in zip(shape, kernel, strict=True)]  # fmt: skip
    x = normal(2, 3 * 6, counts[0] * counts[1])
    y = op.col2im(
        like("x", x), shape, kernel, stride=(stride,) * 2, padding=((pads, pads),) * 2,
        dilation=(dilation,) * 2,
    )  # fmt: skip
    expected = onnx_node(
        "Col2Im", x, np.array(shape), np.array(kernel), opset=18, strides=[stride] * 2,
        pads=[pads] * 4, dilations=[dilation] * 2,
    )  # fmt: skip
    close(run(y, x=x), expected)


X = placeholder((1, 2, 4, 4), name="x")


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: op.grid_sample(X, placeholder((1, 3, 3, 3), name="g")), "grid"),
        (lambda: op.grid_sample(X, placeholder((1, 3, 3, 2), name="g"), padding="odd"), "odd"),
        (
            lambda: op.deform_conv(
                X, placeholder((2, 3, 1, 1), name="w"), placeholder((1, 2, 4, 4), name="o"),
                stride=(1, 1), padding=((0, 0), (0, 0)), dilation=(1, 1),
            ),
            "in 1 groups",
        ),
        (
            lambda: op.col2im(
                placeholder((1, 4, 5), name="c"), (3, 3), (2, 2), stride=(1, 1),
                padding=((0, 0), (0, 0)), dilation=(1, 1),
            ),
            "does not fit",
        ),
    ],
)  # fmt: skip
def test_operands_that_do_not_fit(build: Any, says: str) -> None:
    with pytest.raises(ExprError, match=says):
        build()
