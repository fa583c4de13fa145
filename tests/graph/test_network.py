"""Compiled networks: linking, places of buffers, copies, inputs by name and position, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graph_reference import Array, random_inputs, run_graph

from tilewright.build import build, default_trace
from tilewright.errors import BuildError, InputError
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.entry import Buffer, Copy, KernelCall, Slot, entry_ir
from tilewright.graph.executor import Network
from tilewright.graph.ir import Graph, Value
from tilewright.graph.partition import Partition, partition
from tilewright.runtime.artifact import Artifact
from tilewright.target import Target

RNG = np.random.default_rng(0)
TARGET = Target.parse("cpu")


def floats(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def kernels_of(p: Partition) -> dict[str, Artifact]:
    return {t.key: build(t.dag, default_trace(t.dag, TARGET), TARGET, t.name) for t in p.tasks}


def network(graph: Graph) -> Network:
    p = partition(graph)
    return Network(p, kernels_of(p), TARGET)


def conv_relu(b: GraphBuilder, x: Value, w: Value) -> Value:
    c = b.emit("conv", x, w, strides=(1, 1), pads=((1, 1), (1, 1)))
    return b.emit("relu", b.emit("add", c, b.constant("b", floats(w.shape[-1]))))


def residual() -> Graph:
    """Two inputs, shared and own weights, a residual, a view, two outputs."""
    b = GraphBuilder("residual net")
    x, z = b.input("x", (1, 6, 7, 8), "float32"), b.input("z", (1, 8), "float32")
    w = b.constant("w", floats(3, 3, 8, 8))
    t = conv_relu(b, x, w)
    t = conv_relu(b, t, w)
    u = b.emit("add", conv_relu(b, t, w), t)
    features = b.emit("reduce_mean", u, axes=(1, 2), keepdims=True)
    both = b.emit("add", b.reshape(features, (1, 8)), z)
    y = b.emit("softmax", both, axis=1)
    return b.build([y, b.reshape(u, (42, 8))], ["probabilities", "features"])


def test_the_entry_point_is_straight_line_code() -> None:
    actions = [
        KernelCall("k", (Buffer(0), Buffer(1), Slot(0))),
        KernelCall("k", (Slot(0), Buffer(1), Buffer(2))),
        Copy(Buffer(2), Buffer(3), 64),
    ]
    assert entry_ir("net", 4, actions, 256).splitlines()[-10:] == [
        "  store ptr %b1, ptr %s1",
        "  store ptr %m0, ptr %s2",
        "  call void @k(ptr %args, ptr %params, ptr %workspace)",
        "  store ptr %m0, ptr %s0",
        "  store ptr %b1, ptr %s1",
        "  store ptr %b2, ptr %s2",
        "  call void @k(ptr %args, ptr %params, ptr %workspace)",
        "  call void @llvm.memcpy.p0.p0.i64(ptr %b3, ptr %b2, i64 64, i1 false)",
        "  ret void",
        "}",
    ]


@pytest.mark.cpu
def test_network_equals_the_graph() -> None:
    graph = residual()
    net = network(graph)
    for seed in range(3):
        inputs = random_inputs(graph, seed)
        expected = run_graph(graph, inputs)
        for found in (net.run(inputs), net(inputs["x"], inputs["z"])):
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    assert len(net.kernels) < len(net.partition.subgraphs), "two calls share one kernel"


@pytest.mark.cpu
def test_shared_weights_are_packed_once() -> None:
    net = network(residual())
    names = [s.name.split("_", 1)[1] for s in net.artifact.constants]
    assert sorted(set(names)) == ["b", "b_2", "b_3", "w"]
    assert len([n for n in names if n != "w"]) == 3
    assert names.count("w") <= 2, "one layout a kernel at most"


class Foreign:
    """An array of another library: DLPack is all it offers."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.mark.cpu
def test_inputs_are_checked_by_name_shape_and_dtype() -> None:
    net = network(residual())
    x, z = floats(1, 6, 7, 8), floats(1, 8)
    np.testing.assert_array_equal(net(Foreign(x), z)[0], net(x, z)[0])
    with pytest.raises(InputError, match=r"x must be float32 of shape \(1, 6, 7, 8\)"):
        net(x[:, :5], z)
    with pytest.raises(InputError, match="got float64"):
        net(x.astype(np.float64), z)
    with pytest.raises(InputError, match="1 inputs given, 2 needed"):
        net(x)
    with pytest.raises(InputError, match="missing z; unknown q"):
        net.run({"x": x, "q": z})


@pytest.mark.cpu
def test_a_missing_or_foreign_kernel_is_refused() -> None:
    p = partition(residual())
    kernels = kernels_of(p)
    first, second = p.tasks[0].key, p.tasks[-1].key
    with pytest.raises(BuildError, match="no kernel for task"):
        Network(p, {first: kernels[first]}, TARGET)
    with pytest.raises(BuildError, match="takes"):
        Network(p, {**kernels, first: kernels[second]}, TARGET)
