"""Loops and branches whose course is known at run time only, compiled, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from graph_reference import Array, make_model, run_graph, run_onnx
from test_onnx_control import BOOL, FLOAT, INT, node, scan, subgraph, with_output

import tilewright as tw
from tilewright.ground.errors import UnsupportedModel

ONE = np.array(1, np.int64)


def agrees(model: onnx.ModelProto, *inputs: dict[str, Array]) -> tw.Model:
    """Each of `inputs` gives what onnxruntime does, by reference semantics and compiled."""
    loaded = tw.load(model)
    net = tw.compile(loaded)
    for x in inputs:
        theirs = run_onnx(model, x)
        for ours in (net.run(x), run_graph(loaded.partition.graph, x)):
            for a, b in zip(ours, theirs, strict=True):
                assert (a.shape, a.dtype) == (b.shape, b.dtype)
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return loaded


def x23(seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((2, 3)).astype(np.float32)


def choice() -> onnx.ModelProto:
    """relu(x) · 2, or -x and the input itself."""
    doubled = [node("Relu", ["x"], ["r"]), node("Add", ["r", "r"], ["a"])]
    doubled.append(node("Neg", ["z"], ["a2"]))
    kept = [node("Neg", ["x"], ["b"]), node("Identity", ["x"], ["b2"])]
    branches = {
        "then_branch": subgraph(doubled, {}, {"a": (FLOAT, 2), "a2": (FLOAT, 2)}),
        "else_branch": subgraph(kept, {}, {"b": (FLOAT, 2), "b2": (FLOAT, 2)}),
    }
    nodes = [
        node("If", ["c"], ["p", "q"], **branches),
        node("Abs", ["p"], ["y"]),
    ]
    model = make_model(nodes, {"x": (2, 3), "z": (2, 3), "c": ()}, dtypes={"c": BOOL})
    return with_output(model, {"y": (FLOAT, 2), "q": (FLOAT, 2)})


def test_a_condition_that_is_data_chooses_a_branch() -> None:
    given = [{"x": x23(), "z": x23(1), "c": np.array(c)} for c in (True, False)]
    agrees(choice(), *given)


def test_a_profile_and_a_library_have_branches(tmp_path: Path) -> None:
    net = tw.compile(tw.load(choice()))
    x = {"x": x23(), "z": x23(1), "c": np.array(False)}
    assert net.artifact.steps[0].kernel.startswith("if: t")
    assert "if: t" in str(net.profile(x, runs=2))
    net.save(tmp_path / "net.so")
    theirs = run_onnx(choice(), x)
    for a, b in zip(tw.load_library(tmp_path / "net.so").run(x), theirs, strict=True):
        np.testing.assert_allclose(a, b)


def counted(condition: bool) -> onnx.ModelProto:
    """total = total · 0.5 + x · i while i < trips (and the sum of total is below a limit)."""
    nodes = [
        node("Cast", ["i"], ["f"], to=FLOAT),
        node("Mul", ["x", "f"], ["more"]),
        node("Mul", ["total", "half"], ["less"]),
        node("Add", ["less", "more"], ["next"]),
    ]
    if condition:
        nodes += [node("ReduceSum", ["next"], ["sum"], keepdims=0)]
        nodes += [node("Less", ["sum", "limit"], ["go_on"])]
    else:
        nodes += [node("Identity", ["go"], ["go_on"])]
    body = subgraph(
        nodes,
        {"i": (INT, 0), "go": (BOOL, 0), "total": (FLOAT, 2)},
        {"go_on": (BOOL, 0), "next": (FLOAT, 2)},
    )
    inputs = {"x": (2, 3), "trips": (), "go_in": (), "limit": ()}
    if not condition:
        inputs.pop("limit")
    model = make_model(
        [node("Loop", ["trips", "go_in", "x"], ["y"], name="sums", body=body)],
        inputs,
        {"half": np.array(0.5, np.float32)},
        dtypes={"trips": INT, "go_in": BOOL},
    )
    return with_output(model, {"y": (FLOAT, 2)})


def test_a_trip_count_that_is_data() -> None:
    x = {"x": x23(), "go_in": np.array(True)}
    agrees(counted(False), *({**x, "trips": np.array(n)} for n in (0, 1, 7)))
    agrees(counted(False), {**x, "trips": np.array(3), "go_in": np.array(False)})


def test_a_condition_that_is_data_ends_a_loop() -> None:
    x = {"x": np.abs(x23()), "go_in": np.array(True), "trips": np.array(50)}
    agrees(counted(True), *({**x, "limit": np.array(n, np.float32)} for n in (-1, 20, 1e9)))


def exchange() -> onnx.ModelProto:
    """a, b = b, a + b: what one carried value becomes is the other."""
    body = subgraph(
        [
            node("Add", ["a", "b"], ["sum"]),
            node("Identity", ["b"], ["first"]),
            node("Identity", ["go"], ["go_on"]),
        ],
        {"i": (INT, 0), "go": (BOOL, 0), "a": (FLOAT, 2), "b": (FLOAT, 2)},
        {"go_on": (BOOL, 0), "first": (FLOAT, 2), "sum": (FLOAT, 2)},
    )
    model = make_model(
        [node("Loop", ["n", "", "x", "z"], ["y", "w"], body=body)],
        {"x": (2, 3), "z": (2, 3), "n": ()},
        dtypes={"n": INT},
    )
    return with_output(model, {"y": (FLOAT, 2), "w": (FLOAT, 2)})


def test_carried_values_may_change_places() -> None:
    agrees(exchange(), *({"x": x23(), "z": x23(1), "n": np.array(n)} for n in (0, 1, 5)))


def test_a_choice_in_a_loop() -> None:
    """Each step adds x where the step is even and halves the total where it is odd."""
    then = subgraph([node("Add", ["total", "x"], ["a"])], {}, {"a": (FLOAT, 2)})
    otherwise = subgraph([node("Mul", ["total", "half"], ["b"])], {}, {"b": (FLOAT, 2)})
    body = subgraph(
        [
            node("Mod", ["i", "two"], ["odd"]),
            node("Equal", ["odd", "zero"], ["is_even"]),
            node("If", ["is_even"], ["next"], then_branch=then, else_branch=otherwise),
            node("Identity", ["go"], ["go_on"]),
        ],
        {"i": (INT, 0), "go": (BOOL, 0), "total": (FLOAT, 2)},
        {"go_on": (BOOL, 0), "next": (FLOAT, 2)},
    )
    model = make_model(
        [node("Loop", ["n", "", "x"], ["y"], body=body)],
        {"x": (2, 3), "n": ()},
        {"half": np.array(0.5, np.float32), "two": ONE * 2, "zero": ONE * 0},
        dtypes={"n": INT},
    )
    agrees(
        with_output(model, {"y": (FLOAT, 2)}),
        *({"x": x23(), "n": np.array(n)} for n in (1, 4, 5)),
    )


def test_a_long_loop_of_known_length_is_one_body() -> None:
    body = subgraph(
        [
            node("Tanh", ["total"], ["t"]),
            node("Add", ["t", "x"], ["next"]),
            node("Identity", ["next"], ["seen"]),
            node("Identity", ["go"], ["go_on"]),
        ],
        {"i": (INT, 0), "go": (BOOL, 0), "total": (FLOAT, 2)},
        {"go_on": (BOOL, 0), "next": (FLOAT, 2), "seen": (FLOAT, 2)},
    )
    model = make_model(
        [node("Loop", ["n", "", "x"], ["y", "all"], body=body)],
        {"x": (2, 3)},
        {"n": np.array(40, np.int64)},
    )
    loaded = agrees(with_output(model, {"y": (FLOAT, 2), "all": (FLOAT, 3)}), {"x": x23()})
    assert [t.weight for t in loaded.partition.tasks] == [40]


def test_rows_of_unknown_number_are_refused() -> None:
    body = subgraph(
        [node("Identity", ["t"], ["s"]), node("Identity", ["go"], ["go_on"])],
        {"i": (INT, 0), "go": (BOOL, 0), "t": (FLOAT, 2)},
        {"go_on": (BOOL, 0), "t": (FLOAT, 2), "s": (FLOAT, 2)},
    )
    nodes = [
        node("Loop", ["n", "", "x"], ["y", "all"], name="rows", body=body),
        node("Range", ["n", "n", "n"], ["z"], name="numbers"),
    ]
    model = make_model(nodes, {"x": (2, 3), "n": ()}, dtypes={"n": INT})
    with_output(model, {"y": (FLOAT, 2), "all": (FLOAT, 3), "z": (INT, 2)})
    with pytest.raises(UnsupportedModel, match="2 things are not supported") as caught:
        tw.load(model)
    assert "Loop (node rows): it stacks a row a step, but how many" in str(caught.value)
    assert caught.value.unknown_inputs == ("n",)


@pytest.mark.parametrize("backwards", [0, 1])
def test_a_long_scan_is_one_body(backwards: int) -> None:
    body = subgraph(
        [
            node("MatMul", ["s", "w"], ["p"]),
            node("Add", ["p", "row"], ["q"]),
            node("Tanh", ["q"], ["t"]),
            node("Mul", ["t", "t"], ["out"]),
        ],
        {"s": (FLOAT, 1), "row": (FLOAT, 1)},
        {"t": (FLOAT, 1), "out": (FLOAT, 1)},
    )
    model = make_model([scan(body, backwards)], {"start": (3,), "x": (3, 9), "w": (3, 3)})
    rng = np.random.default_rng(0)
    shapes = {"start": (3,), "x": (3, 9), "w": (3, 3)}
    x = {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    loaded = agrees(with_output(model, {"last": (FLOAT, 1), "y": (FLOAT, 2)}), x)
    assert 9 in [t.weight for t in loaded.partition.tasks]


def test_a_graph_prints_what_its_loops_hold() -> None:
    text = str(tw.load(counted(True)).partition.graph)
    assert "= loop xtrips while (" in text
    assert "    graph sums.step(t: int64[], going: bool[], x: float32[2, 3]" in text


NUMBER = {"i": (INT, 0), "go": (BOOL, 0), "n": (INT, 0)}
INNER = subgraph(
    [node("Add", ["n", "i"], ["more"]), node("Identity", ["go"], ["go_on"])],
    NUMBER,
    {"go_on": (BOOL, 0), "more": (INT, 0)},
)
SIDES = {
    side: subgraph([node("Identity", [name], [side])], {}, {side: (INT, 0)})
    for side, name in (("then", "t"), ("else", "total"))
}
READERS = {
    "stacked": [node("Identity", ["t"], ["row"])],
    "carried": [node("Identity", ["t"], ["after"])],
    "trips": [node("Loop", ["t", "", "total"], ["row"], body=INNER)],
    "captured": [
        node("If", ["odd"], ["row"], then_branch=SIDES["then"], else_branch=SIDES["else"])
    ],
}
"""Who reads the number of a step t, besides operators."""


@pytest.mark.parametrize("reader", READERS)
def test_anything_may_read_the_number_of_a_step(reader: str) -> None:
    nodes = [*READERS[reader], node("Identity", ["go"], ["go_on"]), node("Not", ["odd"], ["even"])]
    made = {name for each in nodes for name in each.output}
    nodes += [node("Identity", ["total"], [n]) for n in ("after", "row") if n not in made]
    body = subgraph(
        nodes,
        {"t": (INT, 0), "go": (BOOL, 0), "total": (INT, 0), "odd": (BOOL, 0)},
        {"go_on": (BOOL, 0), "after": (INT, 0), "even": (BOOL, 0), "row": (INT, 0)},
    )
    model = make_model(
        [node("Loop", ["six", "", "x", "c"], ["y", "z", "rows"], body=body)],
        {"x": (), "c": ()},
        {"six": np.array(6)},
        dtypes={"x": INT, "c": BOOL},
    )
    model = with_output(model, {"y": (INT, 0), "z": (BOOL, 0), "rows": (INT, 1)})
    agrees(model, *({"x": np.array(9), "c": np.array(c)} for c in (True, False)))
