"""Whole numbers whose distance is known though they are not, by random arithmetic on NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from graph_reference import run_graph

from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Value
from tilewright.graph.linear import ScaledElement, linear


def walked(b: GraphBuilder, x: Value, rng: np.random.Generator) -> Value:
    """`x` [2] after a few random steps."""
    for op in rng.choice(("add", "subtract", "multiply", "turn", "shape"), rng.integers(7)):
        n = int(rng.integers(-4, 5))
        if op == "shape":
            x = b.reshape(x, (2, 1) if x.rank == 1 else (2,))
        elif op == "turn":
            x = b.emit("subtract", b.constant("c", np.array([n, 1 - n]).reshape(x.shape)), x)
        else:
            x = b.emit(str(op), x, b.constant("c", np.array([n])))
    return b.reshape(x, (2,))


@pytest.mark.parametrize("seed", range(12))
def test_linear_says_what_is_computed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    b = GraphBuilder("g")
    x = b.input("x", (2,), "int64")
    ends = [walked(b, x, rng), walked(b, x, rng)]
    ends.append(b.emit("subtract", *ends))
    ends.append(b.emit("concat", ends[1], b.emit("negative", x), ends[0], axis=0))
    known = [[linear(b, e, i) for i in range(e.elements)] for e in ends]
    graph = b.build(ends, [f"y{i}" for i in range(len(ends))])
    data = rng.integers(-9, 10, 2)
    arrays = run_graph(graph, {"x": data})
    for array, each in zip(arrays, known, strict=True):
        for n, form in zip(array.tolist(), each, strict=True):
            if form.root is None:
                assert n == form.offset
                continue
            value, at = form.root
            root = data if value is x else -data
            assert n == form.factor * root[at] + form.offset


def test_the_steps_between_two_ends() -> None:
    root = (Value("x", (), "int64"), 0)
    for start, length, step in np.random.default_rng(0).integers(-9, 10, (200, 3)).tolist():
        begin, end = (ScaledElement(root, 2, n) for n in (start, start + length))
        steps = begin.steps_to(end, step)
        assert steps == (len(range(start, start + length, step)) if step else None)
        assert begin.steps_to(ScaledElement(root, 3, start), step) is None
        assert begin.steps_to(ScaledElement(None, 0, start), step) is None


def test_what_is_not_linear_is_a_root_of_its_own() -> None:
    b = GraphBuilder("g")
    x, y = b.input("x", (1,), "int64"), b.input("y", (1,), "int64")
    for value in (b.emit("multiply", x, x), b.emit("add", x, y), b.emit("absolute", x)):
        assert linear(b, value, 0) == ScaledElement((value, 0), 1, 0)
    assert linear(b, b.emit("subtract", x, x), 0) == ScaledElement(None, 0, 0)
    assert linear(b, b.emit("multiply", x, b.constant("c", np.array([0]))), 0).root is None
