"""Transpositions at the edges of a model: made, or absorbed by what stands between two of them.

    transpose  →  depthwise, relu  →  transpose     one kernel that computes channels first

Inside of a model everything is channels last (`passes/channels_last.py`), which is best for what
multiplies a lot. An operator alone between an image that is given and one that is returned may take
less time along rows of images than its two transpositions do. Both are compared by the target's
published speeds, so that a model is always cut the same way. What multiplies narrow numbers by
instructions that take neighbouring channels stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from tilewright.expr.contraction.groups import narrow_factors
from tilewright.expr.dag import stage_flops
from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.expr.nodes import Reduce
from tilewright.graph.access import NodeMath, body_of
from tilewright.graph.chaining import FLOPS_PER_CYCLE, bytes_per_s
from tilewright.graph.ir import Node, Value
from tilewright.target import CpuTarget
from tilewright.target.dots import dot_of
from tilewright.target.speeds import published

OTHER_WAY = 0.25
"""Share of the arithmetic's time that computing along images may cost: rows of a weight are read
again for each, and no Winograd form is there.
"""
FEW = 1024  # elements of an operand whose order does not matter


@dataclass(frozen=True, slots=True)
class Edges:
    """What decides it for a graph that runs on `target`; `math` is that of its nodes."""

    target: CpuTarget
    math: Mapping[Node, NodeMath]

    def absorbs(self, nodes: Sequence[Node], last: Node) -> bool:
        """Whether what `nodes` compute, transpositions before them included, takes the one after
        them with it.
        """
        before = _before(nodes, last)
        if not before or any(map(self._is_dot, nodes)):
            return False
        value, speeds = last.output, published(self.target.name)
        lanes = self.target.lanes(as_dtype(value.dtype))
        flops = sum(stage_flops(t) for n in nodes for t in self.math[n].stages)
        arithmetic_s = flops / (FLOPS_PER_CYCLE * lanes * speeds.clock_hz)
        row = value.shape[-1]
        empty = ceil(row / lanes) * lanes / row - 1.0
        moved = (value, *(n.output for n in before))
        moved_s = sum(2.0 * v.bytes / bytes_per_s(v, self.target) for v in moved)
        return moved_s > (OTHER_WAY + empty) * arithmetic_s

    def _is_dot(self, node: Node) -> bool:
        """Whether an instruction multiplies neighbours of narrow numbers: channels, which lie apart
        along images.
        """
        bodies = map(body_of, self.math[node].stages)
        found = [narrow_factors(b.body) for b in bodies if isinstance(b, Reduce)]
        names = ([f.tensor.dtype.name for f in factors] for factors in found if factors)
        return any(dot_of(self.target, *pair) is not None for pair in names)


def _before(nodes: Sequence[Node], last: Node) -> list[Node]:
    """The transpositions of what is given, if `last` undoes them and all operands that matter come
    through one; else none.
    """
    made = {n.output for n in nodes}
    found = [n for n in nodes if _permutation(n) is not None and n.inputs[0] not in made]
    given = {v for n in nodes for v in n.inputs if v not in made and not v.is_constant}
    others = given - {n.inputs[0] for n in found}
    undone = all(_undoes(last, n) for n in found)
    return found if undone and all(v.elements <= FEW for v in others) else []


def _permutation(node: Node) -> tuple[int, ...] | None:
    if node.op != "transpose":
        return None
    found: Any = node.attributes["permutation"]
    return tuple(found)


def _undoes(last: Node, first: Node) -> bool:
    a, b = _permutation(last), _permutation(first)
    return a is not None and b is not None and tuple(b[d] for d in a) == tuple(range(len(a)))


def is_edge(node: Node, returned: set[Value]) -> bool:
    """Whether a node is a transposition of what the model returns, whose rows are not kept."""
    order = _permutation(node)
    return order is not None and node.output in returned and order[-1] != len(order) - 1
