"""Weights beside the model: which ones, with what values, and what is wrong with them."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import onnx
import pytest
from graph_reference import make_model
from onnx import helper

from tilewright.graph.onnx.file import read_model
from tilewright.graph.onnx.weights import SMALL, set_aside
from tilewright.ground.errors import UnsupportedModel

LARGE = np.arange(60 * 80, dtype=np.float32).reshape(60, 80)


def sample() -> onnx.ModelProto:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["t"]),
        helper.make_node("Reshape", ["t", "shape"], ["y"]),
    ]
    weights = {"w": LARGE, "shape": np.array([4, 40], np.int64)}
    return make_model(nodes, {"x": (2, 60)}, weights)


def test_large_weights_become_inputs_of_their_type() -> None:
    model = sample()
    before = model.SerializeToString()
    small, weights = set_aside(model, None, "net")
    assert model.SerializeToString() == before
    assert [t.name for t in small.graph.initializer] == ["shape"]
    np.testing.assert_array_equal(weights["w"], LARGE)
    (info,) = [i for i in small.graph.input if i.name == "w"]
    assert [d.dim_value for d in info.type.tensor_type.shape.dim] == [60, 80]
    assert small.ByteSize() < SMALL
    assert (small.ir_version, small.opset_import[0]) == (model.ir_version, model.opset_import[0])
    assert list(small.graph.node) == list(model.graph.node)


def test_weights_are_read_once() -> None:
    weight = np.zeros((512, 1024), np.float32)
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    model = make_model([node], {"x": (2, 512)}, {"w": weight})
    tracemalloc.start()
    _, weights = set_aside(model, None, "net")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert weights["w"].nbytes <= peak < 1.2 * weight.nbytes


def test_a_weight_that_is_listed_as_input_stays_listed_once() -> None:
    model = sample()
    model.graph.input.append(helper.make_tensor_value_info("w", 1, LARGE.shape))
    small, weights = set_aside(model, None, "net")
    assert [i.name for i in small.graph.input] == ["x", "w"] and list(weights) == ["w"]


def test_external_weights_are_read_from_the_folder(tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    onnx.save(sample(), file, save_as_external_data=True, location="w.bin", size_threshold=0)
    found = read_model(file)
    np.testing.assert_array_equal(found.weights["w"], LARGE)
    assert [t.name for t in found.model.graph.initializer] == ["shape"]
    (tmp_path / "w.bin").write_bytes(b"1234")
    with pytest.raises(UnsupportedModel, match=r"weight (w|shape)"):
        read_model(file)


def test_data_that_do_not_fit_the_shape() -> None:
    model = sample()
    model.graph.initializer[0].raw_data = model.graph.initializer[0].raw_data[:-4]
    with pytest.raises(UnsupportedModel, match="cannot read weight w"):
        read_model(model)
