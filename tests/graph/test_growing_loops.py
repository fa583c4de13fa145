"""Loops whose carried values change their extents from step to step, as onnxruntime runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import Array, make_model, run_graph, run_onnx
from test_onnx_control import BOOL, FLOAT, INT, Types, node, subgraph, with_output

import tilewright as tw
from tilewright.expr.text import extent_text
from tilewright.graph.ir import Graph, Loop
from tilewright.graph.onnx.importing import imported, load
from tilewright.graph.passes.write_out import write_out
from tilewright.ground.errors import RunError, UnsupportedModel

Nodes = list[onnx.NodeProto]
AXIS, ONE, TWO, END = np.array([0]), np.array([1]), np.array([2]), np.array([2**31])
NUMBERS = {"axis": AXIS, "one": ONE, "two": TWO, "end": END, "seven": np.array(7)}


def looped(
    step: Nodes,
    carried: Types,
    start: dict[str, Any],
    trips: int | str = "",
    **weights: Any,
) -> onnx.ModelProto:
    """`name` becomes `name_next` in each step, `trips` times, or while `on`; results are `name_y`.
    A start is an array, or the shape of an input.
    """
    on = any("on" in n.output for n in step)
    nodes = [*step] if on else [*step, node("Identity", ["going"], ["on"])]
    after = {f"{n}_next": kind for n, kind in carried.items()}
    body = subgraph(
        nodes, {"t": (INT, 0), "going": (BOOL, 0), **carried}, {"on": (BOOL, 0), **after}
    )
    known = {f"{n}_0": v for n, v in start.items() if isinstance(v, np.ndarray)}
    inputs = {f"{n}_0": v for n, v in start.items() if not isinstance(v, np.ndarray)}
    dtypes = {f"{n}_0": carried[n][0] for n in carried}
    known |= {"n": np.array(trips)} if isinstance(trips, int) else {}
    inputs |= {trips: ()} if isinstance(trips, str) and trips else {}
    dtypes |= {trips: INT} if isinstance(trips, str) else {}
    count = "n" if isinstance(trips, int) else trips
    results = {f"{n}_y": kind for n, kind in carried.items()}
    loop = node("Loop", [count, "", *(f"{n}_0" for n in carried)], [*results], body=body)
    model = make_model([loop], inputs, {**NUMBERS, **known, **weights}, [*results], dtypes=dtypes)
    return with_output(model, results)


def agrees(model: onnx.ModelProto, given: dict[str, Array], **options: Any) -> Graph:
    """The graph of a model, which gives what onnxruntime does, by NumPy and compiled."""
    graph = imported(model, **options).graph
    net = tw.compile(tw.load(model, **options))
    wanted = run_onnx(model, given)
    results = net(**given)
    every = [results if isinstance(results, tuple | list) else [results]]
    every += [run_graph(graph, given)]
    for found in every:
        for ours, theirs in zip(found, wanted, strict=True):
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    return graph


def the_loop(graph: Graph) -> Loop:
    (found,) = (n.control for n in graph.nodes if isinstance(n.control, Loop))
    return found


APPEND = [node("Concat", ["x", "row"], ["x_next"], axis=0)]


def test_rows_that_are_appended_in_each_step() -> None:
    rng = np.random.default_rng(0)
    row = rng.standard_normal((1, 3)).astype(np.float32)
    model = looped(APPEND, {"x": (FLOAT, 2)}, {"x": (2, 3)}, 9, row=row)
    graph = agrees(model, {"x_0": rng.standard_normal((2, 3)).astype(np.float32)})
    (growth,) = the_loop(graph).growth
    assert (growth.size.least, growth.size.most, growth.start) == (2, 11, 2)
    assert extent_text(growth.after) == f"{growth.size.name} + 1"


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rows_lie_apart_where_an_inner_dimension_grows(axis: int) -> None:
    """Memory of what a step makes has another pitch than that of what it is given."""
    rng = np.random.default_rng(axis)
    shape = [1 if d == axis else n for d, n in enumerate((2, 3, 2))]
    step = [
        node("Concat", ["x", "row"], ["longer"], axis=axis),
        node("Mul", ["longer", "half"], ["x_next"]),
    ]
    row = rng.standard_normal(shape).astype(np.float32)
    model = looped(step, {"x": (FLOAT, 3)}, {"x": (2, 3, 2)}, 6, row=row, half=np.float32(0.5))
    agrees(model, {"x_0": rng.standard_normal((2, 3, 2)).astype(np.float32)})


def greedy(trips: int | str) -> onnx.ModelProto:
    """Tokens are appended, each the best by the mean of all rows and by the last one, under a mask
    that grows alike.
    """
    rng = np.random.default_rng(1)
    step = [
        node("Gather", ["words", "ids"], ["rows"]),
        node("Unsqueeze", ["mask", "two"], ["wide"]),
        node("Mul", ["rows", "wide"], ["seen"]),
        node("ReduceMean", ["seen"], ["mean"], axes=[1], keepdims=1),
        node("Slice", ["rows", "minus", "end", "one"], ["last"]),
        node("Add", ["mean", "last"], ["state"]),
        node("MatMul", ["state", "out"], ["scores"]),
        node("ArgMax", ["scores"], ["token"], axis=2, keepdims=0),
        node("Concat", ["ids", "token"], ["ids_next"], axis=1),
        node("Concat", ["mask", "ones"], ["mask_next"], axis=1),
    ]
    return looped(
        step, {"ids": (INT, 2), "mask": (FLOAT, 2)}, {"ids": (2, "s"), "mask": (2, "s")}, trips,
        words=rng.standard_normal((11, 8)).astype(np.float32), minus=-ONE,
        out=rng.standard_normal((8, 11)).astype(np.float32), ones=np.ones((2, 1), np.float32),
    )  # fmt: skip


@pytest.mark.parametrize("length", [1, 4, 7])
def test_tokens_of_a_prompt_of_any_length(length: int) -> None:
    rng = np.random.default_rng(length)
    given = {
        "ids_0": rng.integers(0, 11, (2, length)),
        "mask_0": rng.integers(0, 2, (2, length)).astype(np.float32),
    }
    graph = agrees(greedy(8), given, shapes={"s": (1, 7)})
    (growth,) = the_loop(graph).growth
    assert (growth.size.least, growth.size.most) == (1, 15)


def test_as_many_tokens_as_an_input_says_within_a_limit() -> None:
    model, rng = greedy("n"), np.random.default_rng(0)
    given = {"ids_0": rng.integers(0, 11, (2, 3)), "mask_0": np.ones((2, 3), np.float32)}
    with pytest.raises(UnsupportedModel) as error:
        tw.load(model, shapes={"s": (1, 7)})
    assert "how often it does so depends on data" in str(error.value)
    assert error.value.unlimited == ("ids_y",)
    options = {"shapes": {"s": (1, 7)}, "limits": {"ids_y": 12}}
    for n in (0, 1, 9):
        agrees(model, {**given, "n": np.array(n)}, **options)
    net = tw.compile(tw.load(model, **options))
    with pytest.raises(RunError, match=r"ids_y grows beyond the 12 that limits=\{'ids_y': 12\}"):
        net(**given, n=np.array(10))
    assert net(**given, n=np.array(9))[0].shape == (2, 12)


DOUBLE = [
    node("Concat", ["x", "x"], ["x_next"], axis=0),
    node("ReduceSum", ["x_next"], ["sum"], keepdims=0),
    node("Less", ["sum", "hundred"], ["on"]),
]


def test_a_condition_ends_what_doubles() -> None:
    model = looped(DOUBLE, {"x": (FLOAT, 1)}, {"x": (2,)}, hundred=np.float32(100))
    for first in (1.0, 13.0, 200.0):
        agrees(model, {"x_0": np.full(2, first, np.float32)}, limits={"x_y": 256})
    net = tw.compile(tw.load(model, limits={"x_y": 256}))
    with pytest.raises(RunError, match="grows beyond the 256"):
        net(np.full(2, 0.01, np.float32))


def test_what_shrinks_needs_no_limit() -> None:
    step = [
        node("Slice", ["x", "one", "end"], ["x_next"]),
        node("ReduceSum", ["x_next"], ["sum"], keepdims=0),
        node("Greater", ["sum", "five"], ["on"]),
    ]
    model = looped(step, {"x": (FLOAT, 1)}, {"x": (9,)}, five=np.float32(5))
    agrees(model, {"x_0": np.arange(9, dtype=np.float32)})
    agrees(model, {"x_0": np.linspace(1, 0, 9, dtype=np.float32)})


def test_as_many_as_a_step_finds() -> None:
    """Elements that are greater than the step's number stay."""
    step = [
        node("Greater", ["x", "t"], ["large"]),
        node("Compress", ["x", "large"], ["x_next"], axis=0),
    ]
    model = looped(step, {"x": (INT, 1)}, {"x": (9,)}, 6)
    rng = np.random.default_rng(0)
    for _ in range(3):
        agrees(model, {"x_0": rng.integers(0, 9, 9)})


def test_values_that_begin_alike_and_do_not_stay_so() -> None:
    step = [
        node("Concat", ["x", "one"], ["x_next"], axis=0),
        node("Concat", ["z", "z"], ["z_next"], axis=0),
    ]
    model = looped(step, {"x": (INT, 1), "z": (INT, 1)}, {"x": (1,), "z": (1,)}, 7)
    graph = agrees(model, {"x_0": np.array([3]), "z_0": np.array([4])})
    assert sorted(g.size.most for g in the_loop(graph).growth) == [8, 128]


def test_a_loop_within_a_loop_goes_on_growing() -> None:
    inner = subgraph(
        [node("Concat", ["a", "u"], ["a_next"], axis=0), node("Identity", ["go"], ["gone"])],
        {"u": (INT, 0), "go": (BOOL, 0), "a": (INT, 1)},
        {"gone": (BOOL, 0), "a_next": (INT, 1)},
    )
    inner.node[0].input[1] = "number"
    inner.node.insert(0, node("Unsqueeze", ["u", "axis"], ["number"]))
    step = [
        node("Identity", ["one"], ["fresh"]),
        node("Loop", ["six", "", "fresh"], ["found"], body=inner),
        node("ReduceSum", ["found"], ["sum"], keepdims=1),
        node("Concat", ["x", "sum"], ["x_next"], axis=0),
    ]
    model = looped(step, {"x": (INT, 1)}, {"x": (2,)}, 5, six=np.array(6))
    agrees(model, {"x_0": np.array([3, 4])})


def test_a_value_whose_type_changes_is_refused() -> None:
    step = [node("Unsqueeze", ["x", "axis"], ["x_next"])]
    model = looped(step, {"x": (FLOAT, 1)}, {"x": (2,)}, "n")
    with pytest.raises(UnsupportedModel, match="its type must stay the same"):
        load(model)


def test_steps_are_written_out_for_targets_that_run_no_loops() -> None:
    row = np.ones((1, 3), np.float32)
    graph = load(looped(APPEND, {"x": (FLOAT, 2)}, {"x": (2, 3)}, 6, row=row))
    flat = write_out(graph)
    assert not any(n.control for n in flat.nodes)
    assert flat.outputs[0].shape == (8, 3)
    x = np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32)
    (ours,), (theirs,) = run_graph(flat, {"x_0": x}), run_graph(graph, {"x_0": x})
    np.testing.assert_array_equal(ours, theirs)


def random_step(rng: np.random.Generator, names: list[str]) -> Nodes:
    """What each value becomes: another one, joined with one, cut, or changed by one."""
    nodes = []
    for name in names:
        x, y = rng.choice(names, 2)
        forms: list[Nodes] = [
            [node("Identity", [x], ["r"])],
            [node("Concat", [x, "one"], ["r"], axis=0)],
            [node("Concat", [x, y], ["r"], axis=0)],
            [node("Slice", [x, "one", "end"], ["r"])],
            [node("ReduceSum", [y], ["s"], keepdims=1), node("Add", [x, "s"], ["r"])],
        ]
        chosen = forms[rng.integers(len(forms))]
        for each in chosen:
            for names_of in (each.input, each.output):
                names_of[:] = [f"{name}_{n}" if n in ("r", "s") else n for n in names_of]
        nodes += [*chosen, node("Mod", [f"{name}_r", "seven"], [f"{name}_next"])]
    return nodes


@pytest.mark.parametrize("seed", range(12))
def test_a_random_loop_is_what_it_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = ["a", "b", "c"][: int(rng.integers(1, 4))]
    step, carried = random_step(rng, names), dict.fromkeys(names, (INT, 1))
    shapes = {n: (int(rng.integers(1, 4)),) for n in names}
    for trips in (6, "n"):
        model = looped(step, carried, shapes, trips)
        given = {f"{n}_0": rng.integers(0, 7, s) for n, s in shapes.items()}
        given |= {"n": np.array(rng.integers(0, 7))} if trips == "n" else {}
        agrees(model, given, **({} if trips == 6 else {"limits": {f"{n}_y": 1024 for n in names}}))
