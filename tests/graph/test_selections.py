"""Results that are as large as data say: found by library functions while a network runs, and then
a size like any other.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import make_model, run_graph, run_onnx
from onnx import TensorProto, helper, numpy_helper
from test_onnx_control import Types, subgraph, with_output

import tilewright as tw
from devices import tools
from tilewright.contract.artifact import Artifact
from tilewright.ground.errors import InputError, RunError, UnsupportedModel
from tilewright.runtime.buffers import aligned_empty

pytestmark = pytest.mark.cpu

Array = np.ndarray[Any, Any]
Rng = np.random.Generator
INT64, BOOL, FLOAT = TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT
node = helper.make_node
LENGTHS = (1, 2, 7, 17, 64)
N = {"n": (1, 64)}


@dataclass(frozen=True)
class Case:
    """A model, what `load` is told, and inputs for a length."""

    nodes: list[onnx.NodeProto]
    inputs: dict[str, list[int | str]]
    make: Callable[[Rng, int], dict[str, Array]]
    outputs: tuple[str, ...] = ("y",)
    weights: dict[str, Array] = field(default_factory=dict)
    dtypes: dict[str, int] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=lambda: {"shapes": N})

    @property
    def model(self) -> onnx.ModelProto:
        return make_model(self.nodes, self.inputs, self.weights, self.outputs, 17, self.dtypes)


def sparse(rng: Rng, *shape: int) -> Array:
    """Some zeros, or none but these."""
    x: Array = rng.standard_normal(shape).astype("f4")
    return x * (rng.random(shape) < rng.choice([0, 0.2, 0.7]))


def whole(rng: Rng, *shape: int) -> Array:
    """Few different numbers."""
    x: Array = rng.integers(-3, 4, shape).astype("f4")
    return x


def boxes(rng: Rng, batches: int, classes: int, n: int) -> dict[str, Array]:
    scores = rng.random((batches, classes, n)).round(1).astype("f4")
    return {"b": rng.random((batches, n, 4)).astype("f4"), "s": scores}


def vector(*numbers: int) -> Array:
    return np.array(numbers, np.int64)


UNIQUE = ("y", "i", "v", "c")
CASES = {
    "where something is": Case(
        [node("NonZero", ["x"], ["y"])], {"x": [3, "n", 5]}, lambda r, n: {"x": sparse(r, 3, n, 5)}
    ),
    "where a scalar is": Case(
        [node("NonZero", ["x"], ["y"])], {"x": []}, lambda r, n: {"x": np.array(n > 7)},
        dtypes={"x": BOOL}, told={},
    ),
    "rows that count": Case(
        [node("Compress", ["x", "c"], ["y"], axis=1)], {"x": [3, "n"], "c": ["n"]},
        lambda r, n: {"x": sparse(r, 3, n), "c": r.random(n) < 0.5}, dtypes={"c": BOOL},
    ),
    "elements that count": Case(
        [node("Compress", ["x", "c"], ["t"]), node("Exp", ["t"], ["y"])],
        {"x": [3, "n"], "c": [3]},
        lambda r, n: {"x": sparse(r, 3, n), "c": r.random(3) < 0.5}, dtypes={"c": BOOL},
    ),
    "gathered where a mask is": Case(
        [
            node("Greater", ["x", "zero"], ["m"]), node("NonZero", ["m"], ["z"]),
            node("Transpose", ["z"], ["t"], perm=[1, 0]), node("GatherND", ["x", "t"], ["g"]),
            node("Tanh", ["g"], ["y"]), node("ReduceSum", ["g"], ["sum"], keepdims=0),
        ],
        {"x": [5, "n"]}, lambda r, n: {"x": sparse(r, 5, n)}, ("y", "t", "sum"),
        {"zero": np.float32(0)},
    ),
    "only how many": Case(
        [node("NonZero", ["x"], ["z"]), node("Shape", ["z"], ["s"]),
         node("Gather", ["s", "one"], ["y"])],
        {"x": [5, "n"]}, lambda r, n: {"x": sparse(r, 5, n)}, weights={"one": vector(1)},
    ),
    "written where a mask is": Case(
        [
            node("NonZero", ["x"], ["z"]), node("Transpose", ["z"], ["t"], perm=[1, 0]),
            node("GatherND", ["x", "t"], ["g"]), node("Exp", ["g"], ["e"]),
            node("ScatterND", ["x", "t", "e"], ["s"]), node("Neg", ["s"], ["y"]),
        ],
        {"x": [5, "n", 2]}, lambda r, n: {"x": sparse(r, 5, n, 2)},
    ),
    "rows written at": Case(
        [
            node("Compress", ["i", "c"], ["at"], axis=0),
            node("Compress", ["u", "c"], ["rows"], axis=0),
            node("ScatterND", ["x", "at", "rows"], ["y"]),
        ],
        {"x": [64, 4], "i": ["n", 1], "u": ["n", 4], "c": ["n"]},
        lambda r, n: {"x": sparse(r, 64, 4), "i": r.permutation(np.arange(-32, 32))[:n, None],
                      "u": whole(r, n, 4), "c": r.random(n) < 0.5},
        dtypes={"i": INT64, "c": BOOL},
    ),
    "values that differ": Case(
        [node("Unique", ["x"], list(UNIQUE))], {"x": [3, "n"]}, lambda r, n: {"x": whole(r, 3, n)},
        UNIQUE,
    ),
    "values as they come": Case(
        [node("Unique", ["x"], list(UNIQUE), sorted=0)], {"x": [3, "n"]},
        lambda r, n: {"x": whole(r, 3, n).astype("i8")}, UNIQUE, dtypes={"x": INT64},
    ),
    "columns that differ": Case(
        [node("Unique", ["x"], list(UNIQUE), axis=1)], {"x": [2, "n"]},
        lambda r, n: {"x": r.integers(-1, 2, (2, n))}, UNIQUE, dtypes={"x": INT64},
    ),
    "boxes of classes": Case(
        [node("NonMaxSuppression", ["b", "s", "most", "overlap", "score"], ["y"])],
        {"b": [2, "n", 4], "s": [2, 3, "n"], "most": []},
        lambda r, n: {**boxes(r, 2, 3, n), "most": np.array(r.choice([0, 3, 100]))},
        weights={"overlap": np.float32(0.4), "score": np.float32(0.3)}, dtypes={"most": INT64},
    ),
    "boxes by their middle": Case(
        [node("NonMaxSuppression", ["b", "s", "most"], ["y"], center_point_box=1)],
        {"b": [1, "n", 4], "s": [1, 2, "m"]}, lambda r, n: boxes(r, 1, 2, n),
        weights={"most": vector(20)}, told={"shapes": {"n": (1, 64), "m": (1, 64)}},
    ),
    "the first of as many": Case(
        [node("TopK", ["x", "k"], ["y", "i"], axis=1)], {"x": [3, "n", 2], "k": [1]},
        lambda r, n: {"x": whole(r, 3, n, 2), "k": vector(r.integers(0, n + 1))}, ("y", "i"),
        dtypes={"k": INT64},
    ),
    "the first of rows": Case(
        [node("TopK", ["x", "k"], ["y", "i"], axis=1, largest=0)], {"x": ["n", 9, 2]},
        lambda r, n: {"x": whole(r, n, 9, 2)}, ("y", "i"), {"k": vector(4)},
    ),
    "the best of what is left": Case(
        [
            node("NonZero", ["x"], ["z"]), node("Squeeze", ["z", "zero"], ["p"]),
            node("Gather", ["x", "p"], ["v"]), node("Shape", ["p"], ["count"]),
            node("Min", ["count", "five"], ["k"]), node("TopK", ["v", "k"], ["y", "i"]),
            node("Gather", ["p", "i"], ["at"]),
        ],
        {"x": ["n"]}, lambda r, n: {"x": sparse(r, n)}, ("y", "at"),
        {"zero": vector(0), "five": vector(5)},
    ),
    "the beginning": Case(
        [node("Slice", ["x", "from", "to", "axes"], ["s"]), node("Exp", ["s"], ["y"])],
        {"x": [3, "n", 5], "from": [2], "to": [2]},
        lambda r, n: {"x": sparse(r, 3, n, 5), "from": r.integers(-6, 6, 2),
                      "to": vector(r.integers(-n, n + 9), 4)},
        weights={"axes": vector(1, 2)}, dtypes={"from": INT64, "to": INT64},
    ),
    "the first of what is left": Case(
        [node("Compress", ["x", "c"], ["k"], axis=0),
         node("Slice", ["k", "zero", "four"], ["y"])],
        {"x": ["n", 3], "c": ["n"]},
        lambda r, n: {"x": whole(r, n, 3), "c": r.random(n) < 0.5}, dtypes={"c": BOOL},
        weights={"zero": vector(0), "four": vector(4)},
    ),
    "numbers up to": Case(
        [node("Range", ["a", "b", "c"], ["y"])], {"a": [], "b": [], "c": []},
        lambda r, n: {"a": np.array(n), "b": np.array(r.integers(-60, 60)), "c": np.array(-7)},
        dtypes=dict.fromkeys("abc", INT64), told={"limits": {"y": 30}},
    ),
    "floats up to": Case(
        [node("Range", ["a", "b", "c"], ["r"]), node("Neg", ["r"], ["y"])],
        {"a": [], "b": [], "c": []},
        lambda r, n: {k: np.array(v, "f4") for k, v in (("a", 0.1), ("b", n / 3), ("c", 0.7))},
        told={"limits": {"r": 40}},
    ),
    "a shape": Case(
        [node("ConstantOfShape", ["s"], ["o"], value=numpy_helper.from_array(vector(3))),
         node("Add", ["o", "s"], ["y"])],
        {"s": [1]}, lambda r, n: {"s": vector(1)}, dtypes={"s": INT64},
        told={"limits": {"s": 64}},
    ),
}  # fmt: skip


@cache
def network(name: str) -> Any:
    return tw.compile(tw.load(CASES[name].model, **CASES[name].told))


def samples(case: Case) -> Iterator[dict[str, Array]]:
    for seed, n in enumerate(LENGTHS):
        yield case.make(np.random.default_rng(seed), n)


@pytest.mark.parametrize("name", CASES)
def test_networks_compute_what_onnxruntime_does(name: str) -> None:
    """And what the graph means, node by node in NumPy."""
    case, net = CASES[name], network(name)
    graph = tw.load(case.model, **case.told).graph
    for inputs in samples(case):
        found, wanted = net.run(inputs), run_onnx(case.model, inputs)
        meant = run_graph(graph, inputs) if found[0].size else found
        for y, reference, theirs in zip(found, meant, wanted, strict=True):
            assert y.shape == reference.shape == theirs.shape and y.dtype == theirs.dtype
            np.testing.assert_allclose(y, theirs, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(reference, theirs, rtol=1e-5, atol=1e-6)


# ---- loops and branches --------------------------------------------------------------------------


def step(stacked: bool) -> onnx.GraphProto:
    """What is above a limit, which moves; the sum of that, or a row of it."""
    nodes = [
        node("Greater", ["t", "limit"], ["m"]), node("Compress", ["t", "m"], ["g"], axis=0),
        node("ReduceSum", ["g"], ["s"], keepdims=0), node("Sub", ["t", "limit"], ["u"]),
        node("Add", ["total", "s"], ["more"]), node("Identity", ["go"], ["go_on"]),
    ]  # fmt: skip
    rows: Types = {"g": (FLOAT, 1)} if stacked else {}
    return subgraph(
        nodes, {"i": (INT64, 0), "go": (BOOL, 0), "t": (FLOAT, 1), "total": (FLOAT, 0)},
        {"go_on": (BOOL, 0), "u": (FLOAT, 1), "more": (FLOAT, 0), **rows},
    )  # fmt: skip


def loop(stacked: bool) -> onnx.ModelProto:
    outputs = ["y", "sum", *(["rows"] * stacked)]
    nodes = [node("Loop", ["k", "", "x", "zero"], outputs, name="steps", body=step(stacked))]
    inputs: dict[str, list[int | str]] = {"x": ["n"], "limit": [], "k": []}
    weights = {"zero": np.float32(0), "k": np.array(6)} if stacked else {"zero": np.float32(0)}
    inputs = {k: v for k, v in inputs.items() if k not in weights}
    model = make_model(nodes, inputs, weights, outputs, dtypes={"k": INT64})
    rows: Types = {"rows": (FLOAT, 2)} if stacked else {}
    return with_output(model, {"y": (FLOAT, 1), "sum": (FLOAT, 0), **rows})


def choice() -> onnx.ModelProto:
    """Where data say so what is above 0, else everything, twice."""
    branches = {
        "then_branch": subgraph(
            [node("Compress", ["x", "m"], ["some"], axis=0)], {}, {"some": (FLOAT, 1)}
        ),
        "else_branch": subgraph(
            [node("Concat", ["x", "x"], ["all"], axis=0)], {}, {"all": (FLOAT, 1)}
        ),
    }
    nodes = [
        node("Greater", ["x", "zero"], ["m"]), node("If", ["c"], ["z"], **branches),
        node("Exp", ["z"], ["y"]),
    ]  # fmt: skip
    model = make_model(nodes, {"x": ["n"], "c": []}, {"zero": np.float32(0)}, dtypes={"c": BOOL})
    return with_output(model, {"y": (FLOAT, 1)})


@pytest.mark.parametrize("shapes", [N, {"n": 17}])
def test_a_step_of_a_loop_may_find_as_many_as_there_are(shapes: Any) -> None:
    check_control(loop(stacked=False), shapes, lambda r, n: {
        "x": sparse(r, n), "limit": np.array(0.2, np.float32), "k": np.array(r.integers(0, 5))
    })  # fmt: skip


@pytest.mark.parametrize("shapes", [N, {"n": 17}])
def test_branches_may_have_different_shapes(shapes: Any) -> None:
    check_control(choice(), shapes, lambda r, n: {"x": sparse(r, n), "c": np.array(n % 2 > 0)})


def check_control(
    model: onnx.ModelProto, shapes: Any, make: Callable[[Rng, int], dict[str, Array]]
) -> None:
    loaded = tw.load(model, shapes=shapes)
    net = tw.compile(loaded)
    for seed, n in enumerate(LENGTHS if shapes == N else (17,) * 4):
        inputs = make(np.random.default_rng(seed), n)
        if "c" in inputs:
            inputs["c"] = np.array(seed % 2 > 0)
        found, meant = net.run(inputs), run_graph(loaded.graph, inputs)
        for y, reference, theirs in zip(found, meant, run_onnx(model, inputs), strict=True):
            assert y.shape == reference.shape == theirs.shape
            np.testing.assert_allclose(y, theirs, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(reference, theirs, rtol=1e-5, atol=1e-6)


def rows_of(first: str, conditional: bool) -> onnx.ModelProto:
    """A row a step, as often as data say, or until all is small."""
    nodes = [
        node("Mul", ["t", "half"], ["u"]), node("Identity", ["u"], ["row"]),
        node("ReduceMax", ["u"], ["top"], keepdims=0), node("Greater", ["top", "small"], ["more"]),
        node("Identity", ["go"], ["always"]),
    ]  # fmt: skip
    going = "more" if conditional else "always"
    inner: Types = {"i": (INT64, 0), "go": (BOOL, 0), "t": (FLOAT, 1)}
    body = subgraph(nodes, inner, {going: (BOOL, 0), "u": (FLOAT, 1), "row": (FLOAT, 1)})
    inputs: dict[str, list[int | str]] = {"x": [5], "small": []}
    inputs |= {"k": []} if first else {}
    weights = {"half": np.float32(0.5), "yes": np.array(True)}
    condition = "yes" if conditional else ""
    loops = [node("Loop", [first, condition, "x"], ["last", "rows"], name="steps", body=body)]
    model = make_model(
        [*loops, node("Neg", ["rows"], ["y"])], inputs, weights, ("last", "y"), dtypes={"k": INT64}
    )
    return with_output(model, {"last": (FLOAT, 1), "y": (FLOAT, 2)})


@pytest.mark.parametrize(("first", "conditional"), [("k", False), ("", True), ("k", True)], ids=str)
def test_a_loop_stacks_as_many_rows_as_it_takes_steps(first: str, conditional: bool) -> None:
    model, limits = rows_of(first, conditional), {"rows": 7}
    with pytest.raises(UnsupportedModel, match="it stacks a row a step") as told:
        tw.load(model)
    assert told.value.unlimited == ("rows",)
    loaded = tw.load(model, limits=limits)
    net = tw.compile(loaded)
    x, end = np.linspace(0.1, 1, 5, dtype=np.float32), {"k": np.array(50)} if first else {}
    for small in (0.9, 0.3, 0.02):
        for k in (1, 3, 7):
            inputs = {"x": x, "small": np.array(small, np.float32)} | end
            inputs |= {"k": np.array(k)} if first else {}
            meant, wanted = run_graph(loaded.graph, inputs), run_onnx(model, inputs)
            for y, reference, theirs in zip(net.run(inputs), meant, wanted, strict=True):
                np.testing.assert_array_equal(y, theirs)
                np.testing.assert_array_equal(reference, theirs)
    message = "it takes more steps than the 7 that limits={'rows': 7} allows"
    with pytest.raises(RunError, match=message):
        net.run({"x": x, "small": np.array(1e-6, np.float32)} | end)


def test_rows_of_which_each_has_its_own_length_are_refused() -> None:
    with pytest.raises(UnsupportedModel, match=r"Loop \(node steps\).* does not join"):
        tw.load(loop(stacked=True), shapes=N)


# ---- calls ---------------------------------------------------------------------------------------


def test_arrays_that_are_given_have_room_for_the_most() -> None:
    net, case = network("gathered where a mask is"), CASES["gathered where a mask is"]
    assert str(net.outputs[1]) == "t: int64[z_count, 2]"
    inputs = {"x": np.zeros((5, 3), np.float32)}
    inputs["x"][1, 2] = 2
    room = [
        aligned_empty(s, np.dtype(d)) for s, d in (((320,), "f4"), ((320, 2), "i8"), ((), "f4"))
    ]
    y, t, total = net.run(inputs, out=room)
    assert np.shares_memory(y, room[0]) and np.shares_memory(t, room[1])
    for found, wanted in zip((y, t, total), run_onnx(case.model, inputs), strict=True):
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(InputError, match=r"y must be float32 of shape \(320,\), got"):
        net.run(inputs, out=[aligned_empty((1,), np.dtype("f4")), *room[1:]])


def test_threads_find_different_sizes() -> None:
    name, wrong = "values that differ", []
    net, case = network(name), CASES[name]
    given = list(samples(case))
    meant = [run_onnx(case.model, inputs) for inputs in given]

    def work(first: int) -> None:
        for i in range(30):
            at = (first + i) % len(given)
            found = net.run(given[at])
            pairs = zip(found, meant[at], strict=True)
            wrong.extend(at for y, w in pairs if y.shape != w.shape or (y != w).any())

    workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
    assert [s.kernel for s in net.artifact.steps].count("unique") == 1
    assert net.profile(given[0], 2).latency_s > 0


def test_computed_sizes_are_kept_with_the_code() -> None:
    artifact = network("values that differ").artifact
    again = Artifact.of_header(artifact.header(), artifact.object_code)
    assert [s.name for s in again.computed] == ["y_count"] and again == artifact


def test_one_question_is_asked_once() -> None:
    nodes = [node("NonZero", ["x"], [n]) for n in ("a", "b")]
    model = make_model([*nodes, node("Add", ["a", "b"], ["y"])], {"x": [4, 4]}, dtypes={"x": BOOL})
    net = tw.compile(tw.load(model))
    x = np.eye(4, dtype=bool)
    np.testing.assert_array_equal(net(x)[0], np.stack(np.nonzero(x)) * 2)
    assert [s.kernel for s in net.artifact.steps].count("nonzero") == 1


def test_what_nobody_asks_for_is_not_found() -> None:
    nodes = [node("NonZero", ["x"], ["z"]), node("Neg", ["x"], ["y"])]
    artifact = tw.compile(tw.load(make_model(nodes, {"x": [4]}))).artifact
    assert not artifact.sizes and len(artifact.steps) == 1


WRONG = {
    "too many of a range": (
        "numbers up to", {"a": np.array(0), "b": np.array(31), "c": np.array(1)},
        "Range (y): it has more than the 30 elements that limits={'y': 30} allows",
    ),
    "more than there are": (
        "the first of as many", {"x": np.ones((3, 4, 2), np.float32), "k": vector(5)},
        "TopK (y): k is not in 0..N",
    ),
    "less than nothing": (
        "the first of as many", {"x": np.ones((3, 4, 2), np.float32), "k": vector(-1)},
        "TopK (y): k is not in 0..N",
    ),
    "a shape beyond its limit": (
        "a shape", {"s": vector(65)},
        "ConstantOfShape (o): its shape is not in 0..64, which limits={'s': 64} says",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_beyond_its_limit_is_told_in_a_line(case: str) -> None:
    name, inputs, message = WRONG[case]
    with pytest.raises(RunError) as told:
        network(name).run(inputs)
    assert str(told.value) == message
    network(name).run(next(samples(CASES[name])))  # and the next call is as any other


REFUSED = {
    "boxes of three": (
        [node("NonMaxSuppression", ["x", "s", "k"], ["y"])], {"x": [1, 5, 3], "s": [1, 2, 5]},
        "boxes are float32",
    ),
    "fewer scores": (
        [node("NonMaxSuppression", ["x", "s", "k"], ["y"])], {"x": [1, 5, 4], "s": [1, 2, 6]},
        "boxes are float32",
    ),
    "numbers that choose": (
        [node("Compress", ["x", "s"], ["y"], axis=0)], {"x": [5], "s": [5]},
        "its condition is a vector of bools",
    ),
    "too long a condition": (
        [node("Cast", ["s"], ["c"], to=BOOL), node("Compress", ["x", "c"], ["y"], axis=0)],
        {"x": [5], "s": [6]}, "its condition c: bool.6. is longer than",
    ),
    "more than there may be": (
        [node("TopK", ["x", "k"], ["y", "i"])], {"x": ["n"]}, "its k is 99, of N elements",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_at_import(case: str) -> None:
    nodes, inputs, message = REFUSED[case]
    model = make_model(nodes, inputs, {"k": vector(99)})
    with pytest.raises(UnsupportedModel, match=message):
        tw.load(model, shapes=N if case.startswith("more") else None)


def test_what_nothing_limits_asks_for_a_limit() -> None:
    case = CASES["numbers up to"]
    message = r"Range \(node y\): how many elements y has depends on data; give limits=\{'y': …\}"
    with pytest.raises(UnsupportedModel, match=message) as told:
        tw.load(case.model)
    assert told.value.unlimited == ("y",)
    for limits, wrong in (
        ({"y": 0}, "the limit of y is a whole number, 1 or more"),
        (7, "mapping"),
    ):
        with pytest.raises(InputError, match=wrong):
            tw.load(case.model, limits=limits)


# ---- a detector ----------------------------------------------------------------------------------

SIDE, CELLS, KINDS = 32, 64, 3


def detector() -> onnx.ModelProto:
    """A convolution whose 8 x 8 cells have a box and three scores each, and what NMS leaves."""
    rng = np.random.default_rng(1)
    weights = {
        "w": (rng.standard_normal((4 + KINDS, 3, 4, 4)) * 0.3).astype("f4"),
        "flat": vector(0, 4 + KINDS, CELLS), "parts": vector(4, KINDS), "most": vector(20),
        "overlap": np.float32(0.45), "score": np.float32(0.9), "size": np.float32(8),
        "one": vector(1), "two": vector(2), "rows": vector(0, -1), "middle": vector(-1, CELLS),
    }  # fmt: skip
    nodes = [
        node("Conv", ["x", "w"], ["maps"], strides=[4, 4]),
        node("Reshape", ["maps", "flat"], ["cells"]),
        node("Sigmoid", ["cells"], ["odds"]),
        node("Split", ["odds", "parts"], ["raw", "scores"], axis=1),
        node("Mul", ["raw", "size"], ["scaled"]),
        node("Transpose", ["scaled"], ["boxes"], perm=[0, 2, 1]),
        node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "score"], ["left"],
             center_point_box=1),
        node("Gather", ["left", "two"], ["at"], axis=1),
        node("Squeeze", ["at", "one"], ["flat_at"]),
        node("Squeeze", ["boxes", "zero"], ["all"]),
        node("Gather", ["all", "flat_at"], ["kept"]),
        node("Gather", ["left", "one"], ["kind"], axis=1),
        node("Concat", ["kind", "at"], ["where"], axis=1),
        node("Transpose", ["scores"], ["turned"], perm=[2, 1, 0]),
        node("Squeeze", ["turned", "two"], ["table"]),
        node("Gather", ["table", "flat_at"], ["odds_kept"]),
        node("ReduceMax", ["odds_kept"], ["best"], axes=[1], keepdims=0),
    ]  # fmt: skip
    weights["zero"] = vector(0)
    names = ("kept", "where", "best")
    return make_model(nodes, {"x": [1, 3, SIDE, SIDE]}, weights, names)


@cache
def detecting() -> Any:
    return tw.compile(tw.load(detector()))


def images() -> Iterator[Array]:
    """The last one has nothing in it that anybody would look at."""
    rng = np.random.default_rng(0)
    for scale in (1.0, 3.0, 0.5):
        yield (rng.standard_normal((1, 3, SIDE, SIDE)) * scale).astype("f4")
    yield np.zeros((1, 3, SIDE, SIDE), np.float32)


def test_a_detector_tells_the_boxes_that_onnxruntime_does() -> None:
    net, counts = detecting(), []
    for x in images():
        found, wanted = net(x), run_onnx(detector(), {"x": x})
        for y, theirs in zip(found, wanted, strict=True):
            assert y.shape == theirs.shape
            np.testing.assert_allclose(y, theirs, rtol=1e-4, atol=1e-5)
        counts.append(len(found[0]))
    assert counts[-1] == 0 and len(set(counts)) == 4


@tools("cc")
def test_a_library_tells_how_many_there_were(tmp_path: Path) -> None:
    """The C program checks shapes; here the library is loaded."""
    net, path = detecting(), tmp_path / "detector.so"
    header = net.save(path)
    assert "left_count in 0..60" in header.read_text()
    source, program = Path(__file__).with_name("library_selections.c"), tmp_path / "main"
    flags = ["-std=c11", "-Wall", "-Werror", f"-I{tmp_path}", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(["cc", *flags, source, path, "-o", program], check=True)
    given = list(images())
    (tmp_path / "images").write_bytes(b"".join(x.tobytes() for x in given))
    counts = [str(len(net(x)[0])) for x in given]
    assert subprocess.run([program, tmp_path / "images", *counts], check=False).returncode == 0
    library = tw.load_library(path)
    for x in given:
        for y, ours in zip(library(x), net(x), strict=True):
            np.testing.assert_array_equal(y, ours)
