"""Workloads that several test folders share: the ten operators at small shapes, figure 5's inputs.

OPERATORS["C2D"]() -> ComputeDAG
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor, select
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over


def given(*shape: int, name: str = "x") -> Tensor:
    """An input."""
    return placeholder(shape, name=name)


def weight(*shape: int, name: str = "w") -> Tensor:
    """A constant."""
    return placeholder(shape, name=name, constant=True)


OPERATORS: dict[str, Callable[[], ComputeDAG]] = {
    "C1D": lambda: ComputeDAG([ops.conv1d(given(1, 32, 16), weight(3, 16, 24), padding=1)]),
    "C2D": lambda: ComputeDAG([ops.conv2d(given(1, 14, 14, 16), weight(3, 3, 16, 32), padding=1)]),
    "C3D": lambda: ComputeDAG(
        [ops.conv3d(given(1, 4, 8, 8, 6), weight(3, 3, 3, 6, 12), stride=2, padding=1)]
    ),
    "GMM": lambda: ComputeDAG([ops.matmul(given(48, 40, name="a"), given(40, 56, name="b"))]),
    "GRD": lambda: ComputeDAG(
        [ops.conv2d(given(1, 8, 8, 16), weight(3, 3, 4, 24), padding=1, groups=4)]
    ),
    "DIL": lambda: ComputeDAG(
        [ops.conv2d(given(1, 14, 14, 8), weight(3, 3, 8, 16), padding=2, dilation=2)]
    ),
    "DEP": lambda: ComputeDAG(
        [ops.depthwise_conv(given(1, 16, 16, 24), weight(3, 3, 24, 1), stride=2, padding=1)]
    ),
    "T2D": lambda: ComputeDAG(
        [ops.conv_transpose(given(1, 6, 6, 12), weight(4, 4, 12, 8), stride=2, padding=1)]
    ),
    "CAP": lambda: ComputeDAG(
        [ops.capsule_conv2d(given(1, 6, 6, 4, 4, 4), weight(3, 3, 4, 4, 4, 6), padding=1)]
    ),
    "NRM": lambda: ComputeDAG([ops.matrix_norm(given(2, 48, 64))]),
}


def light_resnet50() -> Path:
    """ResNet-50 without weights, as onnx brings it."""
    import onnx.backend.test

    return Path(onnx.backend.test.__file__).parent / "data" / "light" / "light_resnet50.onnx"


def product(n: int, m: int, k: int) -> ComputeDAG:
    """[n, k] times [k, m]."""
    return ComputeDAG([ops.matmul(given(n, k, name="a"), given(k, m, name="b"))])


def convolution(n: int, size: int, ci: int, co: int, kernel: int, **options: int) -> ComputeDAG:
    """A square convolution; `options` are those of `ops.conv2d`."""
    x, w = given(n, size, size, ci), weight(kernel, kernel, ci, co)
    return ComputeDAG([ops.conv2d(x, w, **options)])


def normalised(conv: ComputeDAG) -> ComputeDAG:
    """A convolution with scale, shift and ReLU behind it."""
    (y,) = conv.outputs
    scale, shift = (weight(int(y.shape[-1]), name=name) for name in ("scale", "shift"))
    return ComputeDAG([ops.relu(ops.add(ops.multiply(y, scale), shift))])


def conv_layer() -> ComputeDAG:
    """A convolution with bias and ReLU (the paper's ConvLayer)."""
    y = ops.conv2d(given(1, 14, 14, 16), weight(3, 3, 16, 32), weight(32, name="b"), padding=1)
    return ComputeDAG([ops.relu(y)])


def attention() -> ComputeDAG:
    """Two batched products with a softmax between them."""
    q, k, v = given(2, 24, 16, name="q"), given(2, 24, 16, name="k"), given(2, 24, 16, name="v")
    scores = ops.batch_matmul(q, k, transpose_b=True, name="scores")
    return ComputeDAG([ops.batch_matmul(ops.softmax(scores, name="p"), v, name="attention")])


def long_attention() -> ComputeDAG:
    """Attention whose rows of scores are taken in chunks (its online form)."""
    q, k, v = given(400, 4, name="q"), given(4, 1280, name="k"), given(1280, 5, name="v")
    p = ops.softmax(ops.matmul(q, k, name="scores"), name="p")
    return ComputeDAG([ops.matmul(p, v, name="attention")])


def figure5_input1() -> ComputeDAG:
    """C = A · B (512³), D = max(C, 0)."""
    c = ops.matmul(given(512, 512, name="A"), given(512, 512, name="B"), name="C")
    return ComputeDAG([ops.relu(c, name="D")])


def figure5_input2() -> ComputeDAG:
    """B = max(A, 0); C = B padded with zeros from 400 to 512 columns; E = C · D."""
    a, d = given(8, 400, name="A"), given(512, 4, name="D")
    b = compute((8, 400), lambda i, k: select(a[i, k] > 0.0, a[i, k], 0.0), name="B")
    c = compute((8, 512), lambda i, k: select(k < 400, b[i, k], 0.0), name="C")
    k = reduce_axis(512, "k")
    return ComputeDAG([compute((8, 4), lambda i, j: sum_over(c[i, k] * d[k, j], k), name="E")])
