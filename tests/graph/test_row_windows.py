"""Convolutions of few channels as sums along rows of windows: the same sums, by what fills dots."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from graph_reference import Array, random_inputs, run_graph, run_partition
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.front.precision import multiplied
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Graph
from tilewright.graph.partition import partition
from tilewright.graph.passes import simplify
from tilewright.graph.passes.row_windows import row_windows
from tilewright.target import Target

KINDS = {"uint8": "int8", "bfloat16": "bfloat16"}
TARGET = "cpu:sapphirerapids"


def drawn(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Array:
    if kind == "bfloat16":
        return rng.standard_normal(shape).astype(ml_dtypes.bfloat16)
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max + 1, shape).astype(kind)


def of_image(
    kind: str, image: tuple[int, ...], kernel: tuple[int, ...], outputs: int = 16, **how: Any
) -> Graph:
    """One convolution of an image [1, *spatial, channels]."""
    b = GraphBuilder("g")
    x = b.input("x", image, kind)
    weights = drawn(np.random.default_rng(0), KINDS[kind], (*kernel, image[-1], outputs))
    sums = {} if kind == "uint8" else {"dtype": "float32"}
    return b.build([b.emit("conv", x, b.constant("w", weights), **how, **sums)], ["y"])


def same_sums(graph: Graph, x: Array) -> Graph:
    """The graph along rows, which computes the same: integers to the last bit."""
    found = row_windows(graph)
    (before,), (after,) = (run_graph(g, {"x": x}) for g in (graph, found))
    if before.dtype == np.int32:
        np.testing.assert_array_equal(after, before)
    else:
        np.testing.assert_allclose(after, before, rtol=1e-5, atol=1e-5)
    return found


@given(st.data())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_sums_stay_the_same(data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, 3))
    kernel = tuple(data.draw(st.integers(1, 4)) for _ in range(rank))
    pads = tuple((data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in kernel)
    spatial = tuple(k + data.draw(st.integers(0, 5)) for k in kernel)
    stride = tuple(data.draw(st.integers(1, 3)) for _ in kernel)
    channels, kind = data.draw(st.integers(1, 7)), data.draw(st.sampled_from(sorted(KINDS)))
    graph = of_image(kind, (2, *spatial, channels), kernel, 8, padding=pads, stride=stride)
    x = drawn(np.random.default_rng(1), kind, graph.inputs[0].shape)
    found = same_sums(graph, x)
    (conv,) = (n for n in found.nodes if n.op == "conv")
    along = kernel[-1] > 1 and kernel[-1] * channels >= 8
    assert (conv.inputs[1].shape[-2] == 1) == (along or channels == 1)
    if along:
        assert conv.inputs[1].shape[-3] % (4 if kind == "uint8" else 2) == 0, "whole words"


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("taps", [3, 4, 5])
def test_what_is_not_finite_stays_in_its_windows(number: float, taps: int) -> None:
    graph = of_image("bfloat16", (1, 5, 17, 3), (3, taps), padding=1, stride=2)
    x = drawn(np.random.default_rng(2), "bfloat16", graph.inputs[0].shape)
    x[0, 2, 8, 1] = number
    same_sums(graph, x)


@pytest.mark.parametrize(
    ("image", "kernel", "outputs", "how"),
    [
        ((1, 8, 8, 16), (3, 3), 16, {}),
        ((1, 8, 8, 4), (3, 1), 16, {}),
        ((1, 8, 8, 2), (3, 3), 16, {}),
        ((1, 8, 8, 3), (3, 3), 3, {}),
        ((1, 8, 8, 3), (3, 3), 16, {"dilation": (1, 2)}),
    ],
    ids=["many channels", "one tap", "short runs", "few outputs", "apart"],
)
def test_others_stay_as_they_are(
    image: tuple[int, ...], kernel: tuple[int, ...], outputs: int, how: dict[str, Any]
) -> None:
    graph = of_image("uint8", image, kernel, outputs, **how)
    (before,), (after,) = (g.nodes for g in (graph, row_windows(graph)))
    assert after.inputs[1] is before.inputs[1]


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize("turned", [False, True], ids=["as it lies", "channels first"])
def test_instructions_multiply_it(kind: str, padding: int, turned: bool) -> None:
    """Whatever moves the image is stored before, so that rows are runs of memory."""
    b = GraphBuilder("g")
    x = b.input("x", (1, 3, 20, 20) if turned else (1, 20, 20, 3), kind)
    image = b.transpose(x, (0, 2, 3, 1)) if turned else x
    w = b.constant("w", drawn(np.random.default_rng(0), KINDS[kind], (7, 7, 3, 16)))
    sums = {} if kind == "uint8" else {"dtype": "float32"}
    y = b.emit("conv", image, w, padding=padding, stride=2, **sums)
    graph = simplify(b.build([y], ["y"]))
    target = Target.parse(TARGET)
    cut = partition(graph, target)
    found = [m for task in cut.tasks for m in multiplied(task.dag, target)]
    assert [m.how.split(" by ")[1] for m in found] == [
        "tdpbusd" if kind == "uint8" else "tdpbf16ps"
    ]
    inputs = random_inputs(graph)
    for ours, whole in zip(run_partition(cut, inputs), run_graph(graph, inputs), strict=True):
        np.testing.assert_allclose(ours, whole, rtol=1e-5, atol=1e-5)
