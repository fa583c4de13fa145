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

How far an index moves over some loops is its *width* (`cost.widths`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import numpy as np

from tilewright.cost.candidates import Ints
from tilewright.cost.widths import Content, Widths
from tilewright.cost.written_out import written_out
from tilewright.expr.index.extents import mul, plain, sub
from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import Expr, Extent, Read, Select, Tensor, as_expr, select
from tilewright.expr.traversal import free_vars, reads, walk
from tilewright.nest.gpu.workers import kernels
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

ONE: Extent = 1
WRITTEN = (Kind.VECTOR, Kind.UNROLLED, Kind.DOT)
"""Loops that are no loops of the machine."""


@dataclass(frozen=True)
class StatementLoop:
    """A loop around a statement. `parallel` is a bool expression, or a bool."""

    name: str
    extent: Extent
    kind: Kind
    parallel: Expr | bool
    reduce: bool


@dataclass(frozen=True, eq=False)
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

    @cached_property
    def loops(self) -> list[int]:
        """Loops that occur in the index, outermost first."""
        return sorted(self.alone if self.coefficients is None else self.coefficients)

    @property
    def numbers(self) -> list[Extent]:
        """All expressions in it."""
        moves = (self.alone, self.inside) if self.coefficients is None else (self.coefficients,)
        return [self.extent, *(some[i] for some in moves for i in self.loops)]


@dataclass(frozen=True)
class StatementAccess:
    """One tensor access inside `depth` loops; `kind` is "read", "write" or "update".

    `steps` are the elements between neighbours of each dimension. `scope` says who sees a stage
    that is computed inside another; None is memory that all see.
    """

    tensor: Tensor
    kind: str
    depth: int
    dimensions: tuple[Dimension, ...]
    steps: tuple[Extent, ...]
    scope: Scope | None = None

    @cached_property
    def loops(self) -> list[int]:
        """Loops that occur in an index, outermost first."""
        return sorted({i for d in self.dimensions for i in d.loops})

    @cached_property
    def level(self) -> Ints:
        """How many of its loops are outside of each loop, and inside of all, `[depth + 1]`."""
        return np.searchsorted(self.loops, np.arange(self.depth + 1))

    @cached_property
    def rows(self) -> list[Ints]:
        """How many of each dimension's loops are outside of each of its, and of none."""
        ends = [*self.loops, self.depth]
        return [np.searchsorted(d.loops, ends) for d in self.dimensions]


@dataclass
class Statement:
    """A store in its context. `counts` are operations per iteration by (class, operation).

    `is_init`: it gives the elements of a reduction their first values. `kernel` names the root nest
    it stands in; `workers` how many blocks, virtual threads and threads that kernel has, by the
    kind of their loops (on a CPU: none), and `resources` what it takes. `opens_kernel`: no other of
    that kernel comes before it. `marks` are those in effect, whether 0 or not. `asked` is how many
    loops are around the innermost that runs and moves a condition of the terms, where that is asked
    while it runs: of padding around an image of any size; 0 for no such condition.
    """

    stage: str
    is_init: bool
    loops: list[StatementLoop]
    accesses: list[StatementAccess]
    counts: dict[tuple[str, str], int]
    allocated_outside: int  # loops outside the allocation of its target (0: the whole buffer)
    marks: dict[str, Extent] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    kernel: str = ""
    opens_kernel: bool = False
    workers: dict[Kind, Extent] = field(default_factory=dict)
    resources: dict[str, Extent] = field(default_factory=dict)
    asked: int = 0

    @property
    def numbers(self) -> list[Extent]:
        """All expressions in it: what differs from candidate to candidate."""
        found = [x for loop in self.loops for x in (loop.extent, loop.parallel)]
        found += [e for a in self.accesses for d in a.dimensions for e in d.numbers]
        found += [e for a in self.accesses for e in a.steps]
        found += self.marks.values()
        return [*found, *self.workers.values(), *self.resources.values()]

    @property
    def structure(self) -> Hashable:
        """All else that its analysis depends on."""
        return (
            tuple((loop.kind, loop.reduce, loop.parallel is False) for loop in self.loops),
            tuple((a.kind, a.scope, a.tensor.name, a.tensor.dtype) for a in self.accesses),
            tuple(a.tensor.name in self.shared for a in self.accesses),
            tuple((d.coefficients is None, *d.loops) for a in self.accesses for d in a.dimensions),
            (self.allocated_outside, self.opens_kernel, tuple(sorted(self.counts.items()))),
            self.asked,
            (*self.workers, *self.resources, *self.marks),
        )


def statements(program: Program) -> list[Statement]:
    """All statements of a program, in order."""
    found: list[Statement] = []
    known = _Known()
    sizes = bool(program.sizes)
    for root in map(written_out, kernels(program.body)):
        here = list(_walk(root, _Around(owners(root), known, sizes)))
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


@dataclass(frozen=True)
class _Known:
    """What was learnt of indices, which share parts all over a program."""

    simplifier: Simplifier = field(default_factory=Simplifier)
    content: Content = field(default_factory=Content)


@dataclass
class _Around:
    """Loops entered so far, what was allocated around how many of them and for whom, and which
    loops are hoisted over.
    """

    owners: Mapping[str, str]
    known: _Known
    has_sizes: bool = False
    loops: tuple[For, ...] = ()
    allocated: dict[str, int] = field(default_factory=dict)
    scopes: dict[str, Scope] = field(default_factory=dict)
    live: dict[str, Expr] = field(default_factory=dict)


def _walk(node: Node, c: _Around) -> Iterator[Statement]:
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


def _statement(store: Store, c: _Around) -> Statement:
    written = {name for i in store.indices for name in free_vars(i)}
    is_reduction = store.reduce is not None
    own = c.allocated.get(store.tensor.name, 0)  # its own loops stand inside its allocation
    taken_over = _taken_over(c)
    loops = [
        StatementLoop(
            f.var.name,
            1 if f.var.name in taken_over else _masked(f, c.live.get(f.var.name)),
            f.kind if f.when is None else Kind.SERIAL,
            (f.when if f.when is not None else True) if f.kind is Kind.PARALLEL else False,
            is_reduction and i >= own and f.var.name not in written,
        )
        for i, f in enumerate(c.loops)
    ]
    kind = "update" if is_reduction else "write"
    accesses = [_access(store.tensor, store.indices, kind, loops, c)]
    accesses += [_access(r.tensor, r.indices, "read", loops, c) for r in _reads(store.value)]
    return Statement(
        stage=store.tensor.name,
        is_init=store.initial,
        loops=loops,
        accesses=accesses,
        counts=dict(_operations(store)),
        allocated_outside=own,
        marks=_marks(store, loops, c),
        workers=_workers(c),
        asked=_asked(store, loops) if c.has_sizes and is_reduction else 0,
    )


def _asked(store: Store, loops: Sequence[StatementLoop]) -> int:
    """Loops around and with the innermost that runs and moves a condition of what is added."""
    conditions = [e.cond for e in walk(store.value) if isinstance(e, Select)]
    moving = {name for e in conditions for name in free_vars(e)}
    found = (n for n, x in enumerate(loops, 1) if x.kind not in WRITTEN and x.name in moving)
    return max(found, default=0)


def _operations(store: Store) -> Operations:
    if store.operations is not None:
        return store.operations
    return operations(store.value, store.reduce, store.tensor.dtype)


def _by_owner(c: _Around, kind: Kind) -> dict[str, list[For]]:
    """The loops of one kind around a statement by what they belong to, outermost first."""
    found: dict[str, list[For]] = {}
    for loop in c.loops:
        if loop.kind is kind:
            found.setdefault(c.owners[loop.var.name], []).append(loop)
    return found


def _workers(c: _Around) -> dict[Kind, Extent]:
    """How many workers of each kind the outermost loops that make some make."""
    found: dict[Kind, Extent] = {}
    for kind in WORKERS:
        for loops in list(_by_owner(c, kind).values())[:1]:
            found[kind] = reduce(mul, (loop.extent for loop in loops), ONE)
    return found


def _taken_over(c: _Around) -> set[str]:
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


def _marks(store: Store, loops: list[StatementLoop], c: _Around) -> dict[str, Extent]:
    """Those of the store and of the loops around."""
    return {
        name: store.mark(name) if rule.node == "Store" else _around(name, loops, c)
        for name, rule in MARKS.items()
        if rule.node
    }


def _around(name: str, loops: list[StatementLoop], c: _Around) -> Extent:
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
        found = plain(select(test, as_expr(value), as_expr(found)))
    return found


def _reads(e: Expr) -> list[Read]:
    """Distinct data accesses of an expression."""
    return list(dict.fromkeys(reads(e)))


def _access(
    tensor: Tensor,
    indices: tuple[Expr, ...],
    kind: str,
    loops: list[StatementLoop],
    c: _Around,
) -> StatementAccess:
    pairs = zip(indices, tensor.shape, strict=True)
    dimensions = tuple(_dimension(i, extent, loops, c.known) for i, extent in pairs)
    steps = _steps(tensor.shape)
    whole = _whole(dimensions, loops)
    if len(whole) > 2:  # a packed tensor has dozens of dimensions; the innermost is what a row is
        first, last = len(dimensions) - len(whole), len(dimensions) - 1
        extent, moves = ONE, dict[int, Extent]()
        for loop in whole[-2::-1]:
            moves[loop], extent = extent, mul(loops[loop].extent, extent)
        dimensions = (*dimensions[:first], Dimension(extent, moves), dimensions[last])
        steps = (*steps[:first], *steps[last - 1 :])
    return StatementAccess(tensor, kind, len(loops), dimensions, steps, c.scopes.get(tensor.name))


def _whole(dimensions: tuple[Dimension, ...], loops: list[StatementLoop]) -> list[int]:
    """The loops that each run all along one of the innermost dimensions, in order: what they reach
    is one piece.
    """
    found: list[int] = []
    for d in reversed(dimensions):
        loop = d.loops[0] if d.loops else len(loops)
        inside = found[0] if found else len(loops)
        if loop >= inside or d.coefficients != {loop: 1} or d.extent != loops[loop].extent:
            break
        found.insert(0, loop)
    return found


def _dimension(index: Expr, extent: Extent, loops: list[StatementLoop], known: _Known) -> Dimension:
    place = {loop.name: i for i, loop in enumerate(loops)}
    split = known.simplifier.affine(index, place)
    if split is not None and not any(map(reads, split[0].values())):
        return Dimension(extent, {place[n]: plain(e) for n, e in split[0].items()})
    moved = sorted(place[n] for n in known.content.names(index) if n in place)
    names = [loops[i].name for i in moved]
    widths = Widths({loops[i].name: sub(loops[i].extent, 1) for i in moved}, known.content)
    alone = {i: widths.of(index, names[at : at + 1]) for at, i in enumerate(moved)}
    inside = {i: widths.of(index, names[at:]) for at, i in enumerate(moved)}
    return Dimension(extent, None, alone, inside)


def _steps(shape: tuple[Extent, ...]) -> tuple[Extent, ...]:
    """Elements between neighbours of each dimension, row by row."""
    strides: list[Extent] = []
    step: Extent = 1
    for extent in reversed(shape):
        strides.append(step)
        step = mul(step, extent)
    return tuple(reversed(strides))
