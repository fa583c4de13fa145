"""Real operators as tasks: sensible inputs, a tolerance that float32 arithmetic meets.

NumPy's float32 evaluation stands for the compiled reference.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tilewright.expr.operators as op
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import WrongAnswer
from tilewright.measure.inputs import make_inputs
from tilewright.measure.task import MeasureTask
from tilewright.runtime import BufferSpec


def x(*shape: int, dtype: str = "float32") -> Tensor:
    return placeholder(shape, dtype, name="x")


def w(*shape: int, name: str = "w", dtype: str = "float32") -> Tensor:
    return placeholder(shape, dtype, name=name, constant=True)


def _batch_norm() -> Tensor:
    scale, bias, mean, variance = (w(16, name=n) for n in ("scale", "bias", "mean", "variance"))
    return op.batch_norm(x(2, 5, 5, 16), scale, bias, mean, variance)


OPERATORS: dict[str, Callable[[], Tensor]] = {
    "matmul": lambda: op.matmul(x(32, 512), w(512, 32)),
    "matmul of float16": lambda: op.matmul(
        x(32, 512, dtype="float16"), w(512, 32, dtype="float16")
    ),
    "matmul of int8": lambda: op.matmul(x(32, 512, dtype="int8"), w(512, 32, dtype="int8")),
    "conv2d": lambda: op.relu(op.conv2d(x(1, 8, 8, 64), w(3, 3, 64, 16), padding=1)),
    "depthwise": lambda: op.depthwise_conv(x(1, 9, 9, 16), w(3, 3, 16, 1), stride=2),
    "norm": lambda: op.matrix_norm(x(2, 64, 64)),
    "softmax": lambda: op.softmax(x(16, 200)),
    "layer norm": lambda: op.layer_norm(x(16, 200)),
    "gelu": lambda: op.gelu(x(64, 64)),
    "logsumexp": lambda: op.reduce_logsumexp(x(16, 200), axes=(1,)),
    "gather": lambda: op.gather(x(30, 8), placeholder((12,), "int64", name="indices")),
    "argmax": lambda: op.argmax(x(16, 200), axis=1),
    "max pool": lambda: op.max_pool(x(1, 8, 8, 4), 3, stride=2, padding=1),
    "batch norm": _batch_norm,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_float32_evaluation_passes_the_check(name: str) -> None:
    dag = ComputeDAG([OPERATORS[name]()])
    task = MeasureTask.of(name, dag, b"")
    tensors = (*dag.inputs, *dag.constants)
    specs = [BufferSpec(t.name, tuple(map(int, t.shape)), t.dtype.name) for t in tensors]
    outputs = dag.evaluate(make_inputs(specs, task.inputs, task.seed))
    values = [
        np.ascontiguousarray(outputs[t.name]).reshape(-1)[list(points)]
        for t, points in zip(dag.outputs, task.probes, strict=True)
    ]
    assert all(np.isfinite(v.astype(np.float64)).mean() > 0.9 for v in values)
    assert all(len(np.unique(v)) > 1 for v in values)
    task.check_reference([v.tobytes() for v in values])
    values[0][: max(2, len(values[0]) // 100)] += 1
    with pytest.raises(WrongAnswer, match="is wrong"):
        task.check_reference([v.tobytes() for v in values])
