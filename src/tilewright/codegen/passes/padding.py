"""Pass: elements of private storage beyond their tensor are computed along with the others.

    27 rows in tiles of 4, C private:

    for i < 4: # unrolled                        for i < 4: # unrolled
      if t * 4 + i < 27:                    ->     C[t * 4 + i] += A.C[t * 4 + i, k] * ...
        C[t * 4 + i] += A.C[t * 4 + i, k] * ...

No statement stores such an element, so nothing reads it, and whatever it becomes does no harm; a
condition at every update costs more than the update. What leaves the thread keeps its conditions.
One is dropped only where all accesses stay inside of their buffers without it: shared memory has
room for whole tiles, an input has not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tilewright.codegen.rewrite import conjunction, guarded, rebuilt
from tilewright.contract.sizes import Sizes
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.index.facts import Facts
from tilewright.expr.nodes import Binary, Const, Expr, Read, Select, Tensor
from tilewright.expr.sizes import ranges_of
from tilewright.expr.traversal import children, conjuncts
from tilewright.nest.gpu.workers import Team
from tilewright.nest.nodes import Alloc, For, If, Node, Scope, Store, bodies, walk


@dataclass(frozen=True, slots=True)
class _IndexBound:
    """`sign * index[dimension] + rest >= 0`, where the rest is a number, or is over sizes."""

    dimension: int
    sign: int
    rest: Affine


@dataclass(frozen=True, slots=True)
class _Storage:
    """`offset` is where a window starts, None for a whole buffer. `limits` hold for every element
    that is stored, where the storage is private to a thread.
    """

    offset: tuple[Expr, ...] | None = None
    limits: frozenset[_IndexBound] = frozenset()


@dataclass(frozen=True, slots=True)
class _NodePlace:
    """What is around a node."""

    storage: Mapping[str, _Storage]
    facts: Facts
    team: Team
    in_kernel: bool


WHOLE = _Storage()  # what is allocated outside of the nest


def without_padding_guards(
    node: Node, sizes: Sizes = (), varying: frozenset[str] = frozenset()
) -> Node:
    """The nest without the conditions that only keep private padding unset. Of the `varying`
    tensors, which a caller gives, nothing beyond their sizes is there.
    """
    if not any(isinstance(n, If) for n in walk(node)):
        return node
    facts = Facts(ranges_of(sizes))
    return _Padding(frozenset(facts.ranges), varying).visit(
        node, _NodePlace({}, facts, Team(), in_kernel=False)
    )


class _Padding:
    def __init__(self, sizes: frozenset[str], varying: frozenset[str]) -> None:
        self.sizes, self.varying = sizes, varying
        self.forms = AffineForms()

    def visit(self, node: Node, at: _NodePlace) -> Node:
        match node:
            case If(cond, Store() as store):
                return self.statement(list(conjuncts(cond)), store, at)
            case If(cond, _):
                inner = replace(at, facts=at.facts.assume(cond))
            case Alloc(tensor, offset, body, scope):
                private = at.in_kernel and scope is Scope.LOCAL
                limits = self.limits(tensor.name, body) if private else frozenset()
                known = {**at.storage, tensor.name: _Storage(offset, limits)}
                inner = replace(at, storage=known)
            case For(var, extent):
                inner = replace(at, facts=at.facts.loop(var, extent), in_kernel=True)
            case _:
                inner = at
        inner = replace(inner, team=at.team.entering(node, {}))
        return rebuilt(node, tuple(self.visit(b, inner) for b in bodies(node)))

    def limits(self, name: str, body: Node) -> frozenset[_IndexBound]:
        """What the indices of every store of a tensor satisfy."""
        found = [
            {b for c in conds for b in self.bounds(c, store)}
            for conds, store in _stores(body, ())
            if store.tensor.name == name
        ]
        return frozenset(set.intersection(*found)) if found else frozenset()

    def bounds(self, cond: Expr, store: Store) -> Iterator[_IndexBound]:
        """A condition as bounds of single indices, if it is one."""
        form = self.forms.condition(cond)
        if form is None or not form.terms:
            return
        for d, index in enumerate(store.indices):
            for sign in (1, -1):
                rest = form.plus(self.forms.of(index), -sign)
                if self.forms.variables(rest) <= self.sizes:
                    yield _IndexBound(d, sign, rest)

    def statement(self, conds: list[Expr], store: Store, at: _NodePlace) -> Node:
        """One store without the conditions that it does not need."""
        limits = at.storage.get(store.tensor.name, WHOLE).limits
        if limits and not at.team.combined(store):
            for c in [c for c in conds if limits.intersection(self.bounds(c, store))]:
                others = [other for other in conds if other is not c]
                facts = at.facts.assume(conjunction(others)) if others else at.facts
                if self.is_harmless(store, replace(at, facts=facts)):
                    conds = others
        return guarded(conds, store)

    def is_harmless(self, store: Store, at: _NodePlace) -> bool:
        """Whether a store touches memory that is there, and traps nowhere."""
        return self.is_inside(store.tensor, store.indices, at) and self.is_safe(store.value, at)

    def is_inside(self, tensor: Tensor, indices: tuple[Expr, ...], at: _NodePlace) -> bool:
        known = at.storage.get(tensor.name, WHOLE)
        if known is WHOLE and tensor.name in self.varying:
            return False
        for d, (index, extent) in enumerate(zip(indices, tensor.shape, strict=True)):
            local = index if known.offset is None else index - known.offset[d]
            if not isinstance(extent, int) or not at.facts.bounds(local).within(0, extent - 1):
                return False
        return True

    def is_safe(self, e: Expr, at: _NodePlace) -> bool:
        match e:
            case Read(tensor, indices):
                return self.is_inside(tensor, indices, at)
            case Select(cond, a, b):
                yes = replace(at, facts=at.facts.assume(cond))
                no = replace(at, facts=at.facts.assume(cond, holds=False))
                return self.is_safe(cond, at) and self.is_safe(a, yes) and self.is_safe(b, no)
            case Binary("floordiv" | "mod", a, b) if not a.dtype.is_float:
                # whatever is in memory may be zero, and the devices that are CPUs trap
                return isinstance(b, Const) and self.is_safe(a, at)
        return all(self.is_safe(c, at) for c in children(e))


def _stores(node: Node, conds: tuple[Expr, ...]) -> Iterator[tuple[tuple[Expr, ...], Store]]:
    """The stores under a node with the conditions around them."""
    if isinstance(node, Store):
        yield conds, node
    elif isinstance(node, If):
        conds = (*conds, *conjuncts(node.cond))
    for b in bodies(node):
        yield from _stores(b, conds)
