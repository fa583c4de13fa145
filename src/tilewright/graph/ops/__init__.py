"""The math of every graph operator, and the shapes that follow from it.

    infer("matmul", [a, b], {}) == ((8, 16), "float32")
    lower("add", [tensor, 1.0], {}, "y")  →  the tensor y, a compute

An operator exists when it stands in `ELEMENTWISE` or `STRUCTURED`; nothing else about it is said
anywhere: fusion classes and schedules come from access analysis of the math.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.errors import ExprError
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Tensor
from tilewright.expr.operators.elementwise import Value as Operand
from tilewright.expr.operators.shapes import broadcast_shapes, extents
from tilewright.expr.tensors import placeholder
from tilewright.graph.ops.elementwise import ELEMENTWISE
from tilewright.graph.ops.structured import STRUCTURED

if TYPE_CHECKING:
    from tilewright.graph.ir import Attribute, Value

MATH = {**ELEMENTWISE, **STRUCTURED}


def lower(
    op: str, operands: Sequence[Operand], attributes: Mapping[str, Attribute], name: str
) -> Tensor:
    """The tensor that `op` computes from `operands` (tensors, or numbers where elementwise).

    Raises ExprError for an unknown operator or operands that do not fit it.
    """
    if op not in MATH:
        raise ExprError(f"unknown graph operator {op!r}")
    return MATH[op](*operands, **attributes, name=name)


def literals(op: str, inputs: Sequence[Value]) -> dict[int, float | int | bool]:
    """Positions of `inputs` that enter the expression as a number, with that number.

    Constants of one element do, in elementwise operators, unless they widen the result or no
    tensor would remain.
    """
    if op not in ELEMENTWISE or op == "cast":
        return {}
    found: dict[int, float | int | bool] = {}
    for i, value in enumerate(inputs):
        if value.constant is not None and value.elements == 1 and not (op == "where" and i == 0):
            found[i] = value.constant.reshape(()).item()
    rest = [v for i, v in enumerate(inputs) if i not in found]
    if op == "where" and len(rest) == 1:
        found.pop(1, None)
        rest = [v for i, v in enumerate(inputs) if i not in found]
    whole = broadcast_shapes(*(v.shape for v in inputs))
    if not rest or broadcast_shapes(*(v.shape for v in rest)) != whole:
        return {}
    return found


def infer(
    op: str, inputs: Sequence[Value], attributes: Mapping[str, Attribute]
) -> tuple[tuple[int, ...], str]:
    """Shape and dtype of the output of `op`, read off its math.

    Raises ExprError for an unknown operator or operands that do not fit it.
    """
    numbers = literals(op, inputs)
    operands: list[Operand] = [
        numbers[i] if i in numbers else placeholder(v.shape, DTYPES[v.dtype], name=f"x{i}")
        for i, v in enumerate(inputs)
    ]
    result = lower(op, operands, attributes, "y")
    return extents(result), result.dtype.name
