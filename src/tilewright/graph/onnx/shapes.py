"""The shapes that an ONNX model declares: inputs get theirs, outputs are compared with theirs.

    open_dimensions(model)                      [-1, 3, "?", 0]  →  [?, 3, ?, ?]
    declared = take_output_shapes(model)        {"y": (None, 1000)}
    fix_shapes(model, {"x": (1, 3, 8, 8)}, weights)
    fix_shapes(model, {"seq": (1, 512)}, weights)         (Size("seq", 1, 512),)

A dimension is a number, a name that stands for one number throughout the model, or unknown. Some
exporters write 0, -1 or "?" for one that they do not know. A dimension that is given a range, least
and most, is a size, whose name it has then.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

import onnx

from tilewright.contract.arguments import Range
from tilewright.contract.sizes import Size, Sizes
from tilewright.expr.nodes import Shape
from tilewright.expr.text import extent_text
from tilewright.expr.traversal import free_vars
from tilewright.ground.errors import InputError, UnsupportedModel

Shapes: TypeAlias = Mapping[str, Sequence[int | Range]]
Declared: TypeAlias = dict[str, tuple[int | None, ...]]

NO_NAMES = ("", "?")
AXIS = re.compile(r"[a-z]{1,2}\d*|block|piece|word")
"""What axes of the library's operators are called."""
USUAL_BATCH, USUAL = Range(1, 16), Range(1, 512)


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


def misfits(declared: Declared, found: Mapping[str, Shape], sizes: Sizes = ()) -> Iterator[str]:
    """What is wrong with the declared shapes of outputs whose shapes were `found`; a number may be
    what data make of a computed one of the `sizes`.
    """
    computed = {s.name for s in sizes if s.computed}
    for name, shape in found.items():
        dims = declared.get(name)
        if dims is None:
            continue
        pairs = zip(dims, shape, strict=False)
        known = [(d, n) for d, n in pairs if isinstance(n, int) or not computed & free_vars(n)]
        if len(dims) != len(shape) or any(d is not None and d != n for d, n in known):
            shown = ", ".join("?" if d is None else str(d) for d in dims)
            has = ", ".join(map(extent_text, shape))
            yield f"output {name} is declared with the shape [{shown}], but has [{has}]"


def fix_shapes(
    model: onnx.ModelProto, shapes: Shapes, weights: Collection[str], *, every: bool = False
) -> tuple[Sizes, tuple[Size, ...]]:
    """Give every input dimension a value, from `shapes` or through a name they share; or a range,
    which makes it one of the sizes that are returned, and those of them that were given nothing.

    What `shapes` names is an input, or a symbolic dimension: {"batch": (4,)}, or {"seq": (1, 512)}
    for a range; of an input {"x": (1, 3, (32, 640), (32, 640))}. If `every`, dimensions without
    a value get a range, too: USUAL_BATCH where the name says so, else USUAL.
    """
    known = {*weights, *(t.name for t in model.graph.initializer)}
    inputs = [i for i in model.graph.input if i.name not in known]
    bound = _symbols(inputs, shapes)
    for info in inputs:
        if info.name in shapes:
            _bind(info, _numbers(f"input {info.name}", shapes[info.name]), bound)
    given = dict(bound)
    if every:
        _bind_usual(inputs, bound)
    missing = [problem for info in inputs for problem in _settle(info, bound)]
    if missing:
        unsized = {name for _, name, symbol in missing if not symbol}
        named = (symbol for _, name, symbol in missing if symbol and name not in unsized)
        raise UnsupportedModel(
            missing[0][0],
            unsized=tuple(name for i in inputs if (name := i.name) in unsized),
            open=tuple(dict.fromkeys(named)),
        )
    used = {d.dim_param for i in inputs for d in i.type.tensor_type.shape.dim}
    sizes = tuple(s for s in bound.values() if isinstance(s, Size) and s.name in used)
    return sizes, tuple(s for s in sizes if s not in given.values())


def _bind_usual(inputs: Sequence[onnx.ValueInfoProto], bound: dict[str, int | Size]) -> None:
    """A range for each dimension that has no value."""
    for info in inputs:
        for position, dim in enumerate(info.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value") and dim.dim_param not in bound:
                dim.dim_param = dim.dim_param or f"{info.name}_{position}"
                usual = USUAL_BATCH if "batch" in dim.dim_param.lower() else USUAL
                bound[dim.dim_param] = _size(dim.dim_param, usual, bound)


def _size(name: str, ends: Range, bound: Mapping[str, int | Size]) -> Size:
    """A size of this name, which no other dimension's has, written large where operators call
    their axes so.
    """
    plain = re.sub(r"\W", "_", name)
    plain = plain if plain.isidentifier() else f"_{plain}"
    plain = plain.upper() if AXIS.fullmatch(plain) else plain
    while any(isinstance(s, Size) and s.name == plain for n, s in bound.items() if n != name):
        plain += "_"
    try:
        return Size(plain, *ends)
    except InputError as error:
        raise UnsupportedModel(f"dimension {name}: {error}") from error


def _symbols(inputs: Sequence[onnx.ValueInfoProto], shapes: Shapes) -> dict[str, int | Size]:
    """The symbolic dimensions among the names of `shapes`; every other one must be an input."""
    names = {i.name for i in inputs}
    symbols = {d.dim_param for i in inputs for d in i.type.tensor_type.shape.dim} - {""}
    found: dict[str, int | Size] = {}
    for name in sorted(set(shapes) - names):
        if name not in symbols:
            listed = ", ".join(f"{i.name} {_text(i)}" for i in inputs) or "none"
            raise UnsupportedModel(
                f"no input and no dimension is called {name}, whose shape is given; "
                f"the model's inputs: {listed}"
            )
        sizes = _numbers(f"dimension {name}", shapes[name])
        match sizes:
            case (Range() as ends,):
                found[name] = _size(name, ends, found)
            case (int() as least, int() as most):
                found[name] = _size(name, Range(least, most), found)
            case (int() as number,) if 0 <= number < 2**63:
                found[name] = number
            case _:
                raise UnsupportedModel(
                    f"dimension {name} is one number, or the least and the most, not {sizes}"
                )
    return found


def _numbers(what: str, shape: Sequence[int | Range]) -> tuple[int | Range, ...]:
    try:
        return tuple(
            n if isinstance(n, Range) else Range(*n) if isinstance(n, tuple) else operator.index(n)
            for n in shape
        )
    except TypeError as error:
        raise UnsupportedModel(
            f"the shape {shape!r} given for {what} is no sequence of whole numbers"
        ) from error


def _bind(
    info: onnx.ValueInfoProto, shape: tuple[int | Range, ...], bound: dict[str, int | Size]
) -> None:
    tensor = info.type.tensor_type
    dims = list(tensor.shape.dim)
    if not tensor.HasField("shape"):
        dims = [tensor.shape.dim.add() for _ in shape]
    fits = len(dims) == len(shape) and all(
        not d.HasField("dim_value") or d.dim_value == n for d, n in zip(dims, shape, strict=True)
    )
    if not fits or any(isinstance(n, int) and not 0 <= n < 2**63 for n in shape):
        raise UnsupportedModel(
            f"input {info.name} has shape {_text(info)}; the shape {shape} given does not fit it"
        )
    for position, (dim, given) in enumerate(zip(dims, shape, strict=True)):
        n: int | Size = (
            given
            if isinstance(given, int)
            else _size(dim.dim_param or f"{info.name}_{position}", given, bound)
        )
        if isinstance(n, Size):
            dim.dim_param = dim.dim_param or n.name
        if dim.dim_param and bound.setdefault(dim.dim_param, n) != n:
            raise UnsupportedModel(
                f"dimension {dim.dim_param} of input {info.name} is given as {n} and, elsewhere, "
                f"as {bound[dim.dim_param]}"
            )
        if isinstance(n, int):
            dim.dim_value = n


def _settle(
    info: onnx.ValueInfoProto, bound: Mapping[str, int | Size]
) -> Iterator[tuple[str, str, str]]:
    """Give the dimensions of an input their values; of each that has none why, the input's name,
    and that of the dimension, by which it may be given (else empty).
    """
    tensor = info.type.tensor_type
    if not info.type.HasField("tensor_type"):
        return  # refused by the importer, with its type
    if not tensor.HasField("shape"):
        yield f"input {info.name} has no shape", info.name, ""
    for dim in tensor.shape.dim:
        match bound.get(dim.dim_param):
            case int() as number:
                dim.dim_value = number
            case Size(name=name):
                dim.dim_param = name
    names = {s.name for s in bound.values() if isinstance(s, Size)}
    for position, dim in enumerate(tensor.shape.dim):
        if not dim.HasField("dim_value") and dim.dim_param not in names:
            place = f"dimension {position} ({dim.dim_param or 'unnamed'}) of input {info.name}"
            symbol = dim.dim_param if dim.dim_param.isidentifier() else ""
            yield f"{place} {_text(info)} has no value", info.name, symbol


def _text(info: onnx.ValueInfoProto) -> str:
    dims = info.type.tensor_type.shape.dim
    shown = (str(d.dim_value) if d.HasField("dim_value") else d.dim_param or "?" for d in dims)
    return f"[{', '.join(shown)}]"
