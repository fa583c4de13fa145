"""Statements of a symbolic loop nest, flattened for whole-column analysis.

    statements(program, line_bytes) -> [Statement, …]

A statement is a `Store` with the loops around it and its accesses. Loops moved out by a position
decision get extent 1 by a select, so that one list of loops serves all candidates of a sketch.
Everything here is structure and expressions, made once a sketch; numbers come from evaluating
`Statement.exprs` over the decision columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tilewright.expr.extents import mul
from tilewright.expr.nodes import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Extent,
    Read,
    Select,
    Tensor,
    as_expr,
    free_vars,
    select,
)
from tilewright.expr.simplify import affine
from tilewright.nest.nodes import Alloc, For, Hoist, If, Kind, Node, Program, Seq, Store

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
class Access:
    """One tensor access: per dimension the loops' coefficients and the full extent.

    `coefficients[d]` maps loop index -> coefficient; None where the dimension is not affine in
    the loops of `touched[d]` (it may then reach any element).
    """

    tensor: Tensor
    kind: str  # "read", "write" or "update"
    coefficients: tuple[dict[int, Extent] | None, ...]
    touched: tuple[frozenset[int], ...]
    shape: tuple[Extent, ...]


@dataclass
class Statement:
    """A store in its context. `counts` are operations per iteration by (class, operation)."""

    stage: str
    is_init: bool
    loops: list[Loop]
    accesses: list[Access]
    counts: dict[tuple[str, str], int]
    allocated_outside: int  # loops outside the allocation of its target (0: the whole buffer)
    unroll_step: Extent = 0
    shared: set[str] = field(default_factory=set)


def statements(program: Program) -> list[Statement]:
    """All statements of a program, in order."""
    found = list(_walk(program.body, _Context()))
    seen: dict[str, int] = {}
    for s in found:
        for name in {a.tensor.name for a in s.accesses}:
            seen[name] = seen.get(name, 0) + 1
    for s in found:
        s.shared = {a.tensor.name for a in s.accesses if seen[a.tensor.name] > 1}
    return found


@dataclass
class _Context:
    """Loops entered so far, where buffers were allocated, and which loops are hoisted over."""

    loops: tuple[For, ...] = ()
    allocated: dict[str, int] = field(default_factory=dict)
    live: dict[str, Expr] = field(default_factory=dict)
    unroll_step: Extent = 0


def _walk(node: Node, c: _Context) -> Iterator[Statement]:
    match node:
        case Seq(body):
            for b in body:
                yield from _walk(b, c)
        case If(_, body):
            yield from _walk(body, c)
        case Alloc(tensor, _, body):
            inner = {**c.allocated, tensor.name: len(c.loops)}
            yield from _walk(body, _Context(c.loops, inner, c.live, c.unroll_step))
        case Hoist(loops, live, body):
            masks = {**c.live, **{v.name: e for v, e in zip(loops, live, strict=True)}}
            yield from _walk(body, _Context(c.loops, c.allocated, masks, c.unroll_step))
        case For():
            step = c.unroll_step if node.unroll_step == 0 else node.unroll_step
            yield from _walk(node.body, _Context((*c.loops, node), c.allocated, c.live, step))
        case Store():
            yield _statement(node, c)


def _statement(store: Store, c: _Context) -> Statement:
    written = {name for i in store.indices for name in free_vars(i)}
    is_reduction = store.reduce is not None
    names = [f.var.name for f in c.loops]
    stage = store.tensor.name
    own = c.allocated.get(stage, 0)  # the stage's own loops stand inside its allocation
    loops = [
        Loop(
            f.var.name,
            _masked(f, c.live.get(f.var.name)),
            f.kind if f.when is None else Kind.SERIAL,
            (f.when if f.when is not None else True) if f.kind is Kind.PARALLEL else False,
            is_reduction and i >= own and f.var.name not in written,
        )
        for i, f in enumerate(c.loops)
    ]
    kind = "update" if is_reduction else "write"
    accesses = [_access(store.tensor, store.indices, kind, names)]
    accesses += [_access(r.tensor, r.indices, "read", names) for r in _reads(store.value)]
    return Statement(
        stage=stage,
        is_init=not is_reduction and isinstance(store.value, Const),
        loops=loops,
        accesses=accesses,
        counts=operations(store),
        allocated_outside=own,
        unroll_step=c.unroll_step,
    )


def _masked(loop: For, live: Expr | None) -> Extent:
    if live is None or loop.extent == 1:
        return loop.extent
    return select(live, as_expr(loop.extent), as_expr(1))


def _reads(e: Expr) -> list[Read]:
    """Distinct data accesses of an expression."""
    found: dict[Read, None] = {}
    stack = [e]
    while stack:
        x = stack.pop()
        if isinstance(x, Read):
            found[x] = None
        stack.extend(reversed(_operands(x)))
    return list(found)


def _operands(e: Expr) -> list[Expr]:
    match e:
        case Binary(_, a, b):
            return [a, b]
        case Call(_, args):
            return list(args)
        case Cast(_, x):
            return [x]
        case Select(cond, a, b):
            return [cond, a, b]
        case Read(_, indices):
            return list(indices)
    return []


def _access(tensor: Tensor, indices: tuple[Expr, ...], kind: str, names: list[str]) -> Access:
    place = {name: i for i, name in enumerate(names)}
    coefficients: list[dict[int, Extent] | None] = []
    touched: list[frozenset[int]] = []
    for index in indices:
        touched.append(frozenset(place[n] for n in free_vars(index) if n in place))
        split = affine(index, names)
        if split is None:
            coefficients.append(None)
        else:
            terms = {place[n]: extent_of(e) for n, e in split[0].items()}
            coefficients.append(terms)
    return Access(tensor, kind, tuple(coefficients), tuple(touched), tensor.shape)


def extent_of(e: Expr) -> Extent:
    """The int behind a literal, otherwise the expression."""
    return int(e.value) if isinstance(e, Const) else e


def operations(store: Store) -> dict[tuple[str, str], int]:
    """Operations of one iteration, by ("float" | "int" | "bool" | "select", operation).

    A product that is summed counts as one multiply-add.
    """
    counts: dict[tuple[str, str], int] = {}

    def add(kind: str, op: str) -> None:
        counts[kind, op] = counts.get((kind, op), 0) + 1

    def visit(e: Expr) -> None:
        if isinstance(e, Binary | Call | Select):
            kind = _class_of(e)
            if isinstance(e, Select):
                add("select", "select")
            elif isinstance(e, Binary) and e.op in ("and", "or"):
                add("bool", "bool")
            else:
                add(kind, _operation(e))
        for x in _operands(e):
            visit(x)

    visit(store.value)
    for index in store.indices:
        visit(index)
    if store.reduce is not None:
        kind = "float" if store.tensor.dtype.is_float else "int"
        if store.reduce == "sum" and isinstance(store.value, Binary) and store.value.op == "mul":
            counts[kind, "mul"] -= 1
            add(kind, "mad")
        else:
            add(kind, {"sum": "addsub", "prod": "mul"}.get(store.reduce, "cmp"))
    return counts


def _class_of(e: Binary | Call | Select) -> str:
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
