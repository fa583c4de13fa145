"""ONNX operators that move elements: reshapes, transposes, slices, joins, gathers, pads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from tilewright.expr.index.extents import add, floordiv, product
from tilewright.expr.nodes import Extent, Shape
from tilewright.expr.operators.movement import END, PAD_MODES
from tilewright.expr.operators.shapes import broadcast_shapes, number, numbers
from tilewright.expr.sizes import least
from tilewright.expr.tensors import canonical
from tilewright.expr.text import extent_text, shape_text
from tilewright.graph.ir import Value
from tilewright.graph.linear import ScaledElement
from tilewright.graph.onnx.ops.call import Given, OperatorCall, Translator
from tilewright.graph.onnx.ops.contraction import Ints, on_image
from tilewright.graph.onnx.ops.selection import element, slice_between


def reshape(call: OperatorCall, x: Value, shape: Given, *, allowzero: bool = False) -> Value:
    """0 copies an extent (unless `allowzero`), -1 takes what remains; an attribute at first."""
    wanted = call.extents(shape, "shape")
    dims = [x.extents[d] if n == 0 and not allowzero else n for d, n in enumerate(wanted)]
    count = canonical(product(x.extents))
    if -1 in dims:
        known = canonical(product(n for n in dims if n != -1))
        dims[dims.index(-1)] = canonical(floordiv(count, 1 if known == 0 else known))
    if canonical(product(dims)) != count:
        call.reject(f"{x} cannot take the shape {shape_text(wanted)}")
    return call.builder.reshape(x, dims, call.name)


def flatten(call: OperatorCall, x: Value, *, axis: int = 1) -> Value:
    cut = axis + x.rank if axis < 0 else axis
    return call.builder.reshape(x, (product(x.extents[:cut]), product(x.extents[cut:])), call.name)


def squeeze(call: OperatorCall, x: Value, axes: Given = None) -> Value:
    wanted = call.ints(axes, "axes")
    if wanted is None:
        wanted = tuple(d for d, n in enumerate(x.extents) if n == 1)
    gone = {call.axis(a, x.rank) for a in wanted}
    if any(x.extents[d] != 1 for d in gone):
        call.reject(f"axes {sorted(gone)} of {x} are not all of extent 1")
    rest = [n for d, n in enumerate(x.extents) if d not in gone]
    return call.builder.reshape(x, rest, call.name)


def unsqueeze(call: OperatorCall, x: Value, axes: Given = None) -> Value:
    wanted = call.ints(axes, "axes") or ()
    rank = x.rank + len(wanted)
    new = {call.axis(a, rank) for a in wanted}
    rest = iter(x.extents)
    return call.builder.reshape(x, [1 if d in new else next(rest) for d in range(rank)], call.name)


def transpose(call: OperatorCall, x: Value, *, perm: Ints | None = None) -> Value:
    return call.builder.transpose(x, perm or tuple(range(x.rank))[::-1], call.name)


def concat(call: OperatorCall, *parts: Value, axis: int = 1) -> Value:
    filled = [p for p in parts if 0 not in p.extents]
    return call.joined(filled, call.axis(axis, filled[0].rank))


def split(call: OperatorCall, x: Value, split: Given = None, *, axis: int = 0) -> Sequence[Value]:
    """Parts given as an input (opset 13), an attribute, `num_outputs`, or as many as outputs."""
    axis = call.axis(axis, x.rank)
    extent, count = x.extents[axis], len(call.used_outputs)
    if split is None:
        whole = number(extent, f"a split of {x.name}")
        size = -(-whole // count)
        sizes: Shape = tuple(min(size, whole - low) for low in range(0, whole, size))
    else:
        sizes = call.extents(split, "split")
    ends = [canonical(e) for e in accumulate((0, *sizes), add)]
    if ends[-1] != extent or len(sizes) != count:
        call.reject(f"parts {shape_text(sizes)} along dimension {axis} do not make up {x}")
    return [_slice(call, x, (low,), (end,), (1,), (axis,)) for low, end in pairwise(ends)]


def slice_(
    call: OperatorCall,
    x: Value,
    starts: Given,
    ends: Given,
    axes: Given = None,
    steps: Given = None,
) -> Value:
    """Inputs since opset 10, attributes before. Where both ends are one run-time value and a known
    number, so that the extent is known, the elements are gathered; where they are not, as many.
    """
    if call.depends(starts, ends):
        first, last = call.extents(starts, "starts"), call.extents(ends, "ends")
        along = call.ints(axes, "axes") or range(len(first))
        by_one = call.ints(steps, "steps") or (1,) * len(first)
        return _slice(call, x, first, last, by_one, [call.axis(a, x.rank) for a in along])
    low, high = call.numbers(starts, "starts"), call.numbers(ends, "ends")
    over = call.ints(axes, "axes") or tuple(range(len(low)))
    step = call.ints(steps, "steps") or (1,) * len(low)
    known: list[tuple[int, int, int, int]] = []
    for at, (start, end, by, a) in enumerate(zip(low, high, step, over, strict=True)):
        axis = call.axis(a, x.rank)
        if start.root is None and end.root is None:
            known.append((start.offset, end.offset, by, axis))
            continue
        count = start.steps_to(end, by)
        if count is None and by == 1:
            x = slice_between(call, x, element(call, starts, at), element(call, ends, at), axis)
        elif count is None:
            call.known(starts, "starts"), call.known(ends, "ends")
        elif count:
            x = call.emit("gather", x, call.progression(start, count, by), axis=axis)
        else:
            shape = numbers((*x.extents[:axis], 0, *x.extents[axis + 1 :]), x.name)
            x = call.empty(shape, x)
    return _slice(call, x, *zip(*known, strict=True)) if known else x


def _slice(
    call: OperatorCall,
    x: Value,
    starts: Sequence[Extent],
    ends: Sequence[Extent],
    steps: Ints,
    axes: Ints,
) -> Value:
    """Only the axes that lose something, with ends that mean the same after any step."""
    kept: list[tuple[Extent, Extent, int, int]] = []
    shape = list(x.extents)
    for start, end, step, axis in zip(starts, ends, steps, axes, strict=True):
        extent = x.extents[axis]
        if not (isinstance(extent, int) and isinstance(start, int) and isinstance(end, int)):
            if (
                step != 1
                or start != 0
                or not (end == extent or (isinstance(end, int) and end >= END))
            ):
                kept.append((start, end, step, axis))
            continue
        past_front = step < 0 and end < -extent
        chosen = range(extent)[start : None if past_front else end : step]
        shape[axis] = len(chosen)
        if chosen != range(extent):
            stop = chosen.stop if chosen.stop >= 0 else -extent - 1
            kept.append((chosen.start, stop, chosen.step, axis))
    if 0 in shape:
        return call.empty(numbers(shape, x.name), x)
    if not kept:
        return x
    first, last, by, along = zip(*kept, strict=True)
    return call.builder.sliced(x, first, last, by, along, call.name)


def gather(call: OperatorCall, x: Value, indices: Value, *, axis: int = 0) -> Value:
    """A constant scalar or run of indices is a slice; anything else is read at run time."""
    axis = call.axis(axis, x.rank)
    call.check_indices(indices, (x.extents[axis],), x)
    if indices.constant is not None and indices.elements == 1:
        at, extent = int(indices.constant.item()), x.extents[axis]
        first = at if at >= 0 else canonical(add(extent, at))
        part = _slice(call, x, (first,), (canonical(add(first, 1)),), (1,), (axis,))
        shape = (*x.extents[:axis], *indices.shape, *x.extents[axis + 1 :])
        return call.builder.reshape(part, shape, call.name)
    return call.emit("gather", x, indices, axis=axis)


def last_columns(call: OperatorCall, x: Value, indices: Value) -> Value:
    """Those of the last axis."""
    return gather(call, x, call.builder.reshape(indices, (product(indices.extents),)), axis=-1)


def gather_elements(call: OperatorCall, x: Value, indices: Value, *, axis: int = 0) -> Value:
    axis = call.axis(axis, x.rank)
    call.check_indices(indices, (x.extents[axis],), x)
    return call.emit("gather_elements", x, indices, axis=axis)


def pad(
    call: OperatorCall,
    x: Value,
    pads: Given = None,
    value: Given = None,
    axes: Given = None,
    *,
    mode: str = "constant",
    paddings: Shape = (),
) -> Value:
    """Pads are [befores..., afters...]: an input since opset 11, an attribute before, which had
    another name in the first.
    """
    if mode not in PAD_MODES:
        call.reject(f"mode {mode!r} is not supported")
    if call.depends(pads):
        paddings = call.extents(pads, "pads")
    if not all(isinstance(p, int) for p in paddings):
        return _varying(call, x, paddings, value, axes, mode)
    wanted = call.numbers(numbers(paddings, "a pad") or pads, "pads")
    over = call.ints(axes, "axes") if call.opset >= 18 else None
    half = len(wanted) // 2
    pairs, moving = [(0, 0)] * x.rank, dict[int, tuple[ScaledElement, int]]()
    rows = zip(range(x.rank) if over is None else over, wanted[:half], wanted[half:], strict=True)
    for a, before, after in rows:
        axis, total = call.axis(a, x.rank), before.plus(after, 1)
        if before.root is None and after.root is None:
            pairs[axis] = (before.offset, after.offset)
        elif mode == "constant" and total is not None and total.root is None:
            moving[axis] = (before, total.offset)
        else:
            call.known(pads, "pads")
    around = None
    if isinstance(value, Value) and value.constant is None:
        around, value = call.builder.reshape(value, ()), None
    array, y = call.constant(value, "constant_value"), x
    number = 0.0 if array is None else array.item()
    if mode == "reflect":
        _check_mirrors(call, x, pairs)
    if any(p for pair in pairs for p in pair):
        y = call.emit("pad", x, pads=tuple(pairs), mode=mode, value=number)
    if mode != "constant" or (around is None and not moving):
        return y
    if around is None:
        return _placed(call, x, y, (), moving, call.literal(number, x))
    return _placed(call, x, y, pairs, moving, around)


def _varying(
    call: OperatorCall, x: Value, pads: Shape, value: Given, axes: Given, mode: str
) -> Value:
    """Pads that depend on sizes, of constant values."""
    if mode != "constant":
        call.reject(f"its pads {shape_text(pads)} of mode {mode} must be numbers")
    over = call.ints(axes, "axes") if call.opset >= 18 else None
    pairs: list[tuple[Extent, Extent]] = [(0, 0)] * x.rank
    half = len(pads) // 2
    for a, *pair in zip(over or range(x.rank), pads[:half], pads[half:], strict=True):
        pairs[call.axis(a, x.rank)] = (pair[0], pair[1])
    array = call.constant(value, "constant_value")
    number = 0.0 if array is None else array.item()
    return call.emit("pad", x, pads=tuple(pairs), mode=mode, value=number)


def _check_mirrors(call: OperatorCall, x: Value, pairs: Sequence[tuple[int, int]]) -> None:
    """Extents that vary must be longer than what is mirrored of them."""
    for extent, pair in zip(x.extents, pairs, strict=True):
        if not isinstance(extent, int) and least(extent, call.builder.sizes) <= max(pair):
            call.reject(
                f"it mirrors {max(pair)} elements of the extent {extent_text(extent)}, which must "
                f"be at least {max(pair) + 1}"
            )


def _placed(
    call: OperatorCall,
    x: Value,
    y: Value,
    pairs: Sequence[tuple[int, int]],
    moving: Mapping[int, tuple[ScaledElement, int]],
    fill: Value,
) -> Value:
    """`fill` in place of what the pads `pairs` put around `x` in `y`; then along other axes, so
    many elements more in all, of which a number that is known when it runs comes first.
    """
    for axis, (before, after) in enumerate(pairs):
        if before > 0 or after > 0:
            at = np.arange(y.shape[axis]) - before
            inside = call.literal((at >= 0) & (at < x.shape[axis]))
            y = call.emit("where", _column(call, inside, axis, y), y, fill)
    for axis, (first, total) in moving.items():
        extent, back = y.shape[axis], ScaledElement(first.root, -first.factor, -first.offset)
        place = call.progression(back, extent + total, 1)
        low = call.emit("greater_equal", place, call.literal(0, place))
        high = call.emit("less", place, call.literal(extent, place))
        y = call.emit("gather", y, place, axis=axis)
        inside = call.emit("logical_and", low, high)
        y = call.emit("where", _column(call, inside, axis, y), y, fill)
    return y


def _column(call: OperatorCall, x: Value, axis: int, y: Value) -> Value:
    """The vector `x` along `axis` of `y`."""
    return call.builder.reshape(x, (x.elements, *(1,) * (y.rank - axis - 1)))


def expand(call: OperatorCall, x: Value, shape: Value) -> Value:
    whole = broadcast_shapes(x.extents, call.limited(shape, "shape"))
    return x if whole == x.extents else call.emit("broadcast_to", x, shape=whole)


def tile(call: OperatorCall, x: Value, repeats: Value, axis: Value | None = None) -> Value:
    """Before opset 6, along one axis."""
    if call.depends(repeats):
        often = call.extents(repeats, "repeats")
        pairs = zip(often, x.extents, strict=True)
        x = call.emit(
            "broadcast_to", x, shape=tuple(e if isinstance(n, int) else n for n, e in pairs)
        )
        return call.emit("tile", x, repeats=tuple(n if isinstance(n, int) else 1 for n in often))
    times = call.known_ints(repeats, "repeats")
    if axis is not None:
        at = call.axis(call.number(axis, "axis", 0), x.rank)
        times = (*(1,) * at, *times, *(1,) * (x.rank - at - 1))
    return x if set(times) <= {1} else call.emit("tile", x, repeats=times)


def crop(call: OperatorCall, x: Value, *, border: Ints = (0, 0, 0, 0), scale: Ints = ()) -> Value:
    """Images [n, c, h, w] without a border, left, top, right and bottom, or [h, w] = `scale` of
    them from its corner on. Of opset 1.
    """
    left, top, right, bottom = border
    high, wide = scale or (x.shape[2] - top - bottom, x.shape[3] - left - right)
    return call.cut(call.cut(x, 2, top, top + high), 3, left, left + wide)


def blocks(op: str) -> Translator:
    def translate(call: OperatorCall, x: Value, *, blocksize: int, mode: str = "DCR") -> Value:
        return on_image(call, op, x, block=blocksize, mode=mode)

    return translate


MOVEMENT: dict[str, Translator] = {
    "Concat": concat,
    "Crop": crop,
    "DepthToSpace": blocks("depth_to_space"),
    "Expand": expand,
    "Flatten": flatten,
    "Gather": gather,
    "GatherElements": gather_elements,
    "Pad": pad,
    "Reshape": reshape,
    "Slice": slice_,
    "SpaceToDepth": blocks("space_to_depth"),
    "Split": split,
    "Squeeze": squeeze,
    "Tile": tile,
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
}
