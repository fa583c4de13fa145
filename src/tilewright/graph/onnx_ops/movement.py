"""ONNX operators that move elements: reshapes, transposes, slices, joins, gathers, pads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tilewright.graph.ir import Value
from tilewright.graph.onnx_ops.call import Call, Translator

PAD_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def reshape(call: Call) -> Value:
    """0 copies an extent (unless `allowzero`), -1 takes what remains."""
    x = call.input(0)
    wanted = call.ints(1, "shape")
    if wanted is None:
        call.reject("its shape is missing")
    keep = not call.attribute("allowzero", 0)
    shape = [x.shape[d] if n == 0 and keep else n for d, n in enumerate(wanted)]
    if -1 in shape:
        known = prod(n for n in shape if n != -1)
        shape[shape.index(-1)] = x.elements // max(known, 1)
    if prod(shape) != x.elements:
        call.reject(f"{x} cannot take the shape {wanted}")
    return call.builder.reshape(x, shape, call.name)


def flatten(call: Call) -> Value:
    x = call.input(0)
    axis = int(call.attribute("axis", 1))
    cut = axis + x.rank if axis < 0 else axis
    return call.builder.reshape(x, (prod(x.shape[:cut]), prod(x.shape[cut:])), call.name)


def squeeze(call: Call) -> Value:
    x = call.input(0)
    listed = call.ints(1, "axes")
    if listed is None:
        axes = {d for d, n in enumerate(x.shape) if n == 1}
    else:
        axes = {call.normal_axis(a, x.rank) for a in listed}
    if any(x.shape[d] != 1 for d in axes):
        call.reject(f"axes {sorted(axes)} of {x} are not all of extent 1")
    shape = [n for d, n in enumerate(x.shape) if d not in axes]
    return call.builder.reshape(x, shape, call.name)


def unsqueeze(call: Call) -> Value:
    x = call.input(0)
    listed = call.ints(1, "axes") or ()
    rank = x.rank + len(listed)
    axes = {call.normal_axis(a, rank) for a in listed}
    rest = iter(x.shape)
    shape = [1 if d in axes else next(rest) for d in range(rank)]
    return call.builder.reshape(x, shape, call.name)


def transpose(call: Call) -> Value:
    x = call.input(0)
    permutation = call.attribute("perm") or tuple(range(x.rank))[::-1]
    return call.builder.transpose(x, permutation, call.name)


def concat(call: Call) -> Value:
    parts = [call.input(i) for i in range(len(call.inputs))]
    parts = [p for p in parts if 0 not in p.shape]
    axis = call.axis(1, parts[0].rank)
    return parts[0] if len(parts) == 1 else call.emit("concat", *parts, axis=axis)


def split(call: Call) -> Sequence[Value]:
    """Parts given as an input (opset 13), an attribute, `num_outputs`, or as many as outputs."""
    x = call.input(0)
    axis = call.axis(0, x.rank)
    count = len(call.used_outputs)
    sizes = call.ints(1, "split")
    if sizes is None:
        size = -(-x.shape[axis] // count)
        sizes = tuple(min(size, x.shape[axis] - low) for low in range(0, x.shape[axis], size))
    if sum(sizes) != x.shape[axis] or len(sizes) != count:
        call.reject(f"parts {sizes} along dimension {axis} do not make up {x}")
    parts, low = [], 0
    for size in sizes:
        parts.append(_slice(call, x, (low,), (low + size,), (1,), (axis,)))
        low += size
    return parts


def slice_(call: Call) -> Value:
    """Inputs since opset 10, attributes before."""
    x = call.input(0)
    starts, ends = call.ints(1, "starts"), call.ints(2, "ends")
    if starts is None or ends is None:
        call.reject("its starts or ends are missing")
    axes = call.ints(3, "axes") or tuple(range(len(starts)))
    steps = call.ints(4, "steps") or (1,) * len(starts)
    return _slice(call, x, starts, ends, steps, [call.normal_axis(a, x.rank) for a in axes])


def _slice(
    call: Call,
    x: Value,
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int],
    axes: Sequence[int],
) -> Value:
    """Only the axes that lose something, with ends that mean the same after any step."""
    kept, shape = [], list(x.shape)
    for start, end, step, axis in zip(starts, ends, steps, axes, strict=True):
        past_front = step < 0 and end < -x.shape[axis]
        chosen = range(x.shape[axis])[start : None if past_front else end : step]
        shape[axis] = len(chosen)
        if chosen != range(x.shape[axis]):
            stop = chosen.stop if chosen.stop >= 0 else -x.shape[axis] - 1
            kept.append((chosen.start, stop, chosen.step, axis))
    if 0 in shape:
        return call.empty(shape, x)
    if not kept:
        return x
    columns = zip(*kept, strict=True)
    names = ("starts", "stops", "steps", "axes")
    return call.emit("strided_slice", x, **dict(zip(names, columns, strict=True)))


def gather(call: Call) -> Value:
    """A constant scalar or run of indices is a slice; anything else is read at run time."""
    x, indices = call.input(0), call.input(1)
    axis = call.axis(0, x.rank)
    call.check_indices(indices, (x.shape[axis],), x)
    if indices.constant is not None and indices.elements == 1:
        at = int(indices.constant.item()) % x.shape[axis]
        part = _slice(call, x, (at,), (at + 1,), (1,), (axis,))
        shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
        return call.builder.reshape(part, shape, call.name)
    return call.emit("gather", x, indices, axis=axis)


def gather_elements(call: Call) -> Value:
    x = call.input(0)
    axis = call.axis(0, x.rank)
    call.check_indices(call.input(1), (x.shape[axis],), x)
    return call.emit("gather_elements", x, call.input(1), axis=axis)


def pad(call: Call) -> Value:
    """Pads are [befores..., afters...]: an input since opset 11, an attribute before."""
    x = call.input(0)
    listed = call.ints(1, "pads")
    if listed is None:
        call.reject("its pads are missing")
    axes = call.ints(3, "axes") if call.opset >= 18 else None
    axes = tuple(range(x.rank)) if axes is None else axes
    half = len(listed) // 2
    pairs = [(0, 0)] * x.rank
    for axis, before, after in zip(axes, listed[:half], listed[half:], strict=True):
        pairs[call.normal_axis(axis, x.rank)] = (before, after)
    mode = call.attribute("mode", b"constant").decode()
    if mode not in PAD_MODES:
        call.reject(f"mode {mode!r} is not supported")
    fill = call.constant(2, "constant_value")
    value = float(call.attribute("value", 0.0)) if fill is None else fill.item()
    if not any(p for pair in pairs for p in pair):
        return x
    return call.emit("pad", x, pads=tuple(pairs), mode=mode, value=value)


def expand(call: Call) -> Value:
    x = call.input(0)
    shape = call.ints(1, "shape")
    if shape is None:
        call.reject("its shape is missing")
    rank = max(x.rank, len(shape))
    ours, theirs = (1,) * (rank - x.rank) + x.shape, (1,) * (rank - len(shape)) + shape
    whole = tuple(max(a, b) for a, b in zip(ours, theirs, strict=True))
    return x if whole == x.shape else call.emit("broadcast_to", x, shape=whole)


def tile(call: Call) -> Value:
    repeats = call.ints(1, "repeats")
    if repeats is None:
        call.reject("its repeats are missing")
    x = call.input(0)
    return x if set(repeats) <= {1} else call.emit("tile", x, repeats=repeats)


def depth_to_space(call: Call) -> Value:
    x = call.input(0)
    if x.rank != 4:
        call.reject(f"its input {x} is not an image")
    mode = call.attribute("mode", b"DCR").decode()
    nhwc = call.builder.transpose(x, (0, 2, 3, 1))
    y = call.emit("depth_to_space", nhwc, block=int(call.attribute("blocksize")), mode=mode)
    return call.builder.transpose(y, (0, 3, 1, 2))


def space_to_depth(call: Call) -> Value:
    x = call.input(0)
    if x.rank != 4:
        call.reject(f"its input {x} is not an image")
    nhwc = call.builder.transpose(x, (0, 2, 3, 1))
    mode = call.attribute("mode", b"DCR").decode()
    y = call.emit("space_to_depth", nhwc, block=int(call.attribute("blocksize")), mode=mode)
    return call.builder.transpose(y, (0, 3, 1, 2))


MOVEMENT: dict[str, Translator] = {
    "Concat": concat,
    "DepthToSpace": depth_to_space,
    "Expand": expand,
    "Flatten": flatten,
    "Gather": gather,
    "GatherElements": gather_elements,
    "Pad": pad,
    "Reshape": reshape,
    "Slice": slice_,
    "SpaceToDepth": space_to_depth,
    "Split": split,
    "Squeeze": squeeze,
    "Tile": tile,
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
}
