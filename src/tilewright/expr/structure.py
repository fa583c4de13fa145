"""The structure of a stage: its expression without extents, literals and names.

    y[h] = Σ_r x[h * 2 + r] * w[r]     ("sum", ("mul", ("read", 0, (h, r)), ("read", 1, (r,))))
    y[h] = Σ_r x[h + r * 3] * w[r]     the same

An axis is its position in the stage, spatial before reduction, an operand its position among the
tensors read. An index is the set of its terms: which axes move it, through which operations, in
which direction; strides, dilations and offsets do not count. Nothing is decided by bounds, so that
an axis of extent 1 is an axis like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tilewright.expr.dtypes import INT64
from tilewright.expr.index.affine import AffineForms
from tilewright.expr.index.polynomials import LONGEST_KEY, short
from tilewright.expr.nodes import Binary, Call, Cast, Const, Expr, Read, Reduce, Select, Tensor
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import PerNode, children, free_vars, reads, transform

Structure: TypeAlias = tuple[Any, ...]
"""Nested tuples of texts and numbers: hashable, compared by value."""
ZERO = Const(0, INT64)


def operands(compute: Compute) -> tuple[Tensor, ...]:
    """The tensors a stage reads, in the order of its expression, without duplicates."""
    return tuple({r.tensor.name: r.tensor for r in reads(compute.body)}.values())


def structure(compute: Compute) -> Structure:
    """What remains of the expression of one element; see the module."""
    return _Structures(compute).element(with_unit_axes(compute))


def with_unit_axes(compute: Compute) -> Expr:
    """The body, in which index 0 of a dimension of extent 1 is an axis of extent 1 again.

        C[b, i, j] = Σ_k A[0, i, k] * B[0, k, j]   ->   A[b, i, k], B[b, k, j]      with b < 1

    Operators that broadcast leave such an axis out. Only axes that no read moves with are put
    back: into each operand first those that no operand before it has, then reduced ones, which
    the factors of a contraction share.
    """
    axes = (*compute.axes, *compute.reduce_axes)
    used = free_vars(compute.body)
    dropped = [a for a in axes if a.extent == 1 and a.name not in used]
    placed: set[str] = set()
    done: dict[Read, Read] = {}

    def leaf(e: Expr) -> Expr | None:
        if not isinstance(e, Read) or not dropped:
            return None
        if e not in done:
            rows = enumerate(zip(e.indices, e.tensor.shape, strict=True))
            free = [d for d, (i, extent) in rows if extent == 1 and i == ZERO]
            ranked = sorted(dropped, key=lambda a: (a.name in placed, not a.reduce))
            chosen = sorted(ranked[: len(free)], key=axes.index)
            indices = list(e.indices)
            for d, axis in zip(free, chosen, strict=False):
                indices[d] = axis.var
            placed.update(a.name for a in chosen)
            done[e] = Read(e.tensor, tuple(indices))
        return done[e]

    return transform(compute.body, leaf)


class _Structures:
    """Structures of the expressions of one stage."""

    def __init__(self, compute: Compute) -> None:
        axes = (*compute.axes, *compute.reduce_axes)
        self.axes = {a.name: n for n, a in enumerate(axes)}
        self.operands = {t.name: n for n, t in enumerate(operands(compute))}
        self.forms = AffineForms()
        self.element = PerNode(self._element)
        self.index = PerNode(self._index)

    def _element(self, e: Expr, _: Callable[[Expr], Structure]) -> Structure:
        match e:
            case Read(tensor, indices):
                return ("read", self.operands[tensor.name], *map(self.index, indices))
            case Reduce(op, _, body):
                return (op, self.element(body))
            case _ if e.dtype == INT64:
                return ("index", self.index(e))
            case Const(_, kind):
                return ("const", kind.name)
        return self.operation(e)

    def operation(self, e: Expr) -> Structure:
        match e:
            case Binary(op, _, _) | Call(op, _):
                head: Structure = (op,)
            case Cast(to, _):
                head = ("cast", to.name)
            case Select():
                head = ("select",)
            case _:
                return self.element(e)
        whole = (*head, *map(self.element, children(e)))
        text = repr(whole)  # of a graph it would grow with every level
        return whole if len(text) <= LONGEST_KEY else (*head, short(text))

    def _index(self, e: Expr, _: Callable[[Expr], Structure]) -> Structure:
        """(direction, axis) or (direction, operation) of the terms of an int64 expression, each
        once, in an order of their own: -1 where a term grows downwards.
        """
        found = {(1 if k > 0 else -1, self.term(name)) for name, k in self.forms.of(e).terms}
        return tuple(sorted(found, key=repr))

    def term(self, name: str) -> int | Structure:
        """An axis, or what is no sum of axes."""
        e = self.forms.opaque.get(name)
        if e is None:
            return self.axes[name]
        return self.element(e) if isinstance(e, Read) else self.operation(e)
