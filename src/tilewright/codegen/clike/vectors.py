"""Which loads and stores of a vector loop are one access of several elements.

    for v < 8 (vector): A.C[t * 8 + v] = A[k + v]      two chunks of 4: float4 there and back

An access is one `width` at a time where its flat index is `v + rest` and `rest` is a multiple of
the width. A condition that holds for the whole chunk or for none of it moves out of the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.nodes import Expr, Read, Select, Var
from tilewright.expr.traversal import children, conjuncts, walk
from tilewright.nest.nodes import If, Node

WIDTHS = (8, 4, 2)


def widths(extent: int) -> Iterator[int]:
    """Chunk sizes that divide a vector loop, widest first."""
    return (w for w in WIDTHS if extent % w == 0)


def is_contiguous(index: Expr, var: str, width: int, forms: AffineForms) -> bool:
    """Whether the chunk that starts at a multiple of `width` is an aligned row of elements."""
    form = forms.of(index)
    if form.coefficient(var) != 1 or _hides(form, var, forms):
        return False
    rest = form.without(var)
    return rest.const % width == 0 and all(k % width == 0 for _, k in rest.terms)


def _hides(form: Affine, var: str, forms: AffineForms) -> bool:
    return any(var in forms.inside.get(name, ()) for name, _ in form.terms)


def uniform_guards(body: Node, var: Var, width: int, forms: AffineForms) -> tuple[list[Expr], Node]:
    """Conditions around the statement that do not differ within a chunk, and what they guard."""
    conds: list[Expr] = []
    while isinstance(body, If) and is_uniform(body.cond, var.name, width, forms):
        conds += conjuncts(body.cond)
        body = body.body
    return conds, body


def is_uniform(cond: Expr, var: str, width: int, forms: AffineForms) -> bool:
    """Whether a condition holds for all lanes of a chunk or for none."""
    return all(_holds_together(c, var, width, forms) for c in conjuncts(cond))


def certain_reads(value: Expr) -> Iterator[Read]:
    """Reads that are made whatever is chosen: those in a branch may lie outside of the buffer."""

    def below(e: Expr) -> tuple[Expr, ...]:
        match e:
            case Read():
                return ()
            case Select(cond, _, _):
                return (cond,)
        return children(e)

    return (e for e in walk(value, below) if isinstance(e, Read))


def _holds_together(cond: Expr, var: str, width: int, forms: AffineForms) -> bool:
    """`k*v + rest >= 0` for all v < width or none: |k| = 1 and `rest` ≡ 0 (k = 1) or -1 (k = -1)
    modulo the width.
    """
    form = forms.condition(cond)
    if form is None or _hides(form, var, forms):
        return False
    k = form.coefficient(var)
    rest = form.without(var)
    if k == 0:
        return True
    if k not in (1, -1) or any(c % width for _, c in rest.terms):
        return False
    return rest.const % width == (0 if k == 1 else width - 1)
