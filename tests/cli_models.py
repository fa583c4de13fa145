"""The command line in this process, and a small ONNX model for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from typer.testing import CliRunner, Result

from tilewright.cli.app import app

TRIALS = 6  # of the session's database


def cli(*arguments: object) -> Result:
    """Run the command line."""
    return CliRunner().invoke(app, [str(a) for a in arguments])


def check_error(result: Result, *parts: str) -> None:
    """One message on standard error that has all parts; exit status 1; no traceback."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.startswith("error: ")
    for part in parts:
        assert part in result.stderr
    assert "Traceback" not in result.output


def save_classifier(file: Path, batch: int | str = 2) -> Path:
    """y = relu(x·w + b) with x float32[batch, 24], y float32[batch, 40]; one kernel."""
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.standard_normal((24, 40)).astype(np.float32), "w"),
        numpy_helper.from_array(rng.standard_normal(40).astype(np.float32), "b"),
    ]
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["h"]),
        helper.make_node("Relu", ["h"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 24])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 40])
    return _save(file, nodes, [x], y, weights)


def save_products(file: Path) -> Path:
    """y = relu(x·v)·w with x float32[256, 8], y float32[256, 4] and 64 columns between."""
    rng = np.random.default_rng(0)
    shapes = {"v": (8, 64), "w": (64, 4)}
    weights = [
        numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "v"], ["g"]),
        helper.make_node("Relu", ["g"], ["h"]),
        helper.make_node("MatMul", ["h", "w"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [256, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [256, 4])
    return _save(file, nodes, [x], y, weights)


def save_reshaped(file: Path) -> Path:
    """y = relu(reshape(x, s)) with x float32[2, 3] and the shape s int64[2]."""
    nodes = [
        helper.make_node("Reshape", ["x", "s"], ["h"]),
        helper.make_node("Relu", ["h"], ["y"]),
    ]
    return _save(
        file,
        nodes,
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
            helper.make_tensor_value_info("s", TensorProto.INT64, [2]),
        ],
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None]),
    )


def save_tokens(file: Path, rows: int = 50) -> Path:
    """y = relu(table[ids] + hot(kinds)) with ids and kinds int64[4], and a table of `rows` rows."""
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.standard_normal((rows, 8)).astype(np.float32), "table"),
        numpy_helper.from_array(np.array(8), "depth"),
        numpy_helper.from_array(np.array([0, 1], np.float32), "off_on"),
    ]
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"], name="embed"),
        helper.make_node("OneHot", ["kinds", "depth", "off_on"], ["hot"], name="hot"),
        helper.make_node("Add", ["rows", "hot"], ["sum"], name="mix"),
        helper.make_node("Relu", ["sum"], ["y"], name="last"),
    ]
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, [4]) for n in ("ids", "kinds")]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 8])
    return _save(file, nodes, inputs, output, weights)


def _save(
    file: Path,
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    output: onnx.ValueInfoProto,
    weights: list[TensorProto] | None = None,
) -> Path:
    graph = helper.make_graph(nodes, "graph", inputs, [output], weights or [])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, file)
    return file
