"""Linking and placing buffers, with hand-written kernels in place of generated ones.

Every kernel here writes twice its first input's elements (plus its constant, where it has one), so
that what a network computes tells which buffers its calls were given.
"""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.codegen.llvm.machine import compile_ir
from tilewright.contract.artifact import Artifact, BufferSpec, Packing
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Graph, Value
from tilewright.graph.partition import KernelTask, Partition, partition
from tilewright.network.executor import Network
from tilewright.network.link import linked
from tilewright.target import Target

TARGET = Target.parse("cpu")
DOUBLE = """
define void @{name}(ptr %buffers, ptr %params, ptr %scratch) {{
entry:
  %x = load ptr, ptr %buffers
  %cs = getelementptr ptr, ptr %buffers, i64 1
  %c = load ptr, ptr %cs
  %ys = getelementptr ptr, ptr %buffers, i64 {last}
  %y = load ptr, ptr %ys
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %xp = getelementptr float, ptr %x, i64 %i
  %xv = load float, ptr %xp
  %twice = fadd float %xv, %xv
  %sp = getelementptr float, ptr %scratch, i64 %i
  store float %twice, ptr %sp
  {more}
  %yp = getelementptr float, ptr %y, i64 %i
  store float %v, ptr %yp
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, {count}
  br i1 %again, label %loop, label %done
done:
  ret void
}}
"""
ADD = """%cp = getelementptr float, ptr %c, i64 %i
  %cv = load float, ptr %cp
  %v = fadd float %twice, %cv"""
KEEP = "%v = fadd float %twice, 0.0"


def kernel(task: KernelTask) -> Artifact:
    def specs(tensors: object) -> tuple[BufferSpec, ...]:
        return tuple(BufferSpec(t.name, t.shape, t.dtype.name) for t in tensors)  # type: ignore

    dag = task.dag
    count = int(np.prod(dag.outputs[0].shape))
    last = len(dag.inputs) + len(dag.constants)
    more = ADD if dag.constants else KEEP
    ir = DOUBLE.format(name=task.name, last=last, count=count, more=more)
    constants = specs(dag.constants)
    packings = tuple(Packing.identity(c) for c in constants)
    code = compile_ir(ir, TARGET)
    return Artifact(
        task.name, str(TARGET), code, specs(dag.inputs), constants, specs(dag.outputs),
        packings, 4 * count,
    )  # fmt: skip


def network(graph: Graph) -> tuple[Network, Partition]:
    p = partition(graph)
    return linked(p, {t.key: kernel(t) for t in p.tasks}, TARGET), p


def step(b: GraphBuilder, x: Value) -> Value:
    """A node that is a kernel of its own."""
    return b.emit("softmax", x, axis=0)


@pytest.mark.cpu
@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_a_chain_passes_its_values_on(length: int) -> None:
    b = GraphBuilder("chain of steps")
    t = x = b.input("x", (3, 50), "float32")
    for _ in range(length):
        t = step(b, t)
    net, p = network(b.build([t], ["y"]))
    assert len(p.tasks) == 1
    values = np.arange(150, dtype=np.float32).reshape(x.shape)
    for _ in range(2):
        np.testing.assert_array_equal(net(values)[0], values * 2**length)
    assert net.artifact.entry == "net_chain_of_steps"


@pytest.mark.cpu
def test_views_and_branches_keep_their_values() -> None:
    """A value stays alive while a branch beside it reuses memory."""
    b = GraphBuilder("branches")
    x = b.input("x", (4, 16), "float32")
    first = step(b, x)
    side = step(b, b.reshape(first, (2, 32)))
    for _ in range(4):
        side = step(b, side)
    late = step(b, b.reshape(first, (16, 4)))
    net, _ = network(b.build([side, late], ["side", "late"]))
    values = np.arange(64, dtype=np.float32)
    found = net.run({"x": values.reshape(4, 16)})
    np.testing.assert_array_equal(found[0], (values * 64).reshape(2, 32))
    np.testing.assert_array_equal(found[1], (values * 4).reshape(16, 4))


@pytest.mark.cpu
def test_each_call_gets_its_own_constants() -> None:
    b = GraphBuilder("constants")
    x = b.input("x", (1, 8), "float32")
    weights = [np.full((8, 8), 10.0 * i, np.float32) for i in range(3)]
    t = x
    for w in (weights[0], weights[1], weights[1], weights[2]):
        t = b.emit("matmul", t, b.constant("w", w))
    shared = b.constant("s", weights[2])
    t = b.emit("matmul", b.emit("matmul", t, shared), shared)
    net, p = network(b.build([t], ["y"]))
    assert len(p.tasks) == 1
    assert len(net.artifact.constants) == 5, "four of their own, one shared by two calls"
    gaps = np.diff(net.constants.addresses).tolist()
    assert gaps == [-(-c.bytes // 64) * 64 for c in net.artifact.constants[:-1]], "one block"
    expected = np.ones((1, 8), np.float32)
    for add in (0, 10, 10, 20, 20, 20):
        expected = expected * 2 + add
    np.testing.assert_array_equal(net(np.ones((1, 8), np.float32))[0], expected)


@pytest.mark.cpu
def test_outputs_that_no_kernel_writes_are_copied() -> None:
    b = GraphBuilder("copies")
    x = b.input("x", (2, 6), "float32")
    y = step(b, x)
    c = b.constant("c", np.arange(5, dtype=np.float32))
    outputs = [y, y, b.reshape(y, (12,)), x, b.reshape(x, (3, 4)), c]
    net, _ = network(b.build(outputs, [f"y{i}" for i in range(6)]))
    values = np.arange(12, dtype=np.float32)
    found = net(values.reshape(2, 6))
    wanted = [values * 2, values * 2, values * 2, values, values, np.arange(5)]
    for ours, theirs, value in zip(found, wanted, outputs, strict=True):
        np.testing.assert_array_equal(ours, theirs.reshape(value.shape))


@pytest.mark.cpu
def test_a_network_without_kernels() -> None:
    b = GraphBuilder("reshape")
    graph = b.build([b.reshape(b.input("x", (2, 6), "float32"), (12,))], ["y"])
    values = np.arange(12, dtype=np.float32)
    np.testing.assert_array_equal(network(graph)[0](values.reshape(2, 6))[0], values)
