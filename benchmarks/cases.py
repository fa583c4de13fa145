"""The published benchmark's workloads: ten operators and two subgraphs (Ansor, appendix C).

    case = CASES["C2D-2-b1"]
    dag = case.dag()

Names are operator, index in the paper's list, batch. Weights are constants; GMM, TBS and NRM
have none. Layouts are channels-last. `GEMMS` are square products beyond the published sizes, such
as "GEMM-4096"; `SMALL` has every operator once, small, with extents that differ: "C2D-small".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder

BATCHES = (1, 16)


@dataclass(frozen=True)
class Case:
    """One workload. `make(batch, *shape)` gives its output tensor."""

    name: str
    operator: str
    shape: tuple[int, ...]
    batch: int
    make: Callable[..., Tensor]

    def dag(self) -> ComputeDAG:
        """The computation to tune."""
        return ComputeDAG([self.make(self.batch, *self.shape)])


def _weights(shape: Sequence[int]) -> Tensor:
    return placeholder(shape, name="w", constant=True)


def conv1d(n: int, length: int, ci: int, co: int, k: int, s: int, p: int) -> Tensor:
    x = placeholder((n, length, ci), name="x")
    return ops.conv1d(x, _weights((k, ci, co)), stride=s, padding=p)


def conv2d(
    n: int, h: int, w: int, ci: int, co: int, k: int, s: int, p: int, dilation: int = 1
) -> Tensor:
    x = placeholder((n, h, w, ci), name="x")
    return ops.conv2d(x, _weights((k, k, ci, co)), stride=s, padding=p, dilation=dilation)


def conv3d(n: int, d: int, h: int, w: int, ci: int, co: int, k: int, s: int, p: int) -> Tensor:
    x = placeholder((n, d, h, w, ci), name="x")
    return ops.conv3d(x, _weights((k, k, k, ci, co)), stride=s, padding=p)


def matmul(batch: int, n: int, m: int, k: int) -> Tensor:
    if batch == 1:
        return ops.matmul(placeholder((n, k), name="a"), placeholder((k, m), name="b"))
    a, b = placeholder((batch, n, k), name="a"), placeholder((batch, k, m), name="b")
    return ops.batch_matmul(a, b)


def grouped(
    n: int, h: int, w: int, ci: int, co: int, k: int, s: int, p: int, groups: int
) -> Tensor:
    x = placeholder((n, h, w, ci), name="x")
    return ops.conv2d(x, _weights((k, k, ci // groups, co)), stride=s, padding=p, groups=groups)


def depthwise(n: int, h: int, w: int, c: int, k: int, s: int, p: int) -> Tensor:
    x = placeholder((n, h, w, c), name="x")
    return ops.depthwise_conv(x, _weights((k, k, c, 1)), stride=s, padding=p)


def transposed(n: int, h: int, w: int, ci: int, co: int, k: int, s: int, p: int) -> Tensor:
    x = placeholder((n, h, w, ci), name="x")
    return ops.conv_transpose(x, _weights((k, k, ci, co)), stride=s, padding=p)


def capsule(n: int, h: int, w: int, ci: int, co: int, k: int, s: int, p: int, size: int) -> Tensor:
    x = placeholder((n, h, w, size, size, ci), name="x")
    return ops.capsule_conv2d(x, _weights((k, k, size, size, ci, co)), stride=s, padding=p)


def norm(batch: int, n: int, m: int) -> Tensor:
    return ops.matrix_norm(placeholder((batch, n, m), name="x"))


def conv_layer(n: int, h: int, w: int, ci: int, co: int, k: int, s: int, p: int) -> Tensor:
    """Convolution, batch normalisation (folded to scale and shift) and ReLU."""
    return normalised(conv2d(n, h, w, ci, co, k, s, p), co)


def normalised(y: Tensor, channels: int) -> Tensor:
    """What follows the convolution."""
    scale = placeholder((channels,), name="scale", constant=True)
    shift = placeholder((channels,), name="shift", constant=True)
    return ops.relu(ops.add(ops.multiply(y, scale), shift))


def attention_scores(batch: int, length: int, heads: int, hidden: int) -> Tensor:
    """Two transposes, a batched matmul and a softmax (multi-head attention)."""
    q = placeholder((batch, length, heads, hidden), name="q")
    k = placeholder((batch, length, heads, hidden), name="k")
    left = ops.transpose(q, (0, 2, 1, 3), name="q_t")
    right = ops.transpose(k, (0, 2, 3, 1), name="k_t")
    return ops.softmax(ops.batch_matmul(left, right, name="scores"))


SHAPES: dict[str, tuple[Callable[..., Tensor], tuple[tuple[int, ...], ...]]] = {
    "C1D": (conv1d, ((256, 64, 128, 3, 2, 1), (128, 128, 256, 1, 2, 0),
                     (64, 256, 256, 5, 1, 2), (32, 512, 512, 3, 1, 1))),
    "C2D": (conv2d, ((224, 224, 3, 64, 7, 2, 3), (56, 56, 64, 64, 1, 1, 0),
                     (14, 14, 256, 256, 3, 1, 1), (7, 7, 512, 512, 3, 1, 1))),
    "C3D": (conv3d, ((16, 224, 224, 3, 64, 7, 2, 3), (16, 56, 56, 64, 64, 1, 1, 0),
                     (16, 14, 14, 256, 256, 3, 1, 1), (16, 7, 7, 512, 512, 3, 1, 1))),
    "GMM": (matmul, ((128, 128, 128), (512, 32, 512), (512, 512, 512), (1024, 1024, 1024))),
    # the printed 3 input channels of GRD-0 do not divide into 4 groups
    "GRD": (grouped, ((56, 56, 64, 128, 3, 2, 1, 4), (56, 56, 64, 64, 1, 1, 0, 4),
                      (14, 14, 256, 256, 3, 1, 1, 4), (7, 7, 512, 512, 3, 1, 1, 4))),
    "DIL": (conv2d, ((224, 224, 3, 64, 7, 2, 3, 2), (56, 56, 64, 64, 1, 1, 0, 2),
                     (14, 14, 256, 256, 3, 1, 1, 2), (7, 7, 512, 512, 3, 1, 1, 2))),
    "DEP": (depthwise, ((112, 112, 32, 3, 1, 1), (112, 112, 64, 3, 2, 1),
                        (14, 14, 512, 3, 2, 1), (7, 7, 1024, 3, 1, 1))),
    "T2D": (transposed, ((4, 4, 512, 256, 4, 2, 1), (8, 8, 256, 128, 4, 2, 1),
                         (16, 16, 128, 64, 4, 2, 1), (32, 32, 64, 3, 4, 2, 1))),
    "CAP": (capsule, ((16, 16, 32, 32, 3, 2, 1, 4), (8, 8, 32, 32, 3, 1, 1, 4),
                      (16, 16, 8, 16, 3, 2, 1, 4), (8, 8, 16, 16, 3, 1, 1, 4))),
    "NRM": (norm, ((256, 256), (512, 512), (1024, 1024), (4096, 4096))),
    "CONV": (conv_layer, ((224, 224, 3, 64, 7, 2, 3), (56, 56, 64, 64, 3, 2, 1),
                          (28, 28, 128, 256, 1, 2, 0), (7, 7, 512, 512, 3, 1, 1))),
    "TBS": (attention_scores, ((128, 12, 64), (128, 16, 64), (64, 12, 128), (128, 12, 128))),
}  # fmt: skip
SUBGRAPHS = ("CONV", "TBS")

GEMM_SIZES = (1024, 2048, 4096)
# (batch, *shape)
SMALL_SHAPES: dict[str, tuple[int, ...]] = {
    "C1D": (2, 13, 7, 11, 5, 1, 2),
    "C2D": (2, 11, 7, 5, 13, 3, 2, 1),
    "C3D": (1, 5, 7, 4, 3, 6, 3, 2, 1),
    "GMM": (3, 7, 9, 5),
    "GRD": (1, 7, 6, 9, 21, 3, 2, 1, 3),
    "DIL": (2, 13, 11, 3, 5, 3, 2, 2, 2),
    "DEP": (2, 11, 9, 19, 3, 2, 1),
    "T2D": (2, 5, 3, 7, 6, 4, 2, 1),
    "CAP": (2, 6, 5, 3, 5, 3, 2, 1, 4),
    "NRM": (3, 17, 31),
    "CONV": (2, 7, 9, 3, 11, 3, 2, 1),
    "TBS": (2, 11, 3, 5),
}

CASES: dict[str, Case] = {
    f"{operator}-{i}-b{batch}": Case(f"{operator}-{i}-b{batch}", operator, shape, batch, make)
    for operator, (make, shapes) in SHAPES.items()
    for i, shape in enumerate(shapes)
    for batch in BATCHES
}
GEMMS = {f"GEMM-{n}": Case(f"GEMM-{n}", "GMM", (n, n, n), 1, matmul) for n in GEMM_SIZES}
SMALL = {
    f"{operator}-small": Case(
        f"{operator}-small", operator, tuple(shape), batch, SHAPES[operator][0]
    )
    for operator, (batch, *shape) in SMALL_SHAPES.items()
}
ALL = {**CASES, **GEMMS, **SMALL}
