"""Reverse-mode differentiation of a graph under construction.

    gradients(builder, y, [a, b])  →  [dy/da, dy/db]        y = a · b:  [b, a]

Every operator's rule takes the gradient of its output to those of its inputs, in graph operators;
sums over y's elements are meant where y is no scalar. Operators without a rule are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from tilewright.expr.dtypes import dtype
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Node, Value
from tilewright.ground.errors import ExprError

Rule: TypeAlias = Callable[[GraphBuilder, Node, Value], Sequence[Value]]


def gradients(builder: GraphBuilder, y: Value, xs: Sequence[Value]) -> list[Value]:
    """The gradient of `y` for each of `xs`; zeros for one that it does not depend on.

    Raises ExprError for an operator between them that has no rule.
    """
    found = {y: _filled(builder, y, 1.0)}
    for node in reversed(list(builder.nodes)):
        if node.output not in found or node.output in xs or not _leads_to(builder, node, xs):
            continue
        if node.op not in RULES:
            raise ExprError(f"{node.op} has no rule for its gradient; known: {', '.join(RULES)}")
        parts = RULES[node.op](builder, node, found[node.output])
        for value, part in zip(node.inputs, parts, strict=True):
            part = _summed(builder, part, value)
            found[value] = builder.emit("add", found[value], part) if value in found else part
    return [found[x] if x in found else _filled(builder, x, 0.0) for x in xs]


def _leads_to(builder: GraphBuilder, node: Node, xs: Sequence[Value]) -> bool:
    made = {n.output: n for n in builder.nodes}
    waiting, seen = list(node.inputs), set[Value]()
    while waiting:
        value = waiting.pop()
        if value in xs:
            return True
        if value in made and value not in seen:
            seen.add(value)
            waiting.extend(made[value].inputs)
    return False


def _filled(builder: GraphBuilder, like: Value, number: float) -> Value:
    array = np.full(like.shape, number, dtype(like.dtype).numpy)
    return builder.constant(f"{like.name}.gradient", array)


def _summed(builder: GraphBuilder, gradient: Value, like: Value) -> Value:
    """`gradient` of the shape of `like`, which was broadcast."""
    if gradient.shape == like.shape:
        return gradient
    shape = (1,) * (gradient.rank - like.rank) + like.shape
    pairs = zip(shape, gradient.shape, strict=True)
    axes = tuple(d for d, (mine, whole) in enumerate(pairs) if mine != whole)
    total = builder.emit("reduce_sum", gradient, axes=axes, keepdims=True) if axes else gradient
    return builder.reshape(total, like.shape)


def _multiply(b: GraphBuilder, n: Node, g: Value) -> list[Value]:
    return [b.emit("multiply", g, n.inputs[1]), b.emit("multiply", g, n.inputs[0])]


def _divide(b: GraphBuilder, n: Node, g: Value) -> list[Value]:
    part = b.emit("divide", g, n.inputs[1])
    return [part, b.emit("negative", b.emit("multiply", part, n.output))]


def _matmul(b: GraphBuilder, n: Node, g: Value) -> list[Value]:
    left, right = n.inputs
    swap = [(*range(v.rank - 2), v.rank - 1, v.rank - 2) for v in n.inputs]
    return [
        b.emit("matmul", g, b.transpose(right, swap[1])),
        b.emit("matmul", b.transpose(left, swap[0]), g),
    ]


def _transpose(b: GraphBuilder, n: Node, g: Value) -> list[Value]:
    order = n.attributes["permutation"]
    assert isinstance(order, tuple)
    return [b.transpose(g, [order.index(d) for d in range(len(order))])]


def _tanh(b: GraphBuilder, n: Node, g: Value) -> list[Value]:
    square = b.emit("multiply", n.output, n.output)
    return [b.emit("subtract", g, b.emit("multiply", g, square))]


def _relu(b: GraphBuilder, n: Node, g: Value) -> list[Value]:
    zero = _filled(b, n.output, 0.0)
    return [b.emit("where", b.emit("greater", n.output, zero), g, zero)]


RULES: dict[str, Rule] = {
    "add": lambda b, n, g: [g, g],
    "divide": _divide,
    "exp": lambda b, n, g: [b.emit("multiply", g, n.output)],
    "log": lambda b, n, g: [b.emit("divide", g, n.inputs[0])],
    "matmul": _matmul,
    "multiply": _multiply,
    "negative": lambda b, n, g: [b.emit("negative", g)],
    "relu": _relu,
    "reshape": lambda b, n, g: [b.reshape(g, n.inputs[0].shape)],
    "subtract": lambda b, n, g: [g, b.emit("negative", g)],
    "tanh": _tanh,
    "transpose": _transpose,
}
