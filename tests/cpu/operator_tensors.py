"""Small workloads of every operator family, by name: what the native tests compile and run.

    OPERATORS["conv2d awkward"]() -> Tensor, or several outputs

Shapes are small but awkward on purpose: primes, odd channel counts, one element more than a vector
register holds. `PAPER` are the benchmark's ten operators and two subgraphs (`benchmarks.cases`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.cases import SHAPES

import tilewright as tw
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder

Made = Tensor | Sequence[Tensor]


def x(*shape: int, dtype: str = "float32", name: str = "x") -> Tensor:
    """An input."""
    return placeholder(shape, dtype, name=name)


def w(*shape: int, dtype: str = "float32", name: str = "w") -> Tensor:
    """A constant."""
    return placeholder(shape, dtype, name=name, constant=True)


# (batch, *shape) of `benchmarks.cases`; the second of each pair has primes and odd channels.
PAPER_SHAPES: dict[str, tuple[tuple[int, ...], ...]] = {
    "C1D": ((1, 16, 16, 32, 3, 2, 1), (2, 13, 7, 11, 5, 1, 2)),
    "C2D": ((1, 8, 8, 16, 32, 3, 1, 1), (2, 11, 7, 5, 13, 3, 2, 1)),
    "C3D": ((1, 4, 6, 6, 8, 16, 3, 1, 1), (1, 5, 7, 5, 3, 7, 3, 2, 1)),
    "GMM": ((1, 64, 48, 32), (3, 17, 29, 23)),
    "GRD": ((1, 8, 8, 16, 32, 3, 1, 1, 4), (1, 7, 7, 9, 21, 3, 2, 1, 3)),
    "DIL": ((1, 9, 9, 8, 16, 3, 1, 1, 2), (2, 13, 11, 3, 5, 3, 2, 2, 2)),
    "DEP": ((1, 8, 8, 32, 3, 1, 1), (2, 11, 9, 19, 3, 2, 1)),
    "T2D": ((1, 4, 4, 16, 16, 4, 2, 1), (1, 5, 3, 7, 3, 4, 2, 1)),
    "CAP": ((1, 6, 6, 4, 8, 3, 2, 1, 4), (1, 5, 5, 3, 5, 3, 1, 1, 2)),
    "NRM": ((1, 32, 32), (3, 17, 31)),
    "CONV": ((1, 8, 8, 8, 16, 3, 1, 1), (1, 7, 9, 3, 11, 3, 2, 1)),
    "TBS": ((1, 16, 2, 16), (2, 11, 3, 5)),
}
PAPER: dict[str, Callable[[], Made]] = {
    f"{name} {label}": partial(SHAPES[name][0], *shape)
    for name, shapes in PAPER_SHAPES.items()
    for label, shape in zip(("even", "awkward"), shapes, strict=True)
}


def _bits(dtype: str) -> Tensor:
    a, b = x(5, 37, dtype=dtype, name="a"), x(37, dtype=dtype, name="b")
    mixed = ops.bitwise_xor(ops.bitwise_and(a, b), ops.bitwise_not(ops.bitwise_or(a, 5)))
    return ops.bitwise_or(ops.shift_right(mixed, b), ops.shift_left(mixed, 3))


def _residual() -> Tensor:
    y = ops.conv2d(x(1, 7, 7, 8), w(3, 3, 8, 8), padding=1)
    return ops.relu(ops.add(y, x(1, 7, 7, 8, name="shortcut")))


def _two_outputs() -> Sequence[Tensor]:
    y = ops.dense(x(7, 19), w(19, 23))
    return ops.relu(y), ops.sigmoid(y)


def _mean_and_variance() -> Sequence[Tensor]:
    a = x(9, 37)
    mean = ops.reduce_mean(a, (1,), keepdims=True, name="mean")
    centred = ops.subtract(a, mean, name="centred")
    return mean, ops.reduce_mean(ops.multiply(centred, centred, name="sq"), (1,), name="variance")


def _batch_norm() -> Tensor:
    scale, bias, mean, variance = (w(13, name=n) for n in ("scale", "bias", "mean", "variance"))
    return ops.batch_norm(x(2, 5, 5, 13), scale, bias, mean, variance)


def _figure_5() -> Tensor:
    """Input 2 of the paper's figure 5, smaller."""
    a, d = x(8, 40, name="A"), x(51, 4, name="D")
    b = tw.compute((8, 40), lambda i, j: tw.maximum(a[i, j], 0.0), name="B")
    c = tw.compute((8, 51), lambda i, k: tw.select(k < 40, b[i, k], 0.0), name="C")
    k = tw.reduce_axis(51, "k")
    return tw.compute((8, 4), lambda i, j: tw.sum(c[i, k] * d[k, j], k), name="E")


CONTRACTIONS: dict[str, Callable[[], Made]] = {
    "matvec": lambda: ops.matmul(x(1, 67, name="a"), x(67, 45, name="b")),
    "column": lambda: ops.matmul(x(67, 45, name="a"), x(45, 1, name="b")),
    "outer": lambda: ops.matmul(x(19, 1, name="a"), x(1, 33, name="b")),
    "matmul ta": lambda: ops.matmul(x(23, 18, name="a"), x(23, 31, name="b"), transpose_a=True),
    "matmul tb": lambda: ops.matmul(x(18, 23, name="a"), x(31, 23, name="b"), transpose_b=True),
    "matmul relu": lambda: ops.relu(ops.matmul(x(32, 32, name="a"), x(32, 32, name="b"))),
    "dense bias": lambda: ops.dense(x(5, 37), w(37, 29), w(29, name="bias")),
    "dense tw": lambda: ops.dense(x(3, 4, 21), w(17, 21), transpose_w=True),
    "batch broadcast": lambda: ops.batch_matmul(x(2, 1, 7, 9, name="a"), x(3, 9, 5, name="b")),
    "square with itself": lambda: (lambda a: ops.batch_matmul(a, a))(x(2, 13, 13)),
    "conv bias": lambda: ops.conv2d(x(1, 9, 9, 4), w(3, 3, 4, 6), w(6, name="bias"), padding=1),
    "conv 1x1": lambda: ops.conv2d(x(1, 7, 7, 24), w(1, 1, 24, 40)),
    "conv stem": lambda: ops.conv2d(x(1, 23, 23, 3), w(7, 7, 3, 16), stride=2, padding=3),
    "conv uneven pads": lambda: ops.conv2d(
        x(1, 8, 9, 5), w(3, 2, 5, 7), stride=(2, 1), padding=((1, 0), (0, 2))
    ),
    "transposed stride 1": lambda: ops.conv_transpose(x(1, 5, 5, 6), w(3, 3, 6, 4), padding=1),
    "transposed 1d": lambda: ops.conv_transpose(x(2, 7, 5), w(3, 5, 6), stride=3, output_padding=1),
    "depth multiplier": lambda: ops.depthwise_conv(x(1, 7, 7, 6), w(3, 3, 6, 2), padding=1),
    "residual": _residual,
    "two outputs": _two_outputs,
    "figure 5": _figure_5,
}

POOLING: dict[str, Callable[[], Made]] = {
    "max pool": lambda: ops.max_pool(x(1, 11, 11, 8), 3, stride=2, padding=1),
    "max pool ceil": lambda: ops.max_pool(x(1, 10, 10, 5), 3, stride=2, ceil_mode=True),
    "max pool int8": lambda: ops.max_pool(x(1, 9, 9, 17, dtype="int8"), 2, stride=2),
    "avg pool": lambda: ops.avg_pool(x(1, 9, 9, 16), 3, stride=2, padding=1),
    "avg pool ceil": lambda: ops.avg_pool(
        x(1, 10, 7, 3), 3, stride=2, padding=1, ceil_mode=True, count_include_pad=True
    ),
    "global avg": lambda: ops.global_avg_pool(x(2, 7, 7, 33)),
    "global max": lambda: ops.global_max_pool(x(1, 5, 5, 7)),
}

NORMS: dict[str, Callable[[], Made]] = {
    "softmax": lambda: ops.softmax(x(7, 65)),
    "softmax inner axis": lambda: ops.softmax(x(3, 11, 18), axis=1),
    "log softmax": lambda: ops.log_softmax(x(5, 31)),
    "layer norm": lambda: ops.layer_norm(x(6, 50), w(50, name="scale"), w(50, name="bias")),
    "rms norm": lambda: ops.rms_norm(x(4, 37), w(37, name="scale")),
    "instance norm": lambda: ops.instance_norm(
        x(2, 5, 6, 9), w(9, name="scale"), w(9, name="bias")
    ),
    "group norm": lambda: ops.group_norm(
        x(2, 5, 5, 12), w(12, name="scale"), w(12, name="bias"), groups=3
    ),
    "batch norm": _batch_norm,
    "lrn": lambda: ops.lrn(x(1, 5, 5, 19), 5),
    "mean and variance": _mean_and_variance,
}

MOVEMENT: dict[str, Callable[[], Made]] = {
    "concat": lambda: ops.concat([x(2, 5, 7), x(2, 5, 4, name="y"), x(2, 5, 9, name="z")], axis=2),
    "concat rows": lambda: ops.concat([x(3, 17), x(5, 17, name="y")]),
    "stack": lambda: ops.stack([x(4, 9), x(4, 9, name="y")], axis=1),
    "reshape": lambda: ops.reshape(x(6, 35), (14, 15)),
    "reshape split": lambda: ops.reshape(x(4, 48), (4, 6, 8)),
    "flatten": lambda: ops.flatten(x(2, 3, 5, 7)),
    "transpose": lambda: ops.transpose(x(19, 33)),
    "transpose 4d": lambda: ops.transpose(x(2, 9, 5, 20), (0, 3, 1, 2)),
    "slice": lambda: ops.strided_slice(x(20, 31), (2, 30), (19, 0), (3, -2)),
    "split": lambda: ops.split(x(5, 24), 3, axis=1),
    "gather": lambda: ops.gather(x(30, 17), x(12, dtype="int64", name="at")),
    "gather inner": lambda: ops.gather(x(6, 23), x(3, 5, dtype="int32", name="at"), axis=1),
    "gather elements": lambda: ops.gather_elements(
        x(6, 23), x(6, 7, dtype="int64", name="at"), axis=1
    ),
    "pad constant": lambda: ops.pad(x(5, 13), ((1, 2), (3, 4)), value=2.5),
    "pad crop": lambda: ops.pad(x(9, 13), ((-1, 2), (3, -4))),
    "pad reflect": lambda: ops.pad(x(5, 13), ((1, 2), (3, 4)), mode="reflect"),
    "pad edge": lambda: ops.pad(x(5, 13), ((1, 2), (3, 4)), mode="edge"),
    "pad wrap": lambda: ops.pad(x(5, 13), ((1, 2), (3, 4)), mode="wrap"),
    "broadcast": lambda: ops.broadcast_to(x(7, 1), (3, 7, 18)),
    "tile": lambda: ops.tile(x(3, 11), (2, 3)),
    "depth to space": lambda: ops.depth_to_space(x(1, 3, 4, 12), 2),
    "depth to space CRD": lambda: ops.depth_to_space(x(1, 3, 4, 20), 2, mode="CRD"),
    "space to depth": lambda: ops.space_to_depth(x(1, 6, 8, 5), 2),
    "upsample": lambda: ops.upsample_nearest(x(1, 5, 7, 6), (10, 14)),
    "upsample uneven": lambda: ops.upsample_nearest(x(1, 5, 7, 6), (8, 9)),
}

REDUCTIONS: dict[str, Callable[[], Made]] = {
    "sum all": lambda: ops.reduce_sum(x(13, 29)),
    "sum rows": lambda: ops.reduce_sum(x(64, 33), (0,)),
    "sum columns": lambda: ops.reduce_sum(x(9, 131), (1,), keepdims=True),
    "mean middle": lambda: ops.reduce_mean(x(3, 17, 10), (1,)),
    "prod": lambda: ops.reduce_prod(x(9, 7), (1,)),
    "max": lambda: ops.reduce_max(x(9, 53), (1,)),
    "min": lambda: ops.reduce_min(x(41, 6), (0,)),
    "l1": lambda: ops.reduce_l1(x(5, 33), (1,)),
    "l2": lambda: ops.reduce_l2(x(5, 33), (0,)),
    "sum square": lambda: ops.reduce_sum_square(x(3, 5, 17), (0, 2)),
    "logsumexp": lambda: ops.reduce_logsumexp(x(6, 40), (1,)),
    "argmax": lambda: ops.argmax(x(9, 50), axis=1),
    "argmin last": lambda: ops.argmin(x(50, 9), axis=0, select_last=True, keepdims=True),
    "long reduction": lambda: ops.matmul(x(2, 2000, name="a"), x(2000, 2, name="b")),
}

_UNARY: dict[str, Callable[..., Tensor]] = {
    "abs": ops.absolute, "ceil": ops.ceil, "cos": ops.cos, "elu": ops.elu, "erf": ops.erf,
    "exp": ops.exp, "floor": ops.floor, "gelu": ops.gelu, "hard sigmoid": ops.hard_sigmoid,
    "hard swish": ops.hard_swish, "leaky relu": ops.leaky_relu, "log": ops.log, "mish": ops.mish,
    "negative": ops.negative, "reciprocal": ops.reciprocal, "relu": ops.relu,
    "round": ops.round_half_even, "selu": ops.selu, "sigmoid": ops.sigmoid, "sign": ops.sign,
    "silu": ops.silu, "sin": ops.sin, "softplus": ops.softplus, "softsign": ops.softsign,
    "sqrt": ops.sqrt, "tanh": ops.tanh, "tanh of softplus": ops.tanh_softplus, "trunc": ops.trunc,
}  # fmt: skip
_BINARY: dict[str, Callable[..., Tensor]] = {
    "add": ops.add, "divide": ops.divide, "maximum": ops.maximum, "minimum": ops.minimum,
    "multiply": ops.multiply, "subtract": ops.subtract, "less": ops.less,
    "less equal": ops.less_equal, "greater": ops.greater, "greater equal": ops.greater_equal,
}  # fmt: skip


def _ints(fn: Callable[..., Tensor], dtype: str) -> Tensor:
    a = x(5, 37, dtype=dtype, name="a")
    divisor = ops.add(ops.absolute(x(5, 37, dtype=dtype, name="b"), name="size"), 1, name="b1")
    return fn(a, divisor)


def _rounded(fn: Callable[..., Tensor]) -> Tensor:
    """Of values among which some are equal."""
    return fn(ops.trunc(x(7, 37, name="a")), ops.trunc(x(7, 37, name="b")), name="y")


def _masks() -> Sequence[Tensor]:
    a, b = x(5, 35, dtype="bool", name="a"), x(5, 35, dtype="bool", name="b")
    return (
        ops.logical_and(a, b, name="both"),
        ops.logical_or(a, b, name="either"),
        ops.logical_xor(a, b, name="one"),
        ops.logical_not(a, name="not_a"),
    )


def _logits(dtype: str) -> Tensor:
    """Attention's matrix product and softmax in a narrow float."""
    return ops.softmax(
        ops.matmul(x(6, 32, dtype=dtype, name="a"), x(32, 21, dtype=dtype, name="b"))
    )


ELEMENTWISE: dict[str, Callable[[], Made]] = {
    **{name: partial(lambda fn: fn(x(7, 37)), fn) for name, fn in _UNARY.items()},
    **{
        name: partial(lambda fn: fn(x(7, 37, name="a"), x(1, 37, name="b")), fn)
        for name, fn in _BINARY.items()
    },
    "gelu tanh": lambda: ops.gelu(x(4, 50), approximate=True),
    "clip": lambda: ops.clip(x(3, 5, 7), -0.5, 0.75),
    "prelu": lambda: ops.prelu(x(4, 33), w(33, name="slope")),
    "power": lambda: ops.power(ops.absolute(x(5, 35), name="size"), x(5, 35, name="y")),
    "power scalar": lambda: ops.power(x(5, 35), 4.0),
    "equal": lambda: _rounded(ops.equal),
    "not equal": lambda: _rounded(ops.not_equal),
    "isnan": lambda: ops.isnan(ops.log(x(5, 35))),
    "isinf": lambda: ops.isinf(ops.divide(x(5, 35), ops.floor(ops.absolute(x(5, 35, name="y"))))),
    "where": lambda: ops.where(x(6, 19, dtype="bool", name="c"), x(6, 19, name="a"), 0.5),
    "fma": lambda: tw.compute(
        (41,), lambda i: tw.fma(x(41, name="a")[i], x(41, name="b")[i], 0.25), name="y"
    ),
    "masks": _masks,
}

TYPES: dict[str, Callable[[], Made]] = {
    "matmul int8": lambda: ops.matmul(
        x(17, 45, dtype="int8", name="a"), x(45, 19, dtype="int8", name="b")
    ),
    "matmul uint8": lambda: ops.matmul(
        x(17, 45, dtype="uint8", name="a"), x(45, 19, dtype="uint8", name="b")
    ),
    "matmul float16": lambda: ops.matmul(
        x(16, 40, dtype="float16", name="a"), w(40, 24, dtype="float16")
    ),
    "matmul bfloat16": lambda: ops.matmul(
        x(13, 40, dtype="bfloat16", name="a"), w(40, 23, dtype="bfloat16")
    ),
    "matmul float64": lambda: ops.matmul(
        x(13, 31, dtype="float64", name="a"), x(31, 17, dtype="float64", name="b")
    ),
    "matmul int64": lambda: ops.matmul(
        x(5, 31, dtype="int64", name="a"), x(31, 17, dtype="int64", name="b")
    ),
    "matmul int32": lambda: ops.matmul(
        x(5, 31, dtype="int32", name="a"), x(31, 17, dtype="int32", name="b")
    ),
    "conv int8": lambda: ops.conv2d(
        x(1, 7, 7, 6, dtype="int8"), w(3, 3, 6, 9, dtype="int8"), padding=1
    ),
    "conv float16": lambda: ops.relu(
        ops.conv2d(x(1, 7, 7, 6, dtype="float16"), w(3, 3, 6, 9, dtype="float16"), padding=1)
    ),
    "add float16": lambda: ops.add(x(5, 37, dtype="float16", name="a"), x(37, dtype="float16")),
    "add bfloat16": lambda: ops.add(x(5, 37, dtype="bfloat16", name="a"), x(37, dtype="bfloat16")),
    "gelu float16": lambda: ops.gelu(x(5, 37, dtype="float16")),
    "tanh bfloat16": lambda: ops.tanh(x(5, 37, dtype="bfloat16")),
    "exp float64": lambda: ops.exp(x(5, 37, dtype="float64")),
    "erf float64": lambda: ops.erf(x(5, 37, dtype="float64")),
    "tanh float64": lambda: ops.tanh(x(5, 37, dtype="float64")),
    "sigmoid float64": lambda: ops.sigmoid(x(5, 37, dtype="float64")),
    "softmax float64": lambda: ops.softmax(x(5, 37, dtype="float64")),
    "softmax float16": lambda: _logits("float16"),
    "softmax bfloat16": lambda: _logits("bfloat16"),
    "sum float16": lambda: ops.reduce_sum(x(5, 300, dtype="float16"), (1,)),
    "sum int8": lambda: ops.reduce_sum(x(5, 300, dtype="int8"), (1,)),
    "max int64": lambda: ops.reduce_max(x(5, 37, dtype="int64"), (1,)),
    "argmax int8": lambda: ops.argmax(x(5, 67, dtype="int8"), axis=1),
    "relu int16": lambda: ops.relu(x(5, 67, dtype="int16")),
    "divide int32": lambda: _ints(ops.divide, "int32"),
    "floor divide int32": lambda: _ints(ops.floor_divide, "int32"),
    "mod int64": lambda: _ints(ops.mod, "int64"),
    "floor divide int64": lambda: _ints(ops.floor_divide, "int64"),
    "power int64": lambda: ops.power(ops.mod(x(5, 37, dtype="int64"), 7), 4),
    "cast float32 to bool": lambda: ops.cast_to(ops.trunc(x(5, 37)), "bool"),
    **{
        f"cast {a} to {b}": partial(lambda a, b: ops.cast_to(x(5, 37, dtype=a), b), a, b)
        for a, b in (
            ("float32", "int8"), ("float32", "int64"), ("float32", "float16"),
            ("float32", "bfloat16"), ("float32", "float64"), ("float64", "float32"),
            ("float16", "float32"), ("bfloat16", "float32"), ("int8", "float32"),
            ("uint8", "float32"), ("int64", "float32"), ("bool", "float32"), ("bool", "int64"),
            ("int64", "int8"), ("int32", "bool"), ("uint8", "int16"), ("int64", "float64"),
        )
    },
}  # fmt: skip

INDEXING: dict[str, Callable[[], Made]] = {
    **{
        f"scatter elements {r}": partial(
            lambda r: ops.scatter_elements(
                x(6, 23), x(4, 19, dtype="int32", name="at"), x(4, 19, name="u"), 1, reduction=r
            ),
            r,
        )
        for r in ("none", "add", "max")
    },
    "scatter nd": lambda: ops.scatter_nd(
        x(6, 5, 7), x(3, 2, dtype="int64", name="at"), x(3, 7, name="u")
    ),
    "gather nd": lambda: ops.gather_nd(x(6, 5, 7), x(4, 2, dtype="int64", name="at")),
    "cumulative inner": lambda: ops.cumulative(x(5, 37), 1),
    "cumulative outer": lambda: ops.cumulative(x(13, 37), 0, reverse=True, exclusive=True),
    "top indices": lambda: ops.top_indices(x(5, 37), 4),
    "triangle": lambda: ops.triangle(x(2, 17, 19), 1),
    "reverse sequence": lambda: ops.reverse_sequence(
        x(7, 5, 3), x(5, dtype="int64", name="n"), batch_axis=1, time_axis=0
    ),
    "write slice": lambda: ops.write_slice(
        x(3, 11, 5), x(3, 4, 5, name="u"), x(3, dtype="int64", name="at"), axis=1, circular=True
    ),
    "einsum": lambda: ops.einsum("bij,bkj->bki", x(2, 5, 17), x(2, 7, 17, name="y")),
    "determinant": lambda: ops.determinant(x(5, 3, 3)),
}

SAMPLING: dict[str, Callable[[], Made]] = {
    "resample": lambda: ops.resample(
        x(2, 9, 5), w(7, 4, dtype="int64", name="at"), w(7, 4, name="weights"), 1
    ),
    "grid sample": lambda: ops.grid_sample(x(2, 3, 7, 5), x(2, 5, 9, 2, name="grid")),
    "grid sample reflected": lambda: ops.grid_sample(
        x(1, 2, 7, 5), x(1, 3, 5, 2, name="grid"), padding="reflection", align_corners=True
    ),
    "roi align": lambda: ops.roi_align(
        x(1, 3, 7, 9), x(3, 4, name="rois"), x(3, dtype="int64", name="at"), (3, 2), samples=2
    ),
    "deform conv": lambda: ops.deform_conv(
        x(1, 3, 6, 5), w(4, 3, 2, 2), x(1, 8, 5, 4, name="o"),
        stride=(1, 1), padding=((0, 0), (0, 0)), dilation=(1, 1),
    ),
    "max pool indices": lambda: ops.max_pool_indices(x(1, 9, 7, 5), 3, stride=2, padding=1),
    "sum pool": lambda: ops.sum_pool(x(1, 9, 7, 5), 3, stride=2),
    "col2im": lambda: ops.col2im(
        x(1, 18, 20), (5, 6), (2, 3), stride=(1, 1), padding=((0, 0), (0, 1)), dilation=(1, 1)
    ),
}  # fmt: skip

BITS: dict[str, Callable[[], Made]] = {
    **{f"bits {t}": partial(lambda t: _bits(t), t) for t in ("int8", "uint16", "uint32", "int64")},
    **{f"{n} {t}": partial(lambda f, t: f(ops.clip(x(5, 37, dtype=t), -1, 1)), f, t)
       for n, f in (("asin", ops.asin), ("atanh", ops.atanh)) for t in ("float32", "float64")},
    **{f"{n} {t}": partial(lambda f, t: f(x(5, 37, dtype=t)), f, t)
       for n, f in (("atan", ops.atan), ("sinh", ops.sinh), ("asinh", ops.asinh))
       for t in ("float32", "float64")},
    "max uint64": lambda: ops.reduce_max(x(5, 37, dtype="uint64"), (1,)),
    "divide uint32": lambda: _ints(ops.divide, "uint32"),
    "cast uint64 to float32": lambda: ops.cast_to(x(5, 37, dtype="uint64"), "float32"),
    "cast int64 to uint16": lambda: ops.cast_to(x(5, 37, dtype="int64"), "uint16"),
    "sum uint16": lambda: ops.reduce_sum(x(5, 300, dtype="uint16"), (1,)),
}  # fmt: skip

# Long enough for vector loops that are cut, several caches and every thread.
LARGER: dict[str, Callable[[], Made]] = {
    "softmax 1000": lambda: ops.softmax(x(33, 1000)),
    "layer norm 768": lambda: ops.layer_norm(x(65, 768), w(768, name="scale"), w(768, name="bias")),
    "gelu 768": lambda: ops.gelu(x(33, 768)),
    "transpose 257": lambda: ops.transpose(x(130, 257)),
    "max pool 28": lambda: ops.max_pool(x(1, 28, 28, 64), 3, stride=2, padding=1),
    "global avg 2048": lambda: ops.global_avg_pool(x(1, 7, 7, 2048)),
    "concat 28": lambda: ops.concat([x(1, 28, 28, 72), x(1, 28, 28, 57, name="y")], axis=3),
    "dense 1000": lambda: ops.dense(x(1, 1024), w(1024, 1000), w(1000, name="bias")),
    "argmax 1000": lambda: ops.argmax(x(17, 1000), axis=1),
    "sum 10007": lambda: ops.reduce_sum(x(3, 10007), (1,)),
    "conv 1x1 stride 2": lambda: ops.relu(ops.conv2d(x(1, 28, 28, 64), w(1, 1, 64, 96), stride=2)),
    "depthwise 28": lambda: ops.depthwise_conv(x(1, 28, 28, 72), w(3, 3, 72, 1), padding=1),
    "matmul 127": lambda: ops.matmul(x(127, 131, name="a"), x(131, 137, name="b")),
    "matmul int8 128": lambda: ops.matmul(
        x(128, 128, dtype="int8", name="a"), w(128, 128, dtype="int8")
    ),
}

OPERATORS: dict[str, Callable[[], Made]] = {
    **PAPER, **CONTRACTIONS, **POOLING, **NORMS, **MOVEMENT, **REDUCTIONS, **ELEMENTWISE, **TYPES,
    **INDEXING, **SAMPLING, **BITS, **LARGER,
}  # fmt: skip


def dag_of(name: str) -> ComputeDAG:
    """The computation called `name`."""
    made = OPERATORS[name]()
    return ComputeDAG([made] if isinstance(made, Tensor) else list(made))
