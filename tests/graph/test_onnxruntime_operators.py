"""Operators of onnxruntime's own domain, against it; those it has on GPUs only, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx.parser
import onnxruntime
import pytest
from graph_reference import Array, make_model, run_graph, run_onnx, run_partition
from onnx import helper, numpy_helper

import tilewright as tw
from tilewright.graph.onnx.importing import load
from tilewright.graph.onnx.support import operators
from tilewright.graph.partition import partition
from tilewright.graph.passes import simplify
from tilewright.ground.errors import UnsupportedModel

DOMAIN = "com.microsoft"


def floats(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def ints(*values: int) -> Array:
    return np.array(values, np.int32)


def caches(pairs: int) -> dict[str, Array]:
    angles = np.arange(12)[:, None] * 0.7 ** np.arange(pairs)
    return {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}


@dataclass
class Case:
    """One node. Its inputs are arrays in their order (None: left out); `known` are initializers,
    the others given when it runs. `kept` are the positions of the outputs that are asked for.
    """

    op: str
    inputs: Sequence[Array | None]
    attributes: dict[str, Any] = field(default_factory=dict)
    known: Sequence[int] = ()
    kept: Sequence[int] = (0,)
    domain: str = DOMAIN
    opset: int = 17

    def model(self) -> tuple[onnx.ModelProto, dict[str, Array]]:
        """The model and what it is given."""
        named = {f"i{n}": a for n, a in enumerate(self.inputs) if a is not None}
        weights = {f"i{n}": named.pop(f"i{n}") for n in self.known}
        inputs = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in named.items()
        ]
        made = [f"y{n}" if n in self.kept else "" for n in range(max(self.kept) + 1)]
        node = helper.make_node(
            self.op,
            [f"i{n}" if a is not None else "" for n, a in enumerate(self.inputs)],
            made,
            domain=self.domain,
            **self.attributes,
        )
        outputs = [helper.make_empty_tensor_value_info(n) for n in made if n]
        constants = [numpy_helper.from_array(a, n) for n, a in weights.items()]
        graph = helper.make_graph([node], "test", inputs, outputs, constants)
        imports = [helper.make_opsetid("", self.opset), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=8), named

    def __str__(self) -> str:
        given = "".join(
            "-" if a is None else "kx"[n not in self.known] for n, a in enumerate(self.inputs)
        )
        options = ",".join(f"{k}={v}" for k, v in self.attributes.items())
        return f"{self.op}[{given};{options}]{list(self.kept)}"


X, SKIP, GAMMA, BETA = floats(2, 5, 8), floats(2, 5, 8, seed=2), floats(8, seed=3), floats(8)
ACTIVATED = [
    *({"activation": a} for a in ("Relu", "Tanh", "Sigmoid")),
    {"activation": "LeakyRelu", "activation_params": [0.2]},
    {"activation": "Clip", "activation_params": [-0.5, 0.75]},
    {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]},
]
SIMPLE = [
    Case("BiasGelu", [X, BETA], known=[1]),
    Case("FastGelu", [X]),
    Case("FastGelu", [X, BETA], known=[1]),
    Case("Gelu", [X]),
    Case("QuickGelu", [X]),
    Case("QuickGelu", [X], {"alpha": 1.0}),
    Case("ExpandDims", [X, np.array(1, np.int32)], known=[1]),
    Case("ExpandDims", [X, np.array(-1, np.int32)], known=[1]),
    Case("Trilu", [X, np.array(1, np.int64)], {"upper": 0}),
    Case("GridSample", [floats(1, 2, 5, 6), floats(1, 3, 4, 2) / 2], {"mode": "bicubic"}),
    *(
        Case("FusedConv", [floats(1, 4, 7, 6), floats(6, 2, 3, 3), b, z], {**a, "group": 2})
        for a in ACTIVATED
        for b, z in ((floats(6), None), (floats(6), floats(1, 6, 5, 4)))
    ),
    *(
        Case("FusedGemm", [floats(3, 4), floats(5, 4), floats(5)], {
            "transB": 1, "alpha": 0.5, "activation": name, **options,
        })
        for name, options in (
            ("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.3}),
            ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4}),
        )
    ),
]  # fmt: skip

PRODUCTS = [
    *(
        Case(
            "FusedMatMul",
            [floats(*((2, 4, 3) if a else (2, 3, 4))), floats(*((2, 5, 4) if b else (2, 4, 5)))],
            {"transA": a, "transB": b, "alpha": 0.25},
        )
        for a in (0, 1)
        for b in (0, 1)
    ),
    Case("FusedMatMul", [floats(2, 3, 3, 4), floats(4, 5)], {"alpha": 2.0}),
    Case("FusedMatMul", [floats(4), floats(4, 5)], {"transA": 1}),
    Case("FusedMatMul", [floats(3, 2, 4), floats(2, 4, 5)], {"transBatchA": 1}),
    Case("FusedMatMul", [floats(2, 3, 4), floats(4, 2, 5)], {"transBatchB": 1}),
    Case(
        "FusedMatMul",
        [floats(4, 2, 6, 3), floats(5, 2, 6, 4)],
        {"transBatchA": 1, "transA": 1, "transBatchB": 1, "transB": 1},
    ),
]

NORMS = [
    *(
        Case("SkipLayerNormalization", [X, skip, GAMMA, *rest], {"epsilon": 1e-5}, kept=kept)
        for skip in (SKIP, SKIP[:1], SKIP[0])
        for rest in ([], [BETA], [BETA, floats(8, seed=5)], [None, floats(8, seed=5)])
        for kept in ([0], [0, 3])
    ),
    *(
        Case("SkipSimplifiedLayerNormalization", [X, SKIP, GAMMA, *rest], kept=kept)
        for rest in ([], [BETA])
        for kept in ([0], [0, 3])
    ),
    Case("SimplifiedLayerNormalization", [X, GAMMA], domain=""),
    Case("SimplifiedLayerNormalization", [X, floats(5, 8)], {"axis": 1}, domain="", opset=21),
    Case("LayerNormalization", [X, GAMMA, BETA], domain="", opset=13),
    *(
        Case(
            "EmbedLayerNormalization",
            [
                ints(*range(6)).reshape(2, 3), ints(0, 1, 1, 0, 0, 1).reshape(2, 3) if s else None,
                floats(9, 8), floats(5, 8, seed=2), floats(2, 8, seed=3) if s else None, GAMMA,
                BETA, mask, at,
            ],
            known=[2, 3, *([4] if s else [])],
            kept=[0, 1, 2],
        )
        for s in (True, False)
        for mask, at in (
            (None, None), (ints(1, 1, 0, 1, 0, 0).reshape(2, 3), None),
            (None, ints(4, 3, 2, 1, 0, 0).reshape(2, 3)),
        )
    ),
]  # fmt: skip


def attention_cases() -> list[Case]:
    """B 2, S 5, D 8 of two heads."""
    x, w, b = floats(2, 5, 6), floats(6, 24, seed=2), floats(24, seed=3)
    heads: dict[str, Any] = {"num_heads": 2}
    masks = [
        ints(3, 5), ints(4, 5, 1, 2), (floats(2, 5) > -0.5).astype(np.int32),
        (floats(2, 5, 5) > -0.5).astype(np.int32),
    ]  # fmt: skip
    wide = floats(6, 4 + 4 + 6, seed=2), floats(14, seed=3)
    return [
        Case("Attention", [x, w, b], heads, known=[1, 2]),
        Case("Attention", [x, w, b], {**heads, "unidirectional": 1}, kept=[0, 1]),
        Case("Attention", [x, w, b], {**heads, "scale": 0.3}, known=[1]),
        Case("Attention", [x, *wide], {**heads, "qkv_hidden_sizes": [4, 4, 6]}),
        *(Case("Attention", [x, w, b, mask], heads) for mask in masks),
        Case("Attention", [x, w, b, masks[2]], {**heads, "unidirectional": 1}),
        Case("Attention", [x, w, b, masks[2]], {**heads, "mask_filter_value": -3.0}),
        Case("Attention", [x, w, b, None, None, floats(2, 2, 5, 5)], heads),
        Case("Attention", [x, w, b, None, None, floats(1, 1, 5, 5)], heads),
        Case("Attention", [x, w, b, None, floats(2, 2, 2, 3, 4)], heads, kept=[0, 1]),
        Case(
            "Attention",
            [x, w, b, None, floats(2, 2, 2, 3, 4)],
            {**heads, "unidirectional": 1},
            kept=[0, 1],
        ),
    ]


def multi_head_cases() -> list[Case]:
    q, k, v = floats(2, 3, 8), floats(2, 5, 8, seed=2), floats(2, 5, 12, seed=3)
    with_past = [q, k, v[..., :8], floats(24, seed=4), None, None]
    heads: dict[str, Any] = {"num_heads": 2}
    bias = floats(28, seed=4)
    masks = [(floats(2, 5) > -0.5).astype(np.int32), ints(3, 5)]
    past = [floats(2, 2, 4, 4), floats(2, 2, 4, 4, seed=5)]
    in_heads = [floats(2, 2, 5, 4, seed=2), floats(2, 2, 5, 4, seed=3)]
    name = "MultiHeadAttention"
    return [
        Case(name, [q, k, v], heads),
        Case(name, [q, k, v], {**heads, "scale": 0.2}),
        Case(name, [q, k, v, bias], heads, known=[3]),
        Case(name, [k, k, v, bias], {**heads, "unidirectional": 1}, kept=[0, 1, 2]),
        *(Case(name, [q, k, v, None, mask], heads) for mask in masks),
        Case(name, [q, k, v, None, masks[0]], {**heads, "mask_filter_value": -2.0}),
        Case(name, [q, k, v, None, None, floats(2, 2, 3, 5)], heads),
        Case(name, [q, k, v, None, masks[0], floats(1, 1, 3, 5)], heads),
        Case(name, [*with_past, *past], heads, kept=[0, 1, 2]),
        Case(name, [q, *in_heads], heads),
    ]


def rotary_cases() -> list[Case]:
    name, at = "RotaryEmbedding", np.array([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]], np.int64)
    flat, heads = floats(2, 5, 16), floats(2, 2, 5, 8)
    full, part = tuple(caches(4).values()), tuple(caches(2).values())
    partial = {"rotary_embedding_dim": 4, "num_heads": 2}
    return [
        *(
            Case(name, [x, p, *full], {"interleaved": i}, known=[2, 3])
            for x in (flat, heads)
            for p in (at, np.array([2], np.int64))
            for i in (0, 1)
        ),
        *(Case(name, [flat, at, *part], {**partial, "interleaved": i}) for i in (0, 1)),
    ]


def grouped_cases() -> list[Case]:
    """Two sequences of 6 at once, the first one or both whole."""
    name, counts = "GroupQueryAttention", {"num_heads": 4, "kv_num_heads": 2}
    q, k, v = floats(2, 6, 64), floats(2, 6, 32, seed=2), floats(2, 6, 32, seed=3)
    past = [np.empty((2, 2, 0, 16), np.float32)] * 2
    ends = [ints(5, 5), np.array(6, np.int32)]
    turned = [*caches(8).values()]
    all_three = [0, 1, 2]
    return [
        Case(name, [q, k, v, *past, *ends], counts, [6], all_three),
        Case(name, [q, k, v, *past, *ends], {**counts, "scale": 0.2}, [6], all_three),
        Case(name, [q, k, v, *past, *ends], {**counts, "softcap": 1.5}, [6], all_three),
        Case(name, [q, k, v, *past, *ends], {**counts, "local_window_size": 3}, [6], all_three),
        Case(name, [q, k, v, *past, *ends], {**counts, "smooth_softmax": 1}, [6], all_three),
        Case(name, [q, k, v, *past, *ends, *[None] * 3, floats(2, 4, 6, 6)], counts, [6]),
        Case(name, [q, k, v, *past, *ends, *[None] * 4, floats(4)], counts, [6]),
        *(
            Case(
                name, [q, k, v, *past, *ends, *turned],
                {**counts, "do_rotary": 1, "rotary_interleaved": i}, [6, 7, 8], all_three,
            )
            for i in (0, 1)
        ),
        Case(
            name, [np.concatenate([q, k, v], 2), None, None, *past, *ends], counts, [6], all_three
        ),
    ]  # fmt: skip


def agrees(found: Sequence[Array], wanted: Sequence[Array], tolerance: float = 2e-5) -> None:
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "case",
    [
        *SIMPLE, *PRODUCTS, *NORMS, *attention_cases(), *multi_head_cases(), *rotary_cases(),
        *grouped_cases(),
    ],
    ids=str,
)  # fmt: skip
def test_as_onnxruntime_computes_it(case: Case) -> None:
    model, given = case.model()
    shapes = {name: array.shape for name, array in given.items()}
    agrees(run_graph(load(model, shapes), given), run_onnx(model, given))


# ---- what onnxruntime has on GPUs only ------------------------------------------------------


SIZED = [
    (case, d)
    for cases, d in (
        (attention_cases()[:3], 0), (attention_cases()[:2], 1), (attention_cases()[6:8], 1),
        (multi_head_cases()[:1], 0), (multi_head_cases()[:1], 1), (rotary_cases()[:1], 0),
        (NORMS[:1], 0), (NORMS[:1], 1), (NORMS[-1:], 0), (NORMS[-1:], 1),
    )
    for case in cases
]  # fmt: skip


@pytest.mark.parametrize(("case", "d"), SIZED, ids=str)
def test_batch_and_length_may_vary(case: Case, d: int) -> None:
    model, given = case.model()
    n = next(iter(given.values())).shape[d]
    for info in model.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_value == n:
                dim.dim_param = "seq"
    cut = partition(simplify(load(model, {"seq": (1, n)})))
    for value in (n, n - 1):
        static = load(model, {"seq": (value,)})
        inputs = {
            v.name: given[v.name][tuple(map(slice, v.shape))].astype(v.dtype) for v in static.inputs
        }
        agrees(run_partition(cut, inputs, {"seq": value}), run_graph(static, inputs), 1e-4)


def erf_gelu(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))), np.float32)


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def normalised(x: Array, groups: int) -> Array:
    """Of [n, h, w, c]."""
    parts = x.reshape(*x.shape[:3], groups, -1)
    centred = parts - parts.mean((1, 2, 4), keepdims=True)
    unit = centred / np.sqrt((centred**2).mean((1, 2, 4), keepdims=True) + 1e-5)
    return np.asarray(unit.reshape(x.shape) * CHANNELS[0] + CHANNELS[1])


CHANNELS = floats(6, seed=7), floats(6, seed=8), floats(6, seed=9)
IMAGE, OTHER = floats(2, 4, 3, 6), floats(2, 4, 3, 6, seed=2)
FIRST = (0, 3, 1, 2)


def convolved(w: Array, transposed: bool) -> Array:
    """IMAGE with weights [o, c, h, w], by ONNX's Conv in onnxruntime."""
    x = IMAGE.transpose(FIRST)
    case = Case("Conv", [x, w.transpose(FIRST) if transposed else w], {"pads": [1] * 4}, domain="")
    return run_onnx(*case.model())[0].transpose(0, 2, 3, 1)


def apart(*parts: Array) -> list[Array]:
    """Attention of two heads over queries, keys and values [batch, length, heads, size]."""
    flat = [p.reshape(*p.shape[:2], -1) for p in parts]
    return run_onnx(*Case("MultiHeadAttention", flat, {"num_heads": 2}).model())


def shares(x: Array) -> Array:
    """Softmax over the last dimension."""
    y = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(y / y.sum(-1, keepdims=True))


PACKED, PAIR, QUERY = floats(2, 5, 2, 3, 4), floats(2, 5, 2, 2, 4, seed=2), floats(2, 3, 2, 4)
GROUPS = {"groups": 2, "activation": 0}
REFERENCES: list[tuple[Case, Sequence[Array]]] = [
    (Case("BiasSplitGelu", [X, GAMMA]),
     [(X + GAMMA)[..., :4] * erf_gelu((X + GAMMA)[..., 4:])]),
    (Case("BiasSoftmax", [X, floats(2, 1, 8)], {"axis": 2, "is_inner_broadcast": 1}),
     [shares(X + floats(2, 1, 8))]),
    (Case("BiasSoftmax", [X, floats(1, 5, 8)], {"axis": 1, "is_inner_broadcast": 0}),
     [shares((X + floats(1, 5, 8)).reshape(2, 40)).reshape(2, 5, 8)]),
    (Case("MultiHeadAttention", [PACKED], {"num_heads": 2}),
     apart(*(PACKED[:, :, :, i] for i in range(3)))),
    (Case("MultiHeadAttention", [QUERY.reshape(2, 3, 8), PAIR], {"num_heads": 2}),
     apart(QUERY, PAIR[:, :, :, 0], PAIR[:, :, :, 1])),
    (Case("BiasAdd", [X, GAMMA, SKIP]), [X + GAMMA + SKIP]),
    (Case("GemmFastGelu", [X, floats(8, 3), floats(3)]),
     run_onnx(*Case("FastGelu", [X @ floats(8, 3), floats(3)]).model())),
    (Case("TransposeMatMul", [X, SKIP], {"transB": 1, "alpha": 0.5}),
     [0.5 * X @ SKIP.swapaxes(1, 2)]),
    (Case("GroupNorm", [IMAGE, *CHANNELS[:2]], GROUPS), [normalised(IMAGE, 2)]),
    (Case("GroupNorm", [IMAGE, *CHANNELS[:2]], {**GROUPS, "activation": 1}),
     [silu(normalised(IMAGE, 2))]),
    (Case("GroupNorm", [IMAGE.transpose(FIRST), *CHANNELS[:2]], {**GROUPS, "channels_last": 0}),
     [normalised(IMAGE, 2).transpose(FIRST)]),
    *(
        (Case("SkipGroupNorm", [IMAGE, *CHANNELS[:2], skip, *bias], GROUPS, kept=[0, 1]),
         [normalised(total, 2), total])
        for skip, bias, total in (
            (OTHER, [], IMAGE + OTHER),
            (OTHER[:, :1, :1], [CHANNELS[2]], IMAGE + OTHER[:, :1, :1] + CHANNELS[2]),
            (OTHER[:, 0, 0], [], IMAGE + OTHER[:, :1, :1]),
        )
    ),
    (Case("NhwcConv", [IMAGE, floats(5, 3, 3, 6)], {"pads": [1] * 4}),
     [convolved(floats(5, 3, 3, 6), True)]),
    (Case("NhwcFusedConv", [IMAGE, floats(5, 6, 3, 3)], {"pads": [1] * 4, "activation": "Relu"}),
     [np.maximum(convolved(floats(5, 6, 3, 3), False), 0)]),
    (Case("NhwcMaxPool", [IMAGE], {"kernel_shape": [2, 2]}),
     [np.maximum.reduce([IMAGE[:, i : i + 3, j : j + 2] for i in (0, 1) for j in (0, 1)])]),
]  # fmt: skip


@pytest.mark.parametrize(("case", "wanted"), REFERENCES, ids=[str(c) for c, _ in REFERENCES])
def test_as_it_is_described(case: Case, wanted: Sequence[Array]) -> None:
    model, given = case.model()
    agrees(run_graph(load(model), given), wanted)


NARROW = [
    SIMPLE[0], SIMPLE[12], PRODUCTS[0], NORMS[1], NORMS[-1], attention_cases()[8],
    multi_head_cases()[3], rotary_cases()[0], *grouped_cases()[4:6], REFERENCES[0][0],
    REFERENCES[8][0],
]  # fmt: skip


def cast(case: Case, old: Any, new: Any) -> Case:
    arrays = [a if a is None or a.dtype != old else a.astype(new) for a in case.inputs]
    return replace(case, inputs=arrays)


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("case", NARROW, ids=str)
def test_in_narrow_types(case: Case, kind: Any) -> None:
    """As in float32, of the same numbers."""
    narrow = cast(case, np.float32, kind)
    found, wanted = (
        run_graph(load(model, {n: a.shape for n, a in given.items()}), given)
        for model, given in (narrow.model(), cast(narrow, kind, np.float32).model())
    )
    for ours, exact in zip(found, wanted, strict=True):
        assert ours.dtype == (kind if exact.dtype == np.float32 else exact.dtype)
        error = np.abs(ours.astype(np.float64) - exact).max() / max(np.abs(exact).max(), 1)
        assert error < (0.01 if kind is np.float16 else 0.06)


# ---- as its optimiser writes them ------------------------------------------------------------


def block(activation: Sequence[str], norm: bool) -> onnx.ModelProto:
    """norm(x + act(x a + b) c), attention without heads, and a convolution, as exporters do it."""
    lines = [
        "m = MatMul(x, a)", "h = Add(m, b)", *activation, "p = MatMul(g, c)", "s = Add(p, d)",
        "r = Add(s, x)",
        "n = LayerNormalization<axis = -1>(r, w, v)" if norm else "n = Relu(r)",
        "t = Transpose<perm = [0, 2, 1]>(n)", "q = MatMul(n, t)", "f = Mul(q, k)",
        "o = Softmax<axis = -1>(f)", "u = MatMul(o, n)", "i = Unsqueeze(u, one)",
        "j = Conv<pads = [1, 1, 1, 1]>(i, e)", "l = Add(j, i)", "z = Relu(l)",
        "y = Squeeze(z, one)",
    ]  # fmt: skip
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 5, 16] x) => (float[2, 5, 16] y) {'
    model = onnx.parser.parse_model("\n".join([text, *lines, "}"]))
    weights = {
        "a": floats(16, 32), "b": floats(32), "c": floats(32, 16) / 8, "d": floats(16),
        "w": floats(16), "v": floats(16), "k": np.float32(0.2), "e": floats(1, 1, 3, 3),
        "half": np.float32(0.5), "root": np.float32(math.sqrt(2)), "unit": np.float32(1),
        "quick": np.float32(1.702), "one": np.array([1]),
    }  # fmt: skip
    model.graph.initializer.extend(
        numpy_helper.from_array(np.asarray(v), n) for n, v in weights.items()
    )
    return model


ERF_GELU = ["a1 = Div(h, root)", "a2 = Erf(a1)", "a3 = Add(a2, unit)", "a4 = Mul(h, a3)",
            "g = Mul(a4, half)"]  # fmt: skip
QUICK_GELU = ["a1 = Mul(h, quick)", "a2 = Sigmoid(a1)", "g = Mul(h, a2)"]


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("activation", [ERF_GELU, QUICK_GELU], ids=["gelu", "quick"])
def test_what_its_optimiser_writes(activation: list[str], norm: bool, tmp_path: Path) -> None:
    """Files that onnxruntime saves after its fusions, and before: the same results."""
    model = block(activation, norm)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "fused.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    fused = onnx.load(tmp_path / "fused.onnx")
    assert any(n.domain == DOMAIN for n in fused.graph.node)
    given = {"x": floats(2, 5, 16, seed=9)}
    for each in (fused, model):
        agrees(run_graph(load(each), given), session.run(None, given), 1e-4)


def test_what_its_optimiser_writes_for_one_machine(tmp_path: Path) -> None:
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"])]
    model = make_model(nodes, {"x": (1, 32, 8, 8)}, {"w": floats(32, 32, 3, 3)})
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.optimized_model_filepath = str(tmp_path / "blocked.onnx")
    onnxruntime.InferenceSession(model.SerializeToString(), options)
    written = onnx.load(tmp_path / "blocked.onnx")
    if all(n.domain != "com.microsoft.nchwc" for n in written.graph.node):
        pytest.skip("onnxruntime has no blocked convolutions for this CPU")
    with pytest.raises(UnsupportedModel, match="ORT_ENABLE_EXTENDED instead of ORT_ENABLE_ALL"):
        load(written)


def test_they_are_listed() -> None:
    listed = {o.name: o for o in operators()}
    assert listed["com.microsoft.BiasGelu"].how == "kernels"
    assert "earlier calls" in listed["com.microsoft.GroupQueryAttention"].note


# ---- what is not taken ------------------------------------------------------------------------

Q, PAST = floats(2, 3, 8), floats(2, 2, 9, 4)
REFUSED = [
    (Case("Attention", [X, floats(8, 24), None, np.ones((2, 1, 5, 5), np.int32)],
          {"num_heads": 2}), "a mask .* is not supported"),
    (Case("Attention", [X, floats(8, 24)], {"num_heads": 2, "do_rotary": 1}), "its do_rotary"),
    (Case("MultiHeadAttention",
          [Q, Q, Q, None, None, None, PAST, PAST, np.array(3, np.int32)],
          {"num_heads": 2}), "its past_sequence_length is not supported"),
    (Case("GroupQueryAttention",
          [Q, Q, Q, floats(2, 2, 4, 4), floats(2, 2, 4, 4), ints(6, 6), np.array(9, np.int32)],
          {"num_heads": 2, "kv_num_heads": 2}, [6]), "total_sequence_length is 9, .* are 7"),
    (Case("RotaryEmbedding", [Q, np.array([0]), *caches(2).values()],
          {"num_heads": 2, "is_packed_batching": 1}), "its is_packed_batching"),
    (Case("SkipLayerNormalization", [X, X, GAMMA], kept=[0, 1]), "its output 1 is used"),
    (Case("FusedConv", [floats(1, 2, 4, 4), floats(2, 2, 3, 3)], {"activation": "Odd"}),
     "activation 'Odd' is not supported; known: Clip"),
    (Case("RemovePadding", [X, ints(3, 5)]), "unknown operator"),
]  # fmt: skip


@pytest.mark.parametrize(("case", "reason"), REFUSED, ids=[str(c) for c, _ in REFUSED])
def test_what_is_not_taken_is_named(case: Case, reason: str) -> None:
    with pytest.raises(UnsupportedModel, match=reason):
        load(case.model()[0])


# ---- LSTM of integer weights --------------------------------------------------------------------


def quantised(w: Array, kind: Any, columns: bool) -> tuple[Array, Array, Array]:
    """[directions, 4 · hidden, in] as integers [directions, in, 4 · hidden], scales, zero points;
    one of each a direction, or a column.
    """
    w = w.swapaxes(1, 2)
    over = (1,) if columns else (1, 2)
    limits = np.iinfo(kind)
    if kind is np.int8:
        scale = np.abs(w).max(over) / 127
        zero = np.zeros(scale.shape, kind)
    else:
        low, high = np.minimum(w.min(over), 0), np.maximum(w.max(over), 0)
        scale = (high - low) / 255
        zero = np.round(-low / scale).astype(kind)
        if columns:  # one zero point for all of them, as onnxruntime wants
            scale, zero = np.broadcast_to(scale.max(), scale.shape), np.full(scale.shape, 128, kind)
    spread = [v.reshape(len(w), 1, -1) for v in (scale, zero)]
    q = np.clip(np.round(w / spread[0]) + spread[1], limits.min, limits.max).astype(kind)
    return q, scale.astype(np.float32), zero


def lstm(directions: int, kind: Any, columns: bool, inputs: int = 6, hidden: int = 5) -> Case:
    w = quantised(floats(directions, 4 * hidden, inputs), kind, columns)
    r = quantised(floats(directions, 4 * hidden, hidden, seed=2) / 2, kind, columns)
    x, bias = floats(7, 1, inputs, seed=3), floats(directions, 8 * hidden, seed=4)
    state = [floats(directions, 1, hidden, seed=s) for s in (5, 6)]
    way = "bidirectional" if directions == 2 else "forward"
    return Case(
        "DynamicQuantizeLSTM",
        [x, w[0], r[0], bias, None, *state, None, *w[1:], *r[1:]],
        {"hidden_size": hidden, "direction": way},
        known=[1, 2, 3, 8, 9, 10, 11],
        kept=[0, 1, 2],
    )


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
@pytest.mark.parametrize("directions", [1, 2])
def test_an_lstm_of_integer_weights(directions: int, kind: Any, columns: bool) -> None:
    model, given = lstm(directions, kind, columns).model()
    agrees(run_graph(load(model), given), run_onnx(model, given), 1e-4)


def test_weights_of_an_lstm_must_be_known() -> None:
    case = replace(lstm(1, np.int8, False), known=())
    with pytest.raises(UnsupportedModel, match=r"its W .* must be known at compile time"):
        load(case.model()[0])


# ---- compiled -----------------------------------------------------------------------------------

COMPILED = [attention_cases()[8], lstm(2, np.int8, True)]


@pytest.mark.cpu
@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_compiled_as_onnxruntime_computes_it(case: Case) -> None:
    model, given = case.model()
    loaded = tw.load(model, shapes={name: array.shape for name, array in given.items()})
    agrees(tw.compile(loaded).run(given), run_onnx(model, given), 2e-4)
