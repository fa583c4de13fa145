"""Random small DAGs: chains and diamonds of every kind of stage that schedules treat differently.

    case = random_case(np.random.default_rng(7))     case.dag, case.arrays, case.is_exact

Every move takes the tensors made so far and adds one or more stages, or declines. Values are small
integers wherever the math allows it, so that sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import INT64
from tilewright.expr.nodes import Tensor, call, cast, select
from tilewright.expr.nodes import binary as binary_of
from tilewright.expr.tensors import compute, placeholder, reduce_axis, table
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.schedule.steps import extent_int

Array = np.ndarray[Any, Any]

EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 17)
LARGEST = 700  # elements of one tensor
MOST_WORK = 12_000  # iterations of one stage
LONG = 2048  # iterations from which a reduction may be factored
STEERED: tuple[Callable[[Any, Any], Any], ...] = (  # an index i and a number v that data gives
    lambda i, v: i + v,
    lambda i, v: i * v + 3,
    lambda i, v: i // (v * v + 1),
    lambda i, v: i % (v * v + 1),
    lambda i, v: select(v < 0, i, v),
    lambda i, v: select(v < 1, i * 2, i // 2),
)
INEXACT = ("tanh", "exp", "mean", "softmax")


@dataclass(frozen=True)
class Case:
    """A DAG with the values of its inputs and constants; `is_exact` when no operation rounds."""

    dag: ComputeDAG
    arrays: dict[str, Array]
    is_exact: bool


@dataclass
class Builder:
    """Tensors made so far, and the random choices that make more."""

    rng: np.random.Generator
    made: list[Tensor] = field(default_factory=list)
    inputs: int = 0
    stages: int = 0
    is_exact: bool = True

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def among(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def extent(self, most: int = 17) -> int:
        return int(self.among([e for e in EXTENTS if e <= most]))

    def shape(self, rank: int) -> tuple[int, ...]:
        found: list[int] = []
        for _ in range(rank):
            found.append(self.extent(max(1, min(17, LARGEST // (4 * max(1, prod(found)))))))
        return tuple(found)

    def given(
        self, shape: tuple[int, ...], *, constant: bool = False, dtype: str = "float32"
    ) -> Tensor:
        self.inputs += 1
        return placeholder(shape, dtype, name=f"p{self.inputs}", constant=constant)

    def name(self, kind: str) -> str:
        self.stages += 1
        return f"{kind}{self.stages}"

    def pick(self, rank: int | None = None) -> Tensor:
        """The newest tensor more often than older ones (chains first, then diamonds)."""
        fits = [t for t in self.made if t.rank == rank or (rank is None and t.rank > 0)]
        if not fits:
            made = self.given(self.shape(self.among((2, 3, 4)) if rank is None else rank))
            self.made.append(made)
            return made
        return fits[-1] if self.chance(0.6) else self.among(fits)


Move = Callable[[Builder], Tensor | None]


def shape_of(x: Tensor) -> tuple[int, ...]:
    return tuple(map(extent_int, x.shape))


# ---- elementwise, broadcast, movement -----------------------------------------------------------


def unary(b: Builder) -> Tensor | None:
    x = b.pick()
    kind = b.among(("relu", "neg", "scale", "abs", "tanh", "square"))
    b.is_exact &= kind not in INEXACT
    rules: dict[str, Callable[[Any], Any]] = {
        "relu": lambda v: select(v > 0.0, v, 0.0),
        "neg": lambda v: -v,
        "scale": lambda v: v * 2.0 + 1.0,
        "abs": lambda v: call("abs", v),
        "tanh": lambda v: call("tanh", v),
        "square": lambda v: v * v * 0.125,
    }
    return ops.elementwise(rules[kind], x, name=b.name(kind))


def binary(b: Builder) -> Tensor | None:
    x = b.pick()
    same = [t for t in b.made if t.shape == x.shape]
    other = b.among(same) if b.chance(0.7) else b.given(shape_of(x)[-1:])
    rule = b.among((ops.add, ops.subtract, ops.maximum, ops.minimum))
    return rule(x, other, name=b.name("binary"))


def broadcast(b: Builder) -> Tensor | None:
    x = b.pick()
    wide = (b.extent(5), *shape_of(x))
    return None if prod(wide) > LARGEST else ops.broadcast_to(x, wide, name=b.name("broadcast"))


def transpose(b: Builder) -> Tensor | None:
    x = b.pick()
    order = tuple(int(i) for i in b.rng.permutation(x.rank))
    return ops.transpose(x, order, name=b.name("transpose"))


def reshape(b: Builder) -> Tensor | None:
    x = b.pick()
    count, shape = prod(shape_of(x)), []
    while count > 1 and len(shape) < 3:
        factor = b.among([d for d in range(1, count + 1) if count % d == 0])
        shape.append(factor)
        count //= factor
    return ops.reshape(x, (*shape, count), name=b.name("reshape"))


def padding(b: Builder) -> Tensor | None:
    x = b.pick()
    pads = [(int(b.rng.integers(0, 3)), int(b.rng.integers(0, 3))) for _ in range(x.rank)]
    mode = b.among(("constant", "constant", "edge", "reflect", "wrap"))
    if mode in ("reflect", "wrap"):
        pads = [(min(p, e - 1), min(q, e - 1)) for (p, q), e in zip(pads, shape_of(x), strict=True)]
    wide = prod(e + sum(p) for e, p in zip(shape_of(x), pads, strict=True))
    return None if wide > LARGEST else ops.pad(x, pads, mode=mode, name=b.name("pad"))


def strided_slice(b: Builder) -> Tensor | None:
    x = b.pick()
    ranges = []
    for e in shape_of(x):
        step = b.among((1, 1, 2, 3, -1, -2))
        ranges.append((e - 1, -e - 1, step) if step < 0 else (min(e - 1, b.among((0, 1))), e, step))
    return ops.strided_slice(x, *zip(*ranges, strict=True), name=b.name("slice"))


def concat(b: Builder) -> Tensor | None:
    x = b.pick()
    axis = int(b.rng.integers(x.rank))
    others = [t for t in b.made if _joins(t, x, axis)]
    if 2 * prod(shape_of(x)) > LARGEST:
        return None
    return ops.concat([x, b.among(others), x][: b.among((2, 3))], axis, name=b.name("concat"))


def _joins(t: Tensor, x: Tensor, axis: int) -> bool:
    if t.rank != x.rank or prod(shape_of(t)) > LARGEST // 2:
        return False
    return all(d == axis or p == q for d, (p, q) in enumerate(zip(t.shape, x.shape, strict=True)))


def upsample(b: Builder) -> Tensor | None:
    x = b.pick()
    if x.rank < 3:
        return None
    grown = tuple(b.among((e, 2 * e, e + 1, 3 * e)) for e in shape_of(x)[1:-1])
    if prod((x.shape[0], *grown, x.shape[-1])) > LARGEST:
        return None
    return ops.upsample_nearest(x, grown, name=b.name("upsample"))


def rotate(b: Builder) -> Tensor | None:
    """Element (i + shift) mod extent: a remainder that wraps around."""
    x = b.pick()
    shifts = [int(b.rng.integers(0, e)) for e in shape_of(x)]

    def body(*index: Any) -> Any:
        rows = zip(index, shifts, shape_of(x), strict=True)
        return x[tuple((i + s) % e for i, s, e in rows)]

    return compute(shape_of(x), body, name=b.name("rotate"))


def gather(b: Builder) -> Tensor | None:
    x = b.pick()
    axis = int(b.rng.integers(x.rank))
    indices = b.given((b.extent(6),), dtype="int32")
    out = (*shape_of(x)[:axis], *shape_of(indices), *shape_of(x)[axis + 1 :])
    return None if prod(out) > LARGEST else ops.gather(x, indices, axis, name=b.name("gather"))


def steered(b: Builder) -> Tensor | None:
    """Elements along an axis at indices that data moves, scales, divides or chooses."""
    x, length = b.pick(), b.extent()
    axis, extent = int(b.rng.integers(x.rank)), b.among((1, 2, 3))
    whole = list(shape_of(x))
    last, whole[axis] = whole[axis] - 1, length
    if prod(whole) > LARGEST:
        return None
    data, steer = b.given((extent,), dtype="int32"), b.among(STEERED)

    def body(*index: Any) -> Any:
        i = index[axis]
        where = steer(i, cast(INT64, data[i % extent]))
        inside = binary_of("min", binary_of("max", where, 0), last)
        return x[(*index[:axis], inside, *index[axis + 1 :])]

    return compute(tuple(whole), body, name=b.name("steered"))


# ---- reductions ---------------------------------------------------------------------------------


def matmul(b: Builder) -> Tensor | None:
    x = b.pick()
    depth, columns = shape_of(x)[-1], b.extent()
    if prod(shape_of(x)) * columns > MOST_WORK or prod(shape_of(x)[:-1]) * columns > LARGEST:
        return None
    square = [t for t in b.made if t.rank == 2 and t.shape[0] == depth]
    if square and b.chance(0.4):
        w = b.among(square)
        if prod(shape_of(x)) * int(w.shape[1]) > MOST_WORK:
            return None
        return ops.dense(x, w, name=b.name("matmul"))
    if b.chance(0.2):
        # wide enough for whole vectors of a permuted operand
        rows = b.given((max(columns, 13), depth))
        return ops.dense(
            x, ops.transpose(rows, (1, 0), name=b.name("turned")), name=b.name("matmul")
        )
    turned = b.chance(0.5)
    w = b.given((columns, depth) if turned else (depth, columns), constant=b.chance(0.6))
    bias = b.given((columns,), constant=True) if b.chance(0.3) else None
    return ops.dense(x, w, bias, transpose_w=turned, name=b.name("dense"))


def wide_matmul(b: Builder) -> Tensor | None:
    """Rows longer than a register tile, read again and again: an operand to pack."""
    rows, depth, columns = b.among((12, 13)), b.among((2, 3, 5)), b.among((65, 66, 70))
    x, w = b.given((rows, depth)), b.given((depth, columns))
    return ops.dense(x, w, name=b.name("wide"))


def matmul_of_batches(b: Builder) -> Tensor | None:
    batch, rows, depth = b.among((2, 3)), b.extent(13), b.among((5, 140, 260))
    x = b.given((batch, rows, depth))
    y = b.given((batch, depth, b.among((2, 17, 33))), constant=b.chance(0.3))
    if b.chance(0.3):
        x = ops.elementwise(lambda v: v * 2.0 + 1.0, x, name=b.name("scaled"))
    return ops.batch_matmul(x, y, name=b.name("batches"))


def convolution(b: Builder) -> Tensor | None:
    x = b.pick(b.among((3, 4)))
    rank = x.rank - 2
    channels = shape_of(x)[-1]
    groups = b.among([g for g in (1, 1, 2, 3) if channels % g == 0])
    kernel = [b.among((1, 2, 3)) for _ in range(rank)]
    dilation, stride = b.among((1, 2)), b.among((1, 1, 2, 3))
    pads = [(b.among((0, 1, 2)), b.among((0, 1, 2))) for _ in range(rank)]
    outputs = b.among((1, 3, 5, 16)) * groups
    depthwise = b.chance(0.25)
    depth = channels if depthwise else channels // groups
    w = b.given((*kernel, depth, b.among((1, 2)) if depthwise else outputs), constant=b.chance(0.7))
    reach = [(k - 1) * dilation + 1 for k in kernel]
    if any(e + sum(p) < r for e, p, r in zip(shape_of(x)[1:-1], pads, reach, strict=True)):
        return None
    if prod(shape_of(x)[:-1]) * 4 * prod(shape_of(w)) > 4 * MOST_WORK:
        return None
    options: dict[str, Any] = {"stride": stride, "dilation": dilation, "padding": pads}
    if depthwise:
        return ops.depthwise_conv(x, w, **options, name=b.name("depthwise"))
    bias = b.given((outputs,), constant=True) if b.chance(0.3) else None
    return ops.conv(x, w, bias, groups=groups, **options, name=b.name("conv"))


def three_taps(b: Builder) -> Tensor | None:
    """A convolution that has Winograd's form."""
    x = b.pick(b.among((3, 4)))
    channels, outputs = shape_of(x)[-1], b.among((1, 3, 16))
    kernel = [3, *(b.among((1, 3)) for _ in range(x.rank - 3))]
    pads = [(b.among((1, 2)), b.among((1, 2))) for _ in kernel]
    if prod(shape_of(x)) * prod(kernel) * outputs > MOST_WORK:
        return None
    w = b.given((*kernel, channels, outputs), constant=True)
    return ops.conv(x, w, padding=pads, name=b.name("conv"))


def spread_sum(b: Builder) -> Tensor | None:
    """Σ over r of the elements of x at those i + k·r + c that a stride divides, times weights."""
    x = b.pick()
    axis, steps = int(b.rng.integers(x.rank)), b.among((2, 3, 4, 5))
    stride, k, c = b.among((2, 3, 4)), b.among((1, 2, 3, -1)), int(b.rng.integers(-3, 4))
    extent = shape_of(x)[axis]
    shape = [*shape_of(x)]
    shape[axis] = (extent - 1) * stride + 1 + b.among((0, 1, 2))
    if prod(shape) > LARGEST:
        return None
    w, r = b.given((steps,), constant=b.chance(0.7)), reduce_axis(steps, "r")

    def body(*index: Any) -> Any:
        u = index[axis] + r * k + c
        at = (*index[:axis], u // stride, *index[axis + 1 :])
        inside = (u % stride).eq(0) & (u >= 0) & (u // stride < extent)
        return sum_over(select(inside, x[at], 0.0) * w[r], r)

    return compute(tuple(shape), body, name=b.name("spread"))


def transposed_convolution(b: Builder) -> Tensor | None:
    x = b.pick(b.among((3, 4)))
    rank = x.rank - 2
    channels = shape_of(x)[-1]
    groups = b.among([g for g in (1, 1, 2, 3) if channels % g == 0])
    kernel = [b.among((1, 2, 3, 4, 5)) for _ in range(rank)]
    stride, dilation, pad = b.among((1, 2, 2, 3, 4)), b.among((1, 1, 2, 3)), b.among((0, 1, 2))
    extra = b.among((0, 0, stride - 1))
    out = [
        (e - 1) * stride - 2 * pad + (k - 1) * dilation + 1 + extra
        for e, k in zip(shape_of(x)[1:-1], kernel, strict=True)
    ]
    w = b.given((*kernel, channels, b.among((1, 2, 4))), constant=b.chance(0.8))
    elements = shape_of(x)[0] * prod(out) * shape_of(w)[-1] * groups
    if min(out) < 1 or elements > LARGEST or elements * prod(shape_of(w)[:-1]) > 4 * MOST_WORK:
        return None
    options: dict[str, Any] = {"stride": stride, "dilation": dilation, "padding": pad}
    return ops.conv_transpose(
        x, w, groups=groups, output_padding=extra, **options, name=b.name("transposed")
    )


def flipped_window(b: Builder) -> Tensor | None:
    """A window read backwards: the reduction has a negative coefficient."""
    x = b.pick()
    extent, kernel, step = shape_of(x)[0], b.among((2, 3)), b.among((1, 2))
    reach = (kernel - 1) * step
    if extent <= reach:
        return None
    r = reduce_axis(kernel, "r")
    reduce = b.among((sum_over, max_over))

    def body(*index: Any) -> Any:
        return reduce(x[(index[0] + reach - r * step, *index[1:])], r)

    return compute((extent - reach, *shape_of(x)[1:]), body, name=b.name("flipped"))


def pool(b: Builder) -> Tensor | None:
    x = b.pick(b.among((3, 4)))
    if any(e < 3 for e in shape_of(x)[1:-1]):
        return None
    stride, pad = b.among((1, 2)), b.among((0, 1))
    if b.chance(0.5):
        return ops.max_pool(x, 3, stride=stride, padding=pad, name=b.name("pool"))
    b.is_exact = False
    return ops.avg_pool(x, 2, stride=stride, padding=pad, name=b.name("mean"))


def row_reduction(b: Builder) -> Tensor | None:
    x = b.pick()
    axes = tuple(d for d in range(x.rank) if b.chance(0.5)) or (x.rank - 1,)
    rule = b.among((ops.reduce_sum, ops.reduce_max, ops.reduce_min, ops.reduce_sum_square))
    return rule(x, axes, keepdims=b.chance(0.5), name=b.name("reduce"))


def long_reduction(b: Builder) -> Tensor | None:
    """Few outputs of a long sum: the case for factoring a reduction."""
    rows, inner = b.among((1, 2, 3)), b.among((1, 7, 16))
    outer = LONG // (rows * inner) + b.among((1, 2, 8))
    x = b.given((rows, outer, inner))
    rule = b.among((ops.reduce_sum, ops.reduce_max, ops.reduce_sum_square))
    return rule(x, (1, 2), name=b.name("long"))


def table_product(b: Builder) -> Tensor | None:
    """The last dimension times a table of small integers, as in Winograd's transforms."""
    x = b.pick()
    depth, columns = shape_of(x)[-1], b.among((2, 3, 4))
    if depth > 6 or prod(shape_of(x)[:-1]) * columns > LARGEST:
        return None
    values = b.rng.integers(-1, 2, (depth, columns)).astype(np.float32)
    return ops.dense(x, table(values, name=b.name("t")), name=b.name("transform"))


def softmax(b: Builder) -> Tensor | None:
    x = b.pick()
    b.is_exact = False
    if b.chance(0.3) and x.rank > 1:
        return ops.layer_norm(x, None, None, name=b.name("norm"))
    return ops.softmax(x, int(b.rng.integers(x.rank)), name=b.name("softmax"))


def narrow(b: Builder) -> Tensor | None:
    """A detour through an integer type, whose casts must stay where they are."""
    x = b.pick()
    if not b.is_exact:
        return None
    clipped = ops.clip(x, -100.0, 100.0, name=b.name("clip"))
    kind = b.among(("int8", "int32", "int16", "uint16", "uint32"))
    whole = ops.cast_to(ops.absolute(clipped, name=b.name("size")), kind, name=b.name("cast"))
    if b.chance(0.5):
        turned = ops.bitwise_xor(whole, b.among((1, 6)), name=b.name("bits"))
        whole = ops.shift_right(turned, b.among((1, 2, 40)), name=b.name("shift"))
    total = ops.reduce_sum(whole, x.rank - 1, keepdims=True, name=b.name("total"))
    return ops.cast_to(total, "float32", name=b.name("back"))


def product_of_bytes(b: Builder) -> Tensor | None:
    """Sums in int32 of what was made narrow."""
    x = b.pick()
    shape, columns = shape_of(x), b.extent()
    if not b.is_exact or prod(shape) * columns > MOST_WORK:
        return None
    clipped = ops.clip(x, -100.0, 100.0, name=b.name("clip"))
    left = ops.cast_to(clipped, "int8", name=b.name("bytes"))
    w = b.given((shape[-1], columns), constant=b.chance(0.5))
    right = ops.cast_to(w, "int8", name=b.name("bytes"))
    k = reduce_axis(shape[-1], "k")

    def body(*at: Any) -> Any:
        return sum_over(cast("int32", left[*at[:-1], k]) * cast("int32", right[k, at[-1]]), k)

    sums = compute((*shape[:-1], columns), body, name=b.name("sums"))
    return ops.cast_to(sums, "float32", name=b.name("back"))


MOVES: tuple[tuple[Move, float], ...] = (
    (unary, 3), (binary, 3), (broadcast, 1), (transpose, 1), (reshape, 1.5), (padding, 1.5),
    (strided_slice, 1), (concat, 0.7), (upsample, 0.7), (rotate, 0.7), (gather, 0.4),
    (steered, 0.4), (matmul, 3), (convolution, 6), (transposed_convolution, 2), (spread_sum, 1),
    (flipped_window, 1.5), (pool, 1), (row_reduction, 1.5), (long_reduction, 4), (softmax, 0.5),
    (narrow, 0.3), (product_of_bytes, 1), (table_product, 0.7), (wide_matmul, 2), (three_taps, 2),
)  # fmt: skip
_WEIGHTS = np.array([w for _, w in MOVES]) / sum(w for _, w in MOVES)
_GOLDEN = 0.6180339887  # multiples of it, modulo 1, fill the interval evenly


def random_dag(rng: np.random.Generator, turn: int) -> tuple[ComputeDAG, bool]:
    """One to four moves; the last tensor and, at times, earlier ones are outputs.

    The first move of consecutive `turn`s is each of MOVES as often as its weight says, so that
    few DAGs have something of every kind.
    """
    b = Builder(rng)
    first = int(np.searchsorted(np.cumsum(_WEIGHTS), turn * _GOLDEN % 1.0, side="right"))
    moves = int(rng.integers(1, 5))
    stages: list[Tensor] = []
    wanted = [first] * 4  # a move may find that it does not fit
    while len(stages) < moves:
        move = wanted.pop() if wanted else int(rng.choice(len(MOVES), p=_WEIGHTS))
        made = MOVES[move][0](b)
        if made is not None and made not in b.made:
            b.made.append(made)
            stages.append(made)
            wanted.clear()
    outputs = [stages[-1]]
    if len(stages) > 1 and b.chance(0.3):
        outputs.append(stages[int(rng.integers(len(stages) - 1))])
    return ComputeDAG(outputs), b.is_exact


def random_case(rng: np.random.Generator, turn: int) -> Case:
    """A random DAG with values for everything it is given; see `random_dag`."""
    dag, exact = random_dag(rng, turn)
    return Case(dag, values_of(rng, dag), exact)


def values_of(rng: np.random.Generator, dag: ComputeDAG) -> dict[str, Array]:
    """Small integers for everything a DAG is given."""
    tensors = (*dag.inputs, *dag.constants)
    return {t.name: rng.integers(-3, 4, shape_of(t)).astype(t.dtype.numpy) for t in tensors}


CONTRACTIONS: tuple[Move, ...] = (
    matmul, wide_matmul, convolution, three_taps, matmul_of_batches,
)  # fmt: skip


def random_contraction(rng: np.random.Generator, turn: int) -> Case:
    """One contraction, at times of what is computed, and at times with something after it."""
    b = Builder(rng)
    while True:
        b.made, b.is_exact = [], True
        if b.chance(0.4):
            b.pick(b.among((2, 3, 4)))
            b.made.append(b.among((unary, padding, transpose))(b) or b.made[0])
        product = CONTRACTIONS[turn % len(CONTRACTIONS)](b)
        if product is not None:
            break
    b.made.append(product)
    if b.chance(0.5):
        b.made.append(b.among((unary, binary, transpose, reshape))(b) or product)
    dag = ComputeDAG([b.made[-1]])
    return Case(dag, values_of(rng, dag), b.is_exact)
