"""Barriers from dependences: where threads of a block must wait for each other.

    with_barriers(body)        for k: [fill A.C; use A.C]  ->  for k: [barrier; fill; barrier; use]
    first_race(kernel)         two accesses without a barrier between them, or None

Two accesses of one shared tensor conflict when one writes, unless the same thread makes both: then
they have the same indices, and those name every thread loop around. Nor do they conflict in two
stages of a ring: at `k % 3` and `(k + 2) % 3`, where what the iteration before left is at
`(k - 1) % 3`. Accesses of two tensors that lie in the same bytes (`Alloc.slot`) conflict when one
writes. That a shared element is written by one thread only, whatever loops of a thread say, is the
interpreter's to check; so is what copies of boxes fill, which has its own barriers (`mbarriers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeGuard

from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Binary, Const, Expr, Read, Var
from tilewright.expr.text import expr_text
from tilewright.expr.traversal import free_vars, reads, substitute
from tilewright.nest.gpu.workers import Team
from tilewright.nest.instructions import BULK_COPY, MBARRIER
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

RUNS_ONCE = (Kind.BLOCK, Kind.VIRTUAL, *THREADS)


@dataclass(frozen=True, slots=True)
class SharedAccess:
    """One access of a shared tensor, its slot and the thread variables around it. In the dimensions
    `rings` of the tensor its index is a stage; `is_earlier` where that is of another iteration.
    """

    tensor: str
    slot: int | None
    indices: tuple[Expr, ...]
    writes: bool
    threads: frozenset[str]
    rings: frozenset[int] = frozenset()
    is_earlier: bool = False

    def conflicts(self, other: SharedAccess) -> bool:
        """Whether two threads may touch the same element, one of them writing."""
        if not (self.writes or other.writes):
            return False
        if self.tensor != other.tensor:
            return self.slot is not None and self.slot == other.slot
        if any(_are_apart(self.indices[d], other.indices[d]) for d in self.rings):
            return False
        threads, named = self.threads | other.threads, [free_vars(i) for i in self.indices]
        if self.is_earlier or other.is_earlier:
            # variables of loops have other values there
            named = [n for n in named if n <= threads]
        return self.indices != other.indices or not threads <= frozenset[str]().union(*named)

    def __str__(self) -> str:
        index = ", ".join(expr_text(i) for i in self.indices)
        return f"{self.tensor}[{index}]"


def _are_apart(a: Expr, b: Expr) -> bool:
    """Whether two stages always differ. Of how many stages a symbolic nest has, nothing is known
    (nor asked).
    """
    if any(isinstance(x, Var) and y == _other(x) for x, y in ((a, b), (b, a))):
        return True  # two iterations
    if isinstance(a, Const) and isinstance(b, Const):
        return a != b
    rings = [e.b for e in (a, b) if _is_remainder(e)]
    if any(n != rings[0] for n in rings):
        return False
    if rings and not isinstance(rings[0], Const):
        return True
    step = simplify(_unrolled(a) - _unrolled(b))
    if rings and isinstance(rings[0], Const) and isinstance(step, Const):
        return step.value % rings[0].value != 0
    return isinstance(step, Const) and step.value != 0


def _other(var: Var) -> Var:
    """The variable of a loop in some iteration before."""
    return Var(f"{var.name}'")


def _unrolled(stage: Expr) -> Expr:
    """What a stage of a ring is the remainder of."""
    return stage.a if _is_remainder(stage) else stage


def _is_remainder(e: Expr) -> TypeGuard[Binary]:
    return isinstance(e, Binary) and e.op == "mod"


Pending: TypeAlias = dict[SharedAccess, None]
"""Accesses since the last barrier, in order."""


def with_barriers(body: Node) -> Node:
    """The nest with a barrier wherever a conflict needs one, as far out as statements allow."""
    shared = _shared(body)
    return _SharedAccesses(shared).place(body, {}, Team())[0] if shared else body


def first_race(kernel: Node) -> tuple[SharedAccess, SharedAccess] | None:
    """The first pair of conflicting accesses that no barrier separates."""
    own = with_phases(kernel)
    shared = {name: slot for name, slot in _shared(kernel).items() if name not in own}
    analysis = _SharedAccesses(shared, _rings(kernel, shared))
    if shared:
        analysis.walk(kernel, {}, Team())
    return analysis.races[0] if analysis.races else None


def with_phases(kernel: Node) -> frozenset[str]:
    """The mbarriers of a kernel, and the tiles that copies of boxes fill."""
    return frozenset(
        n.result.tensor.name
        for n in walk(kernel)
        if isinstance(n, Instruction) and n.result is not None
        if n.name == BULK_COPY or n.name.startswith(MBARRIER)
    )


def _shared(node: Node) -> dict[str, int | None]:
    """The shared tensors of a nest, each with its slot."""
    return {
        n.tensor.name: n.slot
        for n in walk(node)
        if isinstance(n, Alloc) and n.scope is Scope.SHARED
    }


Rings: TypeAlias = Mapping[str, frozenset[int]]
"""The dimensions of each shared tensor in which indices are stages."""


def _rings(kernel: Node, shared: Mapping[str, int | None]) -> Rings:
    """The dimensions of shared tensors in which loops' iterations have a stage each: one access is
    at a remainder or a number, and all are at what is the same for all threads and as long as
    loops' variables are, none of which moves another dimension.
    """
    threads = {n.var.name for n in walk(kernel) if isinstance(n, For) and n.kind in RUNS_ONCE}
    found: dict[str, list[tuple[Expr, ...]]] = {name: [] for name in shared}
    for n in walk(kernel):
        if isinstance(n, Alloc) and any(map(free_vars, n.offset)):
            found.pop(n.tensor.name, None)  # the same indices are other elements
        for read in (r for e in touched(n) for r in reads(e)):
            if read.tensor.name in found:
                found[read.tensor.name].append(read.indices)

    def is_stage(indices: tuple[Expr, ...], d: int) -> bool:
        moving = free_vars(indices[d])
        others = frozenset[str]().union(*(free_vars(i) for i in (*indices[:d], *indices[d + 1 :])))
        return not reads(indices[d]) and not moving & (others | threads)

    return {
        name: frozenset(
            d
            for d in range(len(every[0]))
            if any(_is_remainder(i[d]) or isinstance(i[d], Const) for i in every)
            if all(is_stage(i, d) for i in every)
        )
        for name, every in found.items()
        if every
    }


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
    """Accesses of the tensors `shared` in a nest, each statement's found once."""

    def __init__(self, shared: Mapping[str, int | None], rings: Rings | None = None) -> None:
        self.shared = shared
        self.rings: Rings = rings or {}
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
                return found | self._access(tensor.name, indices, True, threads)
            case Instruction(_, Read(tensor, indices), operands):
                found = self._reads((*indices, *operands), team.variables)
                return found | self._access(tensor.name, indices, True, team.variables)
            case If(cond, _):
                return self._reads((cond,), team.variables)
        return {}

    def _reads(self, exprs: Iterable[Expr], threads: frozenset[str]) -> Pending:
        found: Pending = {}
        for read in (r for e in exprs for r in reads(e)):
            found |= self._access(read.tensor.name, read.indices, False, threads)
        return found

    def _access(
        self, name: str, indices: tuple[Expr, ...], writes: bool, threads: frozenset[str]
    ) -> Pending:
        """The access, if the tensor is shared."""
        if name not in self.shared:
            return {}
        rings = self.rings.get(name, frozenset())
        return {SharedAccess(name, self.shared[name], indices, writes, threads, rings): None}

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
        before = pending | self.own(node, team)
        body, end = self.place(node.body, before, inner)
        return replace(node, body=body), before | end if isinstance(node, If) else end

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
        if isinstance(node, If):
            return start | pending  # no barrier, if the condition does not hold
        if _repeats(node) and pending.keys() - start.keys():
            # the next iteration starts with more than the first
            before = node.var - 1 if _waits(node.body) else _other(node.var)
            pending = self.walk(node.body, self._at(pending, node.var, before), inner)
            after = Var(f"{node.var.name}?")
            pending = self._at(self._at(pending, node.var, after), _other(node.var), after)
        return pending

    def _at(self, pending: Pending, var: Var, value: Expr) -> Pending:
        """The accesses with a value for a variable in rings: what was done in another iteration."""

        def at(access: SharedAccess) -> SharedAccess:
            indices = tuple(
                simplify(substitute(i, {var.name: value}))
                if d in access.rings and var.name in free_vars(i)
                else i
                for d, i in enumerate(access.indices)
            )
            if indices == access.indices:
                return access
            return replace(access, indices=indices, is_earlier=True)

        return {at(access): None for access in pending} if self.rings else pending


def _waits(node: Node) -> bool:
    """Whether every run of a node comes to a barrier."""
    return isinstance(node, Barrier) or (
        not isinstance(node, If) and any(map(_waits, bodies(node)))
    )


def _repeats(node: Node) -> TypeGuard[For]:
    """Whether a thread runs the body several times."""
    return isinstance(node, For) and node.kind not in RUNS_ONCE and node.extent != 1
