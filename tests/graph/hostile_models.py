"""Model files that nobody should have to load: broken, hostile, and some that are only large.

    folder = Folder(path)
    bombs(folder)               writes the files of a group; `folder.cases` says what they are

`hostile_graphs` has those whose graph is at fault. Everything is made from fixed seeds. What must
be refused is `REFUSED`, what must load `LOADED`; `EITHER` is for damage that may leave a valid
model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHAINS_ONLY_IMPORTED = False
"""Chains of element-wise operators are not cut into kernels here: that takes too long."""

LOADED, REFUSED, EITHER = "loaded", "refused", "either"
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64

node = helper.make_node
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A file in its group's folder, and what comes of loading it.

    `says` is part of the message. With `only_import` the graph is made, but neither simplified nor
    cut into kernels.
    """

    file: str
    outcome: str
    says: str = ""
    only_import: bool = False


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]] | None = None,
    weights: Mapping[str, Array] | None = None,
    *,
    opset: int = 17,
    functions: Sequence[onnx.FunctionProto] = (),
    kinds: Mapping[str, int] | None = None,
) -> onnx.ModelProto:
    """A model with the output y, of no declared shape, and the input x [2, 3] or `inputs`."""
    types = kinds or {}
    graph = helper.make_graph(
        list(nodes),
        "g",
        [
            helper.make_tensor_value_info(n, types.get(n, FLOAT), list(s))
            for n, s in ({"x": (2, 3)} if inputs is None else inputs).items()
        ],
        [helper.make_tensor_value_info("y", types.get("y", FLOAT), None)],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in (weights or {}).items()],
    )
    domains = [helper.make_opsetid(d, 1) for d in dict.fromkeys(f.domain for f in functions)]
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset), *domains], functions=list(functions)
    )
    made.ir_version = 9
    return made


class Folder:
    """Writes the files of a group and keeps their cases."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cases: list[Case] = []

    def add(
        self, name: str, content: onnx.ModelProto | bytes, outcome: str, says: str = "", **how: bool
    ) -> None:
        data = content if isinstance(content, bytes) else content.SerializeToString()
        (self.path / f"{name}.onnx").write_bytes(data)
        self.cases.append(Case(f"{name}.onnx", outcome, says, **how))

    def listed(self, name: str, outcome: str, says: str = "") -> None:
        """A case whose file is there, or is not."""
        self.cases.append(Case(f"{name}.onnx", outcome, says))


def sample() -> onnx.ModelProto:
    """A convolution, its shape computed by nodes, and a product with a large weight."""
    rng = np.random.default_rng(0)
    weights = {
        "k": rng.standard_normal((4, 2, 3, 3)).astype(np.float32),
        "w": rng.standard_normal((64, 40)).astype(np.float32),
        "n": np.array([1, -1]),
    }
    nodes = [
        node("Conv", ["x", "k"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["r"], name="relu"),
        node("Reshape", ["r", "n"], ["f"], name="flat"),
        node("MatMul", ["f", "w"], ["y"], name="last"),
    ]
    return model(nodes, {"x": (1, 2, 4, 4)}, weights)


# ---- damaged files ----------------------------------------------------------------------------


def damaged(folder: Folder) -> None:
    """Cut off anywhere, with bits turned, or no model at all."""
    whole = sample().SerializeToString()
    for n, length in enumerate(np.linspace(1, len(whole) - 1, 30).astype(int)):
        folder.add(f"cut{n}", whole[:length], EITHER)
    rng = np.random.default_rng(1)
    beyond = whole.index(b"conv") - 200  # the structure; most of the rest are weights
    for n in range(60):
        data = bytearray(whole)
        low = 0 if n % 2 else max(beyond, 0)
        for at in rng.integers(low, min(low + 500, len(data)), 1 + n % 4):
            data[at] ^= 1 << int(rng.integers(8))
        folder.add(f"bits{n}", bytes(data), EITHER)
    contents = {
        "empty": b"",
        "zeros": bytes(1 << 20),
        "ones": b"\xff" * 1000,
        "text": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        "png": b"\x89PNG\r\n\x1a\n" + bytes(50),
        "zip": b"PK\x03\x04" + bytes(60),
        "pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00",
        "random": rng.bytes(5000),
        "length": b"\x3a\xff\xff\xff\xff\x07" + bytes(100),
        "deep": _nested(4000),
    }
    for name, data in contents.items():
        folder.add(name, data, REFUSED)


def _nested(depth: int) -> bytes:
    """Graphs in attributes of nodes of graphs, as bytes that no writer makes."""
    data = b""
    for number in range(depth):
        tag = (b"\x3a", b"\x0a", b"\x2a", b"\x32")[0 if number == depth - 1 else 1 + number % 3]
        length, size = len(data), b""
        while length > 127:
            size += bytes([length & 127 | 128])
            length >>= 7
        data = tag + size + bytes([length]) + data
    return data


# ---- sizes ------------------------------------------------------------------------------------


def bombs(folder: Folder) -> None:
    """Small files that ask for terabytes, or for hours."""
    one, most = np.ones(4, np.float32), "takes"

    def constant(name: str, nodes: Sequence[onnx.NodeProto], **weights: Any) -> None:
        """`c` is computed from constants alone."""
        last = [node("Cast", ["c"], ["f"], to=FLOAT), node("Add", ["x", "f"], ["y"])]
        arrays = {n: np.asarray(a) for n, a in weights.items()}
        folder.add(name, model([*nodes, *last], {"x": (1,)}, arrays), REFUSED, most)

    for power in (10, 12, 15):
        constant(f"shape{power}", [node("ConstantOfShape", ["s"], ["c"])], s=[10**power])
    constant("expand", [node("Expand", ["o", "s"], ["c"])], o=one, s=[10**11, 4])
    constant("tile", [node("Tile", ["o", "s"], ["c"])], o=one, s=[10**10])
    constant("pad", [node("Pad", ["o", "s"], ["c"])], o=one, s=[0, 10**12])
    constant("range", [node("Range", ["a", "s", "b"], ["c"])], a=0, b=1, s=10**12)
    constant("fine", [node("Range", ["a", "s", "b"], ["c"])], a=0.0, b=1e-9, s=1e6)
    constant("hann", [node("HannWindow", ["s"], ["c"])], s=10**12)
    constant("onehot", [node("OneHot", ["i", "s", "o"], ["c"])], i=[1, 2], s=10**11, o=one[:2])
    constant("outer", [node("Einsum", [*"aaa"], ["c"], equation="i,j,k->ijk")], a=np.ones(50_000))
    scales = np.array([1e6, 1e6], np.float32)
    constant("resize", [node("Resize", ["o", "", "s"], ["c"])], o=np.ones((4, 4)), s=scales)
    twice = [node("Concat", [f"c{i}"] * 2, [f"c{i + 1}"], axis=0) for i in range(40)]
    weights = {"c0": np.ones(4096, np.float32)}
    folder.add("twice", model([*twice, node("Neg", ["c40"], ["y"])], {}, weights), REFUSED)
    twice[0] = node("Concat", ["x", "x"], ["c1"], axis=0)
    folder.add(
        "twice_x", model([*twice, node("Neg", ["c40"], ["y"])], {"x": (4096,)}), REFUSED, "larger"
    )
    for name, shape in {"eib": (2**31, 2**31), "2_62": (2**62,), "2_186": (2**62,) * 3}.items():
        folder.add(name, model([node("Relu", ["x"], ["y"])], {"x": shape}), REFUSED, "larger")
    folder.add("gib", model([node("Relu", ["x"], ["y"])], {"x": (50_000, 250_000)}), LOADED)
    folder.add("rank", model([node("Relu", ["x"], ["y"])], {"x": (1,) * 300}), EITHER)
    wide = {"x": (10**6, 10**6)}
    folder.add("eye", model([node("EyeLike", ["x"], ["y"])], wide), REFUSED, most)
    mask = [node("Dropout", ["x"], ["d", "m"]), node("Cast", ["m"], ["y"], to=FLOAT)]
    folder.add("mask", model(mask, wide), REFUSED, most)
    folder.add("hardmax", model([node("Hardmax", ["x"], ["y"])], {"x": (2, 10**12)}), REFUSED, most)
    parts = [node("SplitToSequence", ["x"], ["s"]), node("SequenceAt", ["s", "i"], ["y"])]
    folder.add("parts", model(parts, {"x": (10**10, 2)}, {"i": np.array(0)}), LOADED)
    fewer = [parts[0], node("SequenceErase", ["s"], ["e"]), node("SequenceAt", ["e", "i"], ["y"])]
    folder.add("fewer", model(fewer, {"x": (10**10, 2)}, {"i": np.array(0)}), REFUSED, "elements")
    hot = [node("OneHot", ["x", "d", "v"], ["y"])]
    deep = {"d": np.array(10**12), "v": np.array([0, 1], np.float32)}
    folder.add("onehot_x", model(hot, {"x": (3,)}, deep, kinds={"x": INT64}), REFUSED, most)
    dft = [node("DFT", ["x"], ["y"], axis=1)]
    folder.add("dft", model(dft, {"x": (1, 999983, 1)}), REFUSED, most)
    sized = [node("Resize", ["x", "", "", "s"], ["y"], mode="linear")]
    large = {"s": np.array([1, 1, 4, 10**11])}
    folder.add("resize_x", model(sized, {"x": (1, 1, 4, 4)}, large), REFUSED, most)
    slow = [node("ConstantOfShape", ["s"], ["c"]), node("MaxPool", ["c"], ["y"], kernel_shape=[9])]
    folder.add("slow", model(slow, {}, {"s": np.array([1, 1, 10**6])}), EITHER)
    empty = [node("Concat", ["x", "e"], ["y"], axis=0)]
    none = {"e": np.zeros((0, 10**6), np.float32)}
    folder.add("empty", model(empty, {"x": (10**5, 10**6)}, none), LOADED)
    _expanding(folder)


def _expanding(folder: Folder) -> None:
    """What multiplies when it is written out."""
    folder.add("laughs", _calls(40, times=2), REFUSED, "nodes")
    folder.add("calls", _calls(400, times=1), REFUSED, "nest")
    folder.add("recursive", _calls(1, times=1, last="F0"), REFUSED, "calls itself")
    for name, trips, depth in (("loops", 4, 12), ("long_loops", 3000, 3), ("loop", 10**10, 1)):
        weights = {"m": np.array(trips), "go": np.array(True)}
        folder.add(name, model([_loop(depth)], weights=weights), REFUSED)
    endless = _loop(1)
    endless.input[0] = ""
    folder.add("endless", model([endless], weights={"go": np.array(True)}), REFUSED)
    inner = [node("Neg", ["x"], ["b0"])]
    for depth in range(25):
        made = [helper.make_tensor_value_info(f"b{depth}", FLOAT, (2, 3))]
        other = [helper.make_tensor_value_info(f"e{depth}", FLOAT, (2, 3))]
        branches = {
            "then_branch": helper.make_graph(inner, "then", [], made),
            "else_branch": helper.make_graph(
                [node("Abs", ["x"], [f"e{depth}"])], "else", [], other
            ),
        }
        inner = [node("If", ["yes"], [f"b{depth + 1}"], **branches)]
    inner.append(node("Identity", ["b25"], ["y"]))
    folder.add("ifs", model(inner, weights={"yes": np.array(True)}), EITHER)


def _calls(depth: int, times: int, last: str = "") -> onnx.ModelProto:
    """Functions of which each calls the next one so many times."""
    functions = []
    for d in range(depth + 1):
        callee = last or "Neg" if d == depth else f"F{d + 1}"
        domain = "" if callee == "Neg" else "f"
        names = ["a", *(f"t{n}" for n in range(times - 1)), "b"]
        nodes = [node(callee, [i], [o], domain=domain) for i, o in pairwise(names)]
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
        functions.append(helper.make_function("f", f"F{d}", ["a"], ["b"], nodes, imports))
    return model([node("F0", ["x"], ["y"], domain="f")], functions=functions)


def _loop(depth: int) -> onnx.NodeProto:
    """Loops in loops, whose value grows with every step: such loops are written out."""
    info, before, after = helper.make_tensor_value_info, f"i{depth}", f"o{depth}"
    inner = node("Concat", [before, "x"], [after], axis=0)
    if depth > 1:
        inner = _loop(depth - 1)
        inner.input[2], inner.output[0] = before, after
    body = helper.make_graph(
        [inner, node("Identity", [f"g{depth}"], [f"h{depth}"])],
        f"l{depth}",
        [
            info(f"n{depth}", INT64, []),
            info(f"g{depth}", TensorProto.BOOL, []),
            info(before, FLOAT, ["n", 3]),
        ],
        [info(f"h{depth}", TensorProto.BOOL, []), info(after, FLOAT, ["m", 3])],
    )
    return node("Loop", ["m", "go", "x"], ["y"], body=body)


# ---- large models -----------------------------------------------------------------------------


def large(folder: Folder) -> None:
    """Models of many nodes, and of few that double what is computed; all are valid."""
    layers = [
        n
        for i in range(2500)
        for n in (
            node("MatMul", [f"v{i}", "w"], [f"m{i}"]),
            node("Add", [f"m{i}", "b"], [f"a{i}"]),
            node("Relu", [f"a{i}"], [f"v{i + 1}"]),
            node("Identity", [f"a{i}"], [f"unread{i}"]),
        )
    ]
    weights = {"w": np.eye(4, dtype=np.float32), "b": np.ones(4, np.float32)}
    layers = [node("Identity", ["x"], ["v0"]), *layers, node("Neg", ["v2500"], ["y"])]
    folder.add("layers", model(layers, {"x": (1, 4)}, weights), LOADED, only_import=True)
    folder.add("chain", chain("Neg", 10_000), LOADED, only_import=CHAINS_ONLY_IMPORTED)
    folder.add("relus", chain("Relu", 400), LOADED, only_import=CHAINS_ONLY_IMPORTED)
    folder.add("sums", chain("Add", 40), LOADED, only_import=CHAINS_ONLY_IMPORTED)
    folder.add("products", chain("Mul", 24), LOADED, only_import=CHAINS_ONLY_IMPORTED)
    backwards = chain("Neg", 300)
    backwards.graph.node.reverse()
    folder.add("backwards", backwards, LOADED, only_import=CHAINS_ONLY_IMPORTED)


def chain(op: str, length: int) -> onnx.ModelProto:
    """`op` again and again; a binary one takes its value twice."""
    count = 2 if op in ("Add", "Mul") else 1
    names = ["x", *(f"v{i}" for i in range(length - 1)), "y"]
    return model([node(op, [a] * count, [b]) for a, b in pairwise(names)])
