"""Statements of a loop nest, flattened for whole-column analysis.

    statements(program) -> [Statement, …]

A statement is a `Store` with the loops around it and its accesses. Loops moved out by a position
decision get extent 1 by a select, so that one list of loops serves all candidates of a sketch.
Everything here is structure and expressions, made once a program; numbers come from evaluating
the expressions over the decision columns.

A loop *belongs* to the tensor that the last store in it writes: what is computed inside for that
one comes before. A root nest belongs to a tensor likewise and is named after it.

On a GPU the worker loops around a statement say who runs it. A cooperative loop deals its
iterations out to the threads of the block anew: the loops that made these threads get extent 1,
too.

How far an index moves over some loops is its *width*: largest minus smallest value, with all other
loops at 0. It does not depend on how far an index was simplified.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from tilewright.expr.extents import add, floordiv, maximum, minimum, mul, sub
from tilewright.expr.nodes import (
    Binary,
    Const,
    Expr,
    Extent,
    Read,
    Select,
    Tensor,
    Var,
    as_expr,
    children,
    free_vars,
    reads,
    select,
)
from tilewright.expr.simplify import affine
from tilewright.nest.marks import MARKS
from tilewright.nest.nodes import (
    THREADS,
    WORKERS,
    Alloc,
    For,
    Hoist,
    If,
    Kind,
    Node,
    Operations,
    Program,
    Scope,
    Seq,
    Store,
    bodies,
)
from tilewright.nest.operations import operations
from tilewright.nest.workers import kernels

ONE: Extent = 1


@dataclass(frozen=True)
class Loop:
    """A loop around a statement. `parallel` is a bool expression, or a bool."""

    name: str
    extent: Extent
    kind: Kind
    parallel: Expr | bool
    reduce: bool


@dataclass(frozen=True)
class Dimension:
    """One dimension of an access: its extent and how the loops (by number) move its index.

    `coefficients` where the index is affine in the loops and no data decides its steps. Otherwise
    None, and `alone[i]` is the width of the index over loop i, `inside[i]` over loop i and those
    inside of it.
    """

    extent: Extent
    coefficients: dict[int, Extent] | None
    alone: dict[int, Extent] = field(default_factory=dict)
    inside: dict[int, Extent] = field(default_factory=dict)

    @property
    def loops(self) -> set[int]:
        """Loops that occur in the index."""
        return set(self.alone if self.coefficients is None else self.coefficients)


@dataclass(frozen=True)
class Access:
    """One tensor access; `kind` is "read", "write" or "update".

    `scope` says who sees a stage that is computed inside another; None is memory that all see.
    """

    tensor: Tensor
    kind: str
    dimensions: tuple[Dimension, ...]
    scope: Scope | None = None


@dataclass
class Statement:
    """A store in its context. `counts` are operations per iteration by (class, operation).

    `is_init`: it gives the elements of a reduction their first values. `kernel` names the root nest
    it stands in; `workers` how many blocks, virtual threads and threads that kernel has, by the
    kind of their loops (on a CPU: none). `opens_kernel`: no other of that kernel comes before it.
    `marks` are those in effect, whether 0 or not.
    """

    stage: str
    is_init: bool
    loops: list[Loop]
    accesses: list[Access]
    counts: dict[tuple[str, str], int]
    allocated_outside: int  # loops outside the allocation of its target (0: the whole buffer)
    marks: dict[str, Extent] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    kernel: str = ""
    opens_kernel: bool = False
    workers: dict[Kind, Extent] = field(default_factory=dict)


def statements(program: Program) -> list[Statement]:
    """All statements of a program, in order."""
    found: list[Statement] = []
    for root in kernels(program.body):
        here = list(_walk(root, _Context(owners(root))))
        workers: dict[Kind, Extent] = {}
        for s in here:
            s.kernel, s.opens_kernel = here[-1].stage, s is here[0]
            workers = {**s.workers, **workers}
        for s in here:
            s.workers = workers
        found += here
    seen: dict[str, int] = {}
    for s in found:
        for name in {a.tensor.name for a in s.accesses}:
            seen[name] = seen.get(name, 0) + 1
    for s in found:
        s.shared = {a.tensor.name for a in s.accesses if seen[a.tensor.name] > 1}
    return found


def owners(root: Node) -> dict[str, str]:
    """Loop variable -> the tensor that the loop belongs to."""
    found: dict[str, str] = {}

    def visit(node: Node) -> str:
        last = ""
        for inner in bodies(node):
            last = visit(inner) or last
        if isinstance(node, Store):
            return node.tensor.name
        if isinstance(node, For):
            found[node.var.name] = last
        return last

    visit(root)
    return found


@dataclass
class _Context:
    """Loops entered so far, what was allocated around how many of them and for whom, and which
    loops are hoisted over.
    """

    owners: Mapping[str, str]
    loops: tuple[For, ...] = ()
    allocated: dict[str, int] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)
    live: dict[str, Expr] = field(default_factory=dict)


def _walk(node: Node, c: _Context) -> Iterator[Statement]:
    match node:
        case Seq(body):
            for b in body:
                yield from _walk(b, c)
        case If(_, body):
            yield from _walk(body, c)
        case Alloc(tensor, _, body):
            allocated = {**c.allocated, tensor.name: len(c.loops)}
            scopes = {**c.scopes, tensor.name: node.scope}
            yield from _walk(body, replace(c, allocated=allocated, scopes=scopes))
        case Hoist(loops, live, body):
            masks = {**c.live, **{v.name: e for v, e in zip(loops, live, strict=True)}}
            yield from _walk(body, replace(c, live=masks))
        case For():
            yield from _walk(node.body, replace(c, loops=(*c.loops, node)))
        case Store():
            yield _statement(node, c)


def _statement(store: Store, c: _Context) -> Statement:
    written = {name for i in store.indices for name in free_vars(i)}
    is_reduction = store.reduce is not None
    own = c.allocated.get(store.tensor.name, 0)  # its own loops stand inside its allocation
    taken_over = _taken_over(c)
    loops = [
        Loop(
            f.var.name,
            1 if f.var.name in taken_over else _masked(f, c.live.get(f.var.name)),
            f.kind if f.when is None else Kind.SERIAL,
            (f.when if f.when is not None else True) if f.kind is Kind.PARALLEL else False,
            is_reduction and i >= own and f.var.name not in written,
        )
        for i, f in enumerate(c.loops)
    ]
    kind = "update" if is_reduction else "write"
    accesses = [_access(store.tensor, store.indices, kind, loops, c.scopes)]
    accesses += [_access(r.tensor, r.indices, "read", loops, c.scopes) for r in _reads(store.value)]
    return Statement(
        stage=store.tensor.name,
        is_init=store.initial,
        loops=loops,
        accesses=accesses,
        counts=dict(_operations(store)),
        allocated_outside=own,
        marks=_marks(store, loops, c),
        workers=_workers(c),
    )


def _operations(store: Store) -> Operations:
    if store.operations is not None:
        return store.operations
    return operations(store.value, store.reduce, store.tensor.dtype)


def _by_owner(c: _Context, kind: Kind) -> dict[str, list[For]]:
    """The loops of one kind around a statement by what they belong to, outermost first."""
    found: dict[str, list[For]] = {}
    for loop in c.loops:
        if loop.kind is kind:
            found.setdefault(c.owners[loop.var.name], []).append(loop)
    return found


def _workers(c: _Context) -> dict[Kind, Extent]:
    """How many workers of each kind the outermost loops that make some make."""
    found: dict[Kind, Extent] = {}
    for kind in WORKERS:
        for loops in list(_by_owner(c, kind).values())[:1]:
            found[kind] = reduce(mul, (loop.extent for loop in loops), ONE)
    return found


def _taken_over(c: _Context) -> set[str]:
    """Loops whose threads a cooperative loop inside of them deals out anew."""
    found: set[str] = set()
    for kind in THREADS:
        *outer, _ = list(_by_owner(c, kind).values()) or [[]]
        if outer:
            outer += _by_owner(c, Kind.VIRTUAL).values()
        found |= {loop.var.name for loops in outer for loop in loops}
    return found


def _masked(loop: For, live: Expr | None) -> Extent:
    if live is None or loop.extent == 1:
        return loop.extent
    return select(live, as_expr(loop.extent), as_expr(1))


def _marks(store: Store, loops: list[Loop], c: _Context) -> dict[str, Extent]:
    """Those of the store and of the loops around."""
    return {
        name: store.mark(name) if rule.node == "Store" else _around(name, loops, c)
        for name, rule in MARKS.items()
        if rule.node
    }


def _around(name: str, loops: list[Loop], c: _Context) -> Extent:
    """The mark in effect: that of the innermost owner that has one and a loop that runs here."""
    found: Extent = 0
    for owner in dict.fromkeys(c.owners[loop.name] for loop in loops):
        own = [i for i, loop in enumerate(loops) if c.owners[loop.name] == owner]
        values = (c.loops[i].mark(name) for i in own)
        value = next((v for v in values if v != 0), 0)
        if value == 0:
            continue
        runs = as_expr(reduce(mul, (loops[i].extent for i in own), ONE)) > 1
        test = runs & as_expr(value).ne(0)
        found = extent_of(select(test, as_expr(value), as_expr(found)))
    return found


def _reads(e: Expr) -> list[Read]:
    """Distinct data accesses of an expression."""
    return list(dict.fromkeys(reads(e)))


def _access(
    tensor: Tensor,
    indices: tuple[Expr, ...],
    kind: str,
    loops: list[Loop],
    scopes: Mapping[str, Scope],
) -> Access:
    pairs = zip(indices, tensor.shape, strict=True)
    dimensions = tuple(_dimension(i, extent, loops) for i, extent in pairs)
    return Access(tensor, kind, dimensions, scopes.get(tensor.name))


def _dimension(index: Expr, extent: Extent, loops: list[Loop]) -> Dimension:
    place = {loop.name: i for i, loop in enumerate(loops)}
    split = affine(index, place)
    if split is not None and not any(map(reads, split[0].values())):
        return Dimension(extent, {place[n]: extent_of(e) for n, e in split[0].items()})
    moved = sorted(place[n] for n in free_vars(index) if n in place)
    most = {loops[i].name: sub(loops[i].extent, 1) for i in moved}
    content = Content()
    alone, inside = {}, {}
    for at, i in enumerate(moved):
        name = loops[i].name
        alone[i] = width(index, {name: most[name]}, most, content)
        inner = {loops[j].name: most[loops[j].name] for j in moved[at:]}
        inside[i] = width(index, inner, most, content)
    return Dimension(extent, None, alone, inside)


class Content:
    """What expressions consist of, looked at once a node: an index that went through many stages
    is a large tree, whose nodes stand in it many times over.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Expr, bool, frozenset[str]]] = {}

    def reads(self, e: Expr) -> bool:
        """Whether `e` reads a tensor."""
        return self._of(e)[1]

    def names(self, e: Expr) -> frozenset[str]:
        """The variables in `e`."""
        return self._of(e)[2]

    def _of(self, e: Expr) -> tuple[Expr, bool, frozenset[str]]:
        found = self._known.get(id(e))
        if found is None:
            parts = [self._of(x) for x in children(e)]
            own = {e.name} if isinstance(e, Var) else set()
            names = frozenset(own).union(*(names for _, _, names in parts))
            found = e, isinstance(e, Read) or any(r for _, r, _ in parts), names
            self._known[id(e)] = found  # which keeps `e` alive, and its id its own
        return found


def width(
    e: Expr, most: Mapping[str, Extent], loops: Collection[str], content: Content | None = None
) -> Extent:
    """How far `e` moves while the variables in `most` run from 0 to there and the other `loops`
    stand at 0. `content` may know the expression from before.
    """
    low, high = _Reach(most, frozenset(loops), content or Content()).of(e)
    return sub(high, low)


class _Reach:
    """Smallest and largest values, by interval arithmetic; decision variables are positive."""

    def __init__(self, most: Mapping[str, Extent], loops: frozenset[str], content: Content) -> None:
        self._most, self._loops, self._content = most, loops, content
        self._known: dict[int, tuple[Extent, Extent]] = {}

    def of(self, e: Expr) -> tuple[Extent, Extent]:
        """Those of `e`, or of a part of it."""
        if id(e) not in self._known:
            self._known[id(e)] = self._found(e)
        return self._known[id(e)]

    def _found(self, e: Expr) -> tuple[Extent, Extent]:
        reads, names = self._content.reads(e), self._content.names(e)
        match e:
            case Const(value, _):
                return int(value), int(value)
            case Var(name, _):
                return (0, self._most.get(name, 0)) if name in self._loops else (e, e)
            case Binary("mul" | "floordiv" | "mod", _, b) if reads and not isinstance(b, Const):
                pass  # nobody knows by how much: see below
            case Binary(op, a, b):
                return _combined(op, self.of(a), self.of(b))
            case Select() if not names & self._loops and not reads:
                return e, e  # decided by the row
            case Select(_, a, b):
                (a0, a1), (b0, b1) = self.of(a), self.of(b)
                return minimum(a0, b0), maximum(a1, b1)
        # a table or data decides: at most as many different values as there are iterations
        count = reduce(mul, (add(self._most[n], 1) for n in self._most if n in names), ONE)
        return 0, sub(count, 1)


def _combined(op: str, a: tuple[Extent, Extent], b: tuple[Extent, Extent]) -> tuple[Extent, Extent]:
    (a0, a1), (b0, b1) = a, b
    match op:
        case "add":
            return add(a0, b0), add(a1, b1)
        case "sub":
            return sub(a0, b1), sub(a1, b0)
        case "mul" if isinstance(b0, int) and b0 < 0:
            return mul(a1, b1), mul(a0, b0)
        case "mul":
            return mul(a0, b0), mul(a1, b1)
        case "floordiv":
            return floordiv(a0, b1), floordiv(a1, b1)
        case "mod":
            return 0, minimum(sub(a1, a0), sub(b1, 1))
        case "min":
            return minimum(a0, b0), minimum(a1, b1)
        case "max":
            return maximum(a0, b0), maximum(a1, b1)
    return 0, 0  # a condition


def extent_of(e: Expr) -> Extent:
    """The int behind a literal, otherwise the expression."""
    return int(e.value) if isinstance(e, Const) else e


def tensor_strides(shape: tuple[Extent, ...]) -> tuple[Extent, ...]:
    """Row-major strides in elements."""
    strides: list[Extent] = []
    step: Extent = 1
    for extent in reversed(shape):
        strides.append(step)
        step = mul(step, extent)
    return tuple(reversed(strides))
