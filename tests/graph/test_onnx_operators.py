"""Every supported ONNX operator against onnxruntime: imported as is, and simplified and cut."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import Array, make_model, random_inputs, run_graph, run_onnx, run_partition
from onnx import TensorProto, helper

from tilewright.graph.onnx.importing import load
from tilewright.graph.partition import partition
from tilewright.graph.passes import simplify
from tilewright.ground.errors import UnsupportedModel

IMAGE = (2, 6, 7, 9)


@dataclass
class Case:
    """One node: `x` (and `x1`, …) are run-time inputs, `weights` the constants after them."""

    op: str
    shapes: tuple[tuple[int, ...], ...] = (IMAGE,)
    weights: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    opset: int = 17
    positive: bool = False
    bools: bool = False
    outputs: int = 1

    def __str__(self) -> str:
        extra = ",".join(f"{k}={v}" for k, v in self.attributes.items())
        return f"{self.op}-{self.opset}[{extra}]{'w' * len(self.weights)}"


def floats(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def ints(*values: int) -> Array:
    return np.array(values, np.int64)


def statistics(channels: int) -> dict[str, Array]:
    return {
        "s": floats(channels, seed=2),
        "b": floats(channels, seed=3),
        "m": floats(channels, seed=4),
        "v": np.abs(floats(channels, seed=5)) + 0.5,
    }


ACTIVATIONS = [
    *("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "HardSwish", "Neg", "Relu", "Round"),
    *("Selu", "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Tanh", "Identity", "Mish"),
]
ALPHA = ("LeakyRelu", "Elu", "Celu", "ThresholdedRelu")
CASES = [
    *(Case(op, opset=18) for op in ACTIVATIONS),
    *(Case(op, positive=True) for op in ("Log", "Sqrt", "Reciprocal")),
    *(Case(op, attributes={"alpha": 0.3}) for op in ALPHA),
    Case("HardSigmoid", attributes={"alpha": 0.3, "beta": 0.4}),
    Case("Shrink", attributes={"lambd": 0.2, "bias": 0.1}),
    Case("RMSNormalization", weights={"s": floats(7, 9)}, attributes={"axis": 2}, opset=23),
    Case("Swish", attributes={"alpha": 1.5}, opset=24),
    Case("Swish", opset=24),
    Case("Gelu", opset=20),
    Case("Gelu", opset=20, attributes={"approximate": "tanh"}),
    Case("Clip", weights={"lo": np.float32(-0.5), "hi": np.float32(0.5)}),
    Case("Clip", attributes={"min": -0.3, "max": 0.7}, opset=6 + 2),
    Case("PRelu", weights={"slope": floats(6, 1, 1)}),
    Case("Cast", attributes={"to": TensorProto.INT32}),
    Case("Dropout", weights={"ratio": np.float32(0.4)}),
    Case("Dropout", attributes={"ratio": 0.4}, opset=9),
    *(
        Case(op, shapes=((2, 6, 1, 9), (6, 7, 1)))
        for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Greater", "Less", "Equal")
    ),
    *(Case(op, shapes=((3, 5), (3, 5))) for op in ("GreaterOrEqual", "LessOrEqual")),
    *(Case(op, shapes=((3, 5), (1, 5)), bools=True) for op in ("And", "Or", "Xor")),
    Case("Not", shapes=((3, 5),), bools=True),
    Case("IsNaN"),
    Case("IsInf"),
    Case("Sum", shapes=((3, 5), (5,), (3, 1))),
    Case("Mean", shapes=((3, 5), (5,), (3, 1))),
    *(Case("Pow", weights={"e": np.float32(e)}, positive=True) for e in (2, 3, 0.5, -0.5, -1, 1.7)),
    Case("Pow", weights={"e": np.int64(2)}),
    Case("Mod", shapes=((3, 5), (3, 5)), attributes={"fmod": 1}),
    Case(
        "Where", shapes=((3, 5), (3, 5)), weights={"c": np.array([True, False, True, True, False])}
    ),
    Case("Reshape", weights={"shape": ints(0, -1, 9)}),
    Case("Flatten", attributes={"axis": 2}),
    Case("Squeeze", shapes=((2, 1, 5, 1),), weights={"axes": ints(1, -1)}),
    Case("Squeeze", shapes=((2, 1, 5, 1),), attributes={"axes": [1]}, opset=11),
    Case("Unsqueeze", shapes=((2, 5),), weights={"axes": ints(0, -1)}),
    Case("Unsqueeze", shapes=((2, 5),), attributes={"axes": [1]}, opset=9),
    Case("Transpose", attributes={"perm": [0, 2, 3, 1]}),
    Case("Transpose"),
    Case("Concat", shapes=((2, 3, 4), (2, 1, 4)), attributes={"axis": 1}),
    Case("Split", weights={"split": ints(2, 4)}, attributes={"axis": 1}, outputs=2),
    Case("Split", attributes={"axis": 1, "split": [1, 5]}, outputs=2, opset=11),
    Case("Slice", weights={"s": ints(1, -1), "e": ints(5, -9), "a": ints(2, 3), "t": ints(2, -3)}),
    Case("Slice", attributes={"starts": [1, 2], "ends": [9, 4], "axes": [1, 3]}, opset=9),
    Case("Gather", weights={"i": ints(3, 0, -1)}, attributes={"axis": 1}),
    Case("Gather", weights={"i": np.int64(-2)}, attributes={"axis": 2}),
    Case("GatherElements", shapes=((3, 4),), weights={"i": ints(1, 0, 2, 1).reshape(1, 4)}),
    Case("Pad", weights={"p": ints(0, 0, 1, 2, 0, 0, 3, 0), "v": np.float32(1.5)}),
    Case("Pad", weights={"p": ints(0, 0, 1, 2, 0, 0, 3, 0)}, attributes={"mode": "reflect"}),
    Case("Pad", weights={"p": ints(0, 0, 1, 2, 0, 0, 3, 0)}, attributes={"mode": "edge"}),
    Case("Pad", attributes={"pads": [0, 0, 1, 2, 0, 0, 3, 0], "value": 0.5}, opset=10),
    Case("Expand", shapes=((3, 1),), weights={"shape": ints(2, 1, 6)}),
    Case("Tile", shapes=((2, 3),), weights={"r": ints(2, 3)}),
    Case("DepthToSpace", shapes=((1, 8, 2, 3),), attributes={"blocksize": 2}),
    Case("DepthToSpace", shapes=((1, 8, 2, 3),), attributes={"blocksize": 2, "mode": "CRD"}),
    Case("SpaceToDepth", shapes=((1, 3, 4, 6),), attributes={"blocksize": 2}),
    Case(
        "Conv", weights={"w": floats(4, 6, 3, 2), "b": floats(4)}, attributes={"pads": [1, 0, 2, 1]}
    ),
    Case(
        "Conv",
        weights={"w": floats(4, 6, 3, 3)},
        attributes={"strides": [2, 3], "dilations": [2, 1]},
    ),
    Case("Conv", weights={"w": floats(6, 2, 3, 3)}, attributes={"group": 3}),
    Case("Conv", weights={"w": floats(12, 1, 3, 3)}, attributes={"group": 6}),
    Case("Conv", weights={"w": floats(4, 6, 4, 3)}, attributes={"auto_pad": "SAME_LOWER"}),
    Case("Conv", shapes=((2, 3, 11),), weights={"w": floats(4, 3, 3)}, attributes={"pads": [1, 1]}),
    Case("Conv", shapes=((1, 2, 4, 5, 6),), weights={"w": floats(3, 2, 2, 3, 2)}),
    Case("ConvTranspose", weights={"w": floats(6, 3, 4, 4)}, attributes={"strides": [2, 2]}),
    Case(
        "ConvTranspose",
        weights={"w": floats(6, 2, 3, 3), "b": floats(4)},
        attributes={"strides": [2, 1], "pads": [1, 0, 1, 1], "output_padding": [1, 0], "group": 2},
    ),
    Case("MatMul", shapes=((3, 4, 5), (5, 6))),
    Case("MatMul", shapes=((2, 1, 4, 5), (3, 5, 6))),
    Case("MatMul", shapes=((5,), (3, 5, 6))),
    Case("MatMul", shapes=((3, 4, 5),), weights={"w": floats(5)}),
    Case(
        "Gemm",
        shapes=((4, 5),),
        weights={"w": floats(6, 5), "c": floats(6)},
        attributes={"transB": 1},
    ),
    Case(
        "Gemm",
        shapes=((5, 4), (5, 6), (4, 1)),
        attributes={"transA": 1, "alpha": 0.5, "beta": 2.0},
    ),
    Case("MaxPool", attributes={"kernel_shape": [3, 2], "pads": [1, 1, 0, 0], "strides": [2, 2]}),
    Case("MaxPool", attributes={"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}),
    Case("AveragePool", attributes={"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    Case(
        "AveragePool",
        attributes={"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
    ),
    Case("GlobalAveragePool"),
    Case("GlobalMaxPool"),
    Case("GlobalLpPool"),
    Case("LRN", attributes={"size": 3, "alpha": 0.2, "beta": 0.6, "bias": 1.5}),
    Case("BatchNormalization", weights=statistics(6), opset=15),
    Case("BatchNormalization", weights=statistics(6), opset=9, attributes={"epsilon": 1e-3}),
    Case("InstanceNormalization", weights={"s": floats(6), "b": floats(6, seed=2)}),
    Case("LayerNormalization", weights={"s": floats(9), "b": floats(9)}, attributes={"axis": -1}),
    Case("LayerNormalization", weights={"s": floats(7, 9)}, attributes={"axis": 2}),
    Case(
        "GroupNormalization",
        weights={"s": floats(6), "b": floats(6)},
        attributes={"num_groups": 3},
        opset=21,
    ),
    Case("LpNormalization", attributes={"axis": 1, "p": 2}),
    Case("Softmax", attributes={"axis": 1}),
    Case("Softmax", attributes={"axis": 1}, opset=11),
    Case("LogSoftmax", attributes={"axis": -1}),
    *(
        Case(f"Reduce{kind}", weights={"axes": ints(1, -1)}, attributes={"keepdims": 0}, opset=18)
        for kind in ("Sum", "Mean", "Max", "Min", "L1", "L2", "SumSquare", "LogSumExp")
    ),
    Case("ReduceProd", shapes=((3, 4),), attributes={"axes": [1]}),
    Case("ReduceLogSum", attributes={"axes": [2]}, positive=True),
    Case("ReduceMean", attributes={"axes": [2, 3]}),
    Case("ArgMax", attributes={"axis": 1, "keepdims": 0}),
    Case("ArgMin", attributes={"axis": 3}),
    Case(
        "Resize",
        weights={"r": floats(0), "s": np.array([1, 1, 2, 3], np.float32)},
        attributes={"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    ),
    Case(
        "Resize",
        weights={"r": floats(0), "s": floats(0), "sizes": ints(2, 6, 14, 27)},
        attributes={"coordinate_transformation_mode": "half_pixel"},
    ),
    Case("Upsample", weights={"s": np.array([1, 1, 2, 2], np.float32)}, opset=9),
    # Composite operators without a translator are expanded into their definition.
    Case("MeanVarianceNormalization"),
    Case("MeanVarianceNormalization", attributes={"axes": [1, 3]}),
]


def build(case: Case) -> onnx.ModelProto:
    names = [f"x{i}" if i else "x" for i in range(len(case.shapes))]
    kind = TensorProto.BOOL if case.bools else TensorProto.FLOAT
    order = [*names, *case.weights]
    if case.op == "Where":
        order = [*case.weights, *names]
    if case.op == "Dropout" and case.weights:
        order = ["x", "ratio"]
    outputs = [f"y{i}" if i else "y" for i in range(case.outputs)]
    node = helper.make_node(case.op, order, outputs, name="node", **case.attributes)
    weights = {k: np.asarray(v) for k, v in case.weights.items()}
    return make_model(
        [node],
        dict(zip(names, case.shapes, strict=True)),
        weights,
        outputs,
        case.opset,
        dict.fromkeys(names, kind),
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_operator_matches_onnxruntime(case: Case) -> None:
    model = build(case)
    graph = load(model)
    inputs = random_inputs(graph)
    if case.positive:
        inputs = {k: np.abs(v) + np.float32(0.1) for k, v in inputs.items()}
    if case.op in ("IsNaN", "IsInf"):
        inputs["x"].flat[::3] = np.nan if case.op == "IsNaN" else -np.inf
    expected = run_onnx(model, inputs)
    for name, found in (
        ("imported", run_graph(graph, inputs)),
        ("partitioned", run_partition(partition(simplify(graph)), inputs)),
    ):
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), name
            np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-5, err_msg=name)


def sized(model: onnx.ModelProto, d: int) -> tuple[onnx.ModelProto, int] | None:
    """The model with dimension `d` of its first input, and what that meets, called `seq`."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    first, *others = (i.type.tensor_type.shape.dim for i in made.graph.input)
    n = first[d].dim_value
    for dims in (first, *others):
        at = d + len(dims) - len(first)
        if 0 <= at < len(dims) and dims[at].dim_value == n:
            dims[at].dim_param = "seq"
    for info in made.graph.output:
        info.type.tensor_type.ClearField("shape")
    return None if n == 1 else (made, n)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_operator_takes_a_size_or_names_it(case: Case) -> None:
    """Along each dimension of its input: at other values it is the static operator."""
    rng = np.random.default_rng(0)
    for d in range(len(case.shapes[0])):
        found = sized(build(case), d)
        if found is None:
            continue
        model, n = found
        try:
            graph = load(model, {"seq": (n - 1, n + 3)})
        except UnsupportedModel as refusal:
            assert f"{case.op} (node node)" in str(refusal)
            assert re.search(r"\bseq\b", str(refusal)), str(refusal)
            continue
        values = {"seq": n + 3}
        static = load(model, {"seq": (n + 3,)})
        inputs = {
            v.name: (np.abs(rng.standard_normal(v.shape)) + 0.1).astype(v.dtype)
            for v in static.inputs
        }
        cut = partition(simplify(graph))
        pairs = zip(run_partition(cut, inputs, values), run_graph(static, inputs), strict=True)
        for ours, wanted in pairs:
            assert ours.shape == wanted.shape
            np.testing.assert_allclose(ours, wanted, rtol=1e-3, atol=1e-4)
