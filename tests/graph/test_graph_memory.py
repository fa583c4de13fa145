"""The memory plan: nothing alive at the same time overlaps, and memory is reused."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Graph
from tilewright.graph.partition import partition
from tilewright.network.memory import ALIGNMENT, Lifetime, MemoryPlan, liveness, plan_memory


def random_graph(seed: int, nodes: int) -> Graph:
    """Softmaxes and sums (each a kernel of its own) of random earlier values, some reshaped."""
    rng = np.random.default_rng(seed)
    b = GraphBuilder("g")
    values = [b.input("x", (4, 30), "float32")]
    for _ in range(nodes):
        a, c = (values[i] for i in rng.integers(max(0, len(values) - 6), len(values), 2))
        if rng.random() < 0.3:
            wide = b.emit("concat", a, c, axis=1)
            a = (
                b.emit("reduce_max", b.reshape(wide, (4, -1, 2)), axes=(2,), keepdims=False)
                if (wide.shape[1] % 2 == 0 and wide.shape[1] < 400)
                else a
            )
        values.append(b.emit("softmax", b.reshape(a, a.shape[::-1]), axis=0))
        values[-1] = b.reshape(values[-1], values[-1].shape[::-1])
    total = b.emit("concat", *values[1:], axis=1)
    return b.build([total, values[-1]], ["y", "z"])


def check(plan: MemoryPlan, lifetimes: list[Lifetime]) -> None:
    for i, a in enumerate(lifetimes):
        start = plan.offsets[a.value]
        assert start % ALIGNMENT == 0
        assert start + a.size <= plan.arena_bytes
        for b in lifetimes[i + 1 :]:
            other = plan.offsets[b.value]
            apart = start + a.size <= other or other + b.size <= start
            assert apart or not a.overlaps(b), f"{a.value} and {b.value} share memory"


@pytest.mark.parametrize("seed", range(8))
def test_values_alive_together_do_not_overlap(seed: int) -> None:
    p = partition(random_graph(seed, 25))
    plan = plan_memory(p)
    lifetimes = liveness(p)
    check(plan, lifetimes)
    needed = max(
        sum(x.size for x in lifetimes if x.first <= call <= x.last)
        for call in range(len(p.subgraphs))
    )
    assert needed <= plan.arena_bytes <= 1.5 * needed


def test_a_chain_needs_two_buffers() -> None:
    b = GraphBuilder("g")
    t = b.input("x", (1, 1000), "float32")
    for _ in range(10):
        t = b.emit("softmax", t, axis=1)
    plan = plan_memory(partition(b.build([t], ["y"])))
    assert plan.arena_bytes == 2 * 4032
    assert str(plan) == "arena 8.06 kB for 9 values (36.3 kB without reuse)"


def test_a_view_keeps_its_memory_alive() -> None:
    b = GraphBuilder("g")
    x = b.input("x", (1, 64), "float32")
    a = b.emit("softmax", x, axis=1)
    c = b.emit("softmax", b.emit("softmax", a, axis=1), axis=1)
    late = b.emit("concat", b.reshape(a, (64, 1)), b.reshape(c, (64, 1)), axis=1)
    p = partition(b.build([b.emit("softmax", late, axis=1)], ["y"]))
    plan = plan_memory(p)
    check(plan, liveness(p))
    assert liveness(p)[0].last == 3, "read through the view by the concatenation"


def test_outputs_have_no_place_in_the_arena() -> None:
    b = GraphBuilder("g")
    x = b.input("x", (1, 64), "float32")
    a = b.emit("softmax", x, axis=1)
    y = b.emit("softmax", a, axis=1)
    p = partition(b.build([b.reshape(a, (8, 8)), y], ["a", "y"]))
    assert plan_memory(p).offsets == {}
