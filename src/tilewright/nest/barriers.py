"""Barriers from dependences: where threads of a block must wait for each other.

    with_barriers(body)        for k: [fill A.C; use A.C]  ->  for k: [barrier; fill; barrier; use]
    first_race(kernel)         two accesses without a barrier between them, or None

Two accesses of one shared tensor conflict when one writes, unless the same thread makes both: then
they have the same indices, and those name every thread loop around. Nor do they conflict in two
stages of a ring: at `k % 3` and `(k + 2) % 3`, where what the iteration before left is at
`(k - 1) % 3`. Accesses of two tensors that lie in the same bytes (`Alloc.slot`) conflict when one
writes. That a shared element is written by
one thread only is the interpreter's to check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeGuard

from tilewright.expr.nodes import Binary, Const, Expr, Read, Var, free_vars, reads, substitute
from tilewright.expr.simplify import simplify
from tilewright.nest.nodes import (
    THREADS,
    Alloc,
    Barrier,
    For,
    If,
    Instruction,
    Kind,
    Node,
    Scope,
    Seq,
    Store,
    bodies,
    seq,
    touched,
    walk,
)
from tilewright.nest.print import expr_text
from tilewright.nest.workers import Team

RUNS_ONCE = (Kind.BLOCK, Kind.VIRTUAL, *THREADS)


@dataclass(frozen=True, slots=True)
class SharedAccess:
    """One access of a shared tensor, its slot and the thread variables around it."""

    tensor: str
    slot: int | None
    indices: tuple[Expr, ...]
    writes: bool
    threads: frozenset[str]

    def conflicts(self, other: SharedAccess) -> bool:
        """Whether two threads may touch the same element, one of them writing."""
        if not (self.writes or other.writes):
            return False
        if self.tensor != other.tensor:
            return self.slot is not None and self.slot == other.slot
        if self.indices != other.indices:
            pairs = zip(self.indices, other.indices, strict=True)
            threads = self.threads | other.threads
            return not any(
                _are_apart(a, b) for a, b in pairs if not (free_vars(a) | free_vars(b)) & threads
            )
        named = frozenset[str]().union(*(free_vars(i) for i in self.indices))
        return not (self.threads | other.threads) <= named

    def __str__(self) -> str:
        index = ", ".join(expr_text(i) for i in self.indices)
        return f"{self.tensor}[{index}]"


def _are_apart(a: Expr, b: Expr) -> bool:
    """Whether two indices that do not depend on threads always differ, one of them a stage of a
    ring. Of how many stages a symbolic nest has, nothing is known: it is not asked for.
    """
    if any(isinstance(x, Var) and y == Var(f"{x.name}'") for x, y in ((a, b), (b, a))):
        return True  # two iterations
    if isinstance(a, Const) and isinstance(b, Const):
        return a != b
    rings = [e.b for e in (a, b) if isinstance(e, Binary) and e.op == "mod"]
    if not rings or any(n != rings[0] for n in rings):
        return False
    if not isinstance(rings[0], Const):
        return True
    step = simplify(_unrolled(a) - _unrolled(b))
    return isinstance(step, Const) and step.value % rings[0].value != 0


def _unrolled(stage: Expr) -> Expr:
    """What a stage of a ring is the remainder of."""
    return stage.a if isinstance(stage, Binary) and stage.op == "mod" else stage


Pending: TypeAlias = dict[SharedAccess, None]
"""Accesses since the last barrier, in order."""


def with_barriers(body: Node) -> Node:
    """The nest with a barrier wherever a conflict needs one, as far out as statements allow."""
    shared = _shared(body)
    return _SharedAccesses(shared).place(body, {}, Team())[0] if shared else body


def first_race(kernel: Node) -> tuple[SharedAccess, SharedAccess] | None:
    """The first pair of conflicting accesses that no barrier separates."""
    shared = _shared(kernel)
    analysis = _SharedAccesses(shared, _rings(kernel, shared))
    if shared:
        analysis.walk(kernel, {}, Team())
    return analysis.races[0] if analysis.races else None


def _shared(node: Node) -> dict[str, int | None]:
    """The shared tensors of a nest, each with its slot."""
    return {
        n.tensor.name: n.slot
        for n in walk(node)
        if isinstance(n, Alloc) and n.scope is Scope.SHARED
    }


def _rings(kernel: Node, shared: Mapping[str, int | None]) -> frozenset[tuple[str, int]]:
    """The dimensions of shared tensors in which a loop's iterations have a stage each: some access
    is at the remainder of its variable, or of some more, and moves by it in no other dimension.
    """
    threads = {n.var.name for n in walk(kernel) if isinstance(n, For) and n.kind in RUNS_ONCE}
    accesses = [
        (r.tensor.name, r.indices) for n in walk(kernel) for e in touched(n) for r in reads(e)
    ]
    return frozenset(
        (name, d)
        for name, indices in accesses
        if name in shared
        for d, i in enumerate(indices)
        if isinstance(i, Binary) and i.op == "mod" and not free_vars(i) & threads
        if not any(free_vars(i) & free_vars(other) for e, other in enumerate(indices) if e != d)
    )


def _clash(
    pending: Iterable[SharedAccess], now: Iterable[SharedAccess]
) -> tuple[SharedAccess, SharedAccess] | None:
    later = list(now)
    for a in pending:
        for b in later:
            if a.conflicts(b):
                return a, b
    return None


def _thread_names(store: Store, team: Team) -> frozenset[str]:
    """Variables that tell the thread of a statement; a combined reduction is one thread's, a
    cooperative loop is done once for all virtual threads.
    """
    combined = team.combined(store)
    loops = [loop for kind, nest in team.threads.items() if kind not in combined for loop in nest]
    virtual = () if team.cooperative else team.virtual
    return frozenset(loop.var.name for loop in (*loops, *virtual))


class _SharedAccesses:
    """Accesses of the tensors `shared` in a nest, each statement's found once. In `rings` are
    dimensions of which iterations of a loop have a stage each.
    """

    def __init__(
        self, shared: Mapping[str, int | None], rings: frozenset[tuple[str, int]] = frozenset()
    ) -> None:
        self.shared = shared
        self.rings = rings
        self.races: list[tuple[SharedAccess, SharedAccess]] = []
        self._own: dict[int, Pending] = {}
        self._all: dict[int, Pending] = {}

    def own(self, node: Node, team: Team) -> Pending:
        """The accesses that a node makes itself, not through its body."""
        if id(node) not in self._own:
            self._own[id(node)] = self._found(node, team)
        return self._own[id(node)]

    def _found(self, node: Node, team: Team) -> Pending:
        match node:
            case Store(tensor, indices, value, _):
                threads = _thread_names(node, team)
                found = self._reads((*indices, value), threads)
                if tensor.name in self.shared:
                    slot = self.shared[tensor.name]
                    found[SharedAccess(tensor.name, slot, indices, True, threads)] = None
                return found
            case Instruction(_, Read(tensor, indices), operands):
                found = self._reads((*indices, *operands), team.variables)
                if tensor.name in self.shared:
                    slot = self.shared[tensor.name]
                    found[SharedAccess(tensor.name, slot, indices, True, team.variables)] = None
                return found
            case If(cond, _):
                return self._reads((cond,), team.variables)
        return {}

    def _reads(self, exprs: Iterable[Expr], threads: frozenset[str]) -> Pending:
        found = [r for e in exprs for r in reads(e) if r.tensor.name in self.shared]
        slots = self.shared
        return {
            SharedAccess(r.tensor.name, slots[r.tensor.name], r.indices, False, threads): None
            for r in found
        }

    def all(self, node: Node, team: Team) -> Pending:
        """All accesses under a node."""
        if id(node) not in self._all:
            total = dict(self.own(node, team))
            inner = team.entering(node, {})
            for b in bodies(node):
                total |= self.all(b, inner)
            self._all[id(node)] = total
        return self._all[id(node)]

    def place(self, node: Node, pending: Pending, team: Team) -> tuple[Node, Pending]:
        """The node with barriers, and the accesses since the last one at its end."""
        match node:
            case Barrier():
                return node, {}
            case Seq(parts):
                placed: list[Node] = []
                for part in parts:
                    new, pending = self.place(part, pending, team)
                    placed.append(new)
                return seq(*placed), pending
            case Alloc():
                body, end = self.place(node.body, pending, team)
                return replace(node, body=body), end
        everything = self.all(node, team)
        if _repeats(node) and _clash(everything, everything):
            # What one iteration leaves meets the start of the next: the barrier goes inside.
            pending = pending | everything
        elif _clash(pending, everything):
            placed_node, end = self.place(node, {}, team)
            return seq(Barrier(), placed_node), end
        if isinstance(node, (Store, Instruction)):
            return node, pending | everything
        inner = team.entering(node, {})
        body, end = self.place(node.body, pending | self.own(node, team), inner)
        return replace(node, body=body), end

    def walk(self, node: Node, pending: Pending, team: Team) -> Pending:
        """Note races in the order of execution; returns the accesses since the last barrier."""
        if isinstance(node, Barrier):
            return {}
        own = self.own(node, team)
        race = _clash(pending, own)
        if race is not None:
            self.races.append(race)
        pending = pending | own
        inner, start = team.entering(node, {}), pending
        for b in bodies(node):
            pending = self.walk(b, pending, inner)
        if _repeats(node) and pending.keys() - start.keys():
            # the next iteration starts with more than the first
            waits = any(isinstance(n, Barrier) for n in walk(node.body))
            before = node.var - 1 if waits else Var(f"{node.var.name}'")
            pending = self.walk(node.body, self._at(pending, node.var, before), inner)
            pending = self._at(pending, node.var, Var(f"{node.var.name}?"))
        return pending

    def _at(self, pending: Pending, var: Var, value: Expr) -> Pending:
        """The accesses with a value for a variable in rings: what was done in another iteration."""

        def at(access: SharedAccess) -> SharedAccess:
            indices = [
                simplify(substitute(i, {var.name: value}))
                if (access.tensor, d) in self.rings and var.name in free_vars(i)
                else i
                for d, i in enumerate(access.indices)
            ]
            return replace(access, indices=tuple(indices))

        return {at(access): None for access in pending} if self.rings else pending


def _repeats(node: Node) -> TypeGuard[For]:
    """Whether a thread runs the body several times."""
    return isinstance(node, For) and node.kind not in RUNS_ONCE and node.extent != 1
