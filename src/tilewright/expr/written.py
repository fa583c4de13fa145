"""How large an expression becomes when the definitions of what it reads are written into it.

    v1 = v0 + v0;  v2 = v1 + v1;  …  v40 = v39 + v39       written out, v40 reads v0 2^40 times

A stage is a graph, but written into others it has other indices in every place: its parts are new
ones there. So the size is bounded before stages are put into each other, that of the tree. It is
found without writing anything: a definition counts its operations, and for every variable how often
it stands there and how deep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tilewright.expr.nodes import Expr, Read, Tensor, Var
from tilewright.expr.traversal import children

GREATEST_EXPRESSION = 2048
"""Operations of an expression that stages are inlined into; twice as many take twice the time."""
DEEPEST_EXPRESSION = 128
"""Operations within each other; what works on expressions calls itself for each."""


@dataclass(frozen=True, slots=True)
class Written:
    """The `nodes` of an expression and its `depth` without variables; `variables` has for each how
    often it stands there, and how deep at most.
    """

    nodes: int
    depth: int
    variables: Mapping[str, tuple[int, int]]

    @property
    def total(self) -> int:
        """All nodes, variables included."""
        return self.nodes + sum(count for count, _ in self.variables.values())

    @property
    def fits(self) -> bool:
        """Whether it is small enough to be worked on."""
        return self.total <= GREATEST_EXPRESSION and self.depth <= DEEPEST_EXPRESSION


Definition: TypeAlias = tuple[tuple[str, ...], Written]
"""The names of a stage's axes and its expression."""
VARIABLE = (1, 0)


def written(e: Expr, definition: Callable[[Tensor], Definition | None] = lambda _: None) -> Written:
    """The size of `e` with every tensor that has a definition replaced by it. Takes as long as `e`
    has different nodes.
    """
    return _WrittenSizes(definition, {}).visit(e)


@dataclass(frozen=True, slots=True)
class _WrittenSizes:
    definition: Callable[[Tensor], Definition | None]
    known: dict[int, Written]

    def visit(self, e: Expr) -> Written:
        if id(e) not in self.known:
            self.known[id(e)] = self.node(e)
        return self.known[id(e)]

    def node(self, e: Expr) -> Written:
        if isinstance(e, Var):
            return Written(0, 0, {e.name: VARIABLE})
        parts = [self.visit(c) for c in children(e)]
        found = self.definition(e.tensor) if isinstance(e, Read) else None
        if found is not None:
            axes, body = found
            return _substituted(body, dict(zip(axes, parts, strict=True)))
        together = Written(1, 1, {})
        for part in parts:
            together = _plus(together, part, 1, 1)
        return together


def _substituted(body: Written, values: Mapping[str, Written]) -> Written:
    """`body` with expressions in place of its variables."""
    others = {name: found for name, found in body.variables.items() if name not in values}
    total = Written(body.nodes, body.depth, others)
    for name, value in values.items():
        count, depth = body.variables.get(name, (0, 0))
        if count:
            total = _plus(total, value, count, depth)
    return total


def _plus(total: Written, part: Written, count: int, depth: int) -> Written:
    """`total` and `count` times `part`, of which the deepest stands `depth` levels down."""
    variables = dict(total.variables)
    for name, (often, deep) in part.variables.items():
        before, deepest = variables.get(name, (0, 0))
        variables[name] = before + count * often, max(deepest, depth + deep)
    return Written(
        total.nodes + count * part.nodes, max(total.depth, depth + part.depth), variables
    )
