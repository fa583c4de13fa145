"""Statements of a symbolic loop nest, flattened for whole-column analysis.

    statements(program, state) -> [Statement, …]

A statement is a `Store` with the loops around it and its accesses. Loops moved out by a position
decision get extent 1 by a select, so that one list of loops serves all candidates of a sketch.
Everything here is structure and expressions, made once a sketch; numbers come from evaluating
the expressions over the decision columns.

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
    COMPARISONS,
    Binary,
    Call,
    Const,
    Expr,
    Extent,
    Read,
    Reduce,
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
from tilewright.nest.nodes import (
    THREADS,
    WORKERS,
    Alloc,
    For,
    Hoist,
    If,
    Kind,
    Node,
    Program,
    Scope,
    Seq,
    Store,
)
from tilewright.schedule.bounds import loop_var
from tilewright.schedule.state import Stage, State

ONE: Extent = 1
OPERATIONS = ("mad", "addsub", "mul", "divmod", "cmp", "math", "other")


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

    `is_init`: it gives the elements of a reduction their first values. `kernel` is the root stage
    whose loops it stands in; `workers` how many blocks, virtual threads and threads that kernel
    has, by the kind of their loops (on a CPU: none). `opens_kernel`: no other of that kernel comes
    before it. `streamed`: 1 where it writes past the caches.
    """

    stage: str
    is_init: bool
    loops: list[Loop]
    accesses: list[Access]
    counts: dict[tuple[str, str], int]
    allocated_outside: int  # loops outside the allocation of its target (0: the whole buffer)
    unroll_step: Extent = 0
    streamed: Extent = 0
    shared: set[str] = field(default_factory=set)
    kernel: str = ""
    opens_kernel: bool = False
    workers: dict[Kind, Extent] = field(default_factory=dict)


def statements(program: Program, state: State) -> list[Statement]:
    """All statements of a program, in order. `state` is what the program was lowered from."""
    owners = {
        loop_var(stage.name, leaf).name: stage
        for stage in state.stages.values()
        for leaf in stage.leaves
    }
    found = list(_walk(program.body, _Context(state, owners)))
    seen: dict[str, int] = {}
    for s in found:
        for name in {a.tensor.name for a in s.accesses}:
            seen[name] = seen.get(name, 0) + 1
    for s in found:
        s.shared = {a.tensor.name for a in s.accesses if seen[a.tensor.name] > 1}
    kernels: dict[str, dict[Kind, Extent]] = {}
    for s in found:
        s.opens_kernel = s.kernel not in kernels
        kernels[s.kernel] = {**s.workers, **kernels.get(s.kernel, {})}
    for s in found:
        s.workers = kernels[s.kernel]
    return found


@dataclass
class _Context:
    """Loops entered so far, where buffers were allocated, and which loops are hoisted over.

    `owners` says which stage a loop variable belongs to.
    """

    state: State
    owners: dict[str, Stage]
    loops: tuple[For, ...] = ()
    allocated: dict[str, int] = field(default_factory=dict)
    live: dict[str, Expr] = field(default_factory=dict)


def _walk(node: Node, c: _Context) -> Iterator[Statement]:
    match node:
        case Seq(body):
            for b in body:
                yield from _walk(b, c)
        case If(_, body):
            yield from _walk(body, c)
        case Alloc(tensor, _, body):
            inner = {**c.allocated, tensor.name: len(c.loops)}
            yield from _walk(body, replace(c, allocated=inner))
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
    stage = c.state[store.tensor.name]
    starts = isinstance(store.value, Const) and isinstance(stage.compute.body, Reduce)
    is_init = starts and not is_reduction
    own = c.allocated.get(stage.name, 0)  # the stage's own loops stand inside its allocation
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
    accesses = [_access(store.tensor, store.indices, kind, loops, c.state)]
    accesses += [_access(r.tensor, r.indices, "read", loops, c.state) for r in _reads(store.value)]
    return Statement(
        stage=stage.name,
        is_init=is_init,
        loops=loops,
        accesses=accesses,
        counts={} if is_init else operations(stage, is_reduction),
        allocated_outside=own,
        unroll_step=_unroll_step(loops, c.owners),
        streamed=stage.streamed,
        kernel=_kernel(stage, c.state),
        workers=_workers(c),
    )


def _kernel(stage: Stage, state: State) -> str:
    """The root stage in whose loops `stage` is computed."""
    while stage.attach is not None:
        stage = state[stage.attach.target]
    return stage.name


def _by_owner(c: _Context, kind: Kind) -> dict[str, list[For]]:
    """The loops of one kind around a statement by the stage they belong to, outermost first."""
    found: dict[str, list[For]] = {}
    for loop in c.loops:
        if loop.kind is kind:
            found.setdefault(c.owners[loop.var.name].name, []).append(loop)
    return found


def _workers(c: _Context) -> dict[Kind, Extent]:
    """How many workers of each kind the outermost stage that has some makes."""
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


def _unroll_step(loops: list[Loop], owners: Mapping[str, Stage]) -> Extent:
    """The pragma in effect: that of the innermost stage that has one and a loop that runs here."""
    step: Extent = 0
    for name in dict.fromkeys(owners[loop.name].name for loop in loops):
        own = [loop for loop in loops if owners[loop.name].name == name]
        pragma = owners[own[0].name].unroll_step
        if pragma == 0:
            continue
        runs = as_expr(reduce(mul, (loop.extent for loop in own), ONE)) > 1
        test = runs & as_expr(pragma).ne(0)
        step = extent_of(select(test, as_expr(pragma), as_expr(step)))
    return step


def _reads(e: Expr) -> list[Read]:
    """Distinct data accesses of an expression."""
    return list(dict.fromkeys(reads(e)))


def _access(
    tensor: Tensor, indices: tuple[Expr, ...], kind: str, loops: list[Loop], state: State
) -> Access:
    pairs = zip(indices, tensor.shape, strict=True)
    stage = state.stages.get(tensor.name)
    scope = None if stage is None or stage.attach is None else stage.scope
    return Access(tensor, kind, tuple(_dimension(i, extent, loops) for i, extent in pairs), scope)


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


def operations(stage: Stage, accumulates: bool) -> dict[tuple[str, str], int]:
    """Operations of one iteration of a stage, by ("float" | "int" | "bool" | "select", operation).

    Counted on the stage's expression, before tiles enter its indices. A product that is summed
    counts as one multiply-add; a reduction of one element (not `accumulates`) only as that element.
    """
    counts: dict[tuple[str, str], int] = {}

    def count(kind: str, op: str) -> None:
        counts[kind, op] = counts.get((kind, op), 0) + 1

    axes = {a.name for a in stage.axes}

    def visit(e: Expr) -> None:
        if isinstance(e, Binary) and not reads(e) and not free_vars(e) & axes:
            return  # an extent: in a program it is a literal
        if isinstance(e, Select):
            count("select", "select")
        elif isinstance(e, Binary) and e.op in ("and", "or"):
            count("bool", "bool")
        elif isinstance(e, Binary | Call):
            count(_class_of(e), _operation(e))
        for x in children(e):
            visit(x)

    body = stage.compute.body
    value = body.body if isinstance(body, Reduce) else body
    if not isinstance(body, Reduce) or not accumulates:
        visit(value)
        return counts
    kind = "float" if stage.tensor.dtype.is_float else "int"
    if body.op == "sum" and isinstance(value, Binary) and value.op == "mul":
        count(kind, "mad")
        visit(value.a)
        visit(value.b)
    else:
        count(kind, {"sum": "addsub", "prod": "mul"}.get(body.op, "cmp"))
        visit(value)
    return counts


def _class_of(e: Binary | Call) -> str:
    operand = e.a if isinstance(e, Binary) else e
    return "float" if operand.dtype.is_float else "int"


def _operation(e: Expr) -> str:
    match e:
        case Binary(op, _, _) if op in ("add", "sub"):
            return "addsub"
        case Binary("mul", _, _):
            return "mul"
        case Binary(op, _, _) if op in ("div", "floordiv", "mod"):
            return "divmod"
        case Binary(op, _, _) if op in COMPARISONS or op in ("min", "max"):
            return "cmp"
        case Call(fn, _) if fn in ("neg", "abs", "not", "floor", "ceil", "round", "trunc"):
            return "other"
    return "math"


def tensor_strides(shape: tuple[Extent, ...]) -> tuple[Extent, ...]:
    """Row-major strides in elements."""
    strides: list[Extent] = []
    step: Extent = 1
    for extent in reversed(shape):
        strides.append(step)
        step = mul(step, extent)
    return tuple(reversed(strides))
