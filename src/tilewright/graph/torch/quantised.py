"""Quantised programs of PyTorch 2's export (`torch.ops.quantized_decomposed`) in ONNX's terms.

    dequantize_per_tensor(q, s, z, low, high, dtype)    →  DequantizeLinear(q, s, z)
    quantize_per_tensor(x, s, z, low, high, dtype)      →  Cast(Clip(Round(x · 1/s) + z, low, high))
    choose_qparams(x, low, high, eps, dtype)            →  its math

torch's own ONNX exporter knows none of them. QuantizeLinear would divide, which PyTorch does not.
Who quantises registers the operators, so they are known by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from onnx import TensorProto
from onnxscript import opset18 as op

NAMESPACE = "quantized_decomposed"


def translations(program: Any) -> dict[Any, Callable[..., Any]]:
    """The exporter's translation of each operator of a program that it has not and we have."""
    parts = program.graph_module.modules()
    targets = {n.target for p in parts for n in p.graph.nodes if n.op == "call_function"}
    return {t: TRANSLATIONS[str(t)] for t in targets if str(t) in TRANSLATIONS}


def _number(value: Any, kind: int) -> Any:
    """A number or a tensor as a tensor of `kind`."""
    if isinstance(value, float):
        value = op.Constant(value_float=value)
    elif isinstance(value, int):
        value = op.Constant(value_int=value)
    return op.Cast(value, to=kind)


def _quantize(
    x: Any, scale: Any, zero: Any, low: Any, high: Any, dtype: int, *, axis: int | None = None
) -> Any:
    real = TensorProto.FLOAT
    times = _number(1.0 / scale, real) if isinstance(scale, float) else op.Reciprocal(scale)
    times, zero = _number(times, real), _number(zero, real)
    if axis is not None:
        shape = op.Constant(value_ints=[-1] + [1] * (len(x.shape) - 1 - axis % len(x.shape)))
        times, zero = op.Reshape(times, shape), op.Reshape(zero, shape)
    y = op.Add(op.Round(op.Mul(_number(x, real), times)), zero)
    return op.Cast(op.Clip(y, _number(low, real), _number(high, real)), to=dtype)


def _dequantize(
    x: Any,
    scale: Any,
    zero: Any,
    low: Any,
    high: Any,
    dtype: int,
    *,
    axis: int = 1,
    out_dtype: int | None = None,
) -> Any:
    pair = _number(scale, TensorProto.FLOAT), _number(0 if zero is None else zero, dtype)
    y = op.DequantizeLinear(x, *pair, axis=axis)
    return y if out_dtype in (None, TensorProto.FLOAT) else op.Cast(y, to=out_dtype)


def _along(translation: Callable[..., Any]) -> Callable[..., Any]:
    """Of one scale a channel."""

    def translated(x: Any, scale: Any, zero: Any, axis: int, *rest: Any, **options: Any) -> Any:
        return translation(x, scale, zero, *rest, axis=axis, **options)

    return translated


TRANSLATIONS: Mapping[str, Callable[..., Any]] = {
    **{
        f"{NAMESPACE}.{name}_per_tensor.{kind}": translation
        for name, translation in (("quantize", _quantize), ("dequantize", _dequantize))
        for kind in ("default", "tensor", "tensor2")
    },
    f"{NAMESPACE}.quantize_per_channel.default": _along(_quantize),
    f"{NAMESPACE}.dequantize_per_channel.default": _along(_dequantize),
}
"""In ONNX's operators, by the name of PyTorch's."""


def _choose(symmetric: bool, x: Any, low: int, high: int, eps: float, dtype: Any) -> Any:
    """The scale and zero point [1] of a tensor."""
    flat = x.flatten()
    if not symmetric:
        return _between_ends(flat, low, high, eps)
    scale = (flat.abs().amax(-1, keepdim=True) / ((high - low) / 2)).clamp(min=eps)
    zero = torch.full_like(scale, 128 if dtype == torch.uint8 else 0, dtype=torch.int64)
    return scale.to(torch.float64), zero


def _between_ends(x: Any, low: int, high: int, eps: float) -> Any:
    """Scales and zero points [.., 1] such that rows of `x`, and 0, are from `low` to `high`."""
    least, most = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
    scale = ((most - least) / (high - low)).clamp(min=eps)
    zero = (low - torch.round(least / scale)).clamp(low, high)
    return scale.to(torch.float64), zero.to(torch.int64)


def _choose_by_rows(x: Any, dtype: Any) -> Any:
    """Scales [.., 1] of the rows of a tensor, without zero points."""
    scales = x.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127
    return scales, torch.zeros_like(scales)


def _choose_ends_by_rows(x: Any, dtype: Any) -> Any:
    return _between_ends(x, -128, 127, torch.finfo(torch.float32).eps)


def _quantize_rows(x: Any, scales: Any, zeros: Any, low: int, high: int, dtype: Any) -> Any:
    return (x * (1.0 / scales) + zeros).round().clamp(low, high).to(dtype)


def _dequantize_rows(
    x: Any, scales: Any, zeros: Any, low: int, high: int, dtype: Any, output_dtype: Any
) -> Any:
    return ((x - zeros) * scales).to(output_dtype)


DECOMPOSED: Mapping[str, Callable[..., Any]] = {
    f"{NAMESPACE}.choose_qparams.tensor": partial(_choose, False),
    f"{NAMESPACE}.choose_qparams_symmetric.tensor": partial(_choose, True),
    f"{NAMESPACE}.choose_qparams_per_token.default": _choose_by_rows,
    f"{NAMESPACE}.choose_qparams_per_token_asymmetric.default": _choose_ends_by_rows,
    f"{NAMESPACE}.quantize_per_token.default": _quantize_rows,
    f"{NAMESPACE}.dequantize_per_token.default": _dequantize_rows,
}
"""In PyTorch's own operators."""
