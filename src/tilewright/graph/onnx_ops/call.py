"""One ONNX node while it is translated: typed access to its inputs and attributes.

A translator is `fn(call) -> Value | sequence of values`: it emits graph operators and returns the
node's outputs. What it cannot take it refuses with `call.reject(reason)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np

from tilewright.expr.dtypes import dtype
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Array, Attribute, Value
from tilewright.graph.limits import Allowance

Known: TypeAlias = Value | tuple[Value, ...] | None
"""What a name of an ONNX graph stands for: a tensor, a sequence of tensors, or nothing."""


class Rejected(Exception):
    """This node cannot be translated; the message says why.

    `value` is the one that would have to be known at import.
    """

    def __init__(self, reason: str, value: Value | None = None) -> None:
        super().__init__(reason)
        self.value = value


@dataclass(frozen=True, slots=True)
class Call:
    """An ONNX node: `inputs` holds None for an input that is left out."""

    op_type: str
    name: str
    opset: int
    inputs: tuple[Known, ...]
    attributes: Mapping[str, Any]
    used_outputs: tuple[bool, ...]
    builder: GraphBuilder
    allowance: Allowance

    def reject(self, reason: str) -> NoReturn:
        """Give the node up for `reason`."""
        raise Rejected(reason)

    def optional(self, position: int) -> Value | None:
        """Input `position`, or None when the node leaves it out."""
        value = self.inputs[position] if position < len(self.inputs) else None
        if isinstance(value, tuple):
            self.reject(f"input {position} is a sequence")
        return value

    def sequence(self, position: int) -> tuple[Value, ...]:
        """Input `position`, which must be a sequence."""
        value = self.inputs[position]
        if not isinstance(value, tuple):
            self.reject(f"input {position} is no sequence")
        return value

    def input(self, position: int) -> Value:
        """Input `position`, which the node must have."""
        value = self.optional(position)
        if value is None:
            self.reject(f"input {position} is missing")
        return value

    def constant(self, position: int, what: str) -> Array | None:
        """The values of input `position`, None when left out; it must be known at import."""
        value = self.optional(position)
        if value is not None and value.constant is None:
            raise Rejected(f"its {what} ({value}) must be known at compile time", value)
        return None if value is None else value.constant

    def known(self, position: int, what: str) -> Array:
        """The values of input `position`, which the node must have, known at import."""
        array = self.constant(position, what)
        if array is None:
            self.reject(f"its {what} is missing")
        return array

    def element(self, x: Value, at: int) -> Value:
        """Element `at` of a vector, as a scalar."""
        if x.constant is not None:
            return self.literal(x.constant[at])
        part = self.emit("strided_slice", x, starts=(at,), stops=(at + 1,), steps=(1,), axes=(0,))
        return self.builder.reshape(part, ())

    def empty(self, shape: Sequence[int], like: Value) -> Value:
        """An array without elements, of the dtype of `like`."""
        return self.literal(np.empty(tuple(shape)), like)

    def table(self, *shape: int) -> tuple[int, ...]:
        """`shape`, when there is memory for a constant of it with 8 bytes an element."""
        refusal = self.allowance.refusal("a table that it needs", 8 * math.prod(shape))
        if refusal:
            self.reject(refusal)
        return shape

    def check_indices(self, indices: Value, extents: Sequence[int], what: Value) -> None:
        """Refuse constant indices outside of `what`; the last dimension of `indices` is one for
        each of `extents`, if these are several. Others are clamped, or ignored, when they run."""
        array = indices.constant
        if array is None or not array.size:
            return
        columns = array.reshape(-1, len(extents))
        for column, extent in zip(columns.T, extents, strict=True):
            for at in (int(column.min()), int(column.max())):
                if not -extent <= at < extent:
                    self.reject(f"index {at} is outside the {extent} elements there are of {what}")

    def ints(self, position: int, what: str) -> tuple[int, ...] | None:
        """An int vector that newer opsets give as input `position`, older ones as attribute `what`.

        None when there is neither.
        """
        array = self.constant(position, what)
        if array is not None:
            return tuple(int(v) for v in array.reshape(-1))
        listed = self.attributes.get(what)
        return None if listed is None else tuple(int(v) for v in listed)

    def attribute(self, name: str, default: Any = None) -> Any:
        """The attribute `name`, or `default`."""
        return self.attributes.get(name, default)

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

    def axis(self, default: int, rank: int) -> int:
        """The attribute `axis` as 0 <= axis < rank."""
        return self.normal_axis(int(self.attribute("axis", default)), rank)

    def normal_axis(self, axis: int, rank: int) -> int:
        """A possibly negative axis as 0 <= axis < rank."""
        if not -rank <= axis < rank:
            self.reject(f"axis {axis} is outside the {rank} dimensions")
        return axis % rank


Translator: TypeAlias = Callable[[Call], Value | Sequence[Known]]


def numpy_dtype(value: Value) -> np.dtype[Any]:
    """The NumPy dtype of `value`."""
    return dtype(value.dtype).numpy
