"""Random graphs: all passes, fusion and views together change no result.

Graphs are grown from the operators whose rewrites interact: channels-last convolutions wrapped in
transposes, elementwise operators that broadcast, concatenations, pads, slices, reshapes that merge
and divide dimensions, permutations, reductions, affine chains, normalisations of rows, attention.
Values are read several times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from graph_reference import run_graph, run_partition

from tilewright.graph.builder import GraphBuilder
from tilewright.graph.fusion import fuse
from tilewright.graph.ir import Graph, Value, verify
from tilewright.graph.partition import partition
from tilewright.graph.passes import PASSES

GRAPHS = 60
LARGEST = 4000


class Grower:
    """Adds random nodes to a graph; `values` are those that later nodes may read."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.b = GraphBuilder(f"random{seed}")
        self.values = [self.b.input("x", (2, 4, 6, 5), "float32")]

    def constant(self, *shape: int) -> Value:
        return self.b.constant("c", self.rng.uniform(-1.5, 1.5, shape).astype(np.float32))

    def image(self) -> Value:
        """A value of four dimensions, made by a transpose of a random one where there is none."""
        images = [v for v in self.values if v.rank == 4]
        return images[self.rng.integers(len(images))]

    def any(self) -> Value:
        recent = self.values[-6:]
        return recent[self.rng.integers(len(recent))]

    def conv(self) -> Value:
        nhwc = self.b.transpose(self.image(), (0, 2, 3, 1))
        w = self.constant(1, 1, nhwc.shape[3], int(self.rng.choice([4, 6])))
        pads = ((int(self.rng.integers(2)), 0), (0, int(self.rng.integers(2))))
        y = self.b.emit("conv", nhwc, w, stride=(1, 1), padding=pads)
        return self.b.transpose(y, (0, 3, 1, 2))

    def channel_arithmetic(self) -> Value:
        x = self.image()
        op = str(self.rng.choice(["add", "multiply", "subtract"]))
        operands = [x, self.constant(x.shape[1], 1, 1)]
        return self.b.emit(op, *(operands if self.rng.random() < 0.8 else operands[::-1]))

    def broadcast(self) -> Value:
        x = self.any()
        shape = [n if self.rng.random() < 0.5 else 1 for n in x.shape]
        return self.b.emit("add", x, self.constant(*shape[int(self.rng.integers(x.rank)) :]))

    def unary(self) -> Value:
        return self.b.emit(str(self.rng.choice(["relu", "tanh", "negative"])), self.any())

    def pair(self) -> Value:
        x = self.any()
        alike = [v for v in self.values if v.shape == x.shape]
        return self.b.emit("add", x, alike[self.rng.integers(len(alike))])

    def concat(self) -> Value:
        x = self.any()
        axis = int(self.rng.integers(x.rank))
        alike = [v for v in self.values if v.shape == x.shape]
        return self.b.emit("concat", x, alike[self.rng.integers(len(alike))], axis=axis)

    def pad(self) -> Value:
        x = self.any()
        pads = [(int(self.rng.random() < 0.3), int(self.rng.random() < 0.3)) for _ in x.shape]
        if not any(p for pair in pads for p in pair):
            pads[-1] = (1, 0)
        value = float(self.rng.choice([0.0, 0.5]))
        return self.b.emit("pad", x, pads=tuple(pads), mode="constant", value=value)

    def slice(self) -> Value:
        x = self.any()
        axis = int(self.rng.choice([d for d in range(x.rank) if x.shape[d] > 1] or [0]))
        stop = max(1, x.shape[axis] - 1)
        return self.b.emit("strided_slice", x, starts=(0,), stops=(stop,), steps=(1,), axes=(axis,))

    def permute(self) -> Value:
        x = self.any()
        return self.b.transpose(x, self.rng.permutation(x.rank).tolist())

    def reshape(self) -> Value:
        """Merge two neighbours, or divide a dimension by 2; sometimes add one of extent 1."""
        x = self.any()
        shape = list(x.shape)
        d = int(self.rng.integers(x.rank))
        if shape[d] % 2 == 0 and x.rank < 6 and self.rng.random() < 0.5:
            shape[d : d + 1] = [2, shape[d] // 2]
        elif d + 1 < x.rank and x.rank > 2:
            shape[d : d + 2] = [shape[d] * shape[d + 1]]
        elif x.rank < 6:
            shape.insert(d, 1)
        return self.b.reshape(x, shape)

    def reduce(self) -> Value:
        x = self.any()
        axis = int(self.rng.integers(x.rank))
        keep = bool(x.rank < 3 or self.rng.random() < 0.7)
        op = str(self.rng.choice(["reduce_mean", "reduce_max"]))
        return self.b.emit(op, x, axes=(axis,), keepdims=keep)

    def softmax(self) -> Value:
        x = self.any()
        return self.b.emit("softmax", x, axis=int(self.rng.integers(x.rank)))

    def normalised(self) -> Value:
        """Several reductions over the last dimensions of one value, in small operators."""
        x = self.any()
        axes = tuple(range(int(self.rng.integers(x.rank)), x.rank))
        mean = self.b.emit("reduce_mean", x, axes=axes, keepdims=True)
        centred = self.b.emit("subtract", x, mean) if self.rng.random() < 0.7 else x
        op = str(self.rng.choice(["reduce_l2", "reduce_sum_square", "reduce_max"]))
        norm = self.b.emit(op, centred, axes=axes, keepdims=True)
        limited = self.b.emit("maximum", norm, self.b.constant("least", np.float32([0.5])))
        return self.b.emit("divide", centred if self.rng.random() < 0.7 else x, limited)

    def attention(self) -> Value:
        """Products of slices of one value with each other, by heads."""
        x = self.image()
        n, heads, rows, width = x.shape
        last = "softmax" if self.rng.random() < 0.7 else "log_softmax"
        parts = []
        for order in ((0, 1, 2, 3), (0, 1, 3, 2), (0, 1, 2, 3)):
            if width > 1 and self.rng.random() < 0.4:
                start = int(self.rng.integers(width // 2 + 1))
                cut = {"starts": (start,), "stops": (start + width // 2,)}
                part = self.b.emit("strided_slice", x, **cut, steps=(1,), axes=(3,))
                grown = self.b.emit("concat", part, part, axis=3)
                x = grown if grown.shape == x.shape else x
            flat = self.b.reshape(x, (n * heads, rows, width))
            apart = self.b.reshape(flat, (n, heads, rows, width))
            parts.append(self.b.transpose(apart, order))
        scores = self.b.emit("matmul", parts[0], parts[1])
        scale = self.b.constant("scale", np.float32([0.5]))
        masked = self.b.emit(
            "add", self.b.emit("multiply", scores, scale), self.constant(rows, rows)
        )
        product = self.b.emit("matmul", self.b.emit(last, masked, axis=3), parts[2])
        merged = self.b.transpose(product, (0, 2, 1, 3))
        return self.b.reshape(merged, (n, rows, heads * width))

    def flat_product(self) -> Value:
        x = self.image()
        flat = self.b.reshape(x, (x.shape[0], -1 * (-x.elements // x.shape[0])))
        return self.b.emit("matmul", flat, self.constant(flat.shape[1], 5))

    def grow(self, nodes: int) -> Graph:
        steps: list[Callable[[], Value]] = [
            *[self.conv] * 3,
            *[self.channel_arithmetic] * 3,
            *(self.broadcast, self.unary, self.unary, self.pair, self.pair, self.concat),
            *(self.pad, self.slice, self.permute, self.reshape, self.reshape, self.reduce),
            *(self.softmax, self.flat_product, self.normalised, self.attention),
        ]
        while len(self.values) <= nodes:
            value = steps[self.rng.integers(len(steps))]()
            if value.elements <= LARGEST:
                self.values.append(value)
        outputs = [self.values[-1], self.any()]
        return self.b.build(outputs, ["y", "z"])


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(GRAPHS))
def test_no_pass_and_no_cut_changes_the_result(seed: int) -> None:
    graph = Grower(seed).grow(14)
    x = {"x": np.random.default_rng(seed).standard_normal((2, 4, 6, 5)).astype(np.float32)}
    expected = run_graph(graph, x)
    for step in PASSES:
        graph = step(graph)
        verify(graph)
        for ours, theirs in zip(run_graph(graph, x), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-3, err_msg=step.__name__)
    for ours, theirs in zip(run_partition(partition(graph), x), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-3)


def test_the_graphs_hold_what_they_are_meant_to() -> None:
    seen: Counter[str] = Counter()
    for seed in range(GRAPHS):
        graph = Grower(seed).grow(14)
        seen.update({n.op for n in graph.nodes})
        consumers = graph.consumers()
        seen["shared"] += any(len(users) > 1 for users in consumers.values())
        products = [v for n in graph.nodes if n.op == "matmul" for v in n.inputs]
        seen["attention"] += sum(not v.is_constant for v in products) > 2
        seen["rows"] += sum(
            len([m for m in g.nodes if "reduce" in m.op]) > 1 for g in fuse(graph).groups
        )
    wanted = ("transpose", "reshape", "conv", "matmul", "concat", "pad", "strided_slice", "softmax")
    assert all(seen[w] >= 5 for w in (*wanted, "add", "multiply", "shared", "attention", "rows")), (
        seen
    )
