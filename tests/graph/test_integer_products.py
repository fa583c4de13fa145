"""Products of bytes with zero points of every kind, against sums of integers without end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright as tw

KINDS = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8}
SIGNS = [(a, b) for a in KINDS for b in KINDS]


def drawn(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Bytes with both ends of their range among them."""
    info = np.iinfo(kind)
    values = rng.integers(info.min, info.max + 1, shape).astype(kind)
    values.reshape(-1)[:2] = (info.min, info.max)[: values.size]
    return values


def run(
    op: str,
    data: dict[str, np.ndarray[Any, Any]],
    given: set[str],
    out: int = TensorProto.INT32,
    **attributes: Any,
) -> np.ndarray[Any, Any]:
    """One node; what is in `given` are inputs of the model, the others are constants of it."""
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for n, v in data.items()
        if n in given
    ]
    constants = [numpy_helper.from_array(v, n) for n, v in data.items() if n not in given]
    node = helper.make_node(op, list(data), ["y"], **attributes)
    result = helper.make_tensor_value_info("y", out, None)
    graph = helper.make_graph([node], "g", inputs, [result], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    net = tw.compile(tw.load(model))
    (y,) = net.run({n: data[n] for n in given})
    return np.asarray(y)


def zeros(rng: np.random.Generator, kind: str, count: int, how: str) -> np.ndarray[Any, Any]:
    """One zero point that is none, one, or one each."""
    if how == "none":
        return np.zeros((), kind)
    return drawn(rng, kind, ()) if how == "one" else drawn(rng, kind, (count,))


@pytest.mark.cpu
@pytest.mark.parametrize("signs", SIGNS, ids="x".join)
@pytest.mark.parametrize(
    ("of_a", "of_b", "given"),
    [("none", "one", "a"), ("one", "none", "a za"), ("each", "each", "a za zb b")],
)
def test_matrices(signs: tuple[str, str], of_a: str, of_b: str, given: str) -> None:
    rng = np.random.default_rng(len(given))
    a, b = drawn(rng, signs[0], (9, 37)), drawn(rng, signs[1], (37, 21))
    za, zb = zeros(rng, signs[0], 9, of_a), zeros(rng, signs[1], 21, of_b)
    data = {"a": a, "b": b, "za": za, "zb": zb}
    left = a.astype(np.int64) - (za[:, None] if za.ndim else za)
    found = run("MatMulInteger", data, set(given.split()))
    np.testing.assert_array_equal(found, left @ (b.astype(np.int64) - zb))


@pytest.mark.cpu
@pytest.mark.parametrize("signs", SIGNS, ids="x".join)
@pytest.mark.parametrize(
    ("of_w", "group", "given"),
    [("none", 1, "x zx"), ("one", 1, "x"), ("each", 1, "x"), ("one", 2, "x zx"), ("each", 2, "x")],
)
def test_images(signs: tuple[str, str], of_w: str, group: int, given: str) -> None:
    if of_w == "each" and signs[1] != "int8":
        pytest.skip("onnxruntime and ONNX's text take zero points of channels for signed weights")
    rng = np.random.default_rng(group)
    x, w = drawn(rng, signs[0], (2, 8, 7, 6)), drawn(rng, signs[1], (10, 8 // group, 3, 2))
    zx, zw = drawn(rng, signs[0], ()), zeros(rng, signs[1], 10, of_w)
    data = {"x": x, "w": w, "zx": zx, "zw": zw}
    pads, strides = [1, 0, 2, 1], [2, 1]
    found = run("ConvInteger", data, set(given.split()), group=group, pads=pads, strides=strides)
    centred = x.astype(np.int64) - zx
    weights = w.astype(np.int64) - zw.reshape(-1, 1, 1, 1)
    np.testing.assert_array_equal(found, convolved(centred, weights, group, pads, strides))


@pytest.mark.cpu
@pytest.mark.parametrize("signs", SIGNS, ids="x".join)
@pytest.mark.parametrize(
    ("channels", "kernel", "stride"), [(3, 7, 2), (3, 3, 2), (1, 5, 1), (4, 3, 1)]
)
def test_images_of_few_channels(
    signs: tuple[str, str], channels: int, kernel: int, stride: int
) -> None:
    rng = np.random.default_rng(kernel)
    x, w = drawn(rng, signs[0], (1, channels, 19, 21)), drawn(rng, signs[1], (16, channels, 7, 7))
    w = w[:, :, :kernel, :kernel].copy()
    zx, zw = drawn(rng, signs[0], ()), drawn(rng, signs[1], ())
    data = {"x": x, "w": w, "zx": zx, "zw": zw}
    pads, strides = [kernel // 2] * 4, [stride] * 2
    found = run("ConvInteger", data, {"x"}, pads=pads, strides=strides)
    centred, weights = x.astype(np.int64) - zx, w.astype(np.int64) - zw
    np.testing.assert_array_equal(found, convolved(centred, weights, 1, pads, strides))


def convolved(
    x: np.ndarray[Any, Any],
    w: np.ndarray[Any, Any],
    group: int,
    pads: list[int],
    strides: list[int],
) -> np.ndarray[Any, Any]:
    """A convolution of two dimensions, by its definition."""
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    windows = windows[:, :, :: strides[0], :: strides[1]]
    parts = zip(np.split(windows, group, 1), np.split(w, group, 0), strict=True)
    return np.concatenate([np.einsum("nchwrs,ocrs->nohw", p, q) for p, q in parts], 1)
