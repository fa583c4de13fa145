"""Unusual models that are right load; what is wrong is told in one line before it costs much."""

from __future__ import annotations

import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from graph_reference import random_inputs, run_graph, run_onnx
from hostile_models import INT64, chain, model, node
from onnx import TensorProto

from tilewright.graph.builder import GraphBuilder
from tilewright.graph.onnx import limits
from tilewright.graph.onnx.importing import load
from tilewright.graph.passes import simplify
from tilewright.ground.errors import UnsupportedModel
from tilewright.ground.text import one_line, size

relu = node("Relu", ["x"], ["y"])


def error(source: onnx.ModelProto | bytes | str | Path, **options: object) -> str:
    with pytest.raises(UnsupportedModel) as caught:
        load(source, **options)  # type: ignore[arg-type]
    return str(caught.value)


# ---- shapes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("unknown", [-1, 0, -2, "?", "", " "])
def test_dimensions_that_say_nothing_are_unknown(unknown: int | str) -> None:
    odd = model([relu], {"x": (unknown, 3, unknown, unknown)})
    assert error(odd).startswith("g: dimension 0 (unnamed) of input x [?, 3, ?, ?] has no value")
    graph = load(odd, shapes={"x": (1, 3, 48, 192)})
    assert graph.outputs[0].shape == (1, 3, 48, 192)


def test_an_empty_input_can_be_given() -> None:
    assert load(model([relu], {"x": (0, 3)}), shapes={"x": (0, 3)}).outputs[0].shape == (0, 3)


def test_shapes_are_whole_numbers() -> None:
    odd = model([relu], {"x": ("n", 3)})
    assert "(1.7, 3) given for input x is no sequence of whole" in error(
        odd, shapes={"x": (1.7, 3)}
    )


def test_an_input_without_a_shape_can_be_given_one() -> None:
    odd = model([relu])
    odd.graph.input[0].type.tensor_type.ClearField("shape")
    assert error(odd) == "g: input x has no shape; give shapes={'x': (…)}"
    assert load(odd, shapes={"x": (2, 3)}).outputs[0].shape == (2, 3)


def test_an_output_needs_neither_shape_nor_type() -> None:
    assert load(model([relu])).outputs[0].shape == (2, 3)
    odd = model([relu])
    odd.graph.output[0].ClearField("type")
    assert load(odd).outputs[0].shape == (2, 3)


def test_an_output_with_another_shape_than_declared_is_told() -> None:
    odd = model([relu])
    dims = odd.graph.output[0].type.tensor_type.shape.dim
    for n in (9, 3):
        dims.add().dim_value = n
    with pytest.warns(UserWarning, match=r"g: output y is declared with the shape \[9, 3\], but"):
        load(odd)
    dims[0].dim_param = "n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(odd)


def test_nothing_is_allocated_for_an_input() -> None:
    tracemalloc.start()
    graph = load(model([relu], {"x": (50_000, 250_000)}))
    empty = {"e": np.zeros((0, 250_000), np.float32)}
    joined = load(model([node("Concat", ["x", "e"], ["y"], axis=0)], {"x": (9, 250_000)}, empty))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert graph.inputs[0].bytes == 50_000_000_000 and joined.outputs[0].shape == (9, 250_000)
    assert peak < 1 << 24


# ---- order and versions -----------------------------------------------------------------------


def test_nodes_in_any_order() -> None:
    nodes = [
        node("Add", ["b", "c"], ["y"]),
        node("Neg", ["a"], ["c"]),
        node("Relu", ["x"], ["a"]),
        node("If", ["yes"], ["b"], then_branch=branch("Neg", "a"), else_branch=branch("Abs", "x")),
    ]
    odd = model(nodes, weights={"yes": np.array(True)})
    graph = load(odd)
    x = random_inputs(graph)
    straight = model([nodes[i] for i in (2, 1, 3, 0)], weights={"yes": np.array(True)})
    np.testing.assert_array_equal(run_graph(graph, x)[0], run_onnx(straight, x)[0])
    assert [n.output.name for n in graph.nodes if n.op == "negative"] == ["c", "r"]


def branch(op: str, name: str) -> onnx.GraphProto:
    """A branch that reads a value of the graph around it."""
    info = onnx.helper.make_tensor_value_info("r", TensorProto.FLOAT, [2, 3])
    return onnx.helper.make_graph([node(op, [name], ["r"])], "branch", [], [info])


def test_a_cycle_is_named() -> None:
    nodes = [node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"]), node("Abs", ["b"], ["y"])]
    assert error(model(nodes)) == (
        "g: its nodes depend on each other in a cycle: Neg (node b) → Add (node a)"
    )


def test_an_unknown_opset_is_refused() -> None:
    newest = onnx.defs.onnx_opset_version()
    assert error(model([relu], opset=newest + 1)) == (
        f"g has opset {newest + 1} of ONNX's operators; known are 1 to {newest}: export it again "
        "with one of these"
    )


# ---- indices ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "indices", "more", "wrong"),
    [
        ("Gather", [99, -77], {}, -77),
        ("Gather", [2], {}, 2),
        ("GatherElements", [[0, 1, -3]], {"axis": 0}, -3),
        ("GatherND", [[1, 3]], {}, 3),
        ("ScatterND", [[0, -4]], {}, -4),
        ("ScatterElements", [[2]], {"axis": 0}, 2),
    ],
)
def test_constant_indices_are_in_range(
    op: str, indices: list[int], more: dict[str, int], wrong: int
) -> None:
    operands = ["x", "i"] + ["u"] * op.startswith("Scatter")
    updates = np.ones(np.shape(indices)[: 1 + (op == "ScatterElements")], np.float32)
    odd = model([node(op, operands, ["y"], **more)], weights={"i": np.array(indices), "u": updates})
    assert f"{op} (node y): index {wrong} is outside" in error(odd)


def test_indices_at_both_ends_are_taken() -> None:
    last = {"i": np.array([-2, 1, 0, -1])}
    graph = load(model([node("Gather", ["x", "i"], ["y"])], weights=last))
    x = random_inputs(graph)
    np.testing.assert_array_equal(run_graph(graph, x)[0], x["x"][last["i"]])


def test_indices_at_run_time_are_clamped() -> None:
    graph = load(
        model([node("Gather", ["x", "i"], ["y"])], {"x": (2, 3), "i": (4,)}, kinds={"i": INT64})
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    (found,) = run_graph(graph, {"x": x, "i": np.array([2, 99, -3, -(2**62)])})
    np.testing.assert_array_equal(found, x[[1, 1, 0, 0]])


# ---- sizes ------------------------------------------------------------------------------------


def test_the_size_of_a_folded_constant_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST", 1 << 20)
    nodes = [node("ConstantOfShape", ["s"], ["c"], name="big"), node("Add", ["x", "c"], ["y"])]
    odd = model(nodes, {"x": (1,)}, {"s": np.array([200_000])})
    assert error(odd) == (
        "g: ConstantOfShape (node big): its result takes 800 kB; arrays that are computed at "
        "import may take 524 kB each and 1.05 MB together"
    )
    assert load(model(nodes, {"x": (1,)}, {"s": np.array([100_000])})).outputs


def test_folded_constants_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST", 1 << 20)
    doubled = [node("Concat", [f"c{i}"] * 2, [f"c{i + 1}"], axis=0) for i in range(20)]
    nodes = [*doubled, node("Add", ["x", "c20"], ["y"])]
    message = error(model(nodes, {"x": (1,)}, {"c0": np.ones(4, np.float32)}))
    assert "Concat (node c16): its result takes 1.05 MB" in message
    assert "and 1.05 MB are taken" in message
    turned = [node("Transpose", ["c0"], [f"t{i}"]) for i in range(9)]
    nodes = [node("Expand", ["o", "s"], ["c0"]), *turned, node("Sum", ["x", "t0", "t8"], ["y"])]
    weights = {"o": np.ones(1, np.float32), "s": np.array([250, 250])}
    assert "Transpose (node t4)" in error(model(nodes, {"x": (1,)}, weights))


def test_results_may_grow_with_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST", 1 << 10)
    nodes = [node("Cast", ["w"], ["c"], to=1), node("MatMul", ["x", "c"], ["y"])]
    weights = {"w": np.ones((64, 500), np.int8)}
    assert load(model(nodes, {"x": (2, 64)}, weights)).nodes


def test_large_constants_are_evaluated_by_blocks() -> None:
    """What the reference evaluator would compute element by element."""
    nodes = [
        node("ConstantOfShape", ["s"], ["c"]),
        node("MaxPool", ["c"], ["p"], kernel_shape=[9]),
        node("Add", ["x", "p"], ["y"]),
    ]
    graph = simplify(load(model(nodes, {"x": (1,)}, {"s": np.array([1, 1, 10**5])})))
    assert {n.op for n in graph.nodes} == {"add"}
    assert graph.outputs[0].shape == (1, 1, 10**5 - 8)


def test_constants_that_take_too_long_are_refused() -> None:
    builder = GraphBuilder("g")
    wide = np.broadcast_to(np.float32(1), (3000, 3000))
    operands = [builder.constant(n, wide) for n in "ab"]
    product = builder.emit("matmul", *operands)
    with pytest.raises(UnsupportedModel, match=r"matmul \(matmul\) has 2.7e\+10 terms"):
        simplify(builder.build([product], ["y"]))


def test_what_multiplies_is_counted() -> None:
    assert "function F0 calls itself" in error(calls("F0"))


def calls(callee: str) -> onnx.ModelProto:
    function = onnx.helper.make_function(
        "f",
        "F0",
        ["a"],
        ["b"],
        [node(callee, ["a"], ["b"], domain="f")],
        [onnx.helper.make_opsetid("f", 1)],
    )
    return model([node("F0", ["x"], ["y"], domain="f")], functions=[function])


# ---- files and names --------------------------------------------------------------------------


def test_a_model_is_a_regular_file(tmp_path: Path) -> None:
    assert error("/dev/zero") == "cannot read /dev/zero: it is no regular file"
    assert error(tmp_path) == f"cannot read {tmp_path}: it is no regular file"
    with (tmp_path / "net.onnx").open("wb") as file:
        file.truncate(3 << 30)
    assert "has 3.22 GB, and an ONNX file holds 2 GiB at most" in error(tmp_path / "net.onnx")


def test_messages_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "net.onnx"
    file.write_bytes(model([node("Bogus", ["x"], ["y"])]).SerializeToString())
    assert error(file).startswith(f"{file}: not a valid ONNX model: ")


def test_names_are_text() -> None:
    whole = model([node("Elu", ["x"], ["mid"]), node("Neg", ["mid"], ["y"])])
    damaged = whole.SerializeToString().replace(b"mid", b"\xffid")
    assert "name" in error(damaged) and "UTF-8" in error(damaged)


def test_weights_of_constants_may_lie_beside_the_model(tmp_path: Path) -> None:
    weight = np.arange(3000, dtype=np.float32)
    value = onnx.numpy_helper.from_array(weight, "v")
    nodes = [node("Constant", [], ["w"], value=value), node("Add", ["x", "w"], ["y"])]
    made = model(nodes, {"x": (1, 3000)})
    file = tmp_path / "net.onnx"
    onnx.save(
        made,
        file,
        save_as_external_data=True,
        location="w.bin",
        size_threshold=0,
        convert_attribute=True,
    )
    assert (tmp_path / "w.bin").stat().st_size == weight.nbytes
    graph = load(file)
    x = random_inputs(graph)
    np.testing.assert_array_equal(run_graph(graph, x)[0], x["x"] + weight)


def test_folding_is_silent() -> None:
    weights = {"w": np.array([[np.nan, np.inf]], np.float32), "z": np.zeros(2, np.float32)}
    nodes = [
        node("Div", ["z", "z"], ["q"]),
        node("Mul", ["x", "w"], ["t"]),
        node("Mul", ["t", "z"], ["u"]),
        node("Add", ["u", "q"], ["y"]),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert simplify(load(model(nodes, {"x": (3, 2)}, weights))).outputs


def test_texts_of_others_are_one_line() -> None:
    assert one_line("a\n\tb\x1b[0m \u202ec") == "a b [0m c"
    assert one_line("x" * 500) == "x" * 399 + "…"
    assert size(4e12) == "4 TB"


def test_many_values_of_one_name_are_named_quickly() -> None:
    builder = GraphBuilder("g")
    names = [builder.unique("v") for _ in range(50_000)]
    assert names[:3] == ["v", "v_2", "v_3"] and names[-1] == "v_50000"
    assert builder.unique("v_2") == "v_2_2"


def test_a_long_chain_is_imported() -> None:
    assert len(load(chain("Neg", 3000)).nodes) == 3000
