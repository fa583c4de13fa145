"""Merge multiplications and additions by constants, and put the factors into weights.

    add(mul(add(conv(x, w), b), s), t)   →   add(conv(x, w · s), b · s + t)

This is batch-norm folding, whatever operators spelled the batch norm: a chain of add, sub, mul,
div and neg with constants (one value, or one a channel: the last dimension) is one factor and one
shift. A contraction with constant weights takes the factor; the shift stays as a bias. Arithmetic
is done in float64.

What is not a rounding error stays: infinities, NaN and zeros come out as they do step by step. So a
step joins a chain only while factors and shifts are finite and normal in the result's type (x / 0,
x · inf and x / 1e38 stand alone), and what is rounded to whole numbers next, floor(x / 49), is
computed as it is written.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from tilewright.expr.access import is_step
from tilewright.expr.dtypes import DType
from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.expr.operators.shapes import number
from tilewright.expr.reference import compute_of
from tilewright.expr.traversal import walk
from tilewright.graph.access import NodeMath
from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Array, Graph, Node, Value

AFFINE = frozenset(("add", "subtract", "multiply", "divide", "negative"))
CONTRACTIONS = frozenset(("conv", "depthwise_conv", "conv_transpose", "matmul"))


@dataclass(frozen=True, slots=True)
class ScaleShift:
    """old = base · factor + shift, with float64 arrays of shape [] or [channels].

    `base` is a value of the new graph, or a contraction of the old one that is not emitted yet.
    A shift of -0 is none: it alone leaves a zero the sign that it has.
    """

    base: Value | Node
    factor: Array
    shift: Array


ONE, NONE = np.array(1.0), np.array(-0.0)


def fold_affine(graph: Graph) -> Graph:
    """`graph` with its affine chains folded (see the module)."""
    return _AffineFolding(graph).run()


class _AffineFolding:
    def __init__(self, graph: Graph) -> None:
        self.rewriter = Rewriter(graph)
        self.builder = self.rewriter.builder
        self.pending: dict[Value, ScaleShift] = {}
        readers = (v for node in graph.nodes for v in node.inputs)
        self.uses = Counter((*readers, *graph.outputs))
        self.exact = _rounded_next(graph)

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

    def affine(self, node: Node) -> ScaleShift | None:
        """The chain that ends in `node`; None when it is no part of one."""
        if not as_dtype(node.output.dtype).is_float:
            return None
        if node.op in CONTRACTIONS and node.inputs[1].is_constant and _factor_fits(node):
            self.settle(node.inputs)
            return ScaleShift(node, ONE, NONE)
        if node.op not in AFFINE or (node.op == "divide" and node.inputs[0].is_constant):
            return None
        constants = [_per_channel(v, node.output) for v in node.inputs]
        moving = [v for v in node.inputs if not v.is_constant]
        if len(moving) != 1 or moving[0].extents != node.output.extents:
            return None
        numbers = [c for v, c in zip(node.inputs, constants, strict=True) if v.is_constant]
        if any(c is None for c in numbers):
            return None
        start = self.chain(moving[0])
        if node.output in self.exact and not isinstance(start.base, Node):
            return None
        found = _step(node, start, numbers[0] if numbers else None)
        if found is not None:
            self.pending.pop(moving[0], None)
        return found

    def chain(self, old: Value) -> ScaleShift:
        """What `old` contributes: its own chain when nobody else reads it."""
        if old in self.pending and self.uses[old] == 1:
            return self.pending[old]
        self.settle((old,))
        return ScaleShift(self.rewriter.value(old), ONE, NONE)

    def emit(self, old: Value, affine: ScaleShift) -> Value:
        name = old.name
        base, factor, shift = affine.base, affine.factor, affine.shift
        if isinstance(base, Node):
            weights = self.scaled_weights(base, factor, shift)
            value = self.contraction(base, weights)
            factor = factor if weights is None else ONE
            shift = shift if (shift != 0).any() else NONE  # no sum of products is -0
        else:
            value = base
        is_shifted = bool(((shift != 0) | ~np.signbit(shift)).any())
        for op, operand, needed in (
            ("multiply", factor, bool((factor != 1.0).any())),
            ("add", shift, is_shifted),
        ):
            if needed:
                array = operand.astype(as_dtype(old.dtype).numpy)
                constant = self.builder.constant(f"{name}.{op}", array)
                value = self.builder.emit(op, value, constant, name=name)
        return value

    def contraction(self, node: Node, weights: Array | None) -> Value:
        operands = list(self.rewriter.operands(node))
        if weights is not None:
            operands[1] = self.builder.constant(f"{operands[1].name}.scaled", weights)
        return self.builder.copy(node, operands)

    def scaled_weights(self, node: Node, factor: Array, shift: Array) -> Array | None:
        """The weights of a contraction times `factor`, where their type holds them."""
        weights = node.inputs[1].constant
        if weights is None or not (factor != 1.0).any():
            return None
        channels = number(node.output.extents[-1], node.op)
        flat = weights.reshape(-1, channels) if factor.ndim else weights.reshape(-1, 1)
        if not _holds(as_dtype(weights.dtype), flat, factor, shift):
            return None
        return (flat * factor).astype(weights.dtype).reshape(weights.shape)


def _rounded_next(graph: Graph) -> frozenset[Value]:
    """Values of which one bit may decide what whole number they become."""
    consumers, found = graph.consumers(), set[Value]()
    for node in reversed(graph.nodes):
        if node.op in AFFINE and any(
            reader.output in found if reader.op in AFFINE else _has_steps(reader)
            for reader in consumers.get(node.output, ())
        ):
            found.add(node.output)
    return frozenset(found)


def _has_steps(node: Node) -> bool:
    if node.control is not None:
        return False
    stages = NodeMath.of(node).stages
    return any(is_step(e) for stage in stages for e in walk(compute_of(stage).body))


def _holds(kind: DType, weights: Array, factor: Array, shift: Array) -> bool:
    """Whether products of weights [rest, channels] and a factor are finite, and normal as far as
    the shift of their channel lets one see them.
    """
    if not kind.is_float:
        return False
    info, flushed = _limits(kind), float(_limits(kind.compute).smallest_normal)
    largest = np.abs(weights).max(axis=0).astype(np.float64)
    products = np.where(largest < flushed, 0.0, largest) * np.abs(factor)
    least = max(flushed / float(info.eps), float(info.smallest_normal))
    unseen = products <= np.abs(shift) * float(info.eps)
    return bool(((products <= _largest(kind)) & ((products >= least) | unseen)).all())


def _factor_fits(node: Node) -> bool:
    """Whether the weights, read as [rest, channels], have one column an output channel."""
    channels = node.output.extents[-1]
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
    if value.elements == value.shape[-1] == output.extents[-1]:
        return value.constant.reshape(-1).astype(np.float64)
    return None


def _step(node: Node, start: ScaleShift, number: Array | None) -> ScaleShift | None:
    """`start` followed by `node`'s operation with the constant `number`; None where that is no
    factor and shift of the result's type.
    """
    factor, shift = start.factor, start.shift
    kind = as_dtype(node.output.dtype)
    none = (shift == 0) & np.signbit(shift)
    c = ONE if number is None else _held(number, kind)
    match node.op:
        case "negative":
            factor, shift = -factor, -shift
        case "add":
            shift, none = shift + c, False
        case "subtract" if node.inputs[0].is_constant:
            factor, shift, none = -factor, np.where(none, c, c - shift), False
        case "subtract":
            shift, none = shift - c, False
        case "multiply":
            factor, shift = factor * c, shift * c
        case _:
            factor, shift = factor / c, shift / c
    found = ScaleShift(start.base, factor, np.where(none, NONE, shift))
    most = min(_largest(kind), _largest(kind.compute) ** 0.5)  # so that no step overflows alone
    is_finite = all((np.abs(a) <= most).all() for a in (c, found.factor, found.shift))
    lost = np.abs(_held(factor, kind) - factor)
    return found if is_finite and (lost <= np.abs(factor) * _limits(kind).eps).all() else None


def _limits(kind: DType) -> Any:
    finfo: Any = ml_dtypes.finfo  # NumPy's knows no bfloat16
    return finfo(kind.numpy)


def _largest(kind: DType) -> float:
    return float(_limits(kind).max)


def _held(array: Array, kind: DType) -> Array:
    """What a kernel reads of numbers that are stored as `kind`: denormal ones count as zero."""
    stored = array.astype(kind.numpy).astype(np.float64)
    normal = np.abs(stored) >= float(_limits(kind.compute).smallest_normal)
    return np.where(normal | ~np.isfinite(stored), stored, stored * 0.0)
