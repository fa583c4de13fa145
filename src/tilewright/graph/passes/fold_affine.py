"""Merge multiplications and additions by constants, and put the factors into weights.

    add(mul(add(conv(x, w), b), s), t)   →   add(conv(x, w · s), b · s + t)

This is batch-norm folding, whatever operators spelled the batch norm: a chain of add, sub, mul,
div and neg with constants (one value, or one a channel: the last dimension) is one factor and one
shift. A contraction with constant weights takes the factor; the shift stays as a bias. Arithmetic
is done in float64.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import prod

import numpy as np

from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Array, Graph, Node, Value

AFFINE = frozenset(("add", "subtract", "multiply", "divide", "negative"))
CONTRACTIONS = frozenset(("conv", "depthwise_conv", "conv_transpose", "matmul"))


@dataclass(frozen=True, slots=True)
class Affine:
    """old = base · factor + shift, with float64 arrays of shape [] or [channels].

    `base` is a value of the new graph, or a contraction of the old one that is not emitted yet.
    """

    base: Value | Node
    factor: Array
    shift: Array


ONE, ZERO = np.array(1.0), np.array(0.0)


def fold_affine(graph: Graph) -> Graph:
    """`graph` with its affine chains folded (see the module)."""
    return _Pass(graph).run()


class _Pass:
    def __init__(self, graph: Graph) -> None:
        self.rewriter = Rewriter(graph)
        self.builder = self.rewriter.builder
        self.pending: dict[Value, Affine] = {}
        readers = (v for node in graph.nodes for v in node.inputs)
        self.uses = Counter((*readers, *graph.outputs))

    def run(self) -> Graph:
        graph = self.rewriter.graph
        for node in graph.nodes:
            affine = self.affine(node)
            if affine is not None:
                self.pending[node.output] = affine
            else:
                self.settle(node.inputs)
                self.rewriter.keep(node)
        self.settle(graph.outputs)
        return self.rewriter.finish()

    def settle(self, values: tuple[Value, ...]) -> None:
        """Emit those of `values` that are still pending."""
        for value in values:
            if value in self.pending:
                self.rewriter.replace(value, self.emit(value, self.pending.pop(value)))

    def affine(self, node: Node) -> Affine | None:
        """The chain that ends in `node`; None when it is no part of one."""
        if not as_dtype(node.output.dtype).is_float:
            return None
        if node.op in CONTRACTIONS and node.inputs[1].is_constant and _factor_fits(node):
            self.settle(node.inputs)
            return Affine(node, ONE, ZERO)
        if node.op not in AFFINE or (node.op == "divide" and node.inputs[0].is_constant):
            return None
        constants = [_per_channel(v, node.output) for v in node.inputs]
        moving = [v for v in node.inputs if not v.is_constant]
        if len(moving) != 1 or moving[0].shape != node.output.shape:
            return None
        numbers = [c for v, c in zip(node.inputs, constants, strict=True) if v.is_constant]
        if any(c is None for c in numbers):
            return None
        start = self.chain(moving[0])
        return _step(node, start, numbers[0] if numbers else None)

    def chain(self, old: Value) -> Affine:
        """What `old` contributes: its own chain when nobody else reads it."""
        if old in self.pending and self.uses[old] == 1:
            return self.pending.pop(old)
        self.settle((old,))
        return Affine(self.rewriter.value(old), ONE, ZERO)

    def emit(self, old: Value, affine: Affine) -> Value:
        name = old.name
        base, factor = affine.base, affine.factor
        if isinstance(base, Node):
            value = self.contraction(base, factor, name)
            factor = ONE
        else:
            value = base
        for op, operand, neutral in (("multiply", factor, 1.0), ("add", affine.shift, 0.0)):
            if (operand != neutral).any():
                array = operand.astype(as_dtype(old.dtype).numpy)
                constant = self.builder.constant(f"{name}.{op}", array)
                value = self.builder.emit(op, value, constant, name=name)
        return value

    def contraction(self, node: Node, factor: Array, name: str) -> Value:
        operands = list(self.rewriter.operands(node))
        weights = operands[1].constant
        if weights is not None and (factor != 1.0).any():
            channels = node.output.shape[-1]
            flat = weights.reshape(-1, channels) if factor.ndim else weights
            scaled = (flat * factor).astype(weights.dtype).reshape(weights.shape)
            operands[1] = self.builder.constant(f"{operands[1].name}.scaled", scaled)
        return self.builder.copy(node, operands)


def _factor_fits(node: Node) -> bool:
    """Whether the weights, read as [rest, channels], have one column an output channel."""
    channels = node.output.shape[-1]
    shape = node.inputs[1].shape
    if node.op == "depthwise_conv":
        return shape[-1] * shape[-2] == channels
    return shape[-1] == channels and not (node.op == "matmul" and prod(shape[:-2]) != 1)


def _per_channel(value: Value, output: Value) -> Array | None:
    """A constant as float64 [] or [channels]; None when it varies along other dimensions."""
    if value.constant is None:
        return None
    if value.elements == 1:
        return value.constant.reshape(()).astype(np.float64)
    if value.elements == value.shape[-1] == output.shape[-1]:
        return value.constant.reshape(-1).astype(np.float64)
    return None


def _step(node: Node, start: Affine, number: Array | None) -> Affine:
    """`start` followed by `node`'s operation with the constant `number`."""
    factor, shift = start.factor, start.shift
    left = node.inputs[0].is_constant
    if node.op == "negative":
        return Affine(start.base, -factor, -shift)
    assert number is not None, "only neg has a single operand"
    match node.op:
        case "add":
            return Affine(start.base, factor, shift + number)
        case "subtract" if left:
            return Affine(start.base, -factor, number - shift)
        case "subtract":
            return Affine(start.base, factor, shift - number)
        case "multiply":
            return Affine(start.base, factor * number, shift * number)
        case _:
            return Affine(start.base, factor / number, shift / number)
