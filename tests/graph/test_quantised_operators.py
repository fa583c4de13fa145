"""onnxruntime's quantised operators over their options, against onnxruntime itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from graph_reference import run_graph, run_onnx
from onnx import numpy_helper
from onnxruntime import quantization as quantiser
from test_onnxruntime_operators import DOMAIN, Case, floats

import tilewright as tw
from tilewright.graph.fusion import fuse
from tilewright.graph.onnx.importing import load
from tilewright.graph.passes import simplify
from tilewright.target import Target

TYPES = {"uint8": quantiser.QuantType.QUInt8, "int8": quantiser.QuantType.QInt8}
KINDS = tuple(TYPES)
SCALES = tuple(np.sqrt((3e-4, 8.3e-5, 9.1e-4)))
"""Whose sums and products are no ties: those fall as floats are rounded between."""


def drawn(seed: int, kind: str, *shape: int) -> Any:
    info = np.iinfo(kind)
    rng = np.random.default_rng(seed)
    return rng.integers(info.min, info.max, shape, endpoint=True).astype(kind)


def kinds(kind: str, *seeds: int) -> list[Any]:
    """A scale and a zero point for each."""
    first = 117 if kind == "uint8" else -5
    return [a for s in seeds for a in (real(SCALES[s]), np.array(first - 3 * s, kind))]


def real(number: float) -> Any:
    return np.array(number, np.float32)


def scaled(x: Any, seed: int) -> list[Any]:
    return [x, *kinds(x.dtype.name, seed)]


def elementwise(kind: str) -> list[Case]:
    a, b = drawn(1, kind, 3, 4, 50), drawn(2, kind, 4, 50)
    y = kinds(kind, 2)
    return [
        *(Case(f"QLinear{op}", [*scaled(a, 0), *scaled(b, 1), *y]) for op in ("Add", "Mul")),
        Case("QLinearMul", [*scaled(b, 0), *scaled(a, 1), *y], known=range(3)),
        Case("QLinearSigmoid", [*scaled(a, 2), real(1 / 256), y[1]], known=(1, 2, 3, 4)),
        Case("QLinearLeakyRelu", [*scaled(a, 0), *y], {"alpha": 0.2}, known=(1, 2, 3, 4)),
        Case("QLinearWhere", [a > 3, *scaled(a, 0), *scaled(b, 1), *y], known=range(2, 9)),
        Case("QLinearConcat", [*y, *scaled(a, 0), *scaled(a, 1), *scaled(a, 2)], {"axis": 1},
             known=(0, 1, 3, 4, 6, 7, 9, 10)),
        *(
            Case("QLinearSoftmax", [*scaled(a, 2), real(1 / 256), np.array(0, kind)],
                 {"axis": axis, "opset": opset}, known=(1, 2, 3, 4))
            for axis, opset in ((2, 13), (1, 13), (1, 11))
        ),
    ]  # fmt: skip


def reductions(kind: str) -> list[Case]:
    x, y = drawn(1, kind, 2, 8, 6, 7), kinds(kind, 1)
    last = {"channels_last": 1}
    window = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
    return [
        *(Case("QLinearGlobalAveragePool", [*scaled(x, 0), *y], o) for o in ({}, last)),
        *(
            Case("QLinearAveragePool", [*scaled(x, 0), *y], {**window, **o})
            for o in ({}, last, {"count_include_pad": 1}, {"ceil_mode": 1})
        ),
    ]


def products(kind: str, weights: str) -> list[Case]:
    a, b = drawn(1, kind, 5, 24), drawn(2, weights, 24, 9)
    sb, zb = np.random.default_rng(3).uniform(0.001, 0.01, 9).astype("f4"), drawn(4, weights, 9)
    bias, y = np.arange(9, dtype=np.int32) * 50 - 100, kinds(kind, 2)
    one = scaled(b, 1)
    floating = [a, b, real(0.02), sb, kinds(kind, 0)[1], zb, floats(9)]
    cases = [
        Case("QGemm", [*scaled(a, 0), *one, bias, *y], known=range(3, 9)),
        Case("QGemm", [*scaled(a, 0), b.T.copy(), sb, 0 * zb, bias], {"transB": 1, "alpha": 0.5},
             known=(3, 4, 5, 6)),
        Case("MatMulIntegerToFloat", floating, known=(1, 2, 3, 4, 5, 6)),
        Case("MatMulIntegerToFloat", floating[:4]),
        Case("QLinearConv", [*scaled(drawn(1, kind, 2, 7, 6, 8), 0),
                             *scaled(drawn(2, weights, 10, 8, 3, 3), 1), *y],
             {"channels_last": 1, "pads": [1] * 4}, known=range(3, 8)),
    ]  # fmt: skip
    if kind == "uint8":
        cases += [
            Case("DynamicQuantizeMatMul", [floats(5, 24), b, sb, zb, floats(9)], known=range(1, 5)),
            Case("DynamicQuantizeMatMul", [floats(2, 5, 24), b, real(0.02)]),
        ]
    return cases


def attention(weights: str) -> list[Case]:
    x, w = drawn(1, "uint8", 2, 5, 16), drawn(2, weights, 16, 24)
    given = [x, w, floats(24), real(0.01), real(0.004), None, np.array(120, np.uint8)]
    zero = np.array(3, weights)
    ids = np.array([[0, 4, 2], [1, 3, 3]], np.int32)
    tables = [drawn(i, "uint8", *s) for i, s in enumerate([(5, 8), (5, 8), (2, 8), (8,), (8,)])]
    pairs = [[real(0.01)] * 5, [np.array(110 + i, np.uint8) for i in range(5)]]
    return [
        Case("QAttention", [*given, zero], {"num_heads": 2}, known=(1, 2, 3, 4, 6, 7)),
        Case("QAttention", [*given, zero], {"num_heads": 2, "unidirectional": 1}, known=(1, 4, 7)),
        Case("QEmbedLayerNormalization", [ids, ids % 2, *tables, None, *pairs[0], *pairs[1]],
             known=(2, 3, 4, 5, 6, *range(8, 18)), kept=(0, 1)),
    ]  # fmt: skip


CASES = [
    *(c for k in KINDS for c in (*elementwise(k), *reductions(k))),
    *(c for k in KINDS for w in KINDS for c in products(k, w) if (k, w) != ("int8", "uint8")),
    *attention("uint8"),
    *attention("int8"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.inputs[0].dtype}-{c}")
def test_as_onnxruntime_computes_it(case: Case) -> None:
    model, given = case.model()
    for ours, theirs in zip(run_graph(load(model), given), run_onnx(model, given), strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        if ours.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)
        else:
            np.testing.assert_array_equal(ours, theirs)


def computed(case: Case) -> Any:
    model, given = case.model()
    (y,) = run_graph(load(model), given)
    return y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("axes", "keep"), [([2, 3], 1), ([-1], 0)])
def test_means_that_onnxruntime_has_not(kind: str, axes: list[int], keep: int) -> None:
    x, (scale, zero) = drawn(1, kind, 2, 8, 6, 7), kinds(kind, 1)
    options = {"axes": axes, "keepdims": keep}
    found = computed(Case("QLinearReduceMean", [*scaled(x, 0), scale, zero], options))
    real = (x - kinds(kind, 0)[1].astype(np.int32)).mean(tuple(axes), keepdims=bool(keep))
    limits = np.iinfo(kind)
    wanted = np.round(real * SCALES[0] / SCALES[1]) + zero
    np.testing.assert_array_equal(found, wanted.clip(limits.min, limits.max).astype(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_a_zero_point_that_is_left_out_is_none(kind: str) -> None:
    a, b, none = drawn(1, kind, 3, 50), drawn(2, kind, 50), np.zeros((), kind)
    scales = [real(s) for s in SCALES]
    for op in ("QLinearAdd", "QLinearMul"):
        with_zeros, without = (
            computed(Case(op, [a, scales[0], z, b, scales[1], z, scales[2], z]))
            for z in (none, None)
        )
        np.testing.assert_array_equal(with_zeros, without)


# ---- as its quantiser writes them ------------------------------------------------------------


GATED = [
    "c = Conv<pads = [1, 1, 1, 1]>(x, a, b)", "o = Relu(c)",
    "r = MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(o)",
    "d = Conv<pads = [1, 1, 1, 1]>(r, e)", "s = Add(d, r)", "g = GlobalAveragePool(s)",
    "h = Conv(g, u)", "i = Sigmoid(h)", "m = Mul(s, i)", "l = LeakyRelu<alpha = 0.2>(m)",
    "k = Concat<axis = 1>(l, s)", "p = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(k)",
    "f = Flatten(p)", "t = Gemm(f, v, w)", "n = MatMul(t, z)", "y = Softmax(n)",
]  # fmt: skip
"""A residual block with a gate, a branch, pools and two products."""

RESIDUAL = [
    "c = Conv<pads = [1, 1, 1, 1]>(x, a, b)", "o = Relu(c)",
    "r = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(o)",
    "d = Conv<pads = [1, 1, 1, 1]>(r, e)", "j = Relu(d)", "q = Conv<pads = [1, 1, 1, 1]>(j, e)",
    "k = Conv(r, u)", "s = Add(q, k)", "i = Relu(s)", "g = GlobalAveragePool(i)",
    "f = Flatten(g)", "n = MatMul(f, mix)", "y = Relu(n)",
]  # fmt: skip
"""A residual block with a projection on its shortcut."""


def network(lines: list[str]) -> onnx.ModelProto:
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[1,8,6,6] x) => (float[1,12] y) {'
    model = onnx.parser.parse_model("\n".join([text, *lines, "}"]))
    shapes = {
        "a": (16, 8, 3, 3), "b": (16,), "e": (16, 16, 3, 3), "u": (16, 16, 1, 1),
        "v": (288, 10), "w": (10,), "z": (10, 12), "mix": (16, 12),
    }  # fmt: skip
    used = {name for n in model.graph.node for name in n.input}
    model.graph.initializer.extend(
        numpy_helper.from_array(floats(*s, seed=i) / np.float32(np.sqrt(np.prod(s[1:]))), n)
        for i, (n, s) in enumerate(shapes.items())
        if n in used
    )
    return model


class Drawn(quantiser.CalibrationDataReader):  # type: ignore[misc]
    """Seeded images to calibrate with."""

    def __init__(self) -> None:
        self.left = [{"x": floats(1, 8, 6, 6, seed=i)} for i in range(4)]

    def get_next(self) -> Any:
        return self.left.pop() if self.left else None


def quantised(
    lines: list[str], folder: Path, form: str, kind: str, per_channel: bool
) -> onnx.ModelProto:
    onnx.save(network(lines), folder / "float.onnx")
    quantiser.quantize_static(
        folder / "float.onnx",
        folder / "bytes.onnx",
        Drawn(),
        quant_format=quantiser.QuantFormat[form],
        activation_type=TYPES[kind],
        weight_type=quantiser.QuantType.QInt8,
        per_channel=per_channel,
    )
    return onnx.load(folder / "bytes.onnx")


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lines", [GATED, RESIDUAL], ids=["gated", "residual"])
def test_what_its_quantiser_writes(
    lines: list[str], kind: str, per_channel: bool, tmp_path: Path
) -> None:
    model = quantised(lines, tmp_path, "QOperator", kind, per_channel)
    assert any(n.domain == DOMAIN for n in model.graph.node)
    given = {"x": floats(1, 8, 6, 6, seed=9)}
    (ours,), (theirs,) = run_graph(load(model), given), run_onnx(model, given)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_bytes_are_stored_between_kernels(form: str, kind: str, tmp_path: Path) -> None:
    """But for the mean of 16 channels, which QDQ dequantises before it is a row."""
    graph = simplify(load(quantised(RESIDUAL, tmp_path, form, kind, True)))
    groups = fuse(graph, Target.parse("cpu:icelake-server cores=2")).groups
    stored = [g.exit for g in groups if g.exit.dtype == "float32" and g.exit not in graph.outputs]
    assert [v for v in stored if v.elements > 16] == []


DYNAMIC = [
    "p = MatMul(x, a)", "q = Add(p, b)", "r = MatMul(x, c)", "s = Add(r, d)", "t = Add(q, s)",
    "u = Relu(t)", "v = MatMul(u, e)", "y = Add(v, b)",
]  # fmt: skip
"""Two products of what is given and one of their sum."""


@pytest.mark.parametrize("kind", KINDS)
def test_dynamic_products_are_a_kernel_each(kind: str, tmp_path: Path) -> None:
    """Beside them are the scale with the zero point, and the bytes, of what two products share;
    where weights have zero points, of what the third is given, too, and sums of rows of both.
    """
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[1,9,32] x) => (float[1,9,32] y) {'
    model = onnx.parser.parse_model("\n".join([text, *DYNAMIC, "}"]))
    weights = {n: floats(32, 32, seed=i) for i, n in enumerate("ace")} | {
        n: floats(32, seed=i) for i, n in enumerate("bd")
    }
    model.graph.initializer.extend(numpy_helper.from_array(v, n) for n, v in weights.items())
    onnx.save(model, tmp_path / "float.onnx")
    quantiser.quantize_dynamic(
        tmp_path / "float.onnx", tmp_path / "bytes.onnx", weight_type=TYPES[kind]
    )
    model, given = onnx.load(tmp_path / "bytes.onnx"), {"x": floats(1, 9, 32, seed=9)}
    graph = load(model)
    groups = fuse(simplify(graph), Target.parse("cpu:icelake-server cores=2")).groups
    products = [g for g in groups if any(n.op == "matmul" for n in g.nodes)]
    assert (len(products), len(groups) - len(products)) == (3, 2 if kind == "int8" else 2 * 3)
    made = [n.op for g in products[-1:] for n in g.nodes if n.op.startswith("reduce")]
    assert made == (["reduce_min", "reduce_max"] if kind == "int8" else [])
    (ours,), (theirs,) = run_graph(graph, given), run_onnx(model, given)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-3 * np.abs(theirs).max())


@pytest.mark.parametrize("shared", ["", "scale", "bytes"])
def test_what_others_read_of_a_quantisation_stays_apart(shared: str) -> None:
    """A product is one kernel with all that it alone reads, at any number of rows; a scale that is
    returned is found before it, and returned bytes are made before it.
    """
    outputs = {"scale": "float s", "bytes": "uint8[R,32] q"}
    more = f", {outputs[shared]}" if shared else ""
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]> g (float[R,32] x) => (float[R,24] y{more}) {{
        q, s, z = DynamicQuantizeLinear(x)  i = MatMulInteger(q, w, z)  f = Cast<to = 1>(i)
        y = Mul(f, s) }}"""
    )
    model.graph.initializer.append(numpy_helper.from_array(drawn(3, "int8", 32, 24), "w"))
    net = tw.compile(tw.load(model, shapes={"R": (1, 40)}))
    assert len(net.artifact.steps) == {"": 1, "scale": 3, "bytes": 3}[shared]
    for rows in (1, 17, 40):
        given = {"x": floats(rows, 32, seed=rows)}
        for ours, theirs in zip(net.run(given), run_onnx(model, given), strict=True):
            np.testing.assert_array_equal(ours, theirs)
