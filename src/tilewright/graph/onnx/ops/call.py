"""One ONNX node while it is translated, and how translators are called.

    def leaky(call: Call, x: Value, *, alpha: float = 0.01) -> Value:
        return call.emit("leaky_relu", x, alpha=alpha)

    translate(leaky, call, inputs, attributes)  →  the node's outputs

A translator takes the node's inputs by position and its attributes by keyword, with ONNX's
defaults; what newer opsets give as an input and older ones as an attribute is one parameter. It
emits graph operators and returns the node's outputs. The name of a library function stands for a
translator that gives it the same inputs and attributes. What a translator cannot take it refuses
with `call.reject(reason)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from tilewright.expr.dtypes import dtype
from tilewright.expr.nodes import Extent, Shape
from tilewright.expr.sizes import least, most
from tilewright.expr.text import extent_text, shape_text
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Array, Attribute, Value
from tilewright.graph.linear import ScaledElement, linear
from tilewright.graph.onnx.limits import Allowance

if TYPE_CHECKING:
    from tilewright.graph.onnx.ops.few_bits import Dequantised

Items: TypeAlias = tuple[Value, ...]
"""A sequence of tensors: what an input is whose parameter has this annotation."""


MOST_PARTS = 1 << 14
"""Elements of a sequence that exists at import only."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A sequence of equal tensors, as many as sizes say: the `rows` of an array [n, *shape], and
    `more` behind them. Of one that a loop appends to, input `place` of its body, a step knows no
    rows.
    """

    rows: Value | None
    more: Items = ()
    place: int = 0

    def array(self, builder: GraphBuilder) -> Value:
        """All of them [n, *shape]. Raises Rejected where they are not known."""
        if self.rows is None:
            raise Rejected("a sequence that a loop appends to is not read within it")
        more = [builder.stacked(self.more, 0)] if self.more else []
        return builder.joined([self.rows, *more], 0)

    def items(self, builder: GraphBuilder) -> Items:
        """One by one. Raises Rejected where their number is not known."""
        whole = self.array(builder)
        count = whole.extents[0]
        if not isinstance(count, int):
            raise Rejected(f"how many elements its sequence has ({extent_text(count)}) varies")
        if count > MOST_PARTS:
            raise Rejected(f"its sequence has {count} elements, {MOST_PARTS} at most are made")
        return tuple(builder.take(whole, t) for t in range(count))


Known: TypeAlias = Value | Items | Rows | None
"""What a name of an ONNX graph stands for: a tensor, a sequence of tensors, or nothing."""

Translator: TypeAlias = str | Callable[..., Value | Sequence[Known]]


REUSED = "consumed_inputs"
"""An attribute before opset 6: memory that an operator may write over, which is nothing to us."""

Given: TypeAlias = Value | Sequence[float] | float | None
"""An input, or the attribute that older opsets have in its place."""


class Rejected(Exception):
    """This node cannot be translated; the message says why.

    `value` is the one that would have to be known at import; `unlimited` names what would do with a
    limit.
    """

    def __init__(self, reason: str, value: Value | None = None, unlimited: str = "") -> None:
        super().__init__(reason)
        self.value = value
        self.unlimited = unlimited


@dataclass(frozen=True, slots=True)
class FewBits:
    """What is known of constants of 2 and 4 bits, which are stored a byte each: their types, and
    the floats that are made of them (`few_bits`).
    """

    types: dict[Value, str] = field(default_factory=dict)
    floats: dict[Value, Dequantised] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """An ONNX node, and what translating it needs."""

    op_type: str
    name: str
    opset: int
    used_outputs: tuple[bool, ...]
    builder: GraphBuilder
    allowance: Allowance
    few: FewBits
    limits: Mapping[str, int]

    def reject(self, reason: str) -> NoReturn:
        """Give the node up for `reason`."""
        raise Rejected(reason)

    def constant(self, value: Given, what: str) -> Array | None:
        """The values of an input, None when left out; it must be known at import."""
        if not isinstance(value, Value):
            return None if value is None else np.asarray(value)
        if value.constant is None:
            extents = self.builder.vectors.get(value)
            if extents is not None:
                shown = shape_text(tuple(extents.flat))
                raise Rejected(f"its {what} {shown} must be numbers, which depend on sizes here")
            raise Rejected(f"its {what} ({value}) must be known at compile time", value)
        return value.constant

    def known(self, value: Given, what: str) -> Array:
        """The values of an input that the node must have, known at import."""
        array = self.constant(value, what)
        if array is None:
            self.reject(f"its {what} is missing")
        return array

    def number(self, value: Given, what: str, default: int) -> int:
        """A whole number known at import; `default` when left out."""
        array = self.constant(value, what)
        return default if array is None else int(array.item())

    def ints(self, value: Given, what: str) -> tuple[int, ...] | None:
        """A vector of whole numbers known at import; None when left out."""
        return None if value is None else self.known_ints(value, what)

    def known_ints(self, value: Given, what: str) -> tuple[int, ...]:
        """As `ints`, of a vector that the node must have."""
        return tuple(int(v) for v in self.known(value, what).reshape(-1))

    def extents(self, value: Given, what: str) -> Shape:
        """As `known_ints`, of what may be over sizes."""
        if isinstance(value, Value) and value in self.builder.vectors:
            return tuple(self.builder.vectors[value].flat)
        return self.known_ints(value, what)

    def limited(self, value: Given, what: str) -> Shape:
        """As `extents`, of what may be computed, too, where the user limits it."""
        if not isinstance(value, Value) or value.is_constant or self.depends(value):
            return self.extents(value, what)
        if value.name not in self.limits:
            reason = f"its {what} ({value}) must be known at compile time, or have a limit"
            raise Rejected(reason, value, value.name)
        flat, longest = self.builder.reshape(value, (value.elements,)), self.limits[value.name]
        reason = f"its {what} is not in 0..{longest}, which {self.limit_of(value.name)} says"
        return tuple(
            self.size(self.builder.cut(flat, 0, i, i + 1), longest, reason)
            if e.root is not None
            else e.offset
            for i, e in enumerate(self.numbers(value, what))
        )

    def size(
        self, value: Value, most: int, reason: str = "", limit: Extent | None = None
    ) -> Extent:
        """A whole number that a run computes, as a size up to `most`, or to `limit` in this call;
        any other one ends the run for this reason, "" where there is none.
        """
        scalar = self.cast(self.builder.reshape(value, ()), "int64")
        whole = reason and f"{self.op_type} ({self.name}): {reason}"
        name = self.name or self.op_type
        shapes: tuple[Shape] = ((),)
        return self.builder.select(
            "number", [scalar], lambda _: shapes, most, name, (), limit, whole
        )[0]

    def number_of(self, extent: Extent) -> Value:
        """An extent as an int64 scalar."""
        return self.builder.number(f"{self.name or self.op_type}.n", extent, "int64")

    def limit_of(self, name: str) -> str:
        """What the user said."""
        return f"limits={{{name!r}: {self.limits[name]}}}"

    def depends(self, *values: Given) -> bool:
        """Whether one is known, but for sizes."""
        return any(isinstance(v, Value) and v in self.builder.vectors for v in values)

    def numbers(self, value: Given, what: str) -> list[ScaledElement]:
        """A vector of whole numbers that the node must have, as far as each is known at import."""
        if isinstance(value, Value) and not value.is_constant:
            return [linear(self.builder, value, i) for i in range(value.elements)]
        return [ScaledElement(None, 0, n) for n in self.known_ints(value, what)]

    def progression(self, start: ScaledElement, count: int, step: int) -> Value:
        """`start`, `start + step`, … [count], int64."""
        steps = self.literal(np.arange(*self.table(count)) * step + start.offset)
        if start.root is None:
            return steps
        value, i = start.root
        flat = self.builder.reshape(value, (value.elements,))
        first = self.cast(self.builder.cut(flat, 0, i, i + 1), "int64")
        first = self.emit("multiply", first, self.literal(np.int64(start.factor)))
        return self.emit("add", first, steps)

    def steps(self, count: Extent, like: Value | None = None, rows: Value | None = None) -> Value:
        """0, 1, 2, …, so many, of the dtype of `like`; `rows` has as many."""
        whole = self.literal(np.arange(*self.table(most(count, self.builder.sizes))), like)
        if rows is not None:
            self.check_indices(whole, rows.extents[:1], rows)
        return self.cut(whole, 0, 0, count)

    def empty(self, shape: Sequence[int], like: Value) -> Value:
        """An array without elements, of the dtype of `like`."""
        return self.literal(np.empty(tuple(shape)), like)

    def table(self, *shape: int) -> tuple[int, ...]:
        """`shape`, when there is memory for a constant of it with 8 bytes an element."""
        refusal = self.allowance.refusal("a table that it needs", 8 * math.prod(shape))
        if refusal:
            self.reject(refusal)
        return shape

    def check_indices(self, indices: Value, extents: Sequence[Extent], what: Value) -> None:
        """Refuse constant indices outside of `what`; the last dimension of `indices` is one for
        each of `extents`, if these are several. Others are clamped, or ignored, when they run."""
        array = indices.constant
        if array is None or not array.size:
            return
        columns = array.reshape(-1, len(extents))
        for column, extent in zip(columns.T, extents, strict=True):
            there = least(extent, self.builder.sizes)
            for at in (int(column.min()), int(column.max())):
                if not -there <= at < there:
                    self.reject(f"index {at} is outside the {there} elements there are of {what}")

    def only_output(self, count: int = 1) -> None:
        """Refuse the node when outputs after the first `count` are read by anyone."""
        extra = [i for i, used in enumerate(self.used_outputs) if used and i >= count]
        if extra:
            self.reject(f"its output {extra[0]} is used, which is not supported")

    def emit(self, op: str, *inputs: Value, **attributes: Attribute) -> Value:
        """Append a graph operator, named after the ONNX node."""
        return self.builder.emit(op, *inputs, name=self.name or op, **attributes)

    def literal(self, array: Any, like: Value | None = None) -> Value:
        """A constant, of the dtype of `like` when given."""
        values = np.asarray(array) if like is None else np.asarray(array, numpy_dtype(like))
        return self.builder.constant(f"{self.name or self.op_type}.c", values)

    def cast(self, x: Value, kind: str) -> Value:
        """`x` as `kind`."""
        return x if x.dtype == kind else self.emit("cast_to", x, dtype=kind)

    def cut(self, x: Value, axis: int, low: Extent, high: Extent) -> Value:
        """`x[low:high]` along `axis`."""
        return self.builder.cut(x, axis, low, high, self.name)

    def joined(self, parts: Sequence[Value], axis: int) -> Value:
        """`parts` one after the other along `axis`."""
        return self.builder.joined(parts, axis, self.name)

    def axis(self, axis: int, rank: int) -> int:
        """A possibly negative axis as 0 <= axis < rank."""
        if not -rank <= axis < rank:
            self.reject(f"axis {axis} is outside the {rank} dimensions")
        return axis % rank


def translate_one(
    translator: Translator,
    call: OperatorCall,
    inputs: Sequence[Known],
    attributes: Mapping[str, Any],
) -> Value:
    """The output of a node that has one tensor; see `translate`."""
    (y,) = translate(translator, call, inputs, attributes)
    assert isinstance(y, Value), "it has one output"
    return y


def translate(
    translator: Translator,
    call: OperatorCall,
    inputs: Sequence[Known],
    attributes: Mapping[str, Any],
) -> Sequence[Known]:
    """The outputs of a node. Raises Rejected for a missing input or attribute, and what
    `translator` refuses.
    """
    given = {k: _readable(value) for k, value in attributes.items() if k != REUSED}
    if isinstance(translator, str):
        return [call.emit(translator, *_tensors(call, inputs), **given)]
    positional: list[Any] = []
    options: dict[str, Any] = {}
    for parameter in list(signature(translator).parameters.values())[1:]:
        match parameter.kind:
            case Parameter.POSITIONAL_OR_KEYWORD:
                position = len(positional)
                value = inputs[position] if position < len(inputs) else None
                if value is None and parameter.name in given:
                    positional.append(given.pop(parameter.name))
                else:
                    positional.append(_checked(call, position, value, parameter))
            case Parameter.VAR_POSITIONAL:
                first = len(positional)
                rest = enumerate(inputs[first:], first)
                positional += [_checked(call, i, v, parameter) for i, v in rest]
            case Parameter.KEYWORD_ONLY:
                options[parameter.name] = _option(given.pop(parameter.name, None), parameter)
            case Parameter.VAR_KEYWORD:
                options |= given
    results = translator(call, *positional, **options)
    return [results] if isinstance(results, Value) else results


def _tensors(call: OperatorCall, inputs: Sequence[Known]) -> list[Value]:
    """Inputs that must all be there."""
    any_input = Parameter("inputs", Parameter.VAR_POSITIONAL)
    found = [_checked(call, i, v, any_input) for i, v in enumerate(inputs)]
    return [v for v in found if isinstance(v, Value)]


def _checked(call: OperatorCall, position: int, value: Known, parameter: Parameter) -> Known:
    if parameter.annotation in ("Items", "Items | Rows"):
        if not isinstance(value, tuple | Rows):
            raise Rejected(f"input {position} is no sequence")
        if isinstance(value, Rows) and parameter.annotation == "Items":
            return value.items(call.builder)
    elif isinstance(value, tuple | Rows):
        raise Rejected(f"input {position} is a sequence")
    elif value is None and _is_needed(parameter):
        raise Rejected(f"input {position} is missing")
    return value


def _is_needed(parameter: Parameter) -> bool:
    """Whether an input may not be left out; one before others that may not has no default."""
    return parameter.default is Parameter.empty and not str(parameter.annotation).endswith("None")


def _option(value: Any, parameter: Parameter) -> Any:
    """An attribute, of the type that its default has; ONNX writes flags as integers."""
    default = parameter.default
    if value is None:
        if default is Parameter.empty:
            raise Rejected(f"its attribute {parameter.name} is missing")
        return default
    return type(default)(value) if isinstance(default, (bool, int, float)) else value


def _readable(value: Any) -> Any:
    """Text where ONNX has bytes, tuples where it has lists."""
    if isinstance(value, bytes):
        return value.decode()
    return tuple(map(_readable, value)) if isinstance(value, list) else value


def numpy_dtype(value: Value) -> np.dtype[Any]:
    """The NumPy dtype of `value`."""
    return dtype(value.dtype).numpy


def known_only(call: OperatorCall, *inputs: Value) -> Value:
    """Operators whose inputs decide the shape of the result: they are evaluated at import."""
    values = [call.constant(v, f"input {i}") for i, v in enumerate(inputs)]
    call.reject(f"it could not be evaluated on {values}")
