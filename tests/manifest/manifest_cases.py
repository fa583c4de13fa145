"""The manifest's workloads: operators, subgraphs, tasks of networks, and odd ones.

WORKLOADS["bert_gelu"]() -> ComputeDAG
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder
from workloads import (
    OPERATORS,
    attention,
    conv_layer,
    figure5_input1,
    figure5_input2,
    given,
    weight,
)


def digest(text: str | bytes) -> str:
    """Eight characters that stand for a text."""
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()[:8]


def made(*outputs: Tensor) -> ComputeDAG:
    """A DAG of these outputs."""
    return ComputeDAG(list(outputs))


def bias(n: int) -> Tensor:
    """A constant vector."""
    return weight(n, name="b")


def conv(height: int, inputs: int, outputs: int, kernel: int, stride: int = 1) -> Tensor:
    """A square image's padded convolution with bias."""
    x = given(1, height, height, inputs)
    w = weight(kernel, kernel, inputs, outputs)
    return ops.conv2d(x, w, bias(outputs), stride=stride, padding=kernel // 2)


def residual() -> ComputeDAG:
    """The end of a residual block: 1 x 1 convolution, shortcut, ReLU."""
    return made(ops.relu(ops.add(conv(14, 256, 1024, 1), given(1, 14, 14, 1024, name="shortcut"))))


def squeeze() -> ComputeDAG:
    """Squeeze-and-excitation's two products from the means."""
    x = given(1, 20, 20, 96)
    y = ops.relu(ops.dense(ops.reduce_mean(x, (1, 2)), weight(96, 24), bias(24)))
    z = ops.dense(y, weight(24, 96, name="w2"), weight(96, name="b2"))
    return made(ops.hard_sigmoid(z))


def half_matmul(dtype: str) -> ComputeDAG:
    """A product of narrow floats with float32 sums."""
    a = placeholder((64, 128), dtype, name="a")
    return made(ops.matmul(a, placeholder((128, 96), dtype, name="b", constant=True)))


def lstm_step() -> ComputeDAG:
    """The product with the last state, and the gates."""
    h, c, x = given(2, 128, name="h"), given(2, 128, name="c"), given(2, 512, name="x")
    gates = ops.add(ops.matmul(h, weight(128, 512)), x)
    i, o, f, g = ops.split(gates, 4, axis=1)
    cell = ops.add(
        ops.multiply(ops.sigmoid(f), c), ops.multiply(ops.sigmoid(i), ops.tanh(g)), name="cell"
    )
    return made(ops.multiply(ops.sigmoid(o), ops.tanh(cell), name="state"), cell)


def masked_scores() -> ComputeDAG:
    """Attention's scores, a mask, and their softmax."""
    q, k = given(4, 32, 16, name="q"), given(4, 32, 16, name="k")
    scores = ops.batch_matmul(q, k, transpose_b=True)
    return made(ops.softmax(ops.add(scores, given(32, name="mask"))))


WORKLOADS: dict[str, Callable[[], ComputeDAG]] = {
    **OPERATORS,
    "conv_layer": conv_layer,
    "attention": attention,
    "figure5_1": figure5_input1,
    "figure5_2": figure5_input2,
    "resnet_first": lambda: made(ops.relu(conv(224, 3, 64, 7, 2))),
    "resnet_3x3": lambda: made(ops.relu(conv(56, 64, 64, 3))),
    "resnet_7x7": lambda: made(ops.relu(conv(7, 512, 512, 3))),
    "resnet_residual": residual,
    "resnet_pool": lambda: made(ops.max_pool(given(1, 112, 112, 64), 3, stride=2, padding=1)),
    "resnet_mean": lambda: made(ops.global_avg_pool(given(1, 7, 7, 2048))),
    "resnet_classes": lambda: made(
        ops.dense(given(1, 2048), weight(2048, 1000), weight(1000, name="b"))
    ),
    "mobile_depthwise": lambda: made(
        ops.clip(ops.depthwise_conv(given(1, 56, 56, 144), weight(3, 3, 144, 1), padding=1), 0, 6)
    ),
    "mobile_project": lambda: made(conv(28, 192, 32, 1)),
    "detector_squeeze": squeeze,
    "detector_swish": lambda: made(ops.hard_swish(conv(40, 40, 104, 1))),
    "generator_up": lambda: made(
        ops.tanh(
            ops.conv_transpose(given(1, 32, 32, 64), weight(4, 4, 64, 3), stride=2, padding=1)
        )
    ),
    "bert_gelu": lambda: made(
        ops.gelu(ops.dense(given(128, 768), weight(768, 3072), weight(3072, name="b")))
    ),
    "bert_norm": lambda: made(
        ops.layer_norm(given(128, 768), weight(768, name="scale"), weight(768, name="shift"))
    ),
    "bert_scores": masked_scores,
    "video_conv": lambda: made(
        ops.relu(ops.conv3d(given(1, 8, 14, 14, 32), weight(3, 3, 3, 32, 64), padding=1))
    ),
    "lstm_step": lstm_step,
    "half_matmul": lambda: half_matmul("float16"),
    "bfloat_matmul": lambda: half_matmul("bfloat16"),
    "wide_add": lambda: made(ops.add(given(4096, 1024, name="a"), given(4096, 1024, name="b"))),
    "transpose": lambda: made(ops.transpose(given(48, 80, 33), (2, 0, 1))),
    "concat": lambda: made(ops.concat([given(1, 28, 28, n, name=f"x{n}") for n in (16, 24)], -1)),
    "argmax": lambda: made(ops.argmax(given(64, 1000), 1)),
    "sum_of_all": lambda: made(ops.reduce_sum(given(1 << 16))),
    "odd_matmul": lambda: made(ops.matmul(given(13, 17, name="a"), given(17, 31, name="b"))),
    "gather": lambda: made(
        ops.gather(weight(5000, 64), placeholder((32,), "int64", name="ids"))
    ),
    "log_softmax": lambda: made(ops.log_softmax(given(32, 1000))),
}  # fmt: skip
