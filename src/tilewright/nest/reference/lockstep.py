"""Which loops may run all their iterations side by side, statement by statement.

    lockstep_loops(program.body) -> ids of those `For` nodes
    lockstep_loops(program.body, parallel=False)    none of the parallel loops

Running a loop in lockstep executes the first statement of every iteration, then the second. That
equals the loop when iterations do not depend on each other. For each tensor that the body writes
and that outlives an iteration, one of these must be certain:

  1. only one statement touches it, and that one overwrites; the loops between run in lockstep
     too, so that lanes keep the order of the writes;
  2. every statement that touches it applies the same reduction;
  3. different iterations touch different elements: some index is c * v + rest in all accesses,
     where `rest` spans less than |c| while the outer loops stand still.

A loop inside a kernel around barriers, instructions, shared storage or threads is none of them: the
threads run it together, one iteration after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tilewright.expr.index.intervals import Interval, add, interval, scale
from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import Const, Expr
from tilewright.expr.traversal import reads
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
    Store,
    bodies,
    walk,
)

READ, WRITE = "read", "write"


@dataclass(frozen=True, slots=True)
class LoopAccess:
    """One access in a loop's body: `action` is READ, WRITE or the name of a reduction."""

    tensor: str
    indices: tuple[Expr, ...]
    action: str
    inner: Mapping[str, Interval]
    loops: tuple[int, ...]


def lockstep_loops(body: Node, *, parallel: bool = True) -> frozenset[int]:
    """Ids of the `For` nodes under `body` whose iterations may run side by side.

    `parallel=False` leaves the parallel loops out.
    """
    found: set[int] = set()
    _visit(body, parallel, Simplifier(), found)
    return frozenset(found)


def _visit(node: Node, parallel: bool, simplifier: Simplifier, found: set[int]) -> None:
    for b in bodies(node):
        _visit(b, parallel, simplifier, found)
    if isinstance(node, For) and (parallel or node.kind not in (Kind.PARALLEL, Kind.BLOCK)):
        if node.kind is not Kind.BLOCK and any(map(_is_teamwork, walk(node))):
            return
        by_tensor: dict[str, list[LoopAccess]] = {}
        for access in _accesses(node.body, {}, (), frozenset()):
            by_tensor.setdefault(access.tensor, []).append(access)
        if all(_compatible(node, g, simplifier, found) for g in by_tensor.values()):
            found.add(id(node))


def _is_teamwork(node: Node) -> bool:
    """Whether the threads of a block do this together."""
    match node:
        case For():
            return node.kind in (Kind.VIRTUAL, *THREADS)
        case Alloc():
            return node.scope is Scope.SHARED
    return isinstance(node, (Barrier, Instruction))


def _accesses(
    node: Node, inner: Mapping[str, Interval], loops: tuple[int, ...], private: frozenset[str]
) -> Iterator[LoopAccess]:
    """Accesses to tensors that outlive the node, with the loops between it and them."""
    match node:
        case Alloc(tensor, offset, _):
            for e in offset:
                yield from _reads(e, inner, loops, private)
            private = private | {tensor.name}
        case For(var, extent, _):
            assert isinstance(extent, int)
            inner = {**inner, var.name: Interval(0, extent - 1)}
            loops = (*loops, id(node))
        case If(cond, _):
            yield from _reads(cond, inner, loops, private)
        case Store(tensor, indices, value, reduce):
            for e in (*indices, value):
                yield from _reads(e, inner, loops, private)
            if tensor.name not in private:
                yield LoopAccess(tensor.name, indices, reduce or WRITE, inner, loops)
    for b in bodies(node):
        yield from _accesses(b, inner, loops, private)


def _reads(
    e: Expr, inner: Mapping[str, Interval], loops: tuple[int, ...], private: frozenset[str]
) -> Iterator[LoopAccess]:
    for r in reads(e):
        if r.tensor.name not in private:
            yield LoopAccess(r.tensor.name, r.indices, READ, inner, loops)


def _compatible(
    loop: For, group: list[LoopAccess], simplifier: Simplifier, found: Collection[int]
) -> bool:
    """Whether the iterations of `loop` may share one tensor."""
    actions = {a.action for a in group}
    if actions == {READ}:
        return True
    if len(group) == 1 and actions == {WRITE} and all(n in found for n in group[0].loops):
        return True
    if len(actions) == 1 and WRITE not in actions:
        return True
    return any(_separated(loop, group, d, simplifier) for d in range(len(group[0].indices)))


def _separated(loop: For, group: list[LoopAccess], d: int, simplifier: Simplifier) -> bool:
    """Rule 3 on dimension `d`."""
    step: int | None = None
    first: Expr | None = None
    lows: list[int] = []
    highs: list[int] = []
    for access in group:
        split = simplifier.affine(access.indices[d], (loop.var.name, *access.inner))
        if split is None:
            return False
        terms, outer = split
        own = terms.pop(loop.var.name, None)
        if not isinstance(own, Const) or (step is not None and step != own.value):
            return False
        step = int(own.value)
        first = outer if first is None else first
        span = interval(simplifier.simplify(outer - first))
        for name, factor in terms.items():
            if not isinstance(factor, Const):
                return False
            span = add(span, scale(access.inner[name], int(factor.value)))
        if span.lo is None or span.hi is None:
            return False
        lows.append(span.lo)
        highs.append(span.hi)
    return step is not None and max(highs) - min(lows) < abs(step)
