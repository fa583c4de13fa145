"""Models whose graph, types, attributes or weights are wrong or odd; see `hostile_models`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from hostile_models import EITHER, FLOAT, INT64, LOADED, REFUSED, Folder, model, node
from onnx import TensorProto, helper

relu = node("Relu", ["x"], ["y"], name="relu")

# ---- graphs -----------------------------------------------------------------------------------


def graphs(folder: Folder) -> None:
    """Orders, names, versions."""
    neg, late = node("Neg", ["x"], ["t"]), node("Relu", ["t"], ["y"])
    folder.add("unsorted", model([late, neg]), LOADED)
    ring = [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Neg", ["b"], ["y"])]
    folder.add("cycle", model(ring), REFUSED, "in a cycle")
    folder.add("own_input", model([node("Add", ["x", "y"], ["y"])]), REFUSED, "in a cycle")
    folder.add("dangling", model([node("Add", ["x", "q"], ["y"])]), REFUSED)
    folder.add("two_outputs", model([relu, node("Neg", ["x"], ["y"])]), REFUSED)
    folder.add("no_output", model([neg]), REFUSED)
    folder.add("no_name", model([node("Relu", [""], ["y"])]), REFUSED)
    folder.add("shadow", model([node("Relu", ["x"], ["x"]), neg]), REFUSED)
    twice = model([relu])
    twice.graph.input.append(twice.graph.input[0])
    folder.add("two_inputs", twice, REFUSED)
    folder.add("none", model([]), REFUSED)
    for name, op, domain in (
        ("acme", "Gelu", "com.acme"),
        ("microsoft", "RemovePadding", "com.microsoft"),
        ("bogus", "Bogus", ""),
        ("preview", "Gradient", "ai.onnx.preview.training"),
        ("string", "StringConcat", ""),
        ("image", "ImageDecoder", ""),
    ):
        made = model([node(op, ["x"], ["y"], domain=domain)])
        made.opset_import.append(helper.make_opsetid(domain or "ai.onnx.ml", 1))
        folder.add(name, made, REFUSED)
    for opset in (-1, 0, 29, 99, 2**31):
        folder.add(f"opset{opset}", model([relu], opset=opset), REFUSED, "known are 1 to")
    for opset in (1, 6, 7, 13, 28):
        folder.add(f"opset{opset}", model([relu], opset=opset), EITHER if opset == 1 else LOADED)
    for version in (0, 3, 99):
        made = model([relu])
        made.ir_version = version
        folder.add(f"ir{version}", made, LOADED if version == 3 else REFUSED)
    made = model([relu])
    del made.opset_import[:]
    folder.add("no_opset", made, REFUSED)
    _names(folder)
    _shapes(folder)


def _names(folder: Folder) -> None:
    """Names that are no text are refused, any text is a name."""
    odd = ("../../../etc/passwd", "'; DROP TABLE trials; --", "<script>alert(1)</script>")
    for n, name in enumerate((*odd, "a\nb", "\0", "%s%n{0}", "x" * 100_000, "\u202e\ufeff", " ")):
        nodes = [node("Relu", ["x"], [name], name=name), node("Neg", [name], ["y"], name=name)]
        folder.add(f"name{n}", model(nodes), LOADED)
        folder.add(f"operator{n}", model([node(name, ["x"], ["y"], name=name)]), REFUSED)
    whole = model(
        [node("Elu", ["x"], ["mid"], name="first", alpha=1.0), node("Neg", ["mid"], ["y"])]
    )
    for part in (b"mid", b"first", b"alpha", b"Elu"):
        damaged = whole.SerializeToString().replace(part, b"\xff\xfe" + part[2:])
        folder.add(f"bytes_{part.decode()}", damaged, REFUSED, "UTF-8")
    weighted = model([node("Add", ["x", "wgt"], ["y"])], weights={"wgt": np.ones(3, np.float32)})
    data = weighted.SerializeToString().replace(b"wgt", b"\xff\xfe\xfd")
    folder.add("bytes_weight", data, REFUSED, "UTF-8")


def _shapes(folder: Folder) -> None:
    for n, shape in enumerate(((0, 3), (-1, 3), (-2, 3), ("?", "?"), ("", 3), ("n", 3))):
        folder.add(f"unknown{n}", model([relu], {"x": shape}), LOADED)
    made = model([relu])
    made.graph.input[0].type.tensor_type.ClearField("shape")
    folder.add("no_shape", made, REFUSED, "has no shape; give shapes=")
    made = model([relu])
    for n in (9, 9):
        made.graph.output[0].type.tensor_type.shape.dim.add().dim_value = n
    folder.add("lie", made, LOADED)
    made = model([relu])
    made.graph.output[0].ClearField("type")
    folder.add("untyped", made, LOADED)
    made = model([relu])
    made.graph.output[0].type.sequence_type.elem_type.tensor_type.elem_type = FLOAT
    folder.add("sequence", made, REFUSED)


# ---- types and weights ------------------------------------------------------------------------


def types(folder: Folder) -> None:
    """Element types, and tensors whose data are not what they say."""
    names = ("STRING", "COMPLEX64", "FLOAT8E4M3FN", "INT4", "UNDEFINED")
    for name in names:
        kind = TensorProto.DataType.Value(name)
        same = model([node("Identity", ["x"], ["y"])], kinds={"x": kind, "y": kind})
        folder.add(f"input_{name}", same, EITHER if name == "INT4" else REFUSED)
    folder.add("input_77", model([relu], kinds={"x": 77}), REFUSED)
    cast = model([node("Cast", ["x"], ["y"], to=77)])
    folder.add("cast_77", cast, REFUSED)

    def weighted(name: str, size: int = 3, **fields: Any) -> None:
        weights = {"w": np.ones(size, np.float32)}
        made = model([node("Add", ["x", "w"], ["y"])], {"x": (2, size)}, weights)
        tensor = made.graph.initializer[0]
        for field, value in fields.items():
            if field == "dims":
                tensor.dims[:] = value
            else:
                setattr(tensor, field, value)
        folder.add(name, made, REFUSED, "cannot read weight w")

    for kind in (0, 77, -1, 2**31 - 1):
        weighted(f"weight_{kind}", data_type=kind)
    weighted("weight_short", raw_data=bytes(11))
    weighted("weight_long", raw_data=bytes(16))
    weighted("weight_none", raw_data=b"")
    weighted("weight_negative", dims=[-3])
    weighted("weight_negatives", dims=[-1, -3])
    weighted("weight_huge", dims=[2**62, 4])
    weighted("weight_zeros", dims=[2**63 - 1, 0, 2**62])
    weighted("weight_rank", dims=[1] * 100 + [3])
    weighted("weight_int4", dims=[2**40], data_type=TensorProto.INT4)
    weighted("large_short", 3000, raw_data=bytes(11))
    weighted("large_77", 3000, data_type=77)
    weighted("large_huge", 3000, dims=[2**40, 2**40])
    sequences = model([node("SequenceMap", ["x"], ["y"], body=_negation())])
    for info in (*sequences.graph.input, *sequences.graph.output):
        info.type.sequence_type.elem_type.tensor_type.elem_type = FLOAT
    folder.add("sequence_map", sequences, REFUSED, "type sequence_type")
    sparse = model([relu])
    sparse.graph.sparse_initializer.add().values.name = "w"
    folder.add("sparse", sparse, REFUSED)
    constant = node("Constant", [], ["c"])
    tensor = helper.make_attribute("value", helper.make_tensor("v", FLOAT, [1], [1.0]))
    tensor.t.data_type = 77
    constant.attribute.append(tensor)
    folder.add("constant_77", model([constant, node("Add", ["x", "c"], ["y"])]), REFUSED)
    for number, values in {"nan": np.nan, "inf": np.inf, "tiny": 1e-45}.items():
        weights = {"w": np.full((3, 3), values, np.float32), "z": np.zeros(3, np.float32)}
        nodes = [node("MatMul", ["x", "w"], ["t"]), node("Div", ["z", "z"], ["q"])]
        nodes += [node("Mul", ["t", "w"], ["u"]), node("Add", ["u", "q"], ["y"])]
        folder.add(f"weight_{number}", model(nodes, {"x": (3, 3)}, weights), LOADED)


def _negation() -> onnx.GraphProto:
    a, b = (helper.make_tensor_value_info(n, FLOAT, None) for n in "ab")
    return helper.make_graph([node("Neg", ["a"], ["b"])], "body", [a], [b])


# ---- attributes and operands ------------------------------------------------------------------


def attributes(folder: Folder) -> None:
    """Operators on what does not fit them."""
    image, kernel = {"x": (1, 2, 6, 6)}, {"w": np.ones((2, 2, 3, 3), np.float32)}
    convolutions: dict[str, dict[str, Any]] = {
        "stride": {"strides": [0, 1]},
        "strides": {"strides": [1, 1, 1]},
        "negative_stride": {"strides": [-1, 1]},
        "pads": {"pads": [1, 1, 1]},
        "negative_pads": {"pads": [-9, 0, -9, 0]},
        "huge_pads": {"pads": [2**62] * 4},
        "dilation": {"dilations": [0, 1]},
        "huge_dilation": {"dilations": [2**40, 1]},
        "group": {"group": 7},
        "no_group": {"group": 0},
        "window": {"kernel_shape": [5, 5]},
        "auto": {"auto_pad": "SIDEWAYS"},
    }
    for name, options in convolutions.items():
        nodes = [node("Conv", ["x", "w"], ["y"], **options)]
        folder.add(f"conv_{name}", model(nodes, image, kernel), REFUSED)
    for n, size in enumerate((0, -1, 7, 10**9, 2**62)):
        for op in ("MaxPool", "AveragePool"):
            nodes = [node(op, ["x"], ["y"], kernel_shape=[size, 1])]
            folder.add(f"{op}{n}", model(nodes, image), REFUSED)
    matrix = {"x": (2, 3)}

    def operator(name: str, op: str, weights: Sequence[Any] = (), **options: Any) -> None:
        arrays = {f"w{n}": np.asarray(a) for n, a in enumerate(weights)}
        made = model([node(op, ["x", *arrays], ["y"], **options)], matrix, arrays)
        folder.add(name, made, REFUSED)

    ones = np.ones((2, 3), np.float32)
    operator("matmul", "MatMul", [np.ones((2, 2), np.float32)])
    operator("add", "Add", [np.ones(5, np.float32)])
    operator("mixed", "Add", [np.ones(3, np.float64)])
    for n, shape in enumerate(([7], [-1, -1], [-1, 4], [0, 0, 0], [-2, -3], [2**62, 2**62])):
        operator(f"reshape{n}", "Reshape", [np.array(shape)])
    for n, axis in enumerate((17, -3, 2**31, 2**62)):
        operator(f"softmax{n}", "Softmax", axis=axis)
        operator(f"concat{n}", "Concat", [ones], axis=axis)
        operator(f"sum{n}", "ReduceSum", [np.array([axis])])
    operator("transpose", "Transpose", perm=[0, 0])
    operator("transpose2", "Transpose", perm=[0, 5])
    operator("slice", "Slice", [np.array([0]), np.array([1]), np.array([0]), np.array([0])])
    operator("slices", "Slice", [np.array([0]), np.array([1, 2])])
    operator("split", "Split", [np.array([-1, 3])], axis=0)
    parts = node("Split", ["x"], ["y", "a", "b"], axis=1, num_outputs=2)
    folder.add("split_outputs", model([parts], opset=18), REFUSED, "num_outputs is 2")
    operator("expand", "Expand", [np.array([5, 5])])
    operator("tile", "Tile", [np.array([2**40, 2**40])])
    operator("tile_rank", "Tile", [np.array([2])])
    operator("topk", "TopK", [np.array([9])])
    operator("pad", "Pad", [np.array([-5, 0, 0, 0])])
    operator("pads", "Pad", [np.array([1])])
    operator("einsum", "Einsum", [ones], equation="ij,jk->,,")
    operator("cumsum", "CumSum", [np.array(9)])
    operator("trilu", "Trilu", [np.array([1, 2, 3])])
    operator("compress", "Compress", [np.array([True] * 9)], axis=0)
    operator("lstm", "LSTM", [ones, ones], hidden_size=10**9)
    operator("layer_norm", "LayerNormalization", [ones[0]], axis=2**31)
    operator("float_axis", "Softmax", axis=1.5)
    operator("text_axis", "Softmax", axis="one")
    for n, indices in enumerate(([99, -77], [2], [[0], [-3]], 2**62)):
        operator(f"gather{n}", "Gather", [np.array(indices)])
    operator("gather_nd", "GatherND", [np.array([[0, 3], [1, 0]])])
    operator("gather_elements", "GatherElements", [np.array([[0, 1, 2]])], axis=0)
    operator("scatter_nd", "ScatterND", [np.array([[1, 9]]), np.ones(1, np.float32)])
    updates = np.ones((1, 3), np.float32)
    operator("scatter_elements", "ScatterElements", [np.array([[0, 1, -3]]), updates], axis=0)
    zero = [node("Div", ["x", "w"], ["y"])]
    ints = {"x": INT64, "y": INT64}
    divided = model(zero, weights={"w": np.array([0, 1, 2])}, kinds=ints)
    folder.add("int_by_zero", divided, LOADED)


# ---- weights in other files -------------------------------------------------------------------


def outside(folder: Folder) -> None:
    """Data beside the model: elsewhere, special files, wrong places in them."""
    where = folder.path
    (where / "good.bin").write_bytes(np.ones(3000, np.float32).tobytes())
    (where / "short.bin").write_bytes(bytes(40))
    (where / "secret").mkdir()
    (where / "secret" / "key").write_bytes(bytes(12_000))
    (where / "link.bin").symlink_to(where / "secret" / "key")
    (where / "folder").symlink_to(where / "secret")
    (where / "zero.bin").symlink_to("/dev/zero")
    os.mkfifo(where / "pipe.bin")
    good = _external({"location": "good.bin"})
    folder.add("good", good, LOADED)
    locations = {
        "above": "../../../../../../etc/passwd",
        "absolute": "/etc/passwd",
        "link": "link.bin",
        "folder": "folder/key",
        "device": "zero.bin",
        "pipe": "pipe.bin",
        "missing": "nowhere.bin",
        "short": "short.bin",
        "directory": "secret",
        "nothing": "",
        "zero_byte": "good.bin\0",
    }
    for name, location in locations.items():
        folder.add(name, _external({"location": location}), REFUSED)
    places = (("offset", "-4"), ("offset", "99999999999999999999"), ("offset", "four"))
    for n, (key, value) in enumerate((*places, ("length", "-1"), ("length", str(2**62)))):
        folder.add(f"place{n}", _external({"location": "good.bin", key: value}), REFUSED)
    constant = node("Constant", [], ["w"])
    value = helper.make_attribute("value", helper.make_tensor("v", FLOAT, [3000], np.ones(3000)))
    _move_out(value.t, {"location": "../secret/key"})
    constant.attribute.append(value)
    nodes = [constant, node("Add", ["x", "w"], ["y"])]
    folder.add("in_attribute", model(nodes, {"x": (1, 3000)}), REFUSED)
    _special(folder, where)


def _special(folder: Folder, where: Path) -> None:
    """Models that are no files."""
    (where / "endless.onnx").symlink_to("/dev/zero")
    (where / "loop.onnx").symlink_to("loop.onnx")
    (where / "place.onnx").mkdir()
    os.mkfifo(where / "waiting.onnx")
    with (where / "sparse.onnx").open("wb") as file:
        file.truncate(3 << 30)
    folder.listed("endless", REFUSED, "no regular file")
    folder.listed("loop", REFUSED, "cannot read")
    folder.listed("place", REFUSED, "no regular file")
    folder.listed("waiting", REFUSED, "no regular file")
    folder.listed("sparse", REFUSED, "2 GiB")
    folder.listed("absent", REFUSED, "No such file")


def _external(entries: dict[str, str]) -> onnx.ModelProto:
    made = model(
        [node("Add", ["x", "w"], ["y"])], {"x": (1, 3000)}, {"w": np.ones(3000, np.float32)}
    )
    _move_out(made.graph.initializer[0], entries)
    return made


def _move_out(tensor: onnx.TensorProto, entries: dict[str, str]) -> None:
    tensor.ClearField("raw_data")
    del tensor.float_data[:]
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
