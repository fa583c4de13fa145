"""Small computations that templates have kernels for, and the emulation that runs them."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.cutlass.architectures import ARCHITECTURES, Architecture
from tilewright.cutlass.genes import TEMPLATES
from tilewright.cutlass.parameters import Parameters
from tilewright.cutlass.template import Match
from tilewright.expr import operators as ops
from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder

SM_75, SM_80 = ARCHITECTURES["sm_75"], ARCHITECTURES["sm_80"]

TILES = Parameters(64, 64, 32, 32, 32, 3)
TURING_TILES = Parameters(64, 64, 32, 32, 32, 2)
IN_REGISTERS = Parameters(64, 64, 32, 16, 64, 3, 1, 8, 0, 32, 16, 32, 0)
IN_SHARED = Parameters(64, 64, 32, 32, 32, 3, 1, 8, 0, 64, 32, 32, 1)


def half(shape: Sequence[int], name: str, constant: bool = False) -> Tensor:
    return placeholder(tuple(shape), "float16", name=name, constant=constant)


def product(m: int, n: int, k: int) -> ComputeDAG:
    """relu(a w + bias), w a constant."""
    y = ops.dense(half((m, k), "a"), half((k, n), "w", True), half((n,), "bias", True))
    return ComputeDAG([ops.relu(y)])


def convolution(
    channels: int = 16, outputs: int = 24, kernel: int = 3, size: int = 9, **options: int
) -> ComputeDAG:
    """relu(conv(x, w) + bias) of two square images with a border of 1."""
    x = half((2, size, size, channels), "x")
    w = half((kernel, kernel, channels, outputs), "w", True)
    y = ops.conv(x, w, half((outputs,), "bias", True), padding=options.pop("padding", 1), **options)
    return ComputeDAG([ops.relu(y)])


def two_products(m: int = 70, k: int = 40, n0: int = 50, n1: int = 20) -> ComputeDAG:
    """relu(relu(a w0 + bias) w1)."""
    y = ops.dense(half((m, k), "a"), half((k, n0), "w0", True), half((n0,), "b0", True))
    y = ops.matmul(ops.relu(y), half((n0, n1), "w1", True), name="second")
    return ComputeDAG([ops.relu(y)])


def scores(m: int = 70, n: int = 200, k: int = 136) -> ComputeDAG:
    """tanh(a w) v + c, v of one column: what is between is reduced over its columns."""
    y = ops.tanh(ops.matmul(half((m, k), "a"), half((k, n), "w", True)))
    y = ops.matmul(y, half((n, 1), "v", True), name="second")
    return ComputeDAG([ops.add(y, half((m, 1), "c"))])


def two_convolutions(kernel: int = 1, stride: int = 1, padding: int = 0) -> ComputeDAG:
    """A 3 x 3 convolution, relu, and a second convolution."""
    x, w = half((2, 9, 9, 16), "x"), half((3, 3, 16, 48), "w0", True)
    y = ops.relu(ops.conv(x, w, half((48,), "b0", True), padding=1))
    w1 = half((kernel, kernel, 48, 32), "w1", True)
    return ComputeDAG([ops.conv(y, w1, stride=stride, padding=padding, name="second")])


def tried(name: str, dag: ComputeDAG, where: Architecture = SM_80) -> Match | NoMatch:
    """What a template has for a computation."""
    return next(t for t in TEMPLATES if t.name == f"cutlass.{name}").match(dag, where)


def match(name: str, dag: ComputeDAG, where: Architecture = SM_80) -> Match:
    """A template's match, which there is."""
    found = tried(name, dag, where)
    assert isinstance(found, Match), found
    return found
