"""Shape arithmetic on whole numbers over sizes, at import.

    evaluated(node, [(batch, 12, S)], …)      Gather, Concat, Mul, … of vectors of extents

A vector here is a NumPy array of extents, objects: numbers and expressions over sizes. What only
moves elements is evaluated on their positions, by ONNX's own evaluator; arithmetic element by
element, simplified by the ranges of sizes, which may decide comparisons, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import onnx

from tilewright.contract.sizes import Sizes
from tilewright.expr.index import extents
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Const, Expr, Extent, binary
from tilewright.expr.sizes import least, ranges_of, simplified
from tilewright.graph.ir import Array
from tilewright.graph.onnx.fold import evaluated as evaluated_by_onnx

Function: TypeAlias = Callable[..., Any]

MOVED: Mapping[str, Sequence[int] | None] = {
    **dict.fromkeys(("Expand", "Flatten", "Gather", "GatherElements", "GatherND"), (0,)),
    **dict.fromkeys(("Identity", "Reshape", "Slice", "Split", "Squeeze", "Tile"), (0,)),
    **dict.fromkeys(("Transpose", "Unsqueeze"), (0,)),
    **dict.fromkeys(("ScatterElements", "ScatterND"), (0, 2)),
    "Concat": None,
    "Where": (1, 2),
}
"""Operators that move elements of these of their inputs, of all where there are none."""
ARITHMETIC: Mapping[str, Function] = {
    "Add": extents.add,
    "Max": extents.maximum,
    "Min": extents.minimum,
    "Mul": extents.mul,
    "Sub": extents.sub,
}
QUOTIENTS: Mapping[str, Function] = {
    "Div": extents.floordiv,
    "Mod": lambda a, b: extents.sub(a, extents.mul(extents.floordiv(a, b), b)),
}
"""Rounded towards zero, or down: the same where both operands are at least 0, and 1."""
COMPARED: Mapping[str, str] = {
    "Equal": "eq",
    "Greater": "gt",
    "GreaterOrEqual": "ge",
    "Less": "lt",
    "LessOrEqual": "le",
}
FOLDED: Mapping[str, Function] = {
    "ReduceMax": extents.maximum,
    "ReduceMin": extents.minimum,
    "ReduceProd": extents.mul,
    "ReduceSum": extents.add,
}


def evaluated(
    node: onnx.NodeProto, inputs: Sequence[Array | None], opset: int, sizes: Sizes
) -> list[Array] | None:
    """The outputs of a node on arrays of extents or numbers; None where that is no arithmetic of
    shapes, or is not decided by the sizes. Arrays that have expressions are of objects.
    """
    if node.op_type in MOVED:
        return _moved(node, inputs, opset)
    given = [a for a in inputs if a is not None]
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "Cast":
        to = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(attributes["to"]))
        return given if to.kind in "iu" else None
    if any(a.dtype.kind not in "iuO" for a in given):
        return None
    whole = [a.astype(object) for a in given]
    match node.op_type:
        case "Neg":
            found = extents.sub, [np.zeros((), object), *whole]
        case "Div" | "Mod" as op if all(_is_least(a, i, sizes) for i, a in enumerate(whole)):
            found = QUOTIENTS[op], whole
        case op if op in ARITHMETIC:
            found = ARITHMETIC[op], whole
        case op if op in COMPARED:
            return _compared(COMPARED[op], whole, sizes)
        case op if op in FOLDED and whole[0].ndim == 1:
            total = np.array(np.frompyfunc(FOLDED[op], 2, 1).reduce(whole[0]), object)
            found = extents.add, [total.reshape((1,) * attributes.get("keepdims", 1))]
        case _:
            return None
    rule, operands = found
    result = reduce(np.frompyfunc(rule, 2, 1), operands)
    return [_each(lambda e: simplified(e, sizes), np.asarray(result, object))]


def _is_least(array: Array, low: int, sizes: Sizes) -> bool:
    """Whether no element is less."""
    return all(least(e, sizes) >= low for e in array.flat)


def _compared(op: str, operands: Sequence[Array], sizes: Sizes) -> list[Array] | None:
    ranges = ranges_of(sizes)
    rule = np.frompyfunc(lambda a, b: simplify(binary(op, a, b), ranges), 2, 1)
    decided = np.asarray(rule(*operands), object)
    if not all(isinstance(e, Const) for e in decided.flat):
        return None
    return [np.array([bool(e.value) for e in decided.flat]).reshape(decided.shape)]


def whole_type(node: onnx.NodeProto, types: Sequence[str]) -> str:
    """The type of the whole numbers that a node gives for inputs of these types."""
    match node.op_type:
        case "Shape" | "Size":
            return "int64"
        case "Cast":
            (to,) = (a.i for a in node.attribute if a.name == "to")
            return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(to)).name
    return types[1 if node.op_type == "Where" else 0] if types else "int64"


def _moved(node: onnx.NodeProto, inputs: Sequence[Array | None], opset: int) -> list[Array] | None:
    """The outputs of a node that moves elements, by their positions."""
    places = MOVED[node.op_type] or range(len(inputs))
    pool: list[Extent] = []
    shown: list[Array | None] = list(inputs)
    for i in places:
        array = inputs[i]
        assert array is not None, "an operator that moves elements has these"
        shown[i] = np.arange(len(pool), len(pool) + array.size).reshape(array.shape)
        pool += [e if isinstance(e, Expr) else int(e) for e in array.flat]
    if any(a is not None and a.dtype == object for a in shown):
        return None  # places that depend on sizes
    results = evaluated_by_onnx(node, shown, opset)
    return results and [_objects([pool[int(i)] for i in a.flat]).reshape(a.shape) for a in results]


def _each(rule: Function, array: Array) -> Array:
    return _objects([rule(e) for e in array.flat]).reshape(array.shape)


def _objects(items: Sequence[Any]) -> Array:
    """A vector of objects."""
    found = np.empty(len(items), object)
    found[:] = items
    return found
