"""Random small DAGs with one or two sizes: chains of stages along a size and across it.

    case = random_sized_case(np.random.default_rng(7))     case.dag.sizes, case.arrays({"S": 3})

Values are small integers wherever the math allows it, so that sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilewright.contract.sizes import Size
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.index.extents import add, floordiv
from tilewright.expr.nodes import Extent, Tensor, Var, as_expr, call, cast, select
from tilewright.expr.sizes import shape_at
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import sum as sum_over

Array = np.ndarray[Any, Any]
RANGES = ((1, 9), (1, 20), (2, 40), (1, 70))
FEATURES = (1, 3, 8, 17, 32)
MOST_STAGES = 5


@dataclass(frozen=True)
class SizedCase:
    dag: ComputeDAG
    seed: int
    is_exact: bool

    def arrays(self, values: Mapping[str, int]) -> dict[str, Array]:
        """Inputs and constants for these sizes."""
        rng = np.random.default_rng(self.seed)
        return {
            t.name: rng.integers(-3, 4, shape_at(t, values)).astype("f4")
            for t in (*self.dag.inputs, *self.dag.constants)
        }

    def points(self, rng: np.random.Generator, count: int) -> list[dict[str, int]]:
        """The ends of the ranges, and random values."""
        sizes = self.dag.sizes
        ends = [{s.name: s.least for s in sizes}, {s.name: s.most for s in sizes}]
        inside = [
            {s.name: int(rng.integers(s.least, s.most + 1)) for s in sizes} for _ in range(count)
        ]
        return [*ends, *inside]


@dataclass
class Builder:
    rng: np.random.Generator
    x: Tensor
    extents: list[Extent]
    made: int = 0
    is_exact: bool = True

    def name(self) -> str:
        self.made += 1
        return f"s{self.made}"

    def among(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def given(self, *shape: Extent, constant: bool = False) -> Tensor:
        self.made += 1
        return placeholder(shape, name=f"p{self.made}", constant=constant)


def unary(b: Builder) -> Tensor:
    x, rule = b.x, b.among(("relu", "scale", "tanh"))
    b.is_exact &= rule != "tanh"
    rules: dict[str, Callable[[Any], Any]] = {
        "relu": lambda v: select(v > 0.0, v, 0.0),
        "scale": lambda v: v * 2.0 + 1.0,
        "tanh": lambda v: call("tanh", v),
    }
    return compute(x.shape, lambda i, j: rules[rule](x[i, j]), name=b.name())


def bias(b: Builder) -> Tensor:
    x, w = b.x, b.given(b.x.shape[1])
    return compute(x.shape, lambda i, j: x[i, j] + w[j], name=b.name())


def residual(b: Builder) -> Tensor:
    x, y = b.x, b.given(*b.x.shape)
    return compute(x.shape, lambda i, j: x[i, j] + y[i, j], name=b.name())


def dense(b: Builder) -> Tensor:
    x, n = b.x, b.among((*FEATURES, *b.extents))
    w = b.given(x.shape[1], n, constant=isinstance(n, int) and isinstance(x.shape[1], int))
    k = reduce_axis(x.shape[1], "k")
    return compute((x.shape[0], n), lambda i, j: sum_over(x[i, k] * w[k, j], k), name=b.name())


def scores(b: Builder) -> Tensor:
    x, n = b.x, b.among(b.extents)
    y, k = b.given(n, b.x.shape[1]), reduce_axis(b.x.shape[1], "k")
    return compute((x.shape[0], n), lambda i, j: sum_over(x[i, k] * y[j, k], k), name=b.name())


def transpose(b: Builder) -> Tensor:
    x = b.x
    return compute(x.shape[::-1], lambda i, j: x[j, i], name=b.name())


def taps(b: Builder) -> Tensor:
    """A convolution of three taps along the first axis, padded with zeros."""
    x, w, r = b.x, b.given(3, constant=True), reduce_axis(3, "r")
    s = as_expr(x.shape[0])

    def term(i: Any, j: Any) -> Any:
        inside = (i + r >= 1) & (i + r <= s)
        return sum_over(select(inside, x[i + r - 1, j], 0.0) * w[r], r)

    return compute(x.shape, term, name=b.name())


def half(b: Builder) -> Tensor:
    x = b.x
    shape = (floordiv(add(x.shape[0], 1), 2), x.shape[1])
    return compute(shape, lambda i, j: x[i * 2, j], name=b.name())


def joined(b: Builder) -> Tensor:
    """Two tensors, one after the other."""
    x, n = b.x, b.among(b.extents)
    y, s = b.given(n, b.x.shape[1]), as_expr(b.x.shape[0])
    shape = (add(x.shape[0], n), x.shape[1])
    return compute(shape, lambda i, j: select(i < s, x[i, j], y[i - s, j]), name=b.name())


def softmax(b: Builder) -> Tensor:
    x, n, b.is_exact = b.x, b.x.shape[1], False
    k, m = reduce_axis(n, "k"), reduce_axis(n, "m")
    top = compute((x.shape[0],), lambda i: max_over(x[i, k], k), name=b.name())
    e = compute(x.shape, lambda i, j: call("exp", x[i, j] - top[i]), name=b.name())
    total = compute((x.shape[0],), lambda i: sum_over(e[i, m], m), name=b.name())
    return compute(x.shape, lambda i, j: e[i, j] / total[i], name=b.name())


def centred(b: Builder) -> Tensor:
    """What is left when the mean along a row is taken off."""
    x, n, b.is_exact = b.x, b.x.shape[1], False
    k, width = reduce_axis(n, "k"), cast("float32", as_expr(n))
    total = compute((x.shape[0],), lambda i: sum_over(x[i, k], k), name=b.name())
    return compute(x.shape, lambda i, j: x[i, j] - total[i] / width, name=b.name())


MOVES = (unary, bias, residual, dense, scores, transpose, taps, half, joined, softmax, centred)


def random_sized_case(rng: np.random.Generator) -> SizedCase:
    """A chain of up to MOST_STAGES moves."""
    # names before and after those of loops: forms order their terms by them
    names = ("ST", "uz")[int(rng.integers(2))][: int(rng.integers(1, 3))]
    sizes = tuple(Size(n, *RANGES[int(rng.integers(len(RANGES)))]) for n in names)
    extents: list[Extent] = [Var(s.name) for s in sizes]
    other: Extent = extents[-1] if len(sizes) > 1 else int(rng.choice(FEATURES))
    b = Builder(rng, placeholder((extents[0], other), name="x"), extents)
    for _ in range(int(rng.integers(1, MOST_STAGES))):
        b.x = b.among(MOVES)(b)
    return SizedCase(ComputeDAG([b.x], sizes), int(rng.integers(1 << 30)), b.is_exact)


def convolution_case(channels: int = 4, features: int = 16, stride: int = 1) -> SizedCase:
    """3 x 3, padded, channels last, both sides of the image a size."""
    h, w = Var("H"), Var("W")
    x, weight = (
        placeholder((h, w, channels), name="x"),
        placeholder((3, 3, channels, features), name="w", constant=True),
    )
    r, s, c = reduce_axis(3, "r"), reduce_axis(3, "s"), reduce_axis(channels, "c")

    def padded(i: Any, j: Any, k: Any) -> Any:
        inside = (i >= 1) & (i <= h) & (j >= 1) & (j <= w)
        return select(inside, x[i - 1, j - 1, k], 0.0)

    p = compute((add(h, 2), add(w, 2), channels), padded, name="p")
    y = compute(
        (floordiv(add(h, stride - 1), stride), floordiv(add(w, stride - 1), stride), features),
        lambda i, j, k: sum_over(
            p[i * stride + r, j * stride + s, c] * weight[r, s, c, k], (r, s, c)
        ),
        name="y",
    )
    return SizedCase(ComputeDAG([y], (Size("H", 1, 13), Size("W", 2, 15))), 0, True)
