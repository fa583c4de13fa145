"""ONNX models whose dimensions have ranges: one graph for all, as onnxruntime computes it."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import make_model, run_graph, run_onnx, run_partition
from onnx import TensorProto, helper

import tilewright as tw
from tilewright.contract.arguments import Range
from tilewright.contract.sizes import Size
from tilewright.expr.sizes import extent_at
from tilewright.graph.ir import Graph
from tilewright.graph.onnx.importing import load
from tilewright.graph.partition import partition
from tilewright.graph.passes import simplify
from tilewright.ground.errors import UnsupportedModel

RNG = np.random.default_rng(0)
INT64 = TensorProto.INT64
Nodes = Sequence[onnx.NodeProto]


def weights(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32) / shape[0] ** 0.5


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(" "), outputs.split(), **attributes)


def arrays(graph: Graph, values: dict[str, int]) -> dict[str, np.ndarray]:
    found = {}
    for v in graph.inputs:
        shape = [extent_at(e, values) for e in v.extents]
        whole = "int" in v.dtype
        found[v.name] = (RNG.integers(0, 4, shape) if whole else RNG.standard_normal(shape)).astype(
            v.dtype
        )
    return found


def agrees(
    model: onnx.ModelProto, shapes: dict[str, Any], points: Sequence[dict[str, int]]
) -> Graph:
    """The graph of a model with ranges, whose kernels give what onnxruntime does."""
    graph = simplify(load(model, shapes))
    cut = partition(graph)
    for values in points:
        given = arrays(graph, values)
        for found, wanted in zip(
            run_partition(cut, given, values), run_onnx(model, given), strict=True
        ):
            np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-4)
            assert found.shape == wanted.shape
    return graph


def text_model() -> onnx.ModelProto:
    """Embeddings cut to the length, a mask, heads split and joined by shapes that it computes."""
    nodes = [
        node("Shape", "ids", "shape"),
        node("Gather", "shape zero", "batch"),
        node("Gather", "shape one", "length"),
        node("Unsqueeze", "length zeros", "ends"),
        node("Slice", "positions zeros ends ones", "cut"),
        node("Gather", "words ids", "rows"),
        node("Add", "rows cut", "x"),
        node("Unsqueeze", "batch zeros", "b"),
        node("Concat", "b minus heads size", "split", axis=0),
        node("MatMul", "x wq", "q"),
        node("Reshape", "q split", "q4"),
        node("Transpose", "q4", "qt", perm=[0, 2, 1, 3]),
        node("Transpose", "q4", "kt", perm=[0, 2, 3, 1]),
        node("MatMul", "qt kt", "scores"),
        node("Cast", "mask", "kept", to=TensorProto.FLOAT),
        node("Unsqueeze", "kept middle", "column"),
        node("Mul", "scores column", "masked"),
        node("Softmax", "masked", "shares", axis=-1),
        node("MatMul", "shares qt", "mixed"),
        node("Transpose", "mixed", "back", perm=[0, 2, 1, 3]),
        node("Mul", "heads size", "width"),
        node("Concat", "b ends width", "joined", axis=0),
        node("Reshape", "back joined", "y"),
    ]
    known = {
        "zero": np.int64(0), "one": np.int64(1), "zeros": ints(0), "ones": ints(0),
        "minus": ints(-1), "heads": ints(2), "size": ints(4), "middle": ints(1, 2),
        "positions": weights(24, 8), "words": weights(4, 8), "wq": weights(8, 8),
    }  # fmt: skip
    inputs = {"ids": ("batch", "seq"), "mask": ("batch", "seq")}
    return make_model(nodes, inputs, known, dtypes={"ids": INT64, "mask": INT64})


def test_a_text_model_is_one_graph_for_all_batches_and_lengths() -> None:
    points = ({"batch": 1, "seq": 1}, {"batch": 3, "seq": 17}, {"batch": 4, "seq": 24})
    graph = agrees(text_model(), {"batch": (1, 4), "seq": ((1, 24),)}, points)
    assert graph.sizes == (Size("batch", 1, 4), Size("seq", 1, 24))
    assert {v for n in graph.nodes if n.op == "cast_to" for v in n.inputs} <= set(graph.inputs)


def test_an_image_model_with_sides_and_batch() -> None:
    nodes = [
        node("Conv", "x w", "a", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("BatchNormalization", "a g b m v", "n"),
        node("Relu", "n", "r"),
        node("MaxPool", "r", "p", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        node("Conv", "p d", "e", group=8, auto_pad="SAME_LOWER"),
        node("GlobalAveragePool", "e", "q"),
        node("Flatten", "q", "f"),
        node("Gemm", "f wf", "y"),
    ]
    known = {
        "w": weights(8, 3, 3, 3), "g": weights(8), "b": weights(8), "m": weights(8),
        "v": np.ones(8, np.float32), "d": weights(8, 1, 1, 1), "wf": weights(8, 5),
    }  # fmt: skip
    model = make_model(nodes, {"x": ("n", 3, "h", "w")}, known)
    points = ({"N": 1, "H": 8, "W": 8}, {"N": 2, "H": 13, "W": 20}, {"N": 3, "H": 21, "W": 9})
    agrees(model, {"x": ((1, 3), 3, (8, 21), (8, 20))}, points)


@pytest.mark.parametrize("side", ["SAME_UPPER", "SAME_LOWER"])
def test_windows_that_are_as_many_as_strides(side: str) -> None:
    """How much is padded in front depends on the size."""

    def of(op: str, inputs: str, output: str, stride: int, **attributes: Any) -> onnx.NodeProto:
        return node(op, inputs, output, auto_pad=side, strides=[stride, stride], **attributes)

    nodes = [
        of("Conv", "x w", "a", 2),
        of("Conv", "x one", "b", 2),
        node("Add", "a b", "c"),
        of("MaxPool", "c", "d", 2, kernel_shape=[3, 3]),
        of("AveragePool", "c", "e", 2, kernel_shape=[2, 2]),
        node("Concat", "d e", "f", axis=1),
        of("Conv", "f five", "g", 3, group=16),
        of("Conv", "g few", "h", 3),
        of("ConvTranspose", "h w", "y", 2),
    ]
    known = {
        "w": weights(8, 3, 3, 3), "one": weights(8, 3, 1, 1), "five": weights(16, 1, 5, 5),
        "few": weights(8, 16, 2, 2),
    }  # fmt: skip
    model = make_model(nodes, {"x": (1, 3, "h", "w")}, known)
    points = [{"H": h, "W": w} for h, w in ((1, 2), (8, 8), (13, 20), (21, 9), (22, 31))]
    graph = agrees(model, {"x": (1, 3, (1, 22), (2, 31))}, points)
    assert not any(n.op == "pad" for n in graph.nodes)


def test_what_is_padded_by_a_size_may_be_part_of_a_convolution() -> None:
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape two", "high"),
        node("Mod", "high two", "odd"),
        node("Concat", "zeros odd three zeros odd three", "pads", axis=0),
        node("Pad", "x pads", "padded"),
        node("Conv", "padded w", "y", strides=[2, 2], pads=[1, 1, 1, 1]),
    ]
    known = {"two": ints(2), "three": ints(3), "zeros": ints(0, 0), "w": weights(8, 3, 3, 3)}
    model = make_model(nodes, {"x": (1, 3, "h", "w")}, known)
    points = [{"H": h, "W": w} for h, w in ((4, 4), (9, 12), (20, 5))]
    graph = agrees(model, {"x": (1, 3, (4, 20), (4, 20))}, points)
    assert not any(n.op == "pad" for n in graph.nodes)


SHAPED: dict[str, tuple[Nodes, dict[str, np.ndarray]]] = {
    "range": (
        [
            node("Shape", "x", "s"),
            node("Gather", "s one", "n"),
            node("Range", "zero n one", "r"),
            node("Cast", "r", "f", to=1),
            node("Reshape", "f row", "c"),
            node("Add", "x c", "y"),
        ],
        {"one": np.int64(1), "zero": np.int64(0), "row": ints(1, -1, 1)},
    ),
    "expand": (
        [
            node("Shape", "x", "s"),
            node("ConstantOfShape", "s", "ones", value=helper.make_tensor("v", 1, [1], [2.0])),
            node("Expand", "c s", "e"),
            node("Add", "e ones", "y"),
        ],
        {"c": weights(1, 1, 8)},
    ),
    "where": (
        [
            node("Shape", "x", "s"),
            node("Equal", "s minus", "q"),
            node("Where", "q minus s", "t"),
            node("Reshape", "x t", "y"),
        ],
        {"minus": ints(-1)},
    ),
    "arithmetic": (
        [
            node("Shape", "x", "s"),
            node("Split", "s", "b n c"),
            node("Add", "n two", "m"),
            node("Sub", "m two", "k"),
            node("Max", "k zero", "k2"),
            node("Min", "k2 n", "k3"),
            node("Mul", "c two", "w"),
            node("Div", "w four", "half"),
            node("Concat", "b k3 half two", "t", axis=0),
            node("Reshape", "x t", "y"),
        ],
        {"two": ints(2), "zero": ints(0), "four": ints(4)},
    ),
    "size and products": (
        [node("Shape", "x", "s"), node("Size", "x", "a"), node("ReduceProd", "s", "b", keepdims=1),
         node("Unsqueeze", "a zero", "c"), node("Reshape", "x b", "d"),
         node("Reshape", "d c", "y")],
        {"zero": ints(0)},
    ),
    "slices": (
        [
            node("Slice", "x one end one", "a"),
            node("Slice", "x minus end one", "b"),
            node("Concat", "a b x", "y", axis=1),
        ],
        {"one": ints(1), "end": ints(2**62), "minus": ints(-2)},
    ),
    "sequences": (
        [
            node("SplitToSequence", "x four", "parts", axis=-1),
            node("SequenceAt", "parts zero", "a"),
            node("SequenceAt", "parts one", "b"),
            node("SplitToSequence", "a", "columns", axis=2, keepdims=0),
            node("SequenceAt", "columns one", "c"),
            node("Unsqueeze", "c last", "d"),
            node("Mul", "b d", "y"),
        ],
        {"four": np.int64(4), "zero": np.int64(0), "one": np.int64(1), "last": ints(2)},
    ),
    "halves": (
        [
            node("Shape", "x", "s"),
            node("Slice", "s one two", "n"),
            node("Div", "n two", "h"),
            node("Slice", "x zero h one", "a"),
            node("Slice", "x h n one", "b"),
            node("Concat", "b a", "y", axis=1),
        ],
        {"one": ints(1), "two": ints(2), "zero": ints(0)},
    ),
    "tile": (
        [
            node("Shape", "x", "s"),
            node("Slice", "s zero two", "t"),
            node("Concat", "t one", "u", axis=0),
            node("Tile", "c u", "e"),
            node("Mul", "x e", "y"),
        ],
        {"c": weights(1, 1, 8), "zero": ints(0), "two": ints(2), "one": ints(1)},
    ),
    "counted mean": (
        [
            node("Shape", "x", "s"),
            node("Gather", "s one", "n"),
            node("Cast", "n", "f", to=1),
            node("ReduceSum", "x axes", "t", keepdims=1),
            node("Div", "t f", "y"),
        ],
        {"one": np.int64(1), "axes": ints(1)},
    ),
    "mirrored pad": (
        [node("Pad", "x pads", "y", mode="reflect")],
        {"pads": ints(0, 1, 2, 0, 1, 3)},
    ),
    "pad to a length": (
        [
            node("Shape", "x", "s"),
            node("Slice", "s one two", "n"),
            node("Sub", "longest n", "rest"),
            node("Concat", "zeros rest zero", "pads", axis=0),
            node("Pad", "x pads value", "p"),
            node("Concat", "p x", "y", axis=1),
        ],
        {"one": ints(1), "two": ints(2), "longest": ints(24), "zeros": ints(0, 0, 0, 0),
         "zero": ints(0), "value": np.float32(-1)},
    ),
    "every third, and as many": (  # ceil(n / 3) is at most n // 3 + 1
        [
            node("Shape", "x", "s"),
            node("Slice", "s one two", "n"),
            node("Add", "n two", "m"),
            node("Div", "m three", "count"),
            node("Div", "n three", "least"),
            node("Add", "least one", "room"),
            node("Mul", "room three", "whole"),
            node("Sub", "whole n", "rest"),
            node("Concat", "zeros rest zero", "pads", axis=0),
            node("Pad", "x pads", "p"),
            node("Slice", "p zero far one three", "every"),
            node("Slice", "every zero count one", "cut"),
            node("Slice", "x zero far one three", "third"),
            node("Add", "cut third", "y"),
        ],
        {"one": ints(1), "two": ints(2), "three": ints(3), "zero": ints(0),
         "zeros": ints(0, 0, 0, 0), "far": ints(2**62)},
    ),
    "scattered": (
        [node("Shape", "x", "s"), node("Expand", "at s", "i"), node("Neg", "x", "u"),
         node("ScatterElements", "x i u", "y", axis=2, reduction="add")],
        {"at": ints(3).reshape(1, 1, 1)},
    ),
    "scattered rows": (
        [node("Neg", "x", "n"), node("GatherND", "n at", "u"),
         node("ScatterND", "x at u", "z", reduction="add"),
         node("ScatterND", "z at u", "y", reduction="max")],
        {"at": ints(0, 1, 0, 0, 0, 1).reshape(3, 2)},
    ),
    "reversed sequence": (
        [node("Transpose", "x", "t", perm=[1, 2, 0]),
         node("ReverseSequence", "t lengths", "y", time_axis=0, batch_axis=1)],
        {"lengths": ints(2, 1, 2, 2, 2, 1, 2, 1)},
    ),
    "frames": (
        [node("ReduceSum", "x axes", "r", keepdims=0), node("STFT", "r step window", "y")],
        {"axes": ints(2), "step": np.int64(1), "window": np.float32([0.5, 1.0])},
    ),
    "shape returned": ([node("Shape", "x", "y")], {}),
    "causal": (
        [
            node("Transpose", "x", "t", perm=[0, 2, 1]),
            node("MatMul", "x t", "z"),
            node("Trilu", "z", "y", upper=0),
        ],
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPED)
def test_shape_arithmetic_and_what_takes_shapes(name: str) -> None:
    nodes, known = SHAPED[name]
    model = make_model(nodes, {"x": ("batch", "seq", 8)}, known)
    if name == "shape returned":
        model.graph.output[0].type.tensor_type.elem_type = INT64
    points = ({"batch": 1, "seq": 2}, {"batch": 2, "seq": 7}, {"batch": 3, "seq": 20})
    agrees(model, {"batch": (1, 3), "seq": (2, 20)}, points)


BATCHED: dict[str, tuple[Nodes, tuple[Any, ...], dict[str, np.ndarray]]] = {
    "lstm": (
        [node("LSTM", "x w r b", "h last", hidden_size=4, direction="bidirectional"),
         node("Identity", "h", "y")],
        (5, "batch", 3),
        {"w": weights(2, 16, 3), "r": weights(2, 16, 4), "b": weights(2, 32)},
    ),
    "long gru": (
        [node("GRU", "x w r", "h y", hidden_size=4)],
        (40, "batch", 3),
        {"w": weights(1, 12, 3), "r": weights(1, 12, 4)},
    ),
    "resize by sizes": (
        [node("Shape", "x", "s"), node("Slice", "s zero two", "b"),
         node("Concat", "b sides", "t", axis=0),
         node("Resize", "x   t", "y", mode="linear")],
        ("batch", 2, 5, 6),
        {"zero": ints(0), "two": ints(2), "sides": ints(10, 9)},
    ),
    "resize by scales": (
        [node("Resize", "x  scales", "y", mode="nearest", nearest_mode="floor",
              coordinate_transformation_mode="asymmetric")],
        ("batch", 2, 5, 6),
        {"scales": np.array([1, 1, 2, 2], np.float32)},
    ),
    "transposed convolution": (
        [node("ConvTranspose", "x w", "y", strides=[2, 2])],
        ("batch", 2, 5, 6),
        {"w": weights(2, 3, 2, 2)},
    ),
    "heads in a batch": (
        [node("Shape", "x", "s"), node("Slice", "s zero one", "b"),
         node("Mul", "b two", "rows"), node("Concat", "rows five minus", "t", axis=0),
         node("Reshape", "x t", "r"), node("ReduceMax", "r", "y", axes=[2])],
        ("batch", 2, 5, 6),
        {"zero": ints(0), "one": ints(1), "two": ints(2), "five": ints(5), "minus": ints(-1)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BATCHED)
def test_what_takes_any_batch(name: str) -> None:
    nodes, shape, known = BATCHED[name]
    model = make_model(nodes, {"x": shape}, known)
    graph = simplify(load(model, {"batch": (1, 6)}))
    for batch in (1, 4, 6):
        static = graph.at({"batch": batch})
        given = arrays(static, {})
        for found, wanted in zip(run_graph(static, given), run_onnx(model, given), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize(
    ("nodes", "known", "words"),
    [
        ([node("Hardmax", "x", "y", axis=1)], {}, "Hardmax .*needs a number .* is seq"),
        (
            [node("Shape", "x", "s"), node("Gather", "s one", "n"), node("OneHot", "x n v", "y")],
            {"one": ints(1), "v": ints(0, 1)},
            r"OneHot \(node y\): its depth \(seq,\) must be numbers, which depend on sizes here",
        ),
        ([node("Reshape", "x t", "y")], {"t": ints(-1, 7)}, "cannot take the shape"),
        ([node("Split", "x", "y z", axis=1)], {}, "a split of x needs a number .* is seq"),
        ([node("Gather", "x five", "y", axis=1)], {"five": ints(5)}, "index 5 is outside the 2"),
        (
            [node("ConvTranspose", "x w", "y", output_shape=[9])],
            {"w": weights(4, 4, 3)},
            "ConvTranspose .*what an output shape leaves for padding needs a number where the",
        ),
        (
            [node("Conv", "x w", "y")],
            {"w": weights(4, 4, 9)},
            r"Conv .*seq - 8\] cannot be: where seq = 2 it has less than no elements",
        ),
    ],
)  # fmt: skip
def test_a_node_that_needs_numbers_is_named_with_the_size(
    nodes: Nodes, known: dict[str, np.ndarray], words: str
) -> None:
    model = make_model(nodes, {"x": (1, "seq", 8) if "w" not in known else (1, 4, "seq")}, known)
    with pytest.raises(UnsupportedModel, match=words):
        load(model, {"seq": (2, 20)})


def test_dimensions_that_are_given_nothing_are_asked_for_or_have_the_usual_ranges() -> None:
    model = text_model()
    with pytest.raises(UnsupportedModel, match=r"dimension 0 \(batch\) of input ids"):
        load(model, {"seq": (1, 24)})
    with pytest.warns(UserWarning, match=r"dimension batch varies in 1\.\.16"):
        graph = load(model, {"seq": (1, 24)}, every=True)
    assert graph.sizes == (Size("seq", 1, 24), Size("batch", 1, 16))


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ({"seq": (9, 3)}, r"dimension seq: size seq cannot be in 9\.\.3"),
        ({"seq": (1, 2, 3)}, "dimension seq is one number, or the least and the most, not"),
        ({"ids": (2, (1, 8)), "mask": (2, (1, 9))}, "seq of input mask is given as"),
        ({"sequence": (1, 8)}, "no input and no dimension is called sequence"),
    ],
)
def test_ranges_that_cannot_be(shapes: dict[str, Any], words: str) -> None:
    with pytest.raises(UnsupportedModel, match=words):
        load(text_model(), shapes)


def test_sizes_that_nodes_need_to_agree_are_one() -> None:
    """A cache before new rows, and a mask of all of them, each with a name of its own."""
    nodes = [
        node("Concat", "past x", "keys", axis=1),
        node("Transpose", "keys", "t", perm=[0, 2, 1]),
        node("MatMul", "x t", "scores"),
        node("Add", "scores mask", "masked"),
        node("Softmax", "masked", "shares", axis=-1),
        node("MatMul", "shares keys", "y"),
    ]
    inputs = {"x": ("b", "n", 8), "past": ("batch", "p", 8), "mask": (1, 1, "total")}
    model = make_model(nodes, inputs, outputs=("y", "keys"))
    shapes = {"b": (1, 3), "n": (1, 9), "batch": (1, 4), "p": (0, 20), "total": (1, 30)}
    points = ({"B": 1, "N": 1, "P": 0}, {"B": 3, "N": 4, "P": 11})
    with pytest.warns(UserWarning, match="dimension total is N . P|dimension batch is B"):
        graph = agrees(model, shapes, points)
    assert [s.name for s in graph.sizes] == ["B", "N", "P"]
    assert [str(v) for v in graph.inputs][2] == "mask: float32[1, 1, N + P]"


def pyramid() -> onnx.ModelProto:
    """An image halved twice, rounded up, doubled and joined with what it was doubled from."""
    halved = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    nodes = [
        node("MaxPool", "x", "half", **halved),
        node("MaxPool", "half", "quarter", **halved),
        node("Resize", "quarter  scales", "doubled", mode="nearest"),
        node("Concat", "doubled half", "y", axis=1),
    ]
    return make_model(nodes, {"x": (1, 3, "high", "wide")}, {"scales": np.float32([1, 1, 2, 2])})


def test_sides_that_nodes_need_to_be_multiples_are() -> None:
    shapes = {"high": (Range(5, 23, ((8, 1.0), (23, 2.0))),), "wide": (2, 40)}
    points = ({"high_by_4": 2, "wide_by_4": 1}, {"high_by_4": 5, "wide_by_4": 10})
    with pytest.warns(UserWarning, match="high is high_by_4 . 4|wide_by_4 in 1..10"):
        graph = agrees(pyramid(), shapes, points)
    high, wide = graph.sizes
    assert (high, high.step) == (Size("high_by_4", 2, 5, ((2, 1), (5, 2))), 4)
    assert (wide, wide.dimension) == (Size("wide_by_4", 1, 10), "wide_by_4 * 4")
    assert str(graph.inputs[0]) == "x: float32[1, 3, high_by_4 * 4, wide_by_4 * 4]"
    with pytest.raises(UnsupportedModel, match=r"the extent is .high . 3. // 4"):
        load(pyramid(), {"high": (5, 7), "wide": (8,)})


@pytest.mark.cpu
@pytest.mark.filterwarnings("ignore:.*_by_4:UserWarning")
def test_calls_are_told_of_which_number_a_side_is_a_multiple() -> None:
    model = pyramid()
    made = tw.compile(tw.load(model, shapes={"high": (5, 23), "wide": (2, 40)}))
    for net in (made, pickle.loads(pickle.dumps(made))):
        x = RNG.standard_normal((1, 3, 12, 36)).astype(np.float32)
        np.testing.assert_array_equal(net(x)[0], run_onnx(model, {"x": x})[0])
        for shape, words in {
            (12, 38): "x: dimension 3, wide_by_4 . 4, is 38; it must be a multiple of 4 in 4..40",
            (24, 36): "x: dimension 2, high_by_4 . 4, is 24; it must be a multiple of 4 in 8..20",
        }.items():
            with pytest.raises(tw.InputError, match=words):
                net(np.zeros((1, 3, *shape), np.float32))


@pytest.mark.parametrize("name", ["k", "i0", "h", "block", "seq-len", "4th", "batch size"])
def test_a_dimension_may_be_called_anything(name: str) -> None:
    model = make_model([node("Softmax", "x", "y", axis=0)], {"x": (name, 2)})
    agrees(model, {"x": ((1, 9), 2)}, [])
    (size,) = load(model, {name: (1, 9)}).sizes
    assert size.name.isidentifier()


def test_dimensions_whose_names_are_alike_stay_apart() -> None:
    model = make_model([node("MatMul", "x z", "y")], {"x": ("n", 3), "z": (3, "N")})
    points = ({"N": 2, "N_": 5}, {"N": 4, "N_": 1})
    graph = agrees(model, {"n": (1, 9), "N": (1, 9)}, points)
    assert {s.name for s in graph.sizes} == {"N", "N_"}


def test_sizes_are_no_numbers_that_a_model_was_traced_with() -> None:
    model = make_model([node("Add", "x c", "y")], {"x": ("n", 8)}, {"c": weights(4, 8)})
    with pytest.raises(UnsupportedModel, match=r"Add .*shapes \(\(N, 8\), \(4, 8\)\) do not"):
        load(model, {"n": (1, 9)})
