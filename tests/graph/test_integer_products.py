"""Products of bytes with zero points of every kind, against sums of integers without end."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import run_onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import tilewright as tw
from tilewright.graph.onnx.importing import load

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


def of_activations(
    signs: tuple[str, str], zeros: tuple[int, int], columns: int, turned: bool
) -> onnx.ModelProto:
    """A product of two inputs that are quantised, in floats `y` and in bytes `z`; `turned`: the
    second comes with its rows and columns exchanged.
    """
    constants, nodes = {"sz": np.float32(0.7310585), "zz": np.uint8(131)}, []
    for name, kind, zero in zip("ab", signs, zeros, strict=True):
        scale = np.float32(0.0123 if name == "a" else 0.0457)
        constants |= {f"s{name}": scale, f"z{name}": np.array(zero, kind)}
        of = [f"s{name}", f"z{name}"]
        nodes.append(helper.make_node("QuantizeLinear", [name, *of], [f"{name}.q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}.q", *of], [f"{name}.f"]))
    second = "b.f"
    if turned:
        second = "b.t"
        nodes.append(helper.make_node("Transpose", ["b.f"], [second], perm=[0, 1, 3, 2]))
    nodes.append(helper.make_node("MatMul", ["a.f", second], ["y"]))
    nodes.append(helper.make_node("QuantizeLinear", ["y", "sz", "zz"], ["z"]))
    b = (2, 3, columns, 40) if turned else (2, 3, 40, columns)
    shapes = {"a": (2, 3, 19, 40), "b": b}
    return helper.make_model(
        helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()],
            [
                helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
                helper.make_tensor_value_info("z", TensorProto.UINT8, None),
            ],
            [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 19)],
        ir_version=9,
    )


def bytes_of(x: np.ndarray[Any, Any], scale: float, zero: int, kind: str) -> np.ndarray[Any, Any]:
    """As QuantizeLinear makes them, less the zero point."""
    info, steps = np.iinfo(kind), np.rint(x / np.float32(scale))
    found: np.ndarray[Any, Any] = (np.clip(steps + zero, info.min, info.max) - zero).astype(int)
    return found


@pytest.mark.cpu
@pytest.mark.parametrize("signs", SIGNS, ids="x".join)
@pytest.mark.parametrize(
    ("apart", "turned"), [((0, 0), False), ((11, 0), True), ((0, -7), False), ((-3, 9), True)]
)
def test_products_of_two_quantised_activations(
    signs: tuple[str, str], apart: tuple[int, int], turned: bool
) -> None:
    """Sums of bytes, exact, scaled once; in bytes the same as ONNX's reference and onnxruntime."""
    middles = {"uint8": 128, "int8": 0}
    zeros = (middles[signs[0]] + apart[0], middles[signs[1]] + apart[1])
    model = of_activations(signs, zeros, 24, turned)
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((2, 3, 19, 40), "f4"), rng.standard_normal((2, 3, 40, 24), "f4")
    a, b = a * np.float32(0.7), b * np.float32(3)
    given = {"a": a, "b": b.swapaxes(2, 3).copy() if turned else b}
    loaded = tw.load(model)
    y, z = tw.compile(loaded).run(given)
    sums = bytes_of(a, 0.0123, zeros[0], signs[0]) @ bytes_of(b, 0.0457, zeros[1], signs[1])
    scale = np.float32(0.0123) * np.float32(0.0457)
    np.testing.assert_array_equal(y, sums.astype(np.float32) * scale)
    for peer in (run_onnx(model, given), ReferenceEvaluator(model).run(None, given)):
        np.testing.assert_array_equal(z, peer[1])
        np.testing.assert_allclose(y, peer[0], rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(("columns", "kind"), [(24, "uint8"), (8, "float32")])
def test_small_products_of_activations_are_of_floats(columns: int, kind: str) -> None:
    graph = load(of_activations(("uint8", "int8"), (3, 4), columns, False))
    (product,) = [n for n in graph.nodes if n.op == "matmul"]
    assert product.inputs[0].dtype == kind


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
