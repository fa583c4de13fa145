"""Which contractions share a kernel, on a machine whose caches are small, and that it is told."""

from __future__ import annotations

import numpy as np
import pytest
from graph_reference import Array, random_inputs, run_graph, run_partition

from tilewright.graph.builder import GraphBuilder
from tilewright.graph.fusion import fuse
from tilewright.graph.ir import Graph, Value
from tilewright.graph.partition import partition
from tilewright.target import Target

# Second-level caches of 8 kB in all: values of 16 x 16 x 16 travel.
SMALL = Target.parse("cpu:icelake-server cores=2 l1=2K l2=4K l3=64K")
SAME = {"stride": (1, 1), "padding": ((1, 1), (1, 1))}
ZERO_POINT = np.float32([128])
RNG = np.random.default_rng(0)


def weights(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def conv(b: GraphBuilder, x: Value, outputs: int, kernel: int = 1) -> Value:
    w = b.constant("w", weights(kernel, kernel, x.shape[-1], outputs))
    pads = ((kernel // 2, kernel // 2),) * 2
    return b.emit("relu", b.emit("conv", x, w, stride=(1, 1), padding=pads))


def depthwise(b: GraphBuilder, x: Value) -> Value:
    w = b.constant("w", weights(3, 3, x.shape[-1], 1))
    y = b.emit("depthwise_conv", x, w, stride=(1, 1), padding=((1, 1), (1, 1)))
    return b.emit("relu", y)


def image(b: GraphBuilder, size: int = 16, channels: int = 4) -> Value:
    return b.input("x", (1, size, size, channels), "float32")


def kernels(graph: Graph) -> list[str]:
    """The contractions of each kernel; also checks the results."""
    cut = partition(graph, SMALL)
    inputs = random_inputs(graph)
    for found, whole in zip(run_partition(cut, inputs), run_graph(graph, inputs), strict=True):
        np.testing.assert_allclose(found, whole, rtol=1e-4, atol=1e-4)
    stages = [[s.name for s in cut.task(c.key).dag.stages] for c in cut.subgraphs]
    return ["+".join(n for n in names if "conv" in n and "pad" not in n) for names in stages]


def test_an_inverted_bottleneck_is_one_kernel() -> None:
    b = GraphBuilder("g")
    x = image(b)
    y = b.emit("add", conv(b, depthwise(b, conv(b, x, 16)), 4), x)
    assert kernels(b.build([y], ["y"])) == ["conv+depthwise_conv+conv2"]


def test_a_kernel_has_three_contractions_at_most() -> None:
    b = GraphBuilder("g")
    y = conv(b, depthwise(b, conv(b, depthwise(b, image(b, channels=16)), 16)), 16)
    graph = b.build([y], ["y"])
    assert [len(k.split("+")) for k in kernels(graph)] == [2, 2]
    assert any("3 contractions" in link.refusal for link in partition(graph, SMALL).links)


@pytest.mark.parametrize(
    ("size", "channels", "kernel", "reason"),
    [(8, 4, 1, "near caches"), (16, 512, 3, "not moving what is between saves")],
)
def test_a_pair_that_gains_nothing_stays_apart_and_says_why(
    size: int, channels: int, kernel: int, reason: str
) -> None:
    b = GraphBuilder("g")
    graph = b.build([conv(b, conv(b, image(b, size), channels, kernel), 8, kernel)], ["y"])
    assert len(partition(graph, SMALL).subgraphs) == 2
    (link,) = partition(graph, SMALL).links
    assert reason in link.refusal
    assert reason in link.verdict


def test_a_value_that_others_read_is_stored() -> None:
    b = GraphBuilder("g")
    t = conv(b, image(b), 16)
    graph = b.build([t, conv(b, t, 4)], ["t", "y"])
    assert kernels(graph) == ["conv", "conv"]
    assert partition(graph, SMALL).links[0].verdict == "apart (others read what is between, too)"


def test_without_a_target_nothing_is_chained() -> None:
    b = GraphBuilder("g")
    graph = b.build([conv(b, depthwise(b, image(b, channels=16)), 16)], ["y"])
    assert len(partition(graph).subgraphs) == 2
    assert len(partition(graph, SMALL).subgraphs) == 1


@pytest.mark.parametrize(("keys", "together"), [(5000, True), (5003, False), (1024, True)])
def test_a_softmax_of_long_rows_joins_where_it_may_be_taken_in_chunks(
    keys: int, together: bool
) -> None:
    b = GraphBuilder("g")
    q = b.input("q", (1, 2, 24, 8), "float32")
    k = b.input("k", (1, 2, 8, keys), "float32")
    v = b.input("v", (1, 2, keys, 8), "float32")
    scores = b.emit("multiply", b.emit("matmul", q, k), b.constant("s", np.float32([0.5])))
    graph = b.build([b.emit("matmul", b.emit("softmax", scores, axis=3), v)], ["y"])
    kernels(graph)
    assert len(partition(graph, SMALL).subgraphs) == (1 if together else 3)


def test_scores_that_others_read_are_stored() -> None:
    b = GraphBuilder("g")
    q, k = b.input("q", (1, 2, 24, 8), "float32"), b.input("k", (1, 2, 8, 5000), "float32")
    v = b.input("v", (1, 2, 5000, 8), "float32")
    scores = b.emit("matmul", q, k)
    y = b.emit("matmul", b.emit("softmax", scores, axis=3), v)
    assert len(partition(b.build([y, scores], ["y", "scores"]), SMALL).subgraphs) == 3


def activated(b: GraphBuilder, x: Value) -> Value:
    scaled = b.emit("multiply", x, b.constant("s", weights(x.shape[-1])))
    return b.emit("relu", b.emit("add", scaled, b.constant("t", weights(x.shape[-1]))))


@pytest.mark.parametrize("kernel", [1, 3])
def test_arithmetic_joins_the_contraction_that_it_feeds(kernel: int) -> None:
    b = GraphBuilder("g")
    graph = b.build([conv(b, activated(b, image(b, channels=16)), 16, kernel)], ["y"])
    assert kernels(graph) == ["conv"]
    (link,) = partition(graph, SMALL).links
    assert (link.first.op, link.second.op, link.refusal) == ("relu", "conv", "")
    assert len(partition(graph, SMALL, chains=False).subgraphs) == 2
    assert len(partition(graph).subgraphs) == 2


def test_arithmetic_follows_a_contraction_rather_than_feeding_one() -> None:
    b = GraphBuilder("g")
    x = image(b, channels=16)
    first = b.emit("relu", b.emit("conv", x, b.constant("w", weights(3, 3, 16, 16)), **SAME))
    graph = b.build([conv(b, first, 512, 3)], ["y"])
    assert kernels(graph) == ["conv", "conv"]
    nodes = [[n.op for n in group.nodes] for group in fuse(graph, SMALL).groups]
    assert nodes == [["conv", "relu"], ["conv", "relu"]]


def test_arithmetic_that_others_read_or_that_turns_rows_stays_apart() -> None:
    b = GraphBuilder("g")
    read_twice = activated(b, image(b, channels=16))
    twice = b.build([conv(b, read_twice, 16), conv(b, read_twice, 16)], ["y", "z"])
    b = GraphBuilder("g")
    turned = b.transpose(b.emit("relu", b.input("x", (64, 512), "float32")), (1, 0))
    product = b.emit("matmul", turned, b.constant("w", weights(64, 16)))
    for graph, count in ((twice, 3), (b.build([product], ["y"]), 2)):
        kernels(graph)
        assert len(partition(graph, SMALL).subgraphs) == count
        assert not partition(graph, SMALL).links


@pytest.mark.parametrize(
    ("rows", "activation", "reason"),
    [(32, "relu", ""), (31, "gelu", "not moving"), (12, "relu", None)],
)
def test_arithmetic_that_hides_its_own_traffic_stays_apart(
    rows: int, activation: str, reason: str | None
) -> None:
    b = GraphBuilder("g")
    x = b.emit(activation, b.input("x", (rows, 256), "float32"))
    cut = partition(b.build([b.emit("dense", x, b.constant("w", weights(256, 256)))], ["y"]), SMALL)
    refusals = [link.refusal.partition(" what")[0] for link in cut.links]
    assert refusals == ([] if reason is None else [reason])
    assert len(cut.subgraphs) == (1 if reason == "" else 2)


def test_integers_are_decoded_in_the_kernel_of_the_product() -> None:
    b = GraphBuilder("g")
    x = b.input("x", (96, 48), "uint8")
    wide = b.emit("subtract", b.emit("cast_to", x, dtype="float32"), b.constant("z", ZERO_POINT))
    scaled = b.emit("multiply", wide, b.constant("s", np.float32([0.02])))
    graph = b.build([b.emit("dense", scaled, b.constant("w", weights(48, 24)))], ["y"])
    kernels(graph)
    assert len(partition(graph, SMALL).subgraphs) == 1
