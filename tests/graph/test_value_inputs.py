"""Inputs that decide values and leave shapes as they are: they need not be known at import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import Array, make_model, run_graph, run_onnx
from onnx import TensorProto
from test_onnx_control import BOOL, FLOAT, INT, node, subgraph, with_output

from tilewright.graph.onnx.importing import load
from tilewright.ground.errors import UnsupportedModel


def floats(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def whole(*values: int) -> Array:
    return np.array(values, np.int64)


NUMBERS = {"zero": whole(0), "one": whole(1), "two": whole(2), "three": whole(3)} | {
    "number": np.array(3, np.int64)
}


def agrees(model: onnx.ModelProto, given: dict[str, Array]) -> None:
    found, wanted = run_graph(load(model), given), run_onnx(model, given)
    for ours, theirs in zip(found, wanted, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.int64])
@pytest.mark.parametrize("pads", [(0, 1, 2, 0), (-1, 1, 1, -2), (0, 0, 0, 0)])
def test_a_pad_around_with_a_value_that_is_an_input(pads: tuple[int, ...], kind: Any) -> None:
    x = (floats(3, 5) * 9).astype(kind)
    x[0, 0] = 0
    dtype = TensorProto.FLOAT if kind is np.float32 else INT
    model = make_model(
        [node("Pad", ["x", "p", "v"], ["y"])], {"x": (3, 5), "v": ()}, {"p": whole(*pads)},
        dtypes={"x": dtype, "v": dtype},
    )  # fmt: skip
    with_output(model, {"y": (dtype, 2)})
    agrees(model, {"x": x, "v": np.array(-7.5, np.float32).astype(kind)})


@pytest.mark.parametrize("first", [0, 2, 5])
@pytest.mark.parametrize("value", [False, True])
def test_a_pad_of_a_known_extent_at_a_place_that_is_an_input(first: int, value: bool) -> None:
    """s before, 5 - s after; a column and two more as they are."""
    nodes = [
        node("Sub", ["five", "s"], ["rest"]),
        node("Concat", ["s", "one", "rest", "two"], ["p"], axis=0),
        node("Pad", ["x", "p", "v"] if value else ["x", "p"], ["y"]),
    ]
    inputs = {"x": (3, 4), "s": (1,)} | ({"v": ()} if value else {})
    numbers = {**NUMBERS, "five": whole(5)}
    model = with_output(make_model(nodes, inputs, numbers, dtypes={"s": INT}), {"y": (FLOAT, 2)})
    given = {"x": floats(3, 4), "s": whole(first)}
    agrees(model, given | ({"v": np.array(2.5, np.float32)} if value else {}))


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [-2, 0, 3])
def test_a_triangle_from_a_diagonal_that_is_an_input(k: int, upper: int) -> None:
    model = make_model(
        [node("Trilu", ["x", "k"], ["y"], upper=upper)], {"x": (2, 4, 5), "k": ()},
        dtypes={"k": INT},
    )  # fmt: skip
    agrees(with_output(model, {"y": (FLOAT, 3)}), {"x": floats(2, 4, 5), "k": np.array(k)})


Windows = Callable[[list[onnx.NodeProto]], tuple[str, str]]
"""Adds nodes that compute the ends of a window from `s`, and returns their names."""


def shifted(nodes: list[onnx.NodeProto]) -> tuple[str, str]:
    nodes += [node("Add", ["s", "three"], ["e"])]
    return "s", "e"


def both_shifted(nodes: list[onnx.NodeProto]) -> tuple[str, str]:
    nodes += [node("Sub", ["s", "one"], ["a"]), node("Add", ["two", "s"], ["e"])]
    return "a", "e"


def blocks(nodes: list[onnx.NodeProto]) -> tuple[str, str]:
    """Block number s of three."""
    nodes += [node("Mul", ["s", "three"], ["a"]), node("Add", ["s", "one"], ["n"])]
    nodes += [node("Mul", ["three", "n"], ["e"])]
    return "a", "e"


def through_shapes(nodes: list[onnx.NodeProto]) -> tuple[str, str]:
    """As exporters write it: scalars that become vectors of one."""
    nodes += [node("Squeeze", ["s"], ["q"]), node("Add", ["q", "number"], ["r"])]
    nodes += [node("Unsqueeze", ["r", "zero"], ["e"]), node("Unsqueeze", ["q", "zero"], ["a"])]
    return "a", "e"


def of_narrow(nodes: list[onnx.NodeProto]) -> tuple[str, str]:
    nodes += [node("Cast", ["s"], ["n"], to=TensorProto.INT32)]
    nodes += [node("Cast", ["n"], ["a"], to=INT), node("Add", ["a", "three"], ["e"])]
    return "a", "e"


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("start", [1, 2])
@pytest.mark.parametrize("ends", [shifted, both_shifted, blocks, through_shapes, of_narrow])
def test_a_slice_whose_extent_is_known(ends: Windows, start: int, step: int) -> None:
    nodes: list[onnx.NodeProto] = []
    a, e = ends(nodes)
    nodes.append(node("Slice", ["x", a, e, "one", "step"], ["y"]))
    model = make_model(
        nodes, {"x": (2, 9), "s": (1,)}, {**NUMBERS, "step": whole(step)}, dtypes={"s": INT}
    )
    agrees(with_output(model, {"y": (FLOAT, 2)}), {"x": floats(2, 9), "s": whole(start)})


def test_a_slice_along_axes_that_are_known_and_not() -> None:
    nodes = [
        node("Add", ["s", "three"], ["e"]),
        node("Concat", ["one", "s"], ["starts"], axis=0),
        node("Concat", ["two", "e"], ["ends"], axis=0),
        node("Slice", ["x", "starts", "ends", "axes"], ["y"]),
    ]
    numbers = {**NUMBERS, "axes": whole(0, 2)}
    model = make_model(nodes, {"x": (3, 2, 9), "s": (1,)}, numbers, dtypes={"s": INT})
    agrees(with_output(model, {"y": (FLOAT, 3)}), {"x": floats(3, 2, 9), "s": whole(4)})


def test_a_slice_of_an_unknown_extent_is_refused() -> None:
    nodes = [node("Slice", ["x", "zero", "s", "zero", "two"], ["y"])]
    model = make_model(nodes, {"x": (3, 2), "s": (1,)}, NUMBERS, dtypes={"s": INT})
    with pytest.raises(UnsupportedModel, match="its ends") as refused:
        load(with_output(model, {"y": (FLOAT, 2)}))
    assert refused.value.unknown_inputs == ("s",)


def test_a_row_at_the_number_of_the_step() -> None:
    """A loop whose body slices by its counter."""
    body = subgraph(
        [
            node("Unsqueeze", ["i", "zero"], ["start"]),
            node("Add", ["start", "one"], ["end"]),
            node("Slice", ["x", "start", "end"], ["row"]),
            node("Add", ["total", "row"], ["next"]),
            node("Identity", ["go"], ["go_on"]),
        ],
        {"i": (INT, 0), "go": (BOOL, 0), "total": (FLOAT, 2)},
        {"go_on": (BOOL, 0), "next": (FLOAT, 2)},
    )
    model = make_model(
        [node("Loop", ["trips", "", "first"], ["y"], body=body)],
        {"x": (40, 3), "first": (1, 3), "trips": ()}, NUMBERS, dtypes={"trips": INT},
    )  # fmt: skip
    x = {"x": floats(40, 3), "first": floats(1, 3, seed=2)}
    for trips in (0, 7, 40):
        agrees(with_output(model, {"y": (FLOAT, 2)}), {**x, "trips": np.array(trips)})


@pytest.mark.parametrize(("length", "step"), [(5, 1), (5, 2), (-6, -4)])
def test_a_range_from_a_start_that_is_an_input(length: int, step: int) -> None:
    nodes = [node("Add", ["s", "length"], ["e"]), node("Range", ["s", "e", "step"], ["y"])]
    numbers = {"length": np.array(length), "step": np.array(step)}
    model = make_model(nodes, {"s": ()}, numbers, dtypes={"s": INT})
    agrees(with_output(model, {"y": (INT, 1)}), {"s": np.array(-3)})


def test_an_element_of_a_sequence_that_is_chosen_by_an_input() -> None:
    nodes = [
        node("SplitToSequence", ["x"], ["parts"], axis=1),
        node("SequenceAt", ["parts", "i"], ["y"]),
    ]
    model = make_model(nodes, {"x": (2, 3), "i": ()}, dtypes={"i": INT})
    for i in (0, 2, -1):
        agrees(with_output(model, {"y": (FLOAT, 2)}), {"x": floats(2, 3), "i": np.array(i)})
