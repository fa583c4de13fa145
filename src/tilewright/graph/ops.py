"""Operators of graphs: the functions of the library (`expr/operators`), by name.

    infer("matmul", [a, b], {}) == ((8, 16), "float32")
    lower("add", [tensor, 1.0], {}, "y")  →  the tensor y, a compute

A node has the function's operands and keywords. Nothing else is said about an operator anywhere:
fusion classes and schedules come from access analysis of the math.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from tilewright.expr import operators as library
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Shape, Tensor
from tilewright.expr.operators.elementwise import Value as Operand
from tilewright.expr.operators.shapes import broadcast_shapes
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ExprError

if TYPE_CHECKING:
    from tilewright.graph.ir import Attribute, Value

Math: TypeAlias = Callable[..., Tensor]


def _matmul(a: Tensor, b: Tensor, *, dtype: str | None = None, name: str) -> Tensor:
    """A matrix `b` is shared by every batch of `a`."""
    product = library.dense if b.rank == 2 else library.batch_matmul
    return product(a, b, dtype=dtype, name=name)


ADAPTED: dict[str, Math] = {
    "concat": lambda *parts, axis, name: library.concat(parts, axis, name=name),
    "einsum": lambda *parts, equation, name: library.einsum(equation, *parts, name=name),
    "matmul": _matmul,
}
"""Operators that take their operands otherwise than the function of this name."""

MATH: dict[str, Math] = {f: fn for f, fn in vars(library).items() if callable(fn)} | ADAPTED

ELEMENTWISE = frozenset(
    name
    for name, fn in MATH.items()
    if fn.__module__.rpartition(".")[2] in ("elementwise", "trigonometry")
)
"""Operators of these two rooms: operands broadcast, and may be numbers."""

SHORT_NAMES = {
    "absolute": "abs",
    "broadcast_to": "expand",
    "cast_to": "cast",
    "divide": "div",
    "equal": "eq",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "logical_and": "and",
    "logical_not": "not",
    "logical_or": "or",
    "logical_xor": "xor",
    "maximum": "max",
    "minimum": "min",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "power": "pow",
    "round_half_even": "round",
    "silu": "swish",
    "strided_slice": "slice",
    "subtract": "sub",
    "upsample_nearest": "upsample",
}


def short_name(op: str) -> str:
    """What stages and tasks are called after `op`: recorded programs name stages so."""
    return SHORT_NAMES.get(op, op)


def lower(
    op: str, operands: Sequence[Operand], attributes: Mapping[str, Attribute], name: str
) -> Tensor:
    """The tensor that `op` computes from `operands` (tensors, or numbers where elementwise).

    Raises ExprError for an unknown operator or operands that do not fit it.
    """
    if op not in MATH:
        raise ExprError(f"unknown graph operator {op!r}")
    return MATH[op](*operands, **attributes, name=name)


def operands(
    op: str, inputs: Sequence[Value], tensor: Callable[[int, Value], Tensor]
) -> list[Operand]:
    """What `op` is given for its `inputs`: numbers, and what `tensor` makes of position and value.

    Constants of one element are numbers in elementwise operators, unless they widen the result or
    no tensor would remain.
    """
    numbers = _numbers(op, inputs)
    return [numbers[i] if i in numbers else tensor(i, v) for i, v in enumerate(inputs)]


def _numbers(op: str, inputs: Sequence[Value]) -> dict[int, float | int | bool]:
    if op not in ELEMENTWISE or op == "cast_to":
        return {}
    found: dict[int, float | int | bool] = {}
    for i, value in enumerate(inputs):
        if value.constant is not None and value.elements == 1 and not (op == "where" and i == 0):
            found[i] = value.constant.reshape(()).item()
    rest = [v for i, v in enumerate(inputs) if i not in found]
    if op == "where" and len(rest) == 1:
        found.pop(1, None)
        rest = [v for i, v in enumerate(inputs) if i not in found]
    whole = broadcast_shapes(*(v.extents for v in inputs))
    if not rest or broadcast_shapes(*(v.extents for v in rest)) != whole:
        return {}
    return found


def infer(
    op: str, inputs: Sequence[Value], attributes: Mapping[str, Attribute]
) -> tuple[Shape, str]:
    """Shape and dtype of the output of `op`, read off its math.

    Raises ExprError for an unknown operator or operands that do not fit it.
    """
    numbers = _numbers(op, inputs)
    given = tuple(
        (numbers[i], "") if i in numbers else (v.extents, v.dtype) for i, v in enumerate(inputs)
    )
    types = tuple(map(type, numbers.values()))  # 1, 1.0 and True are equal
    return _inferred(op, given, types, tuple(attributes.items()))


@lru_cache(maxsize=4096)
def _inferred(
    op: str,
    given: Sequence[tuple[Any, str]],
    _types: Sequence[type],
    attributes: Sequence[tuple[str, Attribute]],
) -> tuple[Shape, str]:
    """The same for numbers, and tensors of a shape and dtype: every pass asks again."""
    known = [
        placeholder(what, DTYPES[dtype], name=f"x{i}") if dtype else what
        for i, (what, dtype) in enumerate(given)
    ]
    result = lower(op, known, dict(attributes), "y")
    return result.shape, result.dtype.name
