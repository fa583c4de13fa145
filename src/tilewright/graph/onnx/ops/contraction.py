"""ONNX convolutions and matrix products, written on channels-last operands.

    Conv(x[n, c, h, w], w[o, c, kh, kw])  →  transpose(conv(transpose(x), w[kh, kw, c, o]))

The transposes of activations cancel in the channels-last pass; those of weights are done here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from tilewright.expr.index.extents import add, floordiv, maximum, mul, sub
from tilewright.expr.nodes import Extent
from tilewright.expr.operators.shapes import Pairs, numbers
from tilewright.expr.tensors import canonical
from tilewright.graph.ir import Attribute, Value
from tilewright.graph.onnx.ops.call import OperatorCall, Translator

Ints: TypeAlias = Sequence[int]


def channels_last(call: OperatorCall, x: Value) -> Value:
    """[n, c, *spatial] → [n, *spatial, c]."""
    if x.rank < 3:
        call.reject(f"its input {x} has no spatial dimension")
    return call.builder.transpose(x, (0, *range(2, x.rank), 1))


def channels_first(call: OperatorCall, x: Value) -> Value:
    """[n, *spatial, c] → [n, c, *spatial]."""
    return call.builder.transpose(x, (0, x.rank - 1, *range(1, x.rank - 1)))


def on_image(
    call: OperatorCall, op: str, x: Value, *operands: Value, **attributes: Attribute
) -> Value:
    """A channels-last operator on a channels-first image."""
    return channels_first(call, call.emit(op, channels_last(call, x), *operands, **attributes))


def sliding(
    call: OperatorCall,
    spatial: Sequence[Extent],
    kernel: Ints,
    *,
    auto_pad: str = "NOTSET",
    strides: Ints | None = None,
    pads: Ints | None = None,
    dilations: Ints | None = None,
) -> dict[str, Any]:
    """How windows slide, from ONNX's attributes: the library's `Sliding`."""
    ones = (1,) * len(spatial)
    found = {"stride": strides or ones, "dilation": dilations or ones}
    listed = pads if auto_pad == "NOTSET" and pads else (0,) * (2 * len(spatial))
    padding: Pairs = tuple(zip(listed[: len(spatial)], listed[len(spatial) :], strict=True))
    if auto_pad not in ("NOTSET", "VALID"):
        rows = zip(spatial, kernel, found["stride"], found["dilation"], strict=True)
        padding = tuple(_same(call, auto_pad, *row) for row in rows)
    return {**found, "padding": padding}


def _same(
    call: OperatorCall, auto_pad: str, extent: Extent, kernel: int, stride: int, dilation: int
) -> tuple[Extent, Extent]:
    """The padding with which there are as many windows as strides. Behind an extent over sizes it
    is as much as some of them need: no window reads the rest.
    """
    most = (kernel - 1) * dilation
    spare: Extent = sub(extent, 1) % stride  # elements behind the last stride's first
    total = canonical(maximum(sub(most, spare), 0) if most + 1 < stride else sub(most, spare))
    before, after = _shared(call, auto_pad, total)
    return before, after if isinstance(total, int) else canonical(sub(most, before))


def _shared(call: OperatorCall, auto_pad: str, total: Extent) -> tuple[Extent, Extent]:
    """What of `total` comes before and after; an odd one is larger by one after in SAME_UPPER."""
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER", "NOTSET", "VALID"):
        call.reject(f"auto_pad {auto_pad!r} is not known")
    less, more = canonical(floordiv(total, 2)), canonical(floordiv(add(total, 1), 2))
    return (less, more) if auto_pad == "SAME_UPPER" else (more, less)


def conv(
    call: OperatorCall,
    x: Value,
    w: Value,
    bias: Value | None = None,
    *,
    group: int = 1,
    kernel_shape: Ints | None = None,
    **window: Any,
) -> Value:
    """`x` with weights `w`, both channels-first."""
    if kernel_shape and tuple(kernel_shape) != w.shape[2:]:
        call.reject(f"its kernel_shape {kernel_shape} is not that of its weights {w}")
    nhwc = channels_last(call, x)
    options = sliding(call, x.extents[2:], w.shape[2:], **window)
    kernel = call.builder.transpose(w, (*range(2, w.rank), 1, 0))
    if group > 1 and group == x.extents[1] and w.shape[1] == 1:
        kernel = call.builder.reshape(kernel, (*w.shape[2:], group, w.shape[0] // group))
        y = call.emit("depthwise_conv", nhwc, kernel, **options)
    else:
        y = call.emit("conv", nhwc, kernel, **options, groups=group)
    return channels_first(call, _with_bias(call, y, bias))


def _with_bias(call: OperatorCall, y: Value, bias: Value | None) -> Value:
    return y if bias is None else call.builder.emit("add", y, bias, name=f"{call.name}.bias")


def conv_transpose(
    call: OperatorCall,
    x: Value,
    w: Value,
    bias: Value | None = None,
    *,
    group: int = 1,
    kernel_shape: Ints | None = None,
    auto_pad: str = "NOTSET",
    output_padding: Ints | None = None,
    output_shape: Ints | None = None,
    **window: Any,
) -> Value:
    """Pads are explicit, or follow from the `output_shape` (in · stride for SAME)."""
    spatial, kernel = x.extents[2:], w.shape[2:]
    options = sliding(call, spatial, kernel, **window)
    extra = tuple(output_padding or (0,) * len(spatial))
    wanted: Sequence[Extent] | None = output_shape
    if wanted is None and auto_pad not in ("NOTSET", "VALID"):
        wanted = [mul(n, s) for n, s in zip(spatial, options["stride"], strict=True)]
    if wanted is not None:
        rows = zip(spatial, kernel, options["stride"], options["dilation"], extra, strict=True)
        reached = [add(mul(sub(n, 1), s), (k - 1) * d + 1 + e) for n, k, s, d, e in rows]
        left = [canonical(sub(whole, out)) for whole, out in zip(reached, wanted, strict=True)]
        totals = numbers(left, "what an output shape leaves for padding")
        extra = tuple(e + max(0, -t) for e, t in zip(extra, totals, strict=True))
        options["padding"] = tuple(_shared(call, auto_pad, max(0, t)) for t in totals)
    elif auto_pad == "VALID":
        options["padding"] = ((0, 0),) * len(spatial)
    y = call.emit(
        "conv_transpose",
        channels_last(call, x),
        call.builder.transpose(w, (*range(2, w.rank), 0, 1)),
        **options,
        output_padding=extra,
        groups=group,
    )
    return channels_first(call, _with_bias(call, y, bias))


def matmul(call: OperatorCall, a: Value, b: Value) -> Value:
    """NumPy's rules: a vector operand is a matrix of one row or column."""
    left = call.builder.reshape(a, (1, *a.extents)) if a.rank == 1 else a
    right = call.builder.reshape(b, (*b.extents, 1)) if b.rank == 1 else b
    y = call.emit("matmul", left, right)
    shape = list(y.extents)
    if b.rank == 1:
        shape.pop()
    if a.rank == 1:
        shape.pop(-1 if b.rank == 1 else -2)
    return call.builder.reshape(y, shape)


def gemm(
    call: OperatorCall,
    a: Value,
    b: Value,
    c: Value | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: bool = False,
    transB: bool = False,
) -> Value:
    """alpha · a' b' + beta · c."""
    a = call.builder.transpose(a, (1, 0)) if transA else a
    b = call.builder.transpose(b, (1, 0)) if transB else b
    y = _scaled(call, call.emit("matmul", a, b), alpha)
    return y if c is None else _with_bias(call, y, _scaled(call, c, beta))


def _scaled(call: OperatorCall, x: Value, factor: float) -> Value:
    if factor == 1.0:
        return x
    if x.constant is not None:
        return call.literal(x.constant * factor, x)
    return call.emit("multiply", x, call.literal(factor, x))


CONTRACTION: dict[str, Translator] = {
    "ConvTranspose": conv_transpose,
    "Einsum": "einsum",
}
