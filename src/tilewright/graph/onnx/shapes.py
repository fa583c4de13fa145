"""The shapes that an ONNX model declares: inputs get theirs, outputs are compared with theirs.

    open_dimensions(model)                      [-1, 3, "?", 0]  →  [?, 3, ?, ?]
    declared = take_output_shapes(model)        {"y": (None, 1000)}
    fix_shapes(model, {"x": (1, 3, 8, 8)}, weights)

A dimension is a number, a name that stands for one number throughout the model, or unknown. Some
exporters write 0, -1 or "?" for one that they do not know.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

import onnx

from tilewright.ground.errors import UnsupportedModel

Shapes: TypeAlias = Mapping[str, Sequence[int]]
Declared: TypeAlias = dict[str, tuple[int | None, ...]]

NO_NAMES = ("", "?")


def open_dimensions(model: onnx.ModelProto) -> None:
    """Clear sizes and names of dimensions that say nothing, each of which is unknown on its own."""
    for info in (*model.graph.input, *model.graph.output):
        for dim in info.type.tensor_type.shape.dim:
            is_no_size = dim.HasField("dim_value") and dim.dim_value <= 0
            if is_no_size or (dim.HasField("dim_param") and dim.dim_param.strip() in NO_NAMES):
                dim.ClearField("value")


def take_output_shapes(model: onnx.ModelProto) -> Declared:
    """The shapes that outputs have in the file (None where unknown), which are taken out of it.

    They and those of inner values would contradict shapes that the caller gives.
    """
    declared = {
        info.name: tuple(
            d.dim_value if d.HasField("dim_value") else None
            for d in info.type.tensor_type.shape.dim
        )
        for info in model.graph.output
        if info.type.tensor_type.HasField("shape")
    }
    del model.graph.value_info[:]
    for info in model.graph.output:
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")
    return declared


def misfits(declared: Declared, found: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    """What is wrong with the declared shapes of outputs whose shapes were `found`."""
    for name, shape in found.items():
        dims = declared.get(name)
        if dims is None:
            continue
        pairs = zip(dims, shape, strict=False)
        if len(dims) != len(shape) or any(d is not None and d != n for d, n in pairs):
            shown = ", ".join("?" if d is None else str(d) for d in dims)
            yield f"output {name} is declared with the shape [{shown}], but has {list(shape)}"


def fix_shapes(model: onnx.ModelProto, shapes: Shapes, weights: Collection[str]) -> None:
    """Give every input dimension a value, from `shapes` or through a name they share.

    What `shapes` names is an input, or a symbolic dimension: {"batch": (4,)}.
    """
    known = {*weights, *(t.name for t in model.graph.initializer)}
    inputs = [i for i in model.graph.input if i.name not in known]
    bound = _symbols(inputs, shapes)
    for info in inputs:
        if info.name in shapes:
            _bind(info, _numbers(f"input {info.name}", shapes[info.name]), bound)
    missing = [problem for info in inputs for problem in _settle(info, bound)]
    if missing:
        unsized = {name for _, name, symbol in missing if not symbol}
        named = (symbol for _, name, symbol in missing if symbol and name not in unsized)
        raise UnsupportedModel(
            missing[0][0],
            unsized=tuple(name for i in inputs if (name := i.name) in unsized),
            open=tuple(dict.fromkeys(named)),
        )


def _symbols(inputs: Sequence[onnx.ValueInfoProto], shapes: Shapes) -> dict[str, int]:
    """The symbolic dimensions among the names of `shapes`; every other one must be an input."""
    names = {i.name for i in inputs}
    symbols = {d.dim_param for i in inputs for d in i.type.tensor_type.shape.dim} - {""}
    found = {}
    for name in sorted(set(shapes) - names):
        if name not in symbols:
            listed = ", ".join(f"{i.name} {_text(i)}" for i in inputs) or "none"
            raise UnsupportedModel(
                f"no input and no dimension is called {name}, whose shape is given; "
                f"the model's inputs: {listed}"
            )
        sizes = _numbers(f"dimension {name}", shapes[name])
        if len(sizes) != 1 or not 0 <= sizes[0] < 2**63:
            raise UnsupportedModel(f"dimension {name} is one number, not {sizes}")
        found[name] = sizes[0]
    return found


def _numbers(what: str, shape: Sequence[int]) -> tuple[int, ...]:
    try:
        return tuple(operator.index(n) for n in shape)
    except TypeError as error:
        raise UnsupportedModel(
            f"the shape {shape!r} given for {what} is no sequence of whole numbers"
        ) from error


def _bind(info: onnx.ValueInfoProto, shape: tuple[int, ...], bound: dict[str, int]) -> None:
    tensor = info.type.tensor_type
    dims = list(tensor.shape.dim)
    if not tensor.HasField("shape"):
        dims = [tensor.shape.dim.add() for _ in shape]
    fits = len(dims) == len(shape) and all(
        not d.HasField("dim_value") or d.dim_value == n for d, n in zip(dims, shape, strict=True)
    )
    if not fits or any(not 0 <= n < 2**63 for n in shape):
        raise UnsupportedModel(
            f"input {info.name} has shape {_text(info)}; the shape {shape} given does not fit it"
        )
    for dim, n in zip(dims, shape, strict=True):
        if dim.dim_param and bound.setdefault(dim.dim_param, n) != n:
            raise UnsupportedModel(
                f"dimension {dim.dim_param} of input {info.name} is given as {n} and, elsewhere, "
                f"as {bound[dim.dim_param]}"
            )
        dim.dim_value = n


def _settle(info: onnx.ValueInfoProto, bound: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    """Give the dimensions of an input their values; of each that has none why, the input's name,
    and that of the dimension, by which it may be given (else empty).
    """
    tensor = info.type.tensor_type
    if not info.type.HasField("tensor_type"):
        return  # refused by the importer, with its type
    if not tensor.HasField("shape"):
        yield f"input {info.name} has no shape", info.name, ""
    for dim in tensor.shape.dim:
        if dim.dim_param in bound:
            dim.dim_value = bound[dim.dim_param]
    for position, dim in enumerate(tensor.shape.dim):
        if not dim.HasField("dim_value"):
            place = f"dimension {position} ({dim.dim_param or 'unnamed'}) of input {info.name}"
            symbol = dim.dim_param if dim.dim_param.isidentifier() else ""
            yield f"{place} {_text(info)} has no value", info.name, symbol


def _text(info: onnx.ValueInfoProto) -> str:
    dims = info.type.tensor_type.shape.dim
    shown = (str(d.dim_value) if d.HasField("dim_value") else d.dim_param or "?" for d in dims)
    return f"[{', '.join(shown)}]"
