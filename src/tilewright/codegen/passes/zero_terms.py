"""Pass: do not add products with a padding zero.

    s += select(inside, X[..], 0.0) * W[..]    ->    if inside: s += X[..] * W[..]

A padded convolution thus skips its border instead of multiplying it with zeros, as libraries do:
fewer operations, and no read needs a redirection. The results agree for finite `W`; an infinite or
NaN weight no longer turns a padding zero into NaN.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.codegen.passes.rewrite import reads_memory, rebuilt
from tilewright.expr.nodes import Binary, Const, Expr, Select, free_vars
from tilewright.nest.nodes import For, If, Kind, Node, Store, bodies


def without_zero_terms(node: Node, lanes: frozenset[str] = frozenset()) -> Node:
    """The nest with guarded sums in place of sums of zero terms; `lanes` are vector variables.

    A condition that differs between lanes stays a select: it becomes a mask.
    """
    if isinstance(node, Store):
        return _store(node, lanes)
    if isinstance(node, For) and node.kind is Kind.VECTOR:
        lanes |= {node.var.name}
    return rebuilt(node, tuple(without_zero_terms(b, lanes) for b in bodies(node)))


def _store(node: Store, lanes: frozenset[str]) -> Node:
    if node.reduce != "sum":
        return node
    uniform = (s for s in _zero_factors(node.value) if not lanes & free_vars(s.cond))
    found = next(uniform, None)
    if found is None:
        return node
    inner = Store(node.tensor, node.indices, _taken(node.value, found), node.reduce)
    return If(found.cond, _store(inner, lanes))


def _zero_factors(e: Expr) -> Iterator[Select]:
    """Selects between a factor and zero, among the factors of a product."""
    if isinstance(e, Binary) and e.op == "mul":
        yield from _zero_factors(e.a)
        yield from _zero_factors(e.b)
    elif isinstance(e, Select) and _is_zero(e.b) and not reads_memory(e.cond):
        yield e


def _is_zero(e: Expr) -> bool:
    return isinstance(e, Const) and e.value == 0


def _taken(e: Expr, select: Select) -> Expr:
    """`e` with the factor `select` replaced by its first branch."""
    if e is select:
        return select.a
    if isinstance(e, Binary) and e.op == "mul":
        return Binary("mul", _taken(e.a, select), _taken(e.b, select))
    return e
