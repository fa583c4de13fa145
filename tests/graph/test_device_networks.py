"""Networks on devices: a small CNN on an OpenCL driver and under the emulation of CUDA."""

from __future__ import annotations

import numpy as np
import pytest
from graph_reference import Array, random_inputs, run_graph

from devices import at_hand
from tilewright.build.compile import build_nest
from tilewright.contract.artifact import DEVICE_ALIGNMENT, Artifact
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Graph
from tilewright.graph.partition import partition
from tilewright.ground.errors import TargetError
from tilewright.network.executor import Network
from tilewright.network.link import linked
from tilewright.network.memory import plan_memory
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.devices import open_device
from tilewright.space.space import Space
from tilewright.target import Target

RNG = np.random.default_rng(0)


@pytest.fixture(params=["opencl:pocl", "emulated"])
def target(request: pytest.FixtureRequest) -> Target:
    """The device at hand of that kind, with its own facts."""
    return at_hand(lambda: open_device(Target.parse(request.param))).target


def floats(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def small_cnn() -> Graph:
    """Convolutions that share a weight, a residual, a depthwise one, a mean and a classifier; an
    intermediate value, an input and a constant are outputs, too.
    """
    b = GraphBuilder("small cnn")
    x = b.input("x", (1, 6, 6, 8), "float32")
    w = b.constant("w", floats(3, 3, 8, 8) / 8)
    t = x
    for _ in range(2):
        c = b.emit("conv", t, w, stride=(1, 1), padding=((1, 1), (1, 1)))
        t = b.emit("relu", b.emit("add", c, b.constant("b", floats(8))))
    t = b.emit("add", t, x)
    depth = b.constant("d", floats(3, 3, 8, 1))
    t = b.emit("depthwise_conv", t, depth, stride=(2, 2), padding=((1, 1), (1, 1)))
    mean = b.reshape(b.emit("reduce_mean", t, axes=(1, 2), keepdims=True), (1, 8))
    y = b.emit("softmax", b.emit("matmul", mean, b.constant("v", floats(8, 5))), axis=1)
    outputs = [y, b.reshape(t, (9, 8)), b.reshape(x, (36, 8)), b.constant("k", floats(3))]
    return b.build(outputs, ["probabilities", "features", "same", "constant"])


def on_device(graph: Graph, target: Target) -> Network:
    """With the first valid program of each task."""
    p = partition(graph)
    kernels: dict[str, Artifact] = {}
    for task in p.tasks:
        space = Space(task.dag, target)
        found = space.sample(np.random.default_rng(0), 32)
        gene = space.gene(int(found.sketch[0]), found.rows[0])
        kernels[task.key] = build_nest(task.dag, gene, target, task.name)
    return linked(p, kernels, target)


def test_a_network_equals_the_graph(target: Target) -> None:
    graph = small_cnn()
    net = on_device(graph, target)
    for seed in range(2):
        inputs = random_inputs(graph, seed)
        found = net.run(inputs)
        for ours, theirs in zip(found, run_graph(graph, inputs), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    offsets = plan_memory(partition(graph), DEVICE_ALIGNMENT).offsets.values()
    assert offsets and all(o % DEVICE_ALIGNMENT == 0 for o in offsets)
    assert net.arena.bytes < net.arena.apart, "memory is used again"

    assert isinstance(net.function, DeviceFunction)
    profile = net.profile(list(inputs.values()), runs=1)
    assert {k.kernel for k in profile.kernels} == {s.kernel for s in net.artifact.steps}
    assert all(k.seconds > 0 for k in profile.kernels) and profile.latency_s > 0
    with pytest.raises(TargetError, match="it has no CPU threads"):
        net.threads = 1


def test_a_network_without_kernels(target: Target) -> None:
    b = GraphBuilder("views")
    x = b.input("x", (6, 4), "float32")
    net = on_device(b.build([b.reshape(x, (8, 3))], ["y"]), target)
    given = floats(6, 4)
    np.testing.assert_array_equal(net(given)[0], given.reshape(8, 3))


def test_shared_library_of_a_gpu_is_refused(target: Target) -> None:
    b = GraphBuilder("g")
    net = on_device(b.build([b.emit("relu", b.input("x", (4,), "float32"))], ["y"]), target)
    with pytest.raises(TargetError, match="is no CPU"):
        net.save("net.so")
