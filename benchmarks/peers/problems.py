"""Cases as libraries state them: channels-first arrays, weights folded, one table of operators.

    arrays = random_arrays(case.dag())               {"x": [n, h, w, ci], "w": [kh, kw, ci, co]}
    problem = problem_of(case, arrays)               kind "conv", inputs ([n, ci, h, w],), ...
    problem.restore(y)                               [n, co, h, w] -> [n, h, w, co]

A kind is what a library has one function for: conv (any rank, grouped, dilated, with bias and
ReLU), conv_transpose, matmul, norm, scores. The rearrangement is done once, outside the timed call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.cases import Case
from tilewright.contract.artifact import Array
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.reference import static_shape
from tilewright.runtime.buffers import NUMPY_START, empty_at

Arrays = Mapping[str, Array]


def _same(y: Array) -> Array:
    return y


@dataclass(frozen=True)
class Problem:
    """What a library computes. `weight` is [co, ci / groups, *kernel] ([ci, co, *kernel] of a
    conv_transpose); `stride`, `padding` and `dilation` hold for every spatial axis.
    """

    kind: str
    inputs: tuple[Array, ...]
    restore: Callable[[Array], Array] = _same
    weight: Array | None = None
    bias: Array | None = None
    relu: bool = False
    stride: int = 1
    padding: int = 0
    dilation: int = 1
    groups: int = 1

    @property
    def rank(self) -> int:
        """Spatial dimensions of a convolution."""
        return self.inputs[0].ndim - 2


def random_arrays(dag: ComputeDAG, seed: int = 0) -> dict[str, Array]:
    """Seeded float32 inputs and constants by name, uniform in [-0.5, 0.5).

    All begin where NumPy's large arrays do, 16 bytes into a page. Small ones, and some large ones,
    begin at any multiple of 16: what a side takes would depend on luck.
    """
    rng = np.random.default_rng(seed)
    arrays = {}
    for tensor in (*dag.inputs, *dag.constants):
        array = empty_at(NUMPY_START, static_shape(tensor), np.dtype(np.float32))
        rng.random(out=array, dtype=np.float32)
        arrays[tensor.name] = np.subtract(array, np.float32(0.5), out=array)
    return arrays


def problem_of(case: Case, arrays: Arrays) -> Problem:
    """The case in the libraries' terms."""
    return PROBLEMS[case.operator](arrays, case.shape)


def channels_first(x: Array) -> Array:
    """[n, *spatial, c] -> [n, c, *spatial], contiguous."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))


def channels_last(x: Array) -> Array:
    """[n, c, *spatial] -> [n, *spatial, c]."""
    return np.moveaxis(x, 1, -1)


def _convolution(
    arrays: Arrays, stride: int, padding: int, dilation: int = 1, groups: int = 1
) -> Problem:
    """[*kernel, ci / groups, co] weights."""
    weight = np.ascontiguousarray(np.moveaxis(arrays["w"], (-1, -2), (0, 1)))
    x = channels_first(arrays["x"])
    return Problem(
        "conv", (x,), channels_last, weight,
        stride=stride, padding=padding, dilation=dilation, groups=groups,
    )  # fmt: skip


def _depthwise(arrays: Arrays, stride: int, padding: int) -> Problem:
    """[*kernel, c, 1] weights: as many groups as channels."""
    weight = np.ascontiguousarray(np.moveaxis(arrays["w"], (-2, -1), (0, 1)))
    return replace(_convolution(arrays, stride, padding, groups=weight.shape[0]), weight=weight)


def _transposed(arrays: Arrays, stride: int, padding: int) -> Problem:
    """[*kernel, ci, co] weights."""
    weight = np.ascontiguousarray(np.moveaxis(arrays["w"], (-2, -1), (0, 1)))
    x = channels_first(arrays["x"])
    return Problem("conv_transpose", (x,), channels_last, weight, stride=stride, padding=padding)


def _capsule(arrays: Arrays, stride: int, padding: int) -> Problem:
    """One convolution: rows of the capsules join the batch, their columns the channels.

    x [n, h, w, i, k, c] -> [n * i, k * c, h, w];  w [kh, kw, k, j, c, o] -> [j * o, k * c, kh, kw]
    """
    n, h, w, rows, inner, channels = arrays["x"].shape
    kh, kw, _, columns, _, outputs = arrays["w"].shape
    x = arrays["x"].transpose(0, 3, 4, 5, 1, 2).reshape(n * rows, inner * channels, h, w)
    weight = arrays["w"].transpose(3, 5, 2, 4, 0, 1)
    weight = weight.reshape(columns * outputs, inner * channels, kh, kw)

    def restore(y: Array) -> Array:
        split = y.reshape(n, rows, columns, outputs, *y.shape[2:])
        return split.transpose(0, 4, 5, 1, 2, 3)

    return Problem("conv", (x,), restore, weight, stride=stride, padding=padding)


def _conv_layer(arrays: Arrays, stride: int, padding: int) -> Problem:
    """Scale and shift folded into weights and bias, as the libraries' optimisers do."""
    folded = {"x": arrays["x"], "w": arrays["w"] * arrays["scale"]}
    return replace(_convolution(folded, stride, padding), bias=arrays["shift"], relu=True)


# Operator -> its problem, from the arrays by name and the case's shape (see `benchmarks.cases`).
PROBLEMS: dict[str, Callable[[Arrays, tuple[int, ...]], Problem]] = {
    "C1D": lambda a, s: _convolution(a, *s[-2:]),
    "C2D": lambda a, s: _convolution(a, *s[-2:]),
    "C3D": lambda a, s: _convolution(a, *s[-2:]),
    "GMM": lambda a, s: Problem("matmul", (a["a"], a["b"])),
    "GRD": lambda a, s: _convolution(a, *s[-3:-1], groups=s[-1]),
    "DIL": lambda a, s: _convolution(a, *s[-3:-1], dilation=s[-1]),
    "DEP": lambda a, s: _depthwise(a, *s[-2:]),
    "T2D": lambda a, s: _transposed(a, *s[-2:]),
    "CAP": lambda a, s: _capsule(a, *s[-3:-1]),
    "NRM": lambda a, s: Problem("norm", (a["x"],)),
    "CONV": lambda a, s: _conv_layer(a, *s[-2:]),
    "TBS": lambda a, s: Problem("scores", (a["q"], a["k"])),
}
