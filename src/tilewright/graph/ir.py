"""The operator graph: what importers make, passes rewrite and the partitioner cuts.

    graph g(x: float32[1, 56, 56, 64]) -> (y)
      %t = conv(%x, $w: float32[1, 1, 64, 64]; strides=(1, 1))   : float32[1, 56, 56, 64]
      %y = relu(%t)                                              : float32[1, 56, 56, 64]

A `Value` is a constant, a graph input or the output of one `Node`; a node has exactly one output
(an operator with several becomes several nodes). Operator names and their math are the table of
`tilewright.graph.ops`; images are channels-last there. Values and nodes compare by identity; a
graph is never changed: a pass returns a new one. `verify` checks the invariants, `str(graph)`
prints it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from tilewright.errors import VerifyError
from tilewright.expr.dtypes import dtype as as_dtype

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Attribute: TypeAlias = int | float | str | bool | tuple[int, ...] | tuple[tuple[int, int], ...]
Attributes: TypeAlias = Mapping[str, Attribute]


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One array of the graph. `constant` holds its values when they are known."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    constant: Array | None = field(default=None, repr=False)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * as_dtype(self.dtype).bytes

    @property
    def is_constant(self) -> bool:
        return self.constant is not None

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """`output = op(inputs; attributes)`."""

    op: str
    inputs: tuple[Value, ...]
    attributes: Attributes
    output: Value

    def __str__(self) -> str:
        operands = ", ".join(f"${v}" if v.is_constant else f"%{v.name}" for v in self.inputs)
        listed = ", ".join(f"{k}={v!r}" for k, v in self.attributes.items())
        text = f"{self.op}({operands}{'; ' + listed if listed else ''})"
        return f"%{self.output.name} = {text} : {str(self.output).partition(': ')[2]}"


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Nodes in topological order between `inputs` and `outputs`.

    `output_names` are what a caller knows the outputs by (a value may be returned twice).
    """

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    output_names: tuple[str, ...]
    nodes: tuple[Node, ...]

    def consumers(self) -> dict[Value, list[Node]]:
        """Value → the nodes that read it, in order, one entry a node."""
        users: dict[Value, list[Node]] = {}
        for node in self.nodes:
            for value in dict.fromkeys(node.inputs):
                users.setdefault(value, []).append(node)
        return users

    def producers(self) -> dict[Value, Node]:
        """Value → the node that computes it; inputs and constants have none."""
        return {node.output: node for node in self.nodes}

    def __str__(self) -> str:
        head = f"graph {self.name}({', '.join(map(str, self.inputs))})"
        returned = ", ".join(
            n if n == v.name else f"{n}={v.name}"
            for n, v in zip(self.output_names, self.outputs, strict=True)
        )
        return "\n".join([f"{head} -> ({returned})", *(f"  {node}" for node in self.nodes)])


def verify(graph: Graph) -> None:
    """Check topological order, unique names and constants that match their types.

    Raises VerifyError naming the node or value that breaks the rule.
    """
    known: set[Value] = set()
    names: dict[str, Value] = {}
    for value in graph.inputs:
        _define(value, known, names)
        if value.is_constant:
            raise VerifyError(f"{graph.name}: input {value} is a constant")
    for node in graph.nodes:
        for value in node.inputs:
            if value not in known and not value.is_constant:
                raise VerifyError(f"{graph.name}: {node} reads {value}, which is not defined yet")
            _check_constant(value)
        if node.output.is_constant:
            raise VerifyError(f"{graph.name}: the output of {node} is a constant")
        _define(node.output, known, names)
    if len(graph.outputs) != len(graph.output_names):
        raise VerifyError(f"{graph.name}: {len(graph.outputs)} outputs, {graph.output_names=}")
    for value in graph.outputs:
        if value not in known and not value.is_constant:
            raise VerifyError(f"{graph.name}: output {value} is never computed")


def _define(value: Value, known: set[Value], names: dict[str, Value]) -> None:
    if value.name in names:
        raise VerifyError(f"two values are called {value.name!r}: {value} and {names[value.name]}")
    as_dtype(value.dtype)
    known.add(value)
    names[value.name] = value


def _check_constant(value: Value) -> None:
    array = value.constant
    if array is not None and (array.shape, as_dtype(array.dtype).name) != (
        value.shape,
        value.dtype,
    ):
        raise VerifyError(f"constant {value} holds {array.dtype}{list(array.shape)}")


def live_nodes(nodes: Iterable[Node], outputs: Iterable[Value]) -> tuple[Node, ...]:
    """The nodes that some output depends on, in their order."""
    needed = set(outputs)
    kept: list[Node] = []
    for node in reversed(list(nodes)):
        if node.output in needed:
            kept.append(node)
            needed.update(node.inputs)
    return tuple(reversed(kept))
