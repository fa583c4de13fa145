"""The ONNX file of the case tiny-b1, where the benchmarks look for it; PyTorch is not needed.

file = save_tiny(folder)
file = save_tiny(folder, ours(CASES["tiny-b1"]))      the same, of images whose channels come last
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from benchmarks.models.export import path_of
from benchmarks.models.table import CASES, NetworkCase
from onnx import TensorProto, helper, numpy_helper


def save_tiny(folder: Path, case: NetworkCase = CASES["tiny-b1"]) -> Path:
    """A convolution, a mean and a matrix product."""
    shape = list(case.input_shapes()["image"])
    moved = shape[-1] == 3
    rng = np.random.default_rng(0)
    weights = {
        "w1": rng.standard_normal((8, 3, 3, 3)) / 5,
        "w2": rng.standard_normal((8, 5)) / 3,
    }
    turn = helper.make_node("Transpose", ["image"], ["turned"], perm=[0, 3, 1, 2])
    nodes = [
        *([turn] if moved else []),
        helper.make_node(
            "Conv", ["turned" if moved else "image", "w1"], ["c1"], pads=[1] * 4, strides=[2, 2]
        ),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("GlobalAveragePool", ["r1"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w2"], ["output"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 5])],
        [numpy_helper.from_array(w.astype(np.float32), n) for n, w in weights.items()],
    )
    file = path_of(case, folder)
    folder.mkdir(parents=True, exist_ok=True)
    opset = helper.make_opsetid("", 17)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), file)
    return file
