"""Small ONNX models as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

from tilewright.contract.artifact import Array


def saved(
    folder: Path,
    nodes: Sequence[NodeProto],
    weights: dict[str, Array],
    shape: Sequence[int],
    kind: int = TensorProto.FLOAT,
) -> Path:
    """A model of one input "x" and one output "y" as a file."""
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a, name) for name, a in weights.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    onnx.save(model, folder / "model.onnx")
    return folder / "model.onnx"
