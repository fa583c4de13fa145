"""PyTorch operators written as others, where torch's own ONNX exporter has no translation of them,
or a wrong one.

    program = decomposed(program)        an ExportedProgram; the same one if it has none of them

The exporter takes `logsigmoid` for the logarithm of a sigmoid, which is -inf where the sigmoid is
0; it leaves out the divisor of an average pooling; attention that masks all keys of a query is
their average there instead of zeros; and it does not know the fused operators by which PyTorch's
transformer modules compute for inference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from tilewright.graph.torch.quantised import DECOMPOSED


def decomposed(program: Any) -> Any:
    """The program with the operators of `DECOMPOSITIONS`, and contexts of torch.autocast, written
    out.
    """
    parts = program.graph_module.modules()
    calls = [n for part in parts for n in part.graph.nodes if n.op == "call_function"]
    known = [n for n in calls if str(n.target) in DECOMPOSITIONS]
    if any(n.target is torch.ops.higher_order.wrap_with_autocast for n in calls):
        changed = known  # the types within are known when it is written out
    else:
        changed = [n for n in known if _writes_out(n)]
        if not changed:
            return program
    return program.run_decompositions({n.target: DECOMPOSITIONS[str(n.target)] for n in changed})


def _writes_out(node: Any) -> bool:
    """Whether the decomposition of a node's operator has something to say about its operands."""
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    return DECOMPOSITIONS[str(node.target)](*args, **kwargs) is not NotImplemented


def _log_sigmoid(x: Any) -> Any:
    """log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|)), whose exponential is at most 1."""
    return x.clamp(max=0) - torch.log1p(torch.exp(-x.abs()))


def _average_pool(
    rank: int,
    x: Any,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """With a divisor of its own it is the average, times their ratio, of windows that are all
    inside of a tensor padded by hand.
    """
    if divisor_override is None:
        return NotImplemented
    pool = functional.avg_pool2d if rank == 2 else functional.avg_pool3d
    sizes, steps, before = (_each(v, rank) for v in (kernel, stride or kernel, padding))
    extents = pool(x, sizes, steps, before, ceil_mode).shape[-rank:]
    reached = [(e - 1) * step + size for e, step, size in zip(extents, steps, sizes, strict=True)]
    after = [max(0, r - b - n) for r, b, n in zip(reached, before, x.shape[-rank:], strict=True)]
    pads = [p for pair in zip(reversed(before), reversed(after), strict=True) for p in pair]
    return pool(functional.pad(x, pads), sizes, steps) * (math.prod(sizes) / divisor_override)


def _each(values: Sequence[int], rank: int) -> list[int]:
    """One value for each of `rank` dimensions, of which one may stand for all."""
    return list(values) * (rank if len(values) == 1 else 1)


def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Attention with a mask: a query that sees no key gives zeros.

    A key masked by a bool has the lowest finite score, as in the exporter's own translation: sums
    that are taken in parts have no infinity to subtract from itself.
    """
    if attn_mask is None or dropout_p or is_causal:
        return NotImplemented
    if enable_gqa:
        key, value = (
            t.repeat_interleave(query.size(-3) // t.size(-3), -3, output_size=query.size(-3))
            for t in (key, value)
        )
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = (query * factor) @ key.transpose(-2, -1)
    if attn_mask.dtype == torch.bool:
        seen, scores = attn_mask, torch.where(attn_mask, scores, torch.finfo(scores.dtype).min)
    else:
        seen, scores = attn_mask > -math.inf, scores + attn_mask
    return torch.where(seen.any(-1, keepdim=True), scores.softmax(-1) @ value, 0.0)


def _layer_norm(
    x: Any, shape: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    """Of 16 bits with weights of 32, as torch.autocast leaves it."""
    dtype = x.dtype if weight is None else weight.dtype
    if dtype == x.dtype:
        return NotImplemented
    return functional.layer_norm(x.to(dtype), shape, weight, bias, eps).to(x.dtype)


def _fused_attention(
    query: Any,
    key: Any,
    value: Any,
    width: int,
    heads: int,
    qkv_weight: Any,
    qkv_bias: Any,
    out_weight: Any,
    out_bias: Any,
    mask: Any = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Any, Any]:
    """Multi-head attention of tensors [batch, length, width], and its weights (None if not needed).

    Whatever is not zero in `mask` is masked: of type 0 it is [queries, keys], of type 1 [batch,
    keys], else [batch, heads, queries, keys].
    """
    weights, biases = qkv_weight.chunk(3), qkv_bias.chunk(3)
    q, k, v = (
        functional.linear(t, w, b).unflatten(-1, (heads, -1)).transpose(1, 2)
        for t, w, b in zip((query, key, value), weights, biases, strict=True)
    )
    scores = (q / math.sqrt(width // heads)) @ k.transpose(-2, -1)
    if mask is not None:
        hidden = mask[:, None, None] if mask_type == 1 else mask
        scores = scores.masked_fill(hidden.to(torch.bool), -math.inf)
    shares = scores.softmax(-1)
    mixed = (shares @ v).transpose(1, 2).flatten(2)
    kept = shares.mean(1) if average_attn_weights else shares
    return functional.linear(mixed, out_weight, out_bias), kept if need_weights else None


def _transformer_encoder_layer(
    x: Any,
    width: int,
    heads: int,
    qkv_weight: Any,
    qkv_bias: Any,
    out_weight: Any,
    out_bias: Any,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    *rest: Any,
) -> Any:
    """nn.TransformerEncoderLayer as its forward function has it for training.

    `rest` are weights and biases of two norms and two linear layers, a mask and its type.
    """
    norm1, norm2, linear1, linear2 = (rest[i : i + 2] for i in (0, 2, 4, 6))
    mask, mask_type = (*rest[8:], None, None)[:2]
    normed = partial(functional.layer_norm, normalized_shape=(width,), eps=eps)
    activation = functional.gelu if use_gelu else functional.relu

    def attend(y: Any) -> Any:
        weights = (qkv_weight, qkv_bias, out_weight, out_bias)
        return _fused_attention(y, y, y, width, heads, *weights, mask, False, True, mask_type)[0]

    def feed(y: Any) -> Any:
        return functional.linear(activation(functional.linear(y, *linear1)), *linear2)

    def added(y: Any, z: Any) -> Any:
        return (y + z).to(y.dtype)  # in place: of two types that torch.autocast gives, the first

    if norm_first:
        x = added(attend(normed(x, weight=norm1[0], bias=norm1[1])), x)
        return added(feed(normed(x, weight=norm2[0], bias=norm2[1])), x)
    x = normed(added(attend(x), x), weight=norm1[0], bias=norm1[1])
    return normed(added(feed(x), x), weight=norm2[0], bias=norm2[1])


DECOMPOSITIONS: Mapping[str, Callable[..., Any]] = {
    "aten.log_sigmoid.default": _log_sigmoid,
    "aten.avg_pool2d.default": partial(_average_pool, 2),
    "aten.avg_pool3d.default": partial(_average_pool, 3),
    "aten.scaled_dot_product_attention.default": _attention,
    "aten.layer_norm.default": _layer_norm,
    "aten._native_multi_head_attention.default": _fused_attention,
    "aten._transformer_encoder_layer_fwd.default": _transformer_encoder_layer,
    **DECOMPOSED,
}
"""By the operator's name. A decomposition that gives NotImplemented leaves it as it is."""

FUSED: Mapping[Any, Callable[..., Any]] = {
    torch._native_multi_head_attention: _fused_attention,
    torch._transformer_encoder_layer_fwd: _transformer_encoder_layer,
}
"""The fused operators as a captured graph has them: what a torch.autocast changes is inside."""
