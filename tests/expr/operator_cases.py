"""What the operator tests share: seeded arrays, evaluation, and one ONNX node as a reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder

Array = np.ndarray[Any, Any]


def normal(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    """Standard normal values; integers scaled to a useful range."""
    values = np.random.default_rng(seed + 7 * len(shape)).standard_normal(shape)
    return (values * (1 if np.issubdtype(np.dtype(dtype), np.floating) else 30)).astype(dtype)


def like(name: str, array: Array) -> Tensor:
    """A placeholder of the array's shape and dtype."""
    return placeholder(array.shape, array.dtype.name, name=name)


def run(output: Tensor, **arrays: Array) -> Array:
    """The value of `output`, which must be of the dtype and shape it declares."""
    got = ComputeDAG([output]).evaluate(arrays)[output.name]
    assert got.shape == output.shape
    assert got.dtype == output.dtype.numpy
    return got


def stages(output: Tensor) -> list[str]:
    """Names of the compute stages behind `output`, producers first."""
    return [t.name for t in ComputeDAG([output]).stages]


def onnx_node(
    op: str, *inputs: Array, outputs: int = 1, opset: int = 22, **attributes: Any
) -> Array:
    """The first output of one ONNX node, by onnxruntime; `attributes` as ONNX spells them."""
    names = [f"x{n}" for n in range(len(inputs))]
    infos = [
        onnx.helper.make_tensor_value_info(
            n, onnx.helper.np_dtype_to_tensor_dtype(a.dtype), a.shape
        )
        for n, a in zip(names, inputs, strict=True)
    ]
    results = [f"y{n}" for n in range(outputs)]
    node = onnx.helper.make_node(op, names, results, **attributes)
    out = onnx.helper.make_empty_tensor_value_info("y0")
    graph = onnx.helper.make_graph([node], op, infos, [out])
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=10
    )
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (value,) = session.run(["y0"], dict(zip(names, inputs, strict=True)))
    return np.asarray(value)


def channels_first(x: Array) -> Array:
    """[n, *spatial, c] -> [n, c, *spatial]."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))


def channels_last(x: Array) -> Array:
    """[n, c, *spatial] -> [n, *spatial, c]."""
    return np.moveaxis(x, 1, -1)


def close(got: Array, expected: Array, tolerance: float = 1e-5) -> None:
    """Equal up to `tolerance` of the expected values' scale."""
    scale = max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=0)))
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * scale)
