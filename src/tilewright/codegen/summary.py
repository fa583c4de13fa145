"""What a subtree of a nest touches: computed once a node, asked many times.

summaries.of(node).stores        names of the tensors it writes (its own allocations excluded)
summaries.of(node).index_vars    tensor -> loop variables in the indices of its accesses
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tilewright.expr.nodes import Expr, Read, Select
from tilewright.expr.traversal import children, free_vars
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Store, bodies


@dataclass(frozen=True, slots=True)
class NestSummary:
    """`stores` and `index_vars` as above; `writes` includes own allocations; `ops` maps a tensor
    to the reductions that update it (None among them for any other access), `loops` are variables
    of serial and parallel loops inside, `parallel` whether one is parallel; `cond_vars` are the
    variables of conditions around statements.
    """

    stores: frozenset[str]
    writes: frozenset[str]
    index_vars: Mapping[str, frozenset[str]]
    ops: Mapping[str, frozenset[str | None]]
    loops: frozenset[str]
    parallel: bool
    cond_vars: frozenset[str]


class Summaries:
    """Summaries of nodes by identity; nodes stay alive as long as this does."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Node, NestSummary]] = {}
        self._reads: dict[int, tuple[Expr, list[tuple[Read, bool]]]] = {}

    def reads(self, e: Expr) -> list[tuple[Read, bool]]:
        """All reads in an expression, each with whether a Select may skip it."""
        hit = self._reads.get(id(e))
        if hit is None:
            hit = self._reads[id(e)] = (e, list(reads_under(e)))
        return hit[1]

    def of(self, node: Node) -> NestSummary:
        """The summary of a node."""
        hit = self._known.get(id(node))
        if hit is None:
            hit = self._known[id(node)] = (node, self._make(node))
        return hit[1]

    def _make(self, node: Node) -> NestSummary:
        if isinstance(node, Store):
            return _of_store(node)
        parts = [self.of(b) for b in bodies(node)]
        stores = frozenset().union(*(p.stores for p in parts))
        writes = frozenset().union(*(p.writes for p in parts))
        touched = _Touched()
        for p in parts:
            for name, found in p.index_vars.items():
                touched.add(name, found, p.ops[name])
        loops = frozenset().union(*(p.loops for p in parts))
        parallel = any(p.parallel for p in parts)
        cond_vars = frozenset().union(*(p.cond_vars for p in parts))
        match node:
            case For(var, _, _, kind):
                loops |= {var.name} if kind in (Kind.SERIAL, Kind.PARALLEL) else set()
                parallel |= kind is Kind.PARALLEL
                if not isinstance(node.extent, int):
                    touched.reads(node.extent)
            case If(cond, _):
                touched.reads(cond)
                cond_vars |= free_vars(cond)
            case Alloc(tensor, _, _):
                stores -= {tensor.name}
                touched.vars.pop(tensor.name, None)
        return NestSummary(stores, writes, touched.vars, touched.ops, loops, parallel, cond_vars)


class _Touched:
    """Accesses gathered by tensor."""

    def __init__(self) -> None:
        self.vars: dict[str, frozenset[str]] = {}
        self.ops: dict[str, frozenset[str | None]] = {}

    def add(self, name: str, found: frozenset[str], ops: frozenset[str | None]) -> None:
        self.vars[name] = self.vars.get(name, frozenset()) | found
        self.ops[name] = self.ops.get(name, frozenset()) | ops

    def reads(self, e: Expr) -> None:
        for read, _ in reads_under(e):
            found = frozenset().union(*(free_vars(i) for i in read.indices))
            self.add(read.tensor.name, found, frozenset((None,)))


def _of_store(node: Store) -> NestSummary:
    touched = _Touched()
    touched.reads(node.value)
    for i in node.indices:
        touched.reads(i)
    own = frozenset().union(*(free_vars(i) for i in node.indices))
    name = node.tensor.name
    touched.add(name, own, frozenset((node.reduce,)))
    written = frozenset((name,))
    return NestSummary(written, written, touched.vars, touched.ops, frozenset(), False, frozenset())


def reads_under(e: Expr) -> Iterator[tuple[Read, bool]]:
    """All reads in an expression, each with whether a Select may skip it."""
    seen: set[tuple[int, bool]] = set()
    stack = [(e, False)]
    while stack:
        x, conditional = stack.pop()
        if (id(x), conditional) in seen or (id(x), False) in seen:
            continue
        seen.add((id(x), conditional))
        if isinstance(x, Read):
            yield x, conditional
        below = [(c, conditional or isinstance(x, Select)) for c in children(x)]
        if isinstance(x, Select):
            below[0] = x.cond, conditional
        stack.extend(reversed(below))
