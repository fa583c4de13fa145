"""Pass: simplify every expression with the bounds of the loops around it.

    for i < 8: for j < 1: if (i*4 + j < 32): A[i*4 + j] = ...    ->    for i < 8: A[i*4] = ...

Loops of extent 1 and decided conditions disappear. What a surrounding `If` says about a loop
variable decides further conditions inside; it does not change indices, so that equal elements keep
equal indices in all branches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tilewright.codegen.rewrite import (
    guarded,
    is_empty,
    rebuilt,
    within,
)
from tilewright.expr.index.affine import AffineForms
from tilewright.expr.index.intervals import Interval
from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import Const, Expr, Select
from tilewright.expr.traversal import conjuncts, rewriting
from tilewright.nest.nodes import EMPTY, Alloc, For, If, Instruction, Node, Seq, Store, mapped


def simplified(node: Node, ranges: Mapping[str, Interval] | None = None) -> Node:
    """The nest with simplified expressions; `ranges` bounds variables of loops around it."""
    known = dict(ranges or {})
    return _Simplify().visit(node, known, known)


class _Simplify:
    def __init__(self) -> None:
        self.forms = AffineForms()
        self._by_ranges: dict[frozenset[tuple[str, Interval]], Simplifier] = {}

    def rules(self, ranges: dict[str, Interval]) -> Simplifier:
        """One simplifier for each set of bounds, so that it remembers."""
        key = frozenset(ranges.items())
        if key not in self._by_ranges:
            self._by_ranges[key] = Simplifier(ranges)
        return self._by_ranges[key]

    def visit(self, node: Node, ranges: dict[str, Interval], narrow: dict[str, Interval]) -> Node:
        """`ranges` are the loops' bounds, `narrow` those that the conditions around imply."""
        match node:
            case Seq(body):
                return rebuilt(node, tuple(self.visit(b, ranges, narrow) for b in body))
            case For():
                return self.loop(node, ranges, narrow)
            case If(cond, body):
                return self.branch(cond, body, ranges, narrow)
            case Alloc(_, offset, body):
                inner = self.visit(body, ranges, narrow)
                if is_empty(inner):
                    return EMPTY
                start = self.rules(ranges).simplify
                return replace(node, offset=tuple(map(start, offset)), body=inner)
            case Store(_, indices, value):
                do = self.rules(ranges).simplify
                if narrow != ranges:
                    value = self.decided(value, narrow)
                return replace(node, indices=tuple(map(do, indices)), value=do(value))
            case Instruction():
                return mapped(node, self.rules(ranges).simplify)
        return node

    def loop(self, node: For, ranges: dict[str, Interval], narrow: dict[str, Interval]) -> Node:
        if isinstance(node.extent, int) and node.extent < 1:
            return EMPTY
        body = self.visit(node.body, within(ranges, node), within(narrow, node))
        return body if node.extent == 1 else rebuilt(node, (body,))

    def decided(self, e: Expr, narrow: dict[str, Interval]) -> Expr:
        """`e` without the selects that the narrower bounds decide."""
        rules = self.rules(narrow)

        def leaf(x: Expr, rewrite: Callable[[Expr], Expr]) -> Expr | None:
            if not isinstance(x, Select):
                return None
            test = rules.simplify(x.cond)
            if isinstance(test, Const):
                return rewrite(x.a if test.value else x.b)
            return Select(test, rewrite(x.a), rewrite(x.b))

        return rewriting(leaf)(e)

    def branch(
        self, cond: Expr, body: Node, ranges: dict[str, Interval], narrow: dict[str, Interval]
    ) -> Node:
        test = self.rules(narrow).simplify(cond)
        if isinstance(test, Const) and not test.value:
            return EMPTY
        conds = list(conjuncts(test))
        inside = self.visit(body, ranges, self.forms.narrowed(narrow, conds))
        if isinstance(inside, If):
            known = [c for c in conjuncts(inside.cond) if c not in conds]
            return guarded([*conds, *known], inside.body)
        return guarded(conds, inside)
