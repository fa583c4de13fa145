"""Convolutions of narrow numbers and few channels, whose sums along channels alone would fill no
instruction: a row of a window is one run of memory, columns and channels together.

    conv(x[n, h, w, 3], k[7, 7, 3, o]; stride 2)
      →   conv(x, padded, as [n, h, w * 3, 1], k as [7, 24, 1, o]; stride (2, 6))

Runs are made as long as whole words: of integers by zero weights, whatever is read there; of
floats, where zero times infinity is no zero, by zero channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.expr.contraction.groups import NARROW
from tilewright.expr.dtypes import dtype
from tilewright.expr.operators.shapes import numbers, padding_pairs, per_axis
from tilewright.graph.builder import Rewriter
from tilewright.graph.ir import Graph, Node, Value
from tilewright.graph.passes.channels_last import channels_last

WORD_BITS = 32
FEW = 16
"""Channels: of fewer a sum is shorter than what instructions multiply at once."""
SHORTEST = 8
"""Terms of a run: fewer gain nothing."""


def row_windows(graph: Graph) -> Graph:
    """`graph` with such convolutions as sums along rows; transpositions come after the pads."""
    found = {n for n in graph.nodes if _is_narrow(n) and is_of_rows(n) and _has_width(n)}
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        if node in found:
            rewriter.replace(node.output, _along_rows(rewriter, node))
        else:
            rewriter.keep(node)
    return channels_last(rewriter.finish()) if found else graph


def has_rows(taps: int, channels: int, outputs: int, dilation: int) -> bool:
    """Whether rows of so many taps are longer than their few channels, and long enough."""
    few = taps > 1 and dilation == 1 and channels < FEW
    return few and min(taps * channels, outputs) >= SHORTEST


def is_of_rows(node: Node) -> bool:
    """Whether a convolution with known weights has such rows."""
    if node.op != "conv" or node.attributes.get("groups", 1) != 1 or not node.inputs[1].is_constant:
        return False
    *_, taps, channels, outputs = node.inputs[1].shape
    return has_rows(taps, channels, outputs, _per_axis(node, "dilation")[-1])


def _is_narrow(node: Node) -> bool:
    narrow = NARROW.get(node.output.dtype, ())
    return all(v.dtype in narrow for v in node.inputs[:2])


def _has_width(node: Node) -> bool:
    """Whether rows of the image have a length that is known, and so have those of the result."""
    return all(isinstance(v.extents[-2], int) for v in (node.inputs[0], node.output))


def _along_rows(rewriter: Rewriter, node: Node) -> Value:
    build = rewriter.builder
    x, *rest = rewriter.operands(node)
    weights = node.inputs[1].constant
    assert weights is not None, "the match asks for constant weights"
    *above, taps, channels, outputs = weights.shape
    word, more = WORD_BITS // dtype(x.dtype).bits, 0
    if dtype(x.dtype).is_float:
        more = next(n for n in range(word) if taps * (channels + n) % word == 0)
        weights = np.pad(weights, _behind(x.rank, -2, more))
        channels += more
    rows = weights.reshape(*above, taps * channels, 1, outputs)
    rows = np.pad(rows, _behind(x.rank, -3, -taps * channels % word))
    *strides, stride = _per_axis(node, "stride")
    *pads, (before, after) = padding_pairs(_given(node, "padding", 0), x.rank - 2)
    count, width = numbers((node.output.extents[-2], x.extents[-2]), node.op)
    columns = (count - 1) * stride + -(-rows.shape[-3] // channels)
    after = max(after, columns - before - width)
    around = ((0, 0), *pads, (before, after), (0, more))
    if any(p != 0 for pair in around for p in pair):
        x = build.emit("pad", x, pads=around)
    width += before + after
    flat = build.reshape(x, (*x.extents[:-2], width * channels, 1))
    operands = (flat, build.constant(f"{node.inputs[1].name}.rows", rows), *rest[1:])
    return build.copy(node, operands, stride=(*strides, stride * channels), padding=0)


def _behind(rank: int, axis: int, count: int) -> tuple[tuple[int, int], ...]:
    """Pads of so many elements at the end of one dimension."""
    return tuple((0, count if d == rank + axis else 0) for d in range(rank))


def _given(node: Node, name: str, usual: int) -> Any:
    return node.attributes.get(name, usual)


def _per_axis(node: Node, name: str) -> tuple[int, ...]:
    return per_axis(_given(node, name, 1), node.output.rank - 2, name)
