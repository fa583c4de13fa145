"""Weights of 2, 4 and 8 bits: products against NumPy's by definition and onnxruntime's, tensors of
few bits in files, and what is kept packed."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from graph_reference import Array, run_graph
from onnx import TensorProto, helper, numpy_helper

import tilewright as tw
from tilewright.graph.onnx.importing import load
from tilewright.graph.passes import simplify
from tilewright.graph.passes.rounded import rounded
from tilewright.ground.errors import UnsupportedModel

Model = Any


def packed(numbers: Array, bits: int) -> Array:
    """By definition: number i of a row is in bits i * bits of it."""
    octets = np.zeros((*numbers.shape[:-1], -(-numbers.shape[-1] * bits // 8)), np.uint8)
    for i in range(numbers.shape[-1]):
        octets[..., i * bits // 8] |= numbers[..., i] << np.uint8(i * bits % 8)
    return octets


def model_of(node: Any, given: dict[str, Array], known: dict[str, Array], made: int) -> Model:
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in given.items()
    ]
    constants = [numpy_helper.from_array(a, n) for n, a in known.items()]
    outputs = [helper.make_tensor_value_info("y", made, None)]
    nodes = node if isinstance(node, list) else [node]
    graph = helper.make_graph(nodes, "few", inputs, outputs, constants)
    imports = [helper.make_opsetid("", 25 if made != TensorProto.FLOAT else 21)]
    imports.append(helper.make_opsetid("com.microsoft", 1))
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def nbits(
    bits: int, block: int, zeros: str, *, k: int = 72, n: int = 5, order: bool = False,
    bias: bool = False, kind: Any = np.float32, rows: tuple[int, ...] = (3,),
    changed: dict[str, int] | None = None,
) -> tuple[Model, dict[str, Array], Array]:  # fmt: skip
    """A MatMulNBits, its input, and its result by definition."""
    rng = np.random.default_rng([bits, block, k, n])
    blocks = -(-k // block)
    q = rng.integers(0, 1 << bits, (n, blocks * block)).astype(np.uint8)
    scale = rng.uniform(0.5, 1.5, (n, blocks)).astype(kind)
    group = rng.permutation(k) // block if order else np.arange(k) // block
    known = {"b": packed(q.reshape(n, blocks, block), bits), "s": scale.reshape(-1)}
    zero = np.full((n, blocks), 1 << (bits - 1), np.float32)
    if zeros == "packed":
        points = rng.integers(0, 1 << bits, (n, blocks)).astype(np.uint8)
        zero, known["z"] = points.astype(np.float32), packed(points, bits).reshape(-1)
    elif zeros == "floats":
        known["z"] = rng.uniform(0, 1 << bits, (n, blocks)).astype(kind)
        zero = known["z"].astype(np.float32)
    if order:
        known["g"] = group.astype(np.int32)
    if bias:
        known["bias"] = rng.standard_normal(n).astype(kind)
    x = rng.standard_normal((*rows, k)).astype(kind)
    weights = (q[:, :k].astype(np.float64) - zero[:, group]) * scale.astype(np.float64)[:, group]
    y = x.astype(np.float64) @ weights.T + known.get("bias", np.zeros(n)).astype(np.float64)
    names = ["x", "b", "s", *(v if v in known else "" for v in ("z", "g", "bias"))]
    while not names[-1]:
        names.pop()
    options = {"K": k, "N": n, "bits": bits, "block_size": block} | (changed or {})
    node = helper.make_node("MatMulNBits", names, ["y"], "nb", domain="com.microsoft", **options)
    return model_of(node, {"x": x}, known, helper.np_dtype_to_tensor_dtype(x.dtype)), {"x": x}, y


def check(model: Model, given: dict[str, Array], expected: Array, step: float = 2e-6) -> Any:
    graph = simplify(load(model))
    (y,) = run_graph(graph, given)
    assert y.shape == expected.shape
    assert np.abs(y - expected).max() <= step * np.abs(expected).max() * 8
    return graph


FORMS = list(product((2, 4, 8), (16, 32, 128, 512), ("none", "packed", "floats")))


@pytest.mark.parametrize("bits, block, zeros", FORMS)
def test_product_is_as_defined(bits: int, block: int, zeros: str) -> None:
    check(*nbits(bits, block, zeros, bias=block == 32, rows=(1, 2) if block == 16 else (3,)))


@pytest.mark.parametrize("bits, block, zeros", FORMS)
def test_activations_are_rounded_where_the_model_allows_it(
    bits: int, block: int, zeros: str
) -> None:
    """To steps of a 127th of the largest of 32."""
    kind = np.float16 if block == 128 else np.float32
    model, given, y = nbits(
        bits, block, zeros, bias=block == 32, rows=(2, 2) if block == 16 else (3,), kind=kind,
        changed={"accuracy_level": 4},
    )  # fmt: skip
    graph = check(model, given, y, step=2e-3)
    assert any(node.op == "byte_dense" for node in graph.nodes)


@pytest.mark.parametrize("bits, block, zeros", FORMS)
def test_activations_are_rounded_where_the_user_asks_for_it(
    bits: int, block: int, zeros: str
) -> None:
    model, given, y = nbits(bits, block, zeros, rows=(3,))
    graph = rounded(simplify(load(model)))
    assert any(node.op == "byte_dense" for node in graph.nodes)
    (found,) = run_graph(graph, given)
    assert np.abs(found - y).max() <= 2e-2 * np.abs(y).max()
    assert any(n.op == "byte_dense" for n in tw.load(model, math="int8").graph.nodes)


def test_rounded_activations_are_onnxruntimes() -> None:
    model, given, _ = nbits(4, 32, "packed", k=96, n=16, changed={"accuracy_level": 4})
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    check(model, given, session.run(None, given)[0], step=1e-3)


@pytest.mark.parametrize("bits, zeros", list(product((2, 4, 8), ("none", "packed"))))
def test_rows_in_any_order(bits: int, zeros: str) -> None:
    check(*nbits(bits, 16, zeros, order=True, bias=True))


@pytest.mark.parametrize("bits, zeros", list(product((4, 8), ("none", "packed"))))
def test_float16(bits: int, zeros: str) -> None:
    check(*nbits(bits, 32, zeros, kind=np.float16, bias=True), step=2e-4)


@pytest.mark.parametrize("zeros", ["none", "packed", "floats"])
def test_product_is_onnxruntimes(zeros: str) -> None:
    model, given, _ = nbits(4, 32, zeros, k=96, n=16)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    check(model, given, session.run(None, given)[0])


@pytest.mark.parametrize("bits, zeros", list(product((2, 4, 8), (False, True))))
@pytest.mark.parametrize("columns", [64, 40])
def test_rows_of_a_table_are_onnxruntimes(bits: int, zeros: bool, columns: int) -> None:
    """Those that are not there are zeros."""
    rng, blocks = np.random.default_rng(bits), -(-columns // 16)
    q = rng.integers(0, 1 << bits, (9, columns)).astype(np.uint8)
    known = {"w": packed(q, bits), "s": rng.uniform(0.5, 1.5, (9, blocks)).astype(np.float32)}
    if zeros:
        known["z"] = packed(rng.integers(0, 1 << bits, (9, blocks)).astype(np.uint8), bits)
    node = helper.make_node(
        "GatherBlockQuantized", ["w", "i", "s", *["z"] * zeros], ["y"], domain="com.microsoft",
        bits=bits, block_size=16,
    )  # fmt: skip
    at = {"i": np.array([[0, 8, -1], [3, 9, -10]], np.int64)}
    model = model_of(node, at, known, TensorProto.FLOAT)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    np.testing.assert_allclose(run_graph(load(model), at)[0], session.run(None, at)[0], rtol=1e-6)


@pytest.mark.parametrize("kind", [ml_dtypes.int4, ml_dtypes.uint4])
def test_rows_of_a_tensor_of_few_bits(kind: Any) -> None:
    rng = np.random.default_rng(0)
    known = {
        "w": rng.integers(0, 8, (9, 32)).astype(kind),
        "s": rng.uniform(0.5, 1.5, (9, 2)).astype(np.float32),
    }
    node = helper.make_node(
        "GatherBlockQuantized", list("wis"), ["y"], domain="com.microsoft", block_size=16
    )
    at = {"i": np.array([[0, 8, -1], [3, 9, -10]], np.int32)}
    model = model_of(node, at, known, TensorProto.FLOAT)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    np.testing.assert_allclose(run_graph(load(model), at)[0], session.run(None, at)[0], rtol=1e-6)


def test_weights_stay_packed() -> None:
    for bits in (2, 4, 8):
        graph = check(*nbits(bits, 32, "packed", k=512, n=64))
        words, scales, zeros = 512 * 64 * bits // 8, 512 * 64 // 32 * 4, 512 * 64 // 32
        known = [v for node in graph.nodes for v in node.inputs if v.is_constant]
        assert sum(v.bytes for v in known) == words + scales + zeros


@pytest.mark.parametrize(
    "changed, said",
    [
        ({"bits": 3}, "bits=3"),
        ({"block_size": 8}, "block_size=8"),
        ({"block_size": 48}, "block_size=48"),
        ({"block_size": 64}, "weights have"),
        ({"N": 6}, "weights have"),
        ({"K": 80}, "does not end in K = 80"),
    ],
)
def test_bad_nodes_are_named(changed: dict[str, int], said: str) -> None:
    model, _, _ = nbits(4, 32, "packed", changed=changed)
    with pytest.raises(UnsupportedModel, match=rf"MatMulNBits \(node nb\): .*{said}") as error:
        load(model)
    assert "\n" not in str(error.value)


def test_bad_inputs_are_named() -> None:
    for name, size in (("s", 14), ("z", 9), ("g", 71)):
        model, _, _ = nbits(4, 32, "packed", order=True)
        tensor = next(t for t in model.graph.initializer if t.name == name)
        found = numpy_helper.to_array(tensor)
        tensor.CopyFrom(numpy_helper.from_array(np.resize(found, size), name))
        with pytest.raises(UnsupportedModel, match=rf"node nb\): .* have {size} elements"):
            load(model)
    model, _, _ = nbits(4, 32, "none", order=True)
    tensor = next(t for t in model.graph.initializer if t.name == "g")
    tensor.CopyFrom(numpy_helper.from_array(np.full(72, 3, np.int32), "g"))
    with pytest.raises(UnsupportedModel, match=r"node nb\): group indices are outside"):
        load(model)


KINDS = {
    TensorProto.INT4: ml_dtypes.int4,
    TensorProto.UINT4: ml_dtypes.uint4,
    TensorProto.INT2: ml_dtypes.int2,
    TensorProto.UINT2: ml_dtypes.uint2,
}
LAYOUTS = ["one", "column", "row", "blocks", "blocks_turned", "gemm", "image"]


@pytest.mark.parametrize("kind, layout", list(product(KINDS, LAYOUTS)))
def test_tensors_of_few_bits(kind: int, layout: str) -> None:
    """DequantizeLinear of a constant, read by a product where that is one."""
    rng, (k, n) = np.random.default_rng(kind), (64, 6)
    limits = ml_dtypes.iinfo(KINDS[kind])
    turned = layout in ("blocks_turned", "gemm")
    shape = (n, k) if turned else (k, n)
    q = rng.integers(limits.min, limits.max, shape, endpoint=True)
    axis = {"column": 1, "row": 0, "gemm": 0}.get(layout, int(turned))
    block = 16 if layout.startswith("blocks") else 0
    scales = {"one": (), "column": (n,), "row": (k,), "gemm": (n,), "blocks": (k // 16, n)}
    scale = rng.uniform(0.5, 1.5, scales.get(layout, (n, k // 16) if turned else ()))
    zero = rng.integers(limits.min, limits.max, scale.shape, endpoint=True)

    def spread(v: Array) -> Array:
        if block:
            return np.repeat(v, block, axis)
        return v if v.ndim == 0 else v[:, None] if axis == 0 else v[None]

    weights = (q - spread(zero)) * spread(scale)
    x = rng.standard_normal((3, k)).astype(np.float32)
    known = {"w": q.astype(KINDS[kind]), "s": scale.astype(np.float32)}
    known["z"] = zero.astype(KINDS[kind])
    options = {"block_size": block} if block else {}
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["f"], axis=axis, **options)]
    if layout == "gemm":
        nodes.append(helper.make_node("Gemm", ["x", "f"], ["y"], transB=1))
    elif layout == "image":
        nodes.append(helper.make_node("Add", ["x2", "f"], ["y"]))
    else:
        if turned:
            nodes.append(helper.make_node("Transpose", ["f"], ["t"], perm=[1, 0]))
        nodes.append(helper.make_node("MatMul", ["x", "t" if turned else "f"], ["y"]))
    given = {"x2": np.zeros(shape, np.float32)} if layout == "image" else {"x": x}
    expected = weights if layout == "image" else x @ (weights.T if turned else weights)
    model = model_of(nodes, given, known, TensorProto.FLOAT)
    model.opset_import[0].version = 25
    graph = check(model, given, expected)
    assert any(node.op == "packed_dense" for node in graph.nodes) == (
        layout not in ("row", "image")
    )
    (found,) = run_graph(rounded(graph), given)
    assert np.abs(found - expected).max() <= 2e-2 * np.abs(expected).max()


@pytest.mark.parametrize("kind, by_zero", list(product(KINDS, (True, False))))
def test_quantized_to_few_bits(kind: int, by_zero: bool) -> None:
    """There and back, beyond both ends of the range."""
    limits = ml_dtypes.iinfo(KINDS[kind])
    x = np.linspace(-12, 20, 65, dtype=np.float32)
    zero = int(limits.max) - 1 if by_zero else 0
    known = {"s": np.float32(0.5).reshape(())}
    options: dict[str, int] = {} if by_zero else {"output_dtype": kind}
    if by_zero:
        known["z"] = np.array(zero, KINDS[kind])
    inputs = ["s", *(["z"] if by_zero else [])]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", *inputs], ["q"], **options),
        helper.make_node("DequantizeLinear", ["q", *inputs], ["y"]),
    ]
    expected = np.clip(np.rint(x / 0.5) + zero, limits.min, limits.max)
    model = model_of(nodes, {"x": x}, known, TensorProto.FLOAT)
    model.opset_import[0].version = 25
    check(model, {"x": x}, (expected - zero) * 0.5)
