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
    graph = helper.make_graph(
        nodes,
        "classifier",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 24])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 40])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, file)
    return file
