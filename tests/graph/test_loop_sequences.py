"""Sequences that loops read and append to, as scripted PyTorch modules are exported."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import Array, make_model, run_onnx
from onnx import helper
from test_onnx_control import BOOL, FLOAT, INT, infos, node, with_output

import tilewright as tw
from tilewright.ground.errors import RunError, UnsupportedModel

Nodes = list[onnx.NodeProto]
RNG = np.random.default_rng(0)
CELL = [
    node("SequenceAt", ["xs", "t"], ["row"]),
    node("MatMul", ["row", "w"], ["a"]),
    node("MatMul", ["h", "r"], ["b"]),
    node("Add", ["a", "b"], ["c"]),
    node("Tanh", ["c"], ["h_next"]),
]
"""One step of a recurrent network: h = tanh(x · w + h · r)."""


def body(nodes: Nodes, lists: list[str], on: str = "going") -> onnx.GraphProto:
    """Steps that carry `h` and some `lists`."""

    def listed(suffix: str) -> list[onnx.ValueInfoProto]:
        return [helper.make_tensor_sequence_value_info(f"{n}{suffix}", FLOAT, None) for n in lists]

    given = [*infos({"t": (INT, 0), "going": (BOOL, 0), "h": (FLOAT, 2)}), *listed("")]
    made = [*infos({"on": (BOOL, 0), "h_next": (FLOAT, 2)}), *listed("_next")]
    return helper.make_graph([*nodes, node("Identity", [on], ["on"])], "step", given, made)


def recurrent(
    steps: Nodes,
    joins: Nodes,
    results: dict[str, int],
    lists: list[str],
    trips: str = "count",
    shape: tuple[int | str, ...] = ("time", 2, 3),
    start: Nodes | None = None,
    on: str = "going",
    **weights: Any,
) -> onnx.ModelProto:
    """A loop over rows of `x`, which it has as a sequence."""
    loop = node(
        "Loop", [trips, "", "h_0", *(f"{n}_0" for n in lists)], ["last", *lists],
        body=body(steps, lists, on),
    )  # fmt: skip
    begin = start or [node("SequenceEmpty", [], [f"{n}_0"]) for n in lists]
    nodes = [
        node("SplitToSequence", ["x"], ["xs"], axis=0, keepdims=0),
        node("SequenceLength", ["xs"], ["count"]), *begin, loop, *joins,
    ]  # fmt: skip
    known = {
        "w": RNG.standard_normal((3, 4)).astype(np.float32),
        "r": RNG.standard_normal((4, 4)).astype(np.float32), **weights,
    }  # fmt: skip
    inputs: dict[str, Any] = {"x": shape, "h_0": (2, 4)}
    inputs |= {trips: ()} if trips == "n" else {}
    model = make_model(nodes, inputs, known, [*results], dtypes={"n": INT})
    return with_output(model, {name: (FLOAT, rank) for name, rank in results.items()})


def agrees(model: onnx.ModelProto, given: dict[str, Array], **options: Any) -> list[Array]:
    results = tw.compile(tw.load(model, **options))(**given)
    found = list(results) if isinstance(results, tuple | list) else [results]
    for ours, theirs in zip(found, run_onnx(model, given), strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    return found


def given(time: int, **more: Any) -> dict[str, Array]:
    rng = np.random.default_rng(time)
    x, h = rng.standard_normal((time, 2, 3)), rng.standard_normal((2, 4))
    return {"x": x.astype(np.float32), "h_0": h.astype(np.float32), **more}


APPEND = [*CELL, node("SequenceInsert", ["hs", "h_next"], ["hs_next"])]


@pytest.mark.parametrize(("axis", "new"), [(0, 1), (1, 1), (2, 1), (0, 0), (1, 0)])
def test_outputs_of_a_step_are_stacked_or_joined(axis: int, new: int) -> None:
    joins = [node("ConcatFromSequence", ["hs"], ["y"], axis=axis, new_axis=new)]
    model = recurrent(APPEND, joins, {"y": 2 + new, "last": 2}, ["hs"])
    net = tw.compile(tw.load(model, shapes={"time": (1, 20)}))
    for time in (1, 2, 7, 20):
        arrays = given(time)
        for ours, theirs in zip(net(**arrays), run_onnx(model, arrays), strict=True):
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("time", [3, 9])
def test_a_known_length_is_written_out_or_a_loop(time: int) -> None:
    joins = [node("ConcatFromSequence", ["hs"], ["y"], axis=0, new_axis=1)]
    model = recurrent(APPEND, joins, {"y": 3}, ["hs"], shape=(time, 2, 3))
    agrees(model, given(time))


def test_elements_are_read_afterwards_and_more_are_there_before() -> None:
    start = [node("SequenceConstruct", ["h_0"], ["hs_0"])]
    joins = [
        node("SequenceInsert", ["hs", "last"], ["whole"]),
        node("ConcatFromSequence", ["whole"], ["y"], axis=0, new_axis=1),
        node("SequenceAt", ["whole", "one"], ["first"]),
        node("SequenceAt", ["whole", "minus"], ["end"]),
        node("SequenceLength", ["whole"], ["n"]),
        node("Cast", ["n"], ["length"], to=FLOAT),
    ]
    results = {"y": 3, "first": 2, "end": 2, "length": 0}
    model = recurrent(
        APPEND, joins, results, ["hs"], start=start, one=np.array(1), minus=np.array(-1)
    )
    for time in (1, 6):
        found = agrees(model, given(time), shapes={"time": (1, 9)})
        assert found[3] == time + 2


def test_two_sequences_as_long_as_a_condition_says() -> None:
    steps = [
        *APPEND,
        node("SequenceInsert", ["cs", "c"], ["cs_next"]),
        node("ReduceMax", ["c"], ["top"], keepdims=0),
        node("Less", ["top", "far"], ["more"]),
    ]
    joins = [
        node("ConcatFromSequence", ["hs"], ["y"], axis=0, new_axis=1),
        node("ConcatFromSequence", ["cs"], ["z"], axis=1, new_axis=0),
    ]
    model = recurrent(
        steps, joins, {"y": 3, "z": 2}, ["hs", "cs"], trips="n", on="more", far=np.float32(4)
    )
    options = {"shapes": {"time": (1, 20)}, "limits": {"hs": 12}}
    for n in (1, 5, 12):
        agrees(model, given(20, n=np.array(n)), **options)
    with pytest.raises(UnsupportedModel) as error:
        tw.load(model, shapes=options["shapes"])
    assert error.value.unlimited == ("hs",)
    flat = recurrent(APPEND, joins[:1], {"y": 3}, ["hs"], trips="n")
    net = tw.compile(tw.load(flat, **options))
    with pytest.raises(RunError, match="more steps than the 12"):
        net(**given(20, n=np.array(13)))


def test_what_else_a_step_does_with_a_sequence_is_refused() -> None:
    steps = [
        *CELL,
        node("SequenceInsert", ["hs", "h_next"], ["longer"]),
        node("SequenceInsert", ["longer", "h"], ["hs_next"]),
    ]
    joins = [node("ConcatFromSequence", ["hs"], ["y"], axis=0, new_axis=1)]
    model = recurrent(steps, joins, {"y": 3}, ["hs"], trips="n")
    with pytest.raises(UnsupportedModel, match="does more with a sequence than to append one"):
        tw.load(model, shapes={"time": (1, 20)}, limits={"hs": 9})
