"""Operators that move elements: each output element is one input element (or a fill value).

    transpose(x, (0, 2, 1))           reshape(x, (2, -1))          concat([a, b], axis=1)
    strided_slice(x, (1,), (9,), (2,))     gather(x, indices, axis=0)     pad(x, ((1, 1), (0, 0)))

Every one is a single stage whose index arithmetic says where an element comes from.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

from tilewright.expr.dtypes import INT64
from tilewright.expr.index.extents import (
    add,
    ceildiv,
    floordiv,
    maximum,
    minimum,
    mul,
    product,
    sub,
)
from tilewright.expr.nodes import (
    Expr,
    Extent,
    Shape,
    Tensor,
    as_expr,
    binary,
    call,
    cast,
    const,
    select,
)
from tilewright.expr.operators.shapes import (
    Unequal,
    at_axis,
    axis_index,
    broadcast_read,
    broadcast_shapes,
    clamped,
    matching_groups,
    number,
    numbers,
)
from tilewright.expr.tensors import canonical, compute
from tilewright.expr.text import extent_text, shape_text
from tilewright.ground.errors import ExprError

END = 2**31 - 1
"""A slice that ends here or later ends with the data."""
GREATEST_FACTOR = 64
"""By which a dimension of any extent is upsampled."""
PAD_MODES = ("constant", "reflect", "edge", "wrap")


def reshape(x: Tensor, shape: Sequence[Extent], *, name: str = "reshape") -> Tensor:
    """The same elements in row-major order under another shape; one extent may be -1.

    Dimensions that stay whole keep plain indices; only those that are merged or divided go
    through a linear index. Raises ExprError when the element counts differ.
    """
    source = x.shape
    target = _infer(tuple(map(canonical, shape)), source, name)
    groups = matching_groups(source, target)

    def body(*index: Any) -> Expr:
        where: list[Any] = [0] * len(source)
        for old, new in groups:
            linear: Any = 0
            for d in new:
                linear = linear * target[d] + index[d]
            inner: Extent = 1
            for d in reversed(old):
                outermost = d == old[0]
                where[d] = linear // inner if outermost else (linear // inner) % source[d]
                inner = mul(inner, source[d])
        return x[tuple(where)]

    return compute(target, body, name=name, dtype=x.dtype)


def _infer(shape: Shape, source: Shape, name: str) -> Shape:
    count = canonical(product(source))
    known = canonical(product(e for e in shape if e != -1))
    rest = canonical(floordiv(count, known)) if known != 0 else 0
    filled = tuple(rest if e == -1 else e for e in shape)
    is_short = any(isinstance(e, int) and e < 1 for e in filled)
    if shape.count(-1) > 1 or canonical(product(filled)) != count or is_short:
        raise ExprError(
            f"{name}: {extent_text(count)} elements of shape {shape_text(source)} cannot take "
            f"shape {shape_text(shape)}"
        )
    return filled


def flatten(x: Tensor, axis: int = 1, *, name: str = "flatten") -> Tensor:
    """A matrix: the dimensions before `axis` merged, and those from it on."""
    cut = axis if 0 <= axis <= x.rank else axis_index(axis, x.rank, name)
    return reshape(x, (product(x.shape[:cut]), product(x.shape[cut:])), name=name)


def transpose(
    x: Tensor, permutation: Sequence[int] | None = None, *, name: str = "transpose"
) -> Tensor:
    """Output dimension `d` is input dimension `permutation[d]`; reversed when not given."""
    order = tuple(range(x.rank))[::-1] if permutation is None else tuple(permutation)
    order = tuple(axis_index(d, x.rank, name) for d in order)
    if sorted(order) != list(range(x.rank)):
        raise ExprError(f"{name}: {permutation} is no permutation of {x.rank} dimensions")
    shape = x.shape

    def body(*index: Any) -> Expr:
        return x[tuple(index[order.index(d)] for d in range(x.rank))]

    return compute(tuple(shape[d] for d in order), body, name=name, dtype=x.dtype)


def concat(tensors: Sequence[Tensor], axis: int = 0, *, name: str = "concat") -> Tensor:
    """Tensors joined along `axis`, as a balanced tree of selects on the index.

    Raises ExprError when their other extents or their dtypes differ.
    """
    if not tensors:
        raise ExprError(f"{name}: nothing to concatenate")
    first = tensors[0]
    at = axis_index(axis, first.rank, name)
    for t in tensors:
        others = (t.shape[:at], t.shape[at + 1 :])
        if others != (first.shape[:at], first.shape[at + 1 :]) or t.dtype != first.dtype:
            message = (
                f"{name}: {t.dtype} {shape_text(t.shape)} does not join {first.dtype} "
                f"{shape_text(first.shape)} along dimension {at}"
            )
            if t.rank == first.rank and t.dtype == first.dtype:
                pairs = (p for d, p in enumerate(zip(t.shape, first.shape, strict=True)) if d != at)
                raise Unequal(message, *next(p for p in pairs if p[0] != p[1]))
            raise ExprError(message)
    starts: list[Extent] = [0]
    for t in tensors:
        starts.append(canonical(add(starts[-1], t.shape[at])))
    shape = (*first.shape[:at], starts[-1], *first.shape[at + 1 :])

    def body(*index: Any) -> Expr:
        def between(low: int, high: int) -> Expr:
            if high - low == 1:
                local = index[at] - starts[low]
                return tensors[low][at_axis(index, at, local)]
            middle = (low + high) // 2
            return select(index[at] < starts[middle], between(low, middle), between(middle, high))

        return between(0, len(tensors))

    return compute(shape, body, name=name, dtype=first.dtype)


def stack(tensors: Sequence[Tensor], axis: int = 0, *, name: str = "stack") -> Tensor:
    """Tensors of one shape joined along a new dimension `axis` of the result."""
    at = axis_index(axis, tensors[0].rank + 1 if tensors else 1, name)
    widened = [
        reshape(t, (*t.shape[:at], 1, *t.shape[at:]), name=f"{name}_{n}")
        for n, t in enumerate(tensors)
    ]
    return concat(widened, at, name=name)


def element(x: Tensor, *, at: int, name: str = "element") -> Tensor:
    """`x[at]` of a vector, a tensor without dimensions."""
    return compute((), lambda: x[at], name=name)


def strided_slice(
    x: Tensor,
    starts: Sequence[Extent],
    stops: Sequence[Extent],
    steps: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    *,
    lengths: Sequence[Extent] | None = None,
    name: str = "slice",
) -> Tensor:
    """`x[start:stop:step]` along `axes` (the leading ones when not given), as NumPy slices.

    Steps may be negative; out-of-range ends are clamped. With `lengths`, so many elements from the
    starts on, which are in range: who knows the ranges of sizes may know that. Raises ExprError on
    an empty result.
    """
    along = tuple(range(len(starts))) if axes is None else tuple(axes)
    steps = (1,) * len(starts) if steps is None else tuple(steps)
    if not len(starts) == len(stops) == len(steps) == len(along):
        raise ExprError(f"{name}: starts, stops, steps and axes differ in length")
    taken = [Taken(0, 1, e) for e in x.shape]
    for n, (axis, start, stop, step) in enumerate(zip(along, starts, stops, steps, strict=True)):
        if step == 0:
            raise ExprError(f"{name}: a step of 0 along dimension {axis}")
        d = axis_index(axis, x.rank, name)
        if lengths is None:
            taken[d] = taken_of(x.shape[d], start, stop, step, name)
        else:
            taken[d] = Taken(start, step, lengths[n])
    return _take(x, taken, name)


class Taken(NamedTuple):
    """`length` elements along a dimension, `step` apart, from `start` on."""

    start: Extent
    step: int
    length: Extent


def taken_of(extent: Extent, start: Extent, stop: Extent, step: int, name: str) -> Taken:
    """What NumPy's slice takes of a dimension; ends over sizes do not count from its end."""
    if isinstance(extent, int) and isinstance(start, int) and isinstance(stop, int):
        found = range(extent)[start:stop:step]
        return Taken(found.start, found.step, len(found))
    if step < 0:
        first, last = (_clamped_from_the_end(extent, e) for e in (start, stop))
        span = canonical(sub(first, last))
    else:
        first, last = (_clamped_end(extent, e) for e in (start, stop))
        span = canonical(sub(last, first))
    return Taken(first, step, canonical(ceildiv(maximum(span, 0), abs(step))))


def _clamped_end(extent: Extent, end: Extent) -> Extent:
    if isinstance(end, int):
        if end < 0:
            return maximum(add(extent, end), 0)
        if end == 0 or end >= END:
            return extent if end else 0
    return extent if end == extent else minimum(extent, end)


def _clamped_from_the_end(extent: Extent, end: Extent) -> Extent:
    """The same where the step is negative: from -1, before the first, to the last."""
    last = sub(extent, 1)
    if isinstance(end, int) and (end == -1 or end >= END):
        return last
    if isinstance(end, int) and end < 0:
        return -1 if end <= -END else maximum(add(extent, end), -1)
    return minimum(last, end)


def _take(x: Tensor, ranges: Sequence[Taken], name: str) -> Tensor:
    if any(r.length == 0 for r in ranges):
        raise ExprError(f"{name}: the slice of {shape_text(x.shape)} has no elements")

    def body(*index: Any) -> Expr:
        return x[tuple(i * r.step + r.start for i, r in zip(index, ranges, strict=True))]

    return compute(tuple(r.length for r in ranges), body, name=name, dtype=x.dtype)


def split(
    x: Tensor, sections: int | Sequence[Extent], axis: int = 0, *, name: str = "split"
) -> list[Tensor]:
    """Consecutive parts along `axis`: `sections` equal ones, or one of each given extent."""
    at = axis_index(axis, x.rank, name)
    extent = x.shape[at]
    sizes: list[Extent]
    if isinstance(sections, int):
        extent = number(extent, name)
        size = -(-extent // sections)
        sizes = [min(size, extent - low) for low in range(0, extent, size)]
    else:
        sizes = list(map(canonical, sections))
    ends = [canonical(e) for e in accumulate((0, *sizes), add)]
    if ends[-1] != extent or any(isinstance(s, int) and s < 1 for s in sizes):
        listed = extent_text(sections) if isinstance(sections, int) else shape_text(sections)
        raise ExprError(f"{name}: {listed} parts do not make up the extent {extent_text(extent)}")
    whole = tuple(Taken(0, 1, e) for e in x.shape)
    parts = [Taken(low, 1, size) for low, size in zip(ends[:-1], sizes, strict=True)]
    return [_take(x, at_axis(whole, at, p), f"{name}_{n}") for n, p in enumerate(parts)]


def gather(x: Tensor, indices: Tensor, axis: int = 0, *, name: str = "gather") -> Tensor:
    """`x` at `indices` along `axis`; the result has the indices' dimensions there.

    A negative index counts from the end. Indices are clamped to the extent, so that no value
    of them reads outside `x`. Raises ExprError when `indices` is not of an integer dtype.
    """
    at = axis_index(axis, x.rank, name)
    shape = x.shape

    def body(*index: Any) -> Expr:
        where = clamped_index(indices[index[at : at + indices.rank]], shape[at], name)
        return x[(*index[:at], where, *index[at + indices.rank :])]

    whole = (*shape[:at], *indices.shape, *shape[at + 1 :])
    return compute(whole, body, name=name, dtype=x.dtype)


def gather_elements(
    x: Tensor, indices: Tensor, axis: int = 0, *, name: str = "gather_elements"
) -> Tensor:
    """y[.., i, ..] = x[.., indices[.., i, ..], ..] along `axis`; clamped like `gather`."""
    at = axis_index(axis, x.rank, name)
    if indices.rank != x.rank:
        raise ExprError(f"{name}: indices {indices.shape} need {x.rank} dimensions")

    def body(*index: Any) -> Expr:
        where = clamped_index(indices[index], x.shape[at], name)
        return x[at_axis(index, at, where)]

    return compute(indices.shape, body, name=name, dtype=x.dtype)


def clamped_index(value: Expr, extent: Extent, name: str) -> Expr:
    """An int64 index within `extent`, negative values counting from the end."""
    if value.dtype.kind not in ("int", "uint"):
        raise ExprError(f"{name}: indices must be integers, not {value.dtype}")
    i = cast(INT64, value)
    return clamped(select(i < 0, i + extent, i), extent)


def pad(
    x: Tensor,
    pads: Sequence[tuple[Extent, Extent]],
    *,
    mode: str = "constant",
    value: float | int | bool = 0,
    name: str = "pad",
) -> Tensor:
    """`x` with `pads[d]` = (before, after) elements added to dimension `d`; negative ones crop.
    Constant ones may be over sizes; an extent over sizes is longer than what is mirrored of it.

    `mode` is "constant" (filled with `value`), "reflect" (mirrored without repeating the edge),
    "edge" or "wrap". Returns `x` itself when every pad is zero.
    """
    if len(pads) != x.rank or mode not in PAD_MODES:
        raise ExprError(
            f"{name}: {len(pads)} pads, mode {mode!r} for shape {x.shape}; modes: {PAD_MODES}"
        )
    if all(isinstance(p, int) and p == 0 for pair in pads for p in pair):
        return x
    shape = x.shape
    whole = tuple(add(e, add(*p)) for e, p in zip(shape, pads, strict=True))

    def body(*index: Any) -> Expr:
        at = [i - before for i, (before, _) in zip(index, pads, strict=True)]
        if mode != "constant":
            fixed = [(number(a, name), number(b, name)) for a, b in pads]
            return x[tuple(PERIODIC[mode](*row) for row in zip(at, shape, fixed, strict=True))]
        tests: list[Expr] = []
        for i, extent, (before, after) in zip(at, shape, pads, strict=True):
            tests += [i >= 0] if not isinstance(before, int) or before > 0 else []
            tests += [i < extent] if not isinstance(after, int) or after > 0 else []
        inside = x[tuple(at)]
        fill = const(value, x.dtype.compute)
        return select(reduce(operator.and_, tests), inside, fill) if tests else inside

    return compute(whole, body, name=name, dtype=x.dtype)


def _edge(i: Any, extent: Extent, pads: tuple[int, int]) -> Expr:
    i = binary("max", i, 0) if pads[0] > 0 else i
    return binary("min", i, extent - 1) if pads[1] > 0 else as_expr(i)


def _reflect(i: Any, extent: Extent, pads: tuple[int, int]) -> Expr:
    """(n - 1) - |(n - 1) - |i||; a pad longer than the data bounces with period 2 (n - 1)."""
    if not any(pads):
        return as_expr(i)
    last = extent - 1
    if isinstance(last, int) and max(pads) > last:
        i = i % max(2 * last, 1)
    elif pads[0] > 0:
        i = call("abs", i)
    bounces = pads[1] > 0 or (isinstance(last, int) and max(pads) > last)
    return as_expr(last - call("abs", last - i) if bounces else i)


def _wrap(i: Any, extent: Extent, pads: tuple[int, int]) -> Expr:
    return i % extent if any(p > 0 for p in pads) else as_expr(i)


PERIODIC: dict[str, Callable[[Any, Extent, tuple[int, int]], Expr]] = {
    "edge": _edge,
    "reflect": _reflect,
    "wrap": _wrap,
}


def broadcast_to(x: Tensor, shape: Sequence[Extent], *, name: str = "broadcast") -> Tensor:
    """`x` repeated to `shape` (or to the shape both broadcast to, as ONNX Expand does)."""
    whole = broadcast_shapes(x.shape, tuple(map(canonical, shape)))
    return compute(whole, lambda *i: broadcast_read(x, i), name=name, dtype=x.dtype)


def tile(x: Tensor, repeats: Sequence[int], *, name: str = "tile") -> Tensor:
    """`x` repeated `repeats[d]` times along dimension `d`."""
    if len(repeats) != x.rank:
        raise ExprError(f"{name}: {len(repeats)} repeats for {x.rank} dimensions")
    shape = x.shape
    whole = tuple(mul(e, int(r)) for e, r in zip(shape, repeats, strict=True))

    def body(*index: Any) -> Expr:
        return x[tuple(i % e for i, e in zip(index, shape, strict=True))]

    return compute(whole, body, name=name, dtype=x.dtype)


def depth_to_space(
    x: Tensor, block: int, *, mode: str = "DCR", name: str = "depth_to_space"
) -> Tensor:
    """[n, h, w, c] -> [n, h * b, w * b, c / b²] for a block b.

    `mode` is ONNX's: "DCR" takes channels in the order (b, b, c / b²), "CRD" as (c / b², b, b).
    """
    n, h, w, c = _image(x, name)
    if c % (block * block) or mode not in ("DCR", "CRD"):
        raise ExprError(f"{name}: {c} channels, block {block}, mode {mode!r} (DCR or CRD)")
    depth = c // (block * block)

    def body(n: Any, h: Any, w: Any, c: Any) -> Expr:
        phase = (h % block) * block + w % block
        channel = phase * depth + c if mode == "DCR" else c * (block * block) + phase
        return x[n, h // block, w // block, channel]

    return compute((n, mul(h, block), mul(w, block), depth), body, name=name, dtype=x.dtype)


def space_to_depth(
    x: Tensor, block: int, *, mode: str = "DCR", name: str = "space_to_depth"
) -> Tensor:
    """[n, h, w, c] -> [n, h / b, w / b, b² * c], channels ordered (b, b, c); (c, b, b) in "CRD"."""
    n, *sides, c = _image(x, name)
    h, w = numbers(sides, name)
    if h % block or w % block or mode not in ("DCR", "CRD"):
        raise ExprError(f"{name}: block {block} of {h} x {w}, mode {mode!r} (DCR or CRD)")
    depth = c

    def body(n: Any, h: Any, w: Any, c: Any) -> Expr:
        if mode == "DCR":
            phase, channel = c // depth, c % depth
        else:
            phase, channel = c % (block * block), c // (block * block)
        return x[n, h * block + phase // block, w * block + phase % block, channel]

    return compute((n, h // block, w // block, c * block * block), body, name=name, dtype=x.dtype)


def _image(x: Tensor, name: str) -> tuple[Extent, Extent, Extent, int]:
    if x.rank != 4:
        raise ExprError(f"{name} needs [n, h, w, c], got {x.shape}")
    n, h, w, c = x.shape
    return n, h, w, number(c, name)


def upsample_nearest(x: Tensor, shape: Sequence[Extent], *, name: str = "upsample") -> Tensor:
    """Spatial dimensions resized to `shape`: output `i` reads input floor(i * in / out). One that
    varies with sizes grows by a whole factor, up to 64, or stays.
    """
    spatial = x.shape[1:-1]
    if len(shape) != len(spatial):
        raise ExprError(f"{name}: shape {shape} for the spatial dimensions {spatial}")
    sides = tuple(map(canonical, shape))
    whole = (x.shape[0], *sides, x.shape[-1])

    def body(n: Any, *index: Any) -> Expr:
        *at, c = index
        rows = zip(at, spatial, sides, strict=True)
        return x[(n, *(_scaled(i, old, new, name) for i, old, new in rows), c)]

    return compute(whole, body, name=name, dtype=x.dtype)


def _scaled(i: Any, old: Extent, new: Extent, name: str) -> Expr:
    if isinstance(old, int) and isinstance(new, int):
        return as_expr(i // (new // old) if new % old == 0 else (i * old) // new)
    for factor in range(1, GREATEST_FACTOR + 1):
        if canonical(mul(old, factor)) == new:
            return as_expr(i if factor == 1 else i // factor)
    raise ExprError(f"{name} needs a number where the extent is {extent_text(old)}")
