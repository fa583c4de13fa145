"""Passes: do not add products with a padding zero.

    s += select(inside, X[..], 0.0) * W[..]    ->    if inside: s += X[..] * W[..]

and back where, after the versions, such a condition is left in the innermost code: there a read
redirected to zeros is cheaper than a branch.

A padded convolution thus skips its border instead of multiplying it with zeros, as libraries do:
fewer operations, and no read needs a redirection. The results agree for finite `W`; an infinite or
NaN weight no longer turns a padding zero into NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.codegen.passes.size import BUDGET, CodeSize
from tilewright.codegen.rewrite import reads_memory, rebuilt, within
from tilewright.expr.index.affine import AffineForms
from tilewright.expr.index.intervals import Interval
from tilewright.expr.nodes import Binary, Cast, Const, Expr, Select, as_expr
from tilewright.expr.rewrites.zero_terms import zero_factors
from tilewright.expr.sizes import NO_SIZES
from tilewright.expr.traversal import conjuncts, free_vars
from tilewright.nest.marks import marks
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Seq, Store, bodies


def without_zero_terms(node: Node, lanes: frozenset[str] = frozenset()) -> Node:
    """The nest with guarded sums in place of sums of zero terms; `lanes` are vector variables.

    A condition that differs between lanes stays a select: it becomes a mask.
    """
    if isinstance(node, Store):
        return _store(node, lanes)
    if isinstance(node, For) and node.kind is Kind.VECTOR:
        lanes |= {node.var.name}
    return rebuilt(node, tuple(without_zero_terms(b, lanes) for b in bodies(node)))


def _store(node: Store, lanes: frozenset[str], left_out: bool = False) -> Node:
    """`left_out`: a condition around says of the whole term whether it counts."""
    if node.reduce != "sum":
        return node
    factors = (s for s in zero_factors(node.value) if not reads_memory(s.cond))
    found = next((s for s in factors if not lanes & free_vars(s.cond)), None)
    if found is None:
        return node
    inner = replace(node, value=_taken(node.value, found))
    left_out = left_out or found is node.value
    if not left_out:
        inner = replace(inner, marks=marks(**{**dict(inner.marks), "padding": 1}))
    return If(found.cond, _store(inner, lanes, left_out))


def _taken(e: Expr, select: Select) -> Expr:
    """`e` with the factor `select` replaced by its first branch."""
    if e is select:
        return select.a
    match e:
        case Binary("mul", a, b):
            return Binary("mul", _taken(a, select), _taken(b, select))
        case Cast(to, x):
            return Cast(to, _taken(x, select))
    return e


def with_zero_terms(node: Node, vector_bits: int, sizes: Mapping[str, Interval] = NO_SIZES) -> Node:
    """The nest with the conditions of a few sums as selects again.

    Only where the updated elements exist without the condition: a guard stays a guard, and what is
    in memory beyond a size is not there.
    """
    return _Restored(CodeSize(vector_bits), frozenset(sizes)).visit(node, dict(sizes), {})


class _Restored:
    def __init__(self, code: CodeSize, sizes: frozenset[str]) -> None:
        self.code = code
        self.sizes = sizes
        self.forms = AffineForms()

    def visit(
        self, node: Node, ranges: dict[str, Interval], windows: dict[str, tuple[Expr, ...]]
    ) -> Node:
        """`ranges` bounds the variables around, `windows` says where allocations start."""
        match node:
            case For():
                inside = within(ranges, node)
                return rebuilt(node, (self.visit(node.body, inside, windows),))
            case Alloc(tensor, offset, body):
                inner = self.visit(body, ranges, windows | {tensor.name: offset})
                return rebuilt(node, (inner,))
            case If(cond, body):
                return self.branch(cond, body, ranges, windows)
        return rebuilt(node, tuple(self.visit(b, ranges, windows) for b in bodies(node)))

    def branch(
        self,
        cond: Expr,
        body: Node,
        ranges: dict[str, Interval],
        windows: dict[str, tuple[Expr, ...]],
    ) -> Node:
        inner = self.visit(body, self.forms.narrowed(ranges, conjuncts(cond)), windows)
        few = self.code.statements(inner) <= BUDGET.selects and not self.sizes & free_vars(cond)
        if few and not reads_memory(cond) and _sums(inner) and self.exist(inner, ranges, windows):
            return _selected(inner, cond)
        return If(cond, inner)

    def exist(
        self, node: Node, ranges: dict[str, Interval], windows: dict[str, tuple[Expr, ...]]
    ) -> bool:
        """Whether all elements that a nest updates exist."""
        if isinstance(node, For):
            ranges = within(ranges, node)
        if not isinstance(node, Store):
            return all(self.exist(b, ranges, windows) for b in bodies(node))
        starts = windows.get(node.tensor.name, (as_expr(0),) * len(node.indices))
        for e, start, extent in zip(node.indices, starts, node.tensor.shape, strict=True):
            reach = self.forms.of(e).plus(self.forms.of(start), -1).bounds(ranges)
            if not isinstance(extent, int) or not reach.within(0, extent - 1):
                return False
        return True


def _sums(node: Node) -> bool:
    """Whether a nest is written out and all it does is add products."""
    match node:
        case Store(_, _, value, "sum"):
            return isinstance(value, Binary | Select) and value.dtype.is_float
        case For(kind=Kind.UNROLLED | Kind.VECTOR) | If() | Seq():
            return all(_sums(b) for b in bodies(node))
    return False


def _selected(node: Node, cond: Expr) -> Node:
    """The condition inside the sums' values."""
    if isinstance(node, Store):
        zero = Const(0.0, node.value.dtype)
        return replace(node, value=Select(cond, node.value, zero))
    return rebuilt(node, tuple(_selected(b, cond) for b in bodies(node)))
