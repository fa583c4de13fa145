"""Compiled networks: linking, places of buffers, copies, inputs by name and position, errors."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from graph_reference import Array, random_inputs, run_graph

from tilewright.build import default_gene
from tilewright.build.compile import build_nest
from tilewright.contract.artifact import Artifact
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Graph, Value
from tilewright.graph.partition import Partition, partition
from tilewright.ground.errors import BuildError, InputError, RunError
from tilewright.ground.text import size
from tilewright.network.entry import Copy, InterfaceBuffer, KernelCall, Slot, entry_ir
from tilewright.network.executor import Network
from tilewright.network.link import linked
from tilewright.space.space import Space
from tilewright.target import Target

RNG = np.random.default_rng(0)
TARGET = Target.parse("cpu")


def floats(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def kernels_of(p: Partition, target: Target = TARGET) -> dict[str, Artifact]:
    return {
        t.key: build_nest(t.dag, default_gene(Space(t.dag, target)), target, t.name)
        for t in p.tasks
    }


def network(graph: Graph) -> Network:
    p = partition(graph)
    return linked(p, kernels_of(p), TARGET)


def conv_relu(b: GraphBuilder, x: Value, w: Value) -> Value:
    c = b.emit("conv", x, w, stride=(1, 1), padding=((1, 1), (1, 1)))
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
        KernelCall("k", (InterfaceBuffer(0), InterfaceBuffer(1), Slot(0))),
        KernelCall("k", (Slot(0), InterfaceBuffer(1), InterfaceBuffer(2))),
        Copy(InterfaceBuffer(2), InterfaceBuffer(3), 64),
    ]
    assert entry_ir("net", 4, actions, 256).splitlines()[-10:] == [
        "  store ptr %b1, ptr %s1",
        "  store ptr %m0, ptr %s2",
        "  call void @k(ptr %args, ptr null, ptr %workspace)",
        "  store ptr %m0, ptr %s0",
        "  store ptr %b1, ptr %s1",
        "  store ptr %b2, ptr %s2",
        "  call void @k(ptr %args, ptr null, ptr %workspace)",
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
                rounding = 1e-6 * np.abs(theirs).max()  # of terms that cancel
                np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=max(rounding, 1e-5))
    assert len(net.kernels) < len(net.artifact.steps), "two calls share one kernel"


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
def test_packing_takes_no_more_memory_than_the_packed_weights() -> None:
    b = GraphBuilder("large weights")
    t = b.input("x", (1, 1024), "float32")
    for i in range(4):
        t = b.emit("matmul", t, b.constant(f"w{i}", floats(1024, 1024)))
    p = partition(b.build([t], ["y"]))
    kernels = kernels_of(p)
    tracemalloc.start()
    net = linked(p, kernels, TARGET)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert net.memory.constants == 4 * 4 * 1024 * 1024
    assert net.memory.constants <= peak <= 1.1 * net.memory.constants


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
        linked(p, {first: kernels[first]}, TARGET)
    with pytest.raises(BuildError, match="takes"):
        linked(p, {**kernels, first: kernels[second]}, TARGET)


@pytest.mark.cpu
def test_runs_of_several_threads_at_once_do_not_mix() -> None:
    graph = residual()
    net = network(graph)
    given = [random_inputs(graph, seed) for seed in range(6)]
    expected = [[y.copy() for y in net.run(x)] for x in given]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(net.run, given * 20))
    for number, outputs in enumerate(found):
        for ours, theirs in zip(outputs, expected[number % 6], strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.cpu
def test_threads_are_limited_a_run_and_outputs_stay_the_same() -> None:
    graph = residual()
    p = partition(graph)
    target = replace(TARGET, cores=3)
    net = linked(p, kernels_of(p, target), target)
    inputs = random_inputs(graph, 0)
    assert net.threads == 3
    expected = net.run(inputs)
    for count in (1, 2, 3):
        net.threads = count
        assert net.threads == count
        for ours, theirs in zip(net.run(inputs), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    for wrong in (0, 4, 1.5):
        with pytest.raises(InputError, match="threads must be from 1 to 3"):
            net.threads = wrong


@pytest.mark.cpu
def test_a_profile_has_every_kernel() -> None:
    graph = residual()
    net = network(graph)
    profile = net.profile(random_inputs(graph, 0), runs=3)
    assert sum(k.calls for k in profile.kernels) == net.calls
    assert {k.kernel for k in profile.kernels} == {s.kernel for s in net.artifact.steps}
    assert all(k.seconds > 0 for k in profile.kernels)
    assert sum(map(profile.share, profile.kernels)) == pytest.approx(1)
    conv = max(profile.kernels, key=lambda k: k.flops)
    assert "conv" in conv.kernel and conv.gflops > 0
    assert f"{profile.latency_s * 1e6:.1f} µs a run" in str(profile)
    with pytest.raises(InputError, match="at least one run"):
        net.profile(random_inputs(graph, 0), runs=0)


@pytest.mark.cpu
def test_a_network_for_another_cpu_is_compiled_and_not_loaded() -> None:
    target = Target.parse("cpu:cortex-a72")
    p = partition(residual())
    net = linked(p, kernels_of(p, target), target)
    assert net.memory.peak == sum(
        (net.memory.constants, net.memory.arena, net.memory.scratch, net.memory.arguments)
    )
    assert f"peak memory {size(net.memory.peak)} (" in str(net)
    with pytest.raises(RunError, match="compiled for aarch64"):
        net.run(random_inputs(p.graph, 0))


def test_a_network_keeps_no_weights_but_its_own() -> None:
    graph = residual()
    weight = next(v.constant for n in graph.nodes for v in n.inputs if v.constant is not None)
    gone = weakref.ref(weight)
    net = network(graph)
    del graph, weight
    gc.collect()
    assert gone() is None
    assert sum(a.nbytes for a in net.constants.arrays) == net.memory.constants
