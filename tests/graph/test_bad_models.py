"""Models that cannot be taken: the error names the thing and the way out."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.shape_inference
import pytest
from graph_reference import make_model, random_inputs, run_graph, run_onnx
from onnx import TensorProto, helper

from tilewright.graph.onnx.importing import load
from tilewright.ground.errors import UnsupportedModel

node = helper.make_node


def error(source: object, **options: object) -> str:
    with pytest.raises(UnsupportedModel) as caught:
        load(source, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_a_missing_file() -> None:
    assert error("/nowhere/net.onnx") == (
        "cannot read /nowhere/net.onnx: No such file or directory"
    )


def test_a_broken_file(tmp_path: Path) -> None:
    whole = make_model([node("Relu", ["x"], ["y"])], {"x": (2, 3)}).SerializeToString()
    path = tmp_path / "net.onnx"
    path.write_bytes(whole[:-9])
    assert "net.onnx is no ONNX model" in error(path)
    path.write_bytes(b"")
    assert "holds no graph" in error(str(path))
    assert "is no ONNX model" in error(b"version https://git-lfs.github.com/spec/v1")


def test_a_model_that_the_checker_refuses() -> None:
    model = make_model([node("Relu", ["x"], ["y"])], {"x": (2, 3)})
    model.graph.node[0].input[0] = "z"
    assert "not a valid ONNX model" in error(model)


def test_shapes_that_do_not_fit() -> None:
    nodes = [node("MatMul", ["x", "w"], ["y"])]
    model = make_model(nodes, {"x": (2, 3)}, {"w": np.ones((3, 2), np.float32)})
    model.graph.initializer[0].dims[:] = [2, 3]
    assert "shapes do not fit" in error(model)


def test_what_shape_inference_errs_about() -> None:
    """It takes the spectrum for two-sided where a length is given."""
    nodes = [
        node("STFT", ["x", "step", "window", "length"], ["s"]),
        node("ReduceSum", ["s", "last"], ["r"], keepdims=0),
        node("MatMul", ["r", "w"], ["y"]),
    ]
    known = {
        "step": np.int64(10), "length": np.int64(16), "last": np.array([3]),
        "window": np.hanning(16).astype(np.float32), "w": np.ones((9, 4), np.float32),
    }  # fmt: skip
    model = make_model(nodes, {"x": (1, 100, 1)}, known)
    with pytest.raises(onnx.shape_inference.InferenceError):
        onnx.shape_inference.infer_shapes(model, strict_mode=True)
    inputs = {"x": np.random.default_rng(0).standard_normal((1, 100, 1)).astype(np.float32)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file has the wrong shape
        graph = load(model)
    spectrum = run_onnx(make_model(nodes[:1], {"x": (1, 100, 1)}, known, outputs=("s",)), inputs)[0]
    wanted = spectrum.sum(3) @ known["w"]
    np.testing.assert_allclose(run_graph(graph, inputs)[0], wanted, rtol=1e-3, atol=1e-3)


def test_missing_external_weights(tmp_path: Path) -> None:
    model = make_model(
        [node("MatMul", ["x", "w"], ["y"])], {"x": (2, 30)}, {"w": np.ones((30, 40), np.float32)}
    )
    path = tmp_path / "net.onnx"
    onnx.save(model, path, save_as_external_data=True, location="net.weights", size_threshold=0)
    graph = load(path)
    x = random_inputs(graph)
    np.testing.assert_allclose(run_graph(graph, x)[0], x["x"] @ np.ones((30, 40)), rtol=1e-4)
    assert "give its path" in error(path.read_bytes())
    (tmp_path / "net.weights").unlink()
    message = error(path)
    assert "net.weights" in message
    assert str(tmp_path) in message


def test_a_dimension_without_a_value() -> None:
    model = make_model([node("Relu", ["x"], ["y"])], {"x": ("batch", 3, "height")})
    assert error(model) == (
        "test: dimension 0 (batch) of input x [batch, 3, height] has no value; "
        "give shapes={'batch': …, 'height': …}"
    )
    assert load(model, shapes={"x": (2, 3, 5)}).outputs[0].shape == (2, 3, 5)
    assert load(model, shapes={"batch": (2,), "height": (5,)}).outputs[0].shape == (2, 3, 5)
    assert error(model, shapes={"batch": (2,)}).endswith("has no value; give shapes={'height': …}")


@pytest.mark.parametrize(
    ("inputs", "advice"),
    [
        ({"x": ("n", 3), "z": ("n", "m")}, "give shapes={'n': …, 'm': …}"),
        ({"x": ("n", 3), "z": ("past + n", 3)}, "give shapes={'n': …, 'z': (…)}"),
        ({"x": (None, 3), "z": (1, 3)}, "give shapes={'x': (…)}"),
        ({"x": (None, "n"), "z": (1, 3)}, "give shapes={'x': (…)}"),
        ({"x": (None, "n"), "z": (1, "n")}, "give shapes={'n': …, 'x': (…)}"),
    ],
)
def test_all_that_is_missing_is_asked_for_once(inputs: dict[str, Any], advice: str) -> None:
    model = make_model([node("Add", ["x", "z"], ["y"])], inputs)
    assert error(model).endswith(advice)


def test_shapes_that_contradict_the_model() -> None:
    model = make_model([node("Relu", ["x"], ["y"])], {"x": ("batch", 3)})
    assert "input x has shape [batch, 3]; the shape (2, 4)" in error(model, shapes={"x": (2, 4)})
    assert "the shape (2,) given" in error(model, shapes={"x": (2,)})
    wrong = error(model, shapes={"z": (2, 3)})
    assert "no input and no dimension is called z, whose shape is given" in wrong
    assert wrong.endswith("the model's inputs: x [batch, 3]")


def test_a_dimension_is_given_by_its_name() -> None:
    nodes = [node("Add", ["x", "z"], ["y"])]
    model = make_model(nodes, {"x": ("n", 3), "z": ("n", "m")})
    graph = load(model, shapes={"n": (4,), "m": (1,)})
    assert [v.shape for v in graph.inputs] == [(4, 3), (4, 1)]
    wrong = error(model, shapes={"n": (4, 3, 2)})
    assert "dimension n is one number, or the least and the most, not (4, 3, 2)" in wrong
    wrong = error(model, shapes={"n": (4,), "z": (5, 1)})
    assert "dimension n of input z is given as 5 and, elsewhere, as 4" in wrong


def test_one_value_serves_every_dimension_of_its_name() -> None:
    nodes = [node("Add", ["x", "z"], ["y"])]
    model = make_model(nodes, {"x": ("n", 3), "z": ("n", 1)})
    graph = load(model, shapes={"x": (4, 3)})
    assert [v.shape for v in graph.inputs] == [(4, 3), (4, 1)]
    wrong = error(model, shapes={"x": (4, 3), "z": (5, 1)})
    assert "dimension n of input z is given as 5 and, elsewhere, as 4" in wrong


def test_all_unsupported_nodes_are_listed() -> None:
    nodes = [
        node("RandomNormalLike", ["x"], ["v"], name="once"),
        node("Relu", ["v"], ["r"]),
        node("RandomUniformLike", ["r"], ["z"], name="coin"),
        node("Cast", ["z"], ["y"], to=TensorProto.FLOAT),
        node("Resize", ["x", "", "s"], ["w"], name="big", mode="area"),
    ]
    weights = {"s": np.array([1, 2], np.float32)}
    message = error(make_model(nodes, {"x": (4, 5)}, weights, outputs=("y", "w")))
    assert message.splitlines() == [
        "test: 3 things are not supported:",
        "  RandomNormalLike (node once): it is random",
        "  RandomUniformLike (node coin): it is random",
        "  Resize (node big): mode 'area' is not supported; known: "
        "nearest, linear, bilinear, cubic",
    ]


def test_an_operator_of_another_domain() -> None:
    model = make_model([node("Relu", ["x"], ["y"])], {"x": (2, 3)})
    model.graph.node[0].CopyFrom(node("Magic", ["x"], ["y"], domain="com.example", name="m"))
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    message = error(model)
    assert "com.example.Magic (node m): unknown operator" in message


def test_an_input_of_an_unknown_type() -> None:
    model = make_model(
        [node("Identity", ["x"], ["y"])], {"x": (2,)}, dtypes={"x": TensorProto.STRING}
    )
    assert "input x: type STRING; known types: float64" in error(model)


def test_a_value_that_must_be_known() -> None:
    model = make_model(
        [node("Reshape", ["x", "s"], ["t"], name="r"), node("Relu", ["t"], ["y"])],
        {"x": (2, 3), "s": (2,)},
        dtypes={"s": TensorProto.INT64},
    )
    model.graph.output[0].type.tensor_type.shape.dim.add().dim_value = 6
    message = error(model)
    assert "Reshape (node r): its shape (s: int64[2]) must be known at compile time" in message
    assert message.endswith("; give constants={'s': …}")


def test_every_refusal_names_the_file(tmp_path: Path) -> None:
    """Of several models called model.onnx one has to be told from another."""
    path = tmp_path / "model.onnx"
    for fault, options in (
        (lambda m: m.graph.node[0].input.insert(0, "gone"), {}),
        (lambda m: m.graph.node[0].CopyFrom(node("Bernoulli", ["x"], ["y"])), {}),
        (lambda m: m.graph.input[0].type.tensor_type.shape.dim[0].Clear(), {}),
        (lambda m: None, {"shapes": {"x": (9, 9)}}),
        (lambda m: None, {"constants": {"q": np.ones(1)}}),
    ):
        model = make_model([node("Relu", ["x"], ["y"])], {"x": (2, 3)})
        fault(model)
        path.write_bytes(model.SerializeToString())
        assert error(path, **options).startswith(f"{path}: ")


def test_what_follows_from_a_refusal_is_not_told() -> None:
    """The branches of `If` read what a refused node should have made."""
    branches = {
        f"{side}_branch": helper.make_graph(
            [node("Neg", ["v"], [f"{side}_n"]), node("Relu", [f"{side}_n"], [f"{side}_r"])],
            side,
            [],
            [helper.make_tensor_value_info(f"{side}_r", TensorProto.FLOAT, [None])],
        )
        for side in ("then", "else")
    }
    nodes = [
        node("RandomNormalLike", ["x"], ["v"], name="once"),
        node("If", ["c"], ["w"], name="choice", **branches),
        node("Add", ["w", "w"], ["y"], name="after"),
    ]
    known = {"c": np.array(True)}
    assert error(make_model(nodes, {"x": (4,)}, known)) == (
        "test: RandomNormalLike (node once): it is random"
    )


def test_a_very_old_model_is_converted() -> None:
    model = make_model([node("Relu", ["x"], ["t"]), node("Neg", ["t"], ["y"])], {"x": (2, 3)})
    model.opset_import[0].version = 6
    x = {"x": np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32)}
    np.testing.assert_allclose(run_graph(load(model), x)[0], run_onnx(model, x)[0])


def test_the_callers_model_is_left_alone() -> None:
    model = make_model([node("Relu", ["x"], ["y"])], {"x": ("n", 3)})
    before = model.SerializeToString()
    load(model, shapes={"x": (2, 3)})
    assert model.SerializeToString() == before
