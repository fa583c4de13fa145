"""Control flow whose course is known at import, or that cannot be taken; definitions, sequences,
inputs given now."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from graph_reference import make_model, random_inputs, run_graph, run_onnx
from onnx import TensorProto, helper

from tilewright.graph.onnx.importing import load
from tilewright.ground.errors import UnsupportedModel

node = helper.make_node


FLOAT, BOOL, INT = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
Types = dict[str, tuple[int, int]]
"""Element type and rank by name."""


def infos(named: Types) -> list[onnx.ValueInfoProto]:
    return [
        helper.make_tensor_value_info(name, kind, [f"{name}{d}" for d in range(rank)])
        for name, (kind, rank) in named.items()
    ]


def subgraph(nodes: list[onnx.NodeProto], inputs: Types, outputs: Types) -> onnx.GraphProto:
    return helper.make_graph(nodes, "body", infos(inputs), infos(outputs))


def with_output(model: onnx.ModelProto, types: Types) -> onnx.ModelProto:
    del model.graph.output[:]
    model.graph.output.extend(infos(types))
    return model


def scan(body: onnx.GraphProto, backwards: int) -> onnx.NodeProto:
    """last, y: `body` over the columns of x, from `start` on; y has its results as columns."""
    return node(
        "Scan",
        ["start", "x"],
        ["last", "y"],
        body=body,
        num_scan_inputs=1,
        scan_input_axes=[1],
        scan_output_axes=[1],
        scan_input_directions=[backwards],
        scan_output_directions=[backwards],
    )


def agrees(model: onnx.ModelProto) -> None:
    graph = load(model)
    x = random_inputs(graph)
    for ours, theirs in zip(run_graph(graph, x), run_onnx(model, x), strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("taken", [True, False])
def test_a_constant_condition_chooses_a_branch(taken: bool) -> None:
    branches = {
        "then_branch": subgraph([node("Relu", ["x"], ["a"])], {}, {"a": (FLOAT, 2)}),
        "else_branch": subgraph([node("Neg", ["x"], ["b"])], {}, {"b": (FLOAT, 2)}),
    }
    model = make_model(
        [node("If", ["c"], ["y"], **branches)], {"x": (2, 3)}, {"c": np.array(taken)}
    )
    agrees(with_output(model, {"y": (FLOAT, 2)}))


def loop(trips: int) -> onnx.ModelProto:
    """total += x · i; the sums so far are an output."""
    body = subgraph(
        [
            node("Cast", ["i"], ["f"], to=FLOAT),
            node("Mul", ["x", "f"], ["step"]),
            node("Add", ["total", "step"], ["next"]),
            node("Identity", ["next"], ["seen"]),
            node("Identity", ["go"], ["go_on"]),
        ],
        {"i": (INT, 0), "go": (BOOL, 0), "total": (FLOAT, 2)},
        {"go_on": (BOOL, 0), "next": (FLOAT, 2), "seen": (FLOAT, 2)},
    )
    model = make_model(
        [node("Loop", ["trips", "", "x"], ["y", "all"], body=body)],
        {"x": (2, 3)},
        {"trips": np.array(trips, np.int64)},
    )
    return with_output(model, {"y": (FLOAT, 2), "all": (FLOAT, 3)})


def test_a_loop_of_known_length_is_unrolled() -> None:
    agrees(loop(4))
    graph = load(loop(4))
    assert graph.outputs[1].shape == (4, 2, 3)


def test_a_loop_that_needs_its_course_says_so() -> None:
    """As many rows as the number of the step says are known only where steps are written out."""
    body = subgraph(
        [
            node("Unsqueeze", ["i", "axes"], ["start"]),
            node("Add", ["start", "one"], ["end"]),
            node("Slice", ["x", "axes", "end", "axes", "two"], ["rows"]),
            node("ReduceSum", ["rows", "axes"], ["row"]),
            node("Add", ["total", "row"], ["next"]),
            node("Identity", ["go"], ["go_on"]),
        ],
        {"i": (INT, 0), "go": (BOOL, 0), "total": (FLOAT, 2)},
        {"go_on": (BOOL, 0), "next": (FLOAT, 2)},
    )
    model = make_model(
        [node("Loop", ["trips", "", "first"], ["y"], body=body)],
        {"x": (4, 3), "first": (1, 3)},
        {"axes": np.array([0]), "one": np.array([1]), "two": np.array([2])},
    )
    model.graph.input.append(helper.make_tensor_value_info("trips", INT, []))
    with_output(model, {"y": (FLOAT, 2)})
    with pytest.raises(UnsupportedModel, match="its ends") as refused:
        load(model)
    assert refused.value.unknown_inputs == ("trips",)
    graph = load(model, constants={"trips": np.int64(4)})
    assert graph.outputs[0].shape == (1, 3)


def test_a_loop_that_never_runs_has_no_shape() -> None:
    with pytest.raises(UnsupportedModel, match="it never runs"):
        load(loop(0))


def test_branches_of_two_ranks_are_refused() -> None:
    row = node("ReduceMax", ["x"], ["b"], axes=[0], keepdims=0)
    branches = {
        "then_branch": subgraph([node("Relu", ["x"], ["a"])], {}, {"a": (FLOAT, 2)}),
        "else_branch": subgraph([row], {}, {"b": (FLOAT, 1)}),
    }
    model = make_model(
        [node("If", ["c"], ["y"], name="choice", **branches)],
        {"x": (2, 3), "c": ()},
        dtypes={"c": BOOL},
    )
    with_output(model, {"y": (FLOAT, 2)})
    with pytest.raises(UnsupportedModel) as caught:
        load(model)
    assert "If (node choice): its branches give a: float32[2, 3] and b" in str(caught.value)
    assert caught.value.unknown_inputs == ("c",)
    chosen = load(model, constants={"c": np.array(True)})
    assert [n.op for n in chosen.nodes] == ["relu"]


@pytest.mark.parametrize("backwards", [0, 1])
def test_a_scan_runs_over_slices(backwards: int) -> None:
    body = subgraph(
        [node("Add", ["s", "row"], ["t"]), node("Mul", ["t", "t"], ["out"])],
        {"s": (FLOAT, 1), "row": (FLOAT, 1)},
        {"t": (FLOAT, 1), "out": (FLOAT, 1)},
    )
    model = make_model([scan(body, backwards)], {"start": (2,), "x": (2, 5)})
    agrees(with_output(model, {"last": (FLOAT, 1), "y": (FLOAT, 2)}))


def test_a_function_of_the_model_is_taken_by_its_nodes() -> None:
    """A function with an attribute, which calls another one."""
    domain = "com.example"
    inner = helper.make_function(
        domain, "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    sharp = node("LeakyRelu", ["a"], ["r"])
    sharp.attribute.append(
        onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="slope")
    )
    outer = helper.make_function(
        domain, "Sharp", ["a"], ["b"], [sharp, node("Twice", ["r"], ["b"], domain=domain)],
        [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)], ["slope"],
    )  # fmt: skip
    model = make_model([node("Relu", ["x"], ["y"])], {"x": (2, 3)})
    model.graph.node[0].CopyFrom(node("Sharp", ["x"], ["y"], domain=domain, slope=0.25))
    model.opset_import.append(helper.make_opsetid(domain, 1))
    model.functions.extend([inner, outer])
    graph = load(model)
    x = np.array([[-4, 1, 2], [0, -8, 3]], np.float32)
    np.testing.assert_array_equal(run_graph(graph, {"x": x})[0], [[-2, 2, 4], [0, -4, 6]])


def test_an_operator_in_a_definition_is_named_with_its_place() -> None:
    domain = "com.example"
    inner = helper.make_function(
        domain, "Odd", ["a"], ["b"], [node("RandomNormalLike", ["a"], ["b"], name="r")],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    model = make_model([node("Relu", ["x"], ["y"])], {"x": (2, 3)})
    model.graph.node[0].CopyFrom(node("Odd", ["x"], ["y"], domain=domain, name="o"))
    model.opset_import.append(helper.make_opsetid(domain, 1))
    model.functions.append(inner)
    with pytest.raises(UnsupportedModel, match="it is random") as caught:
        load(model)
    assert str(caught.value) == (
        "test: com.example.Odd (node o): RandomNormalLike (node r): it is random"
    )


def test_sequences_exist_at_import_only() -> None:
    nodes = [
        node("SplitToSequence", ["x"], ["parts"], axis=0),
        node("SequenceAt", ["parts", "one"], ["second"]),
        node("SequenceErase", ["parts", "one"], ["fewer"]),
        node("SequenceInsert", ["fewer", "second"], ["turned"]),
        node("ConcatFromSequence", ["turned"], ["y"], axis=0),
    ]
    model = make_model(nodes, {"x": (3, 2)}, {"one": np.array(1, np.int64)})
    model = with_output(model, {"y": (FLOAT, 2)})
    graph = load(model)
    x = random_inputs(graph)
    np.testing.assert_array_equal(run_graph(graph, x)[0], x["x"][[0, 2, 1]])


def test_sequences_are_made_and_counted_at_import() -> None:
    nodes = [
        node("SequenceConstruct", ["x", "z"], ["two"]),
        node("SequenceEmpty", [], ["none"]),
        node("SequenceInsert", ["none", "z"], ["one"]),
        node("SequenceLength", ["two"], ["count"]),
        node("SequenceAt", ["one", "first"], ["again"]),
        node("ConcatFromSequence", ["two"], ["both"], axis=0),
        node("Cast", ["count"], ["factor"], to=FLOAT),
        node("Mul", ["both", "factor"], ["scaled"]),
        node("Concat", ["scaled", "again"], ["y"], axis=0),
    ]
    model = make_model(nodes, {"x": (3, 2), "z": (1, 2)}, {"first": np.array(0, np.int64)})
    model = with_output(model, {"y": (FLOAT, 2)})
    graph = load(model)
    x = random_inputs(graph)
    expected = np.concatenate([2 * x["x"], 2 * x["z"], x["z"]])
    np.testing.assert_allclose(run_graph(graph, x)[0], expected, rtol=1e-6)


def test_constants_are_no_inputs() -> None:
    nodes = [node("Tile", ["x", "r"], ["y"])]
    model = make_model(nodes, {"x": (2, 3), "r": (2,)}, dtypes={"r": INT})
    with_output(model, {"y": (FLOAT, 2)})
    with pytest.raises(UnsupportedModel) as caught:
        load(model)
    assert caught.value.unknown_inputs == ("r",)
    graph = load(model, constants={"r": np.array([2, 1])})
    assert [v.name for v in graph.inputs] == ["x"]
    assert graph.outputs[0].shape == (4, 3)
    with pytest.raises(UnsupportedModel, match="no input is called q, which a constant"):
        load(model, constants={"q": np.array([2, 1])})


def test_an_unknown_value_is_traced_to_the_inputs_that_decide_it() -> None:
    nodes = [
        node("Add", ["r", "one"], ["more"]),
        node("Tile", ["x", "more"], ["y"]),
    ]
    model = make_model(
        nodes, {"x": (2, 3), "r": (2,)}, {"one": np.array([1, 1])}, dtypes={"r": INT}
    )
    with_output(model, {"y": (FLOAT, 2)})
    with pytest.raises(UnsupportedModel) as caught:
        load(model)
    assert caught.value.unknown_inputs == ("r",)


def test_empty_arrays_are_known() -> None:
    """An empty input is none that a kernel reads; what it decides is computed at import."""
    nodes = [node("Concat", ["x", "e"], ["c"], axis=0), node("ReduceSum", ["e"], ["s"], keepdims=0)]
    nodes += [node("Add", ["c", "s"], ["y"]), node("Mul", ["e", "x"], ["z"])]
    model = make_model(nodes, {"x": (1, 3), "e": ("n", 3)})
    with_output(model, {"y": (FLOAT, 2), "z": (FLOAT, 2)})
    graph = load(model, shapes={"e": (0, 3)})
    assert [v.shape for v in graph.inputs] == [(1, 3), (0, 3)]
    x = {"x": np.ones((1, 3), np.float32), "e": np.empty((0, 3), np.float32)}
    found = run_graph(graph, x)
    np.testing.assert_array_equal(found[0], x["x"])
    assert found[1].shape == (0, 3)


def test_a_gradient_is_made_of_nodes() -> None:
    """Of tanh((a @ w) · a2 + b) / a3, summed over its elements, against finite differences."""
    nodes = [
        node("MatMul", ["a", "w"], ["p"]),
        node("Mul", ["p", "p"], ["s"]),
        node("Add", ["s", "b"], ["t"]),
        node("Tanh", ["t"], ["h"]),
        node("Exp", ["a"], ["e"]),
        node("Transpose", ["e"], ["et"], perm=[1, 0]),
        node("Div", ["h", "et"], ["y"]),
        node("Gradient", ["a", "b"], ["da", "db"], xs=["a", "b"], y="y", **TRAINING),
    ]
    shapes = {"a": (3, 3), "b": (3,)}
    w = np.random.default_rng(2).standard_normal((3, 3)).astype(np.float32)
    model = make_model(nodes[:-1], shapes, {"w": w})
    plain = load(model)
    model.graph.node.append(nodes[-1])
    model.opset_import.append(helper.make_opsetid(TRAINING["domain"], 1))
    graph = load(with_output(model, {"da": (FLOAT, 2), "db": (FLOAT, 1)}))
    x = {k: v * np.float32(0.3) for k, v in random_inputs(graph).items()}
    found = dict(zip(("a", "b"), run_graph(graph, x), strict=True))
    for name, gradient in found.items():
        assert gradient.shape == shapes[name]
        for at in np.ndindex(gradient.shape):
            step = np.zeros_like(x[name])
            step[at] = 1e-2
            up, down = (
                run_graph(plain, {**x, name: x[name] + sign * step})[0].sum(dtype=np.float64)
                for sign in (1, -1)
            )
            np.testing.assert_allclose(gradient[at], (up - down) / 2e-2, rtol=2e-2, atol=2e-3)


TRAINING = {"domain": "ai.onnx.preview.training"}


def test_a_gradient_without_a_rule_is_refused() -> None:
    nodes = [
        node("Sin", ["x"], ["y"]),
        node("Gradient", ["x"], ["d"], name="g", xs=["x"], y="y", **TRAINING),
    ]
    model = make_model(nodes[:1], {"x": (2, 3)})
    model.graph.node.append(nodes[1])
    model.opset_import.append(helper.make_opsetid(TRAINING["domain"], 1))
    with pytest.raises(UnsupportedModel, match="sin has no rule for its gradient"):
        load(with_output(model, {"d": (FLOAT, 2)}))


def test_no_derivative_by_what_is_known() -> None:
    """How y was made of it is not kept."""
    nodes = [
        node("Mul", ["x", "x"], ["y"]),
        node("Gradient", ["x"], ["d"], name="g", xs=["x"], y="y", **TRAINING),
    ]
    model = make_model(nodes[:1], {"x": (2, 3)})
    model.graph.node.append(nodes[1])
    model.opset_import.append(helper.make_opsetid(TRAINING["domain"], 1))
    model = with_output(model, {"d": (FLOAT, 2)})
    assert load(model).nodes
    with pytest.raises(UnsupportedModel, match="derivatives by what is known"):
        load(model, constants={"x": np.ones((2, 3), np.float32)})
