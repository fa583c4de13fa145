"""Verifier: the invariants that every program of this layer keeps.

    verify(program)                     a concrete program; returns None or raises VerifyError
    verify(program, symbolic=True)      a sketch: extents over decision variables

Checked: names are declared, in scope and unique along a path; reads and stores have the rank,
dtype and int64 indices of their tensor; inputs are not written, every output is; a concrete
program has int extents, no `Hoist`, no `when`, and every access stays inside its buffer or window,
by interval arithmetic under the conditions around it, or by trying all values. Worker loops, scopes
and barriers keep the rules of `workers`, a barrier stands between conflicting accesses
(`barriers`), and what lies in the same bytes lives one after the other (`lifetimes`). The message
names the node and its loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from tilewright.errors import VerifyError
from tilewright.expr.dtypes import BOOL, INT64
from tilewright.expr.nodes import (
    REDUCTIONS,
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
    children,
    reads,
)
from tilewright.expr.tensors import Table
from tilewright.nest.barriers import first_race
from tilewright.nest.facts import Facts, intersection
from tilewright.nest.instructions import COPY, INSTRUCTIONS, InstructionRule, Window
from tilewright.nest.lifetimes import first_overlap
from tilewright.nest.marks import MARKS
from tilewright.nest.nodes import (
    Alloc,
    For,
    Hoist,
    If,
    Instruction,
    Node,
    Program,
    Scope,
    Seq,
    Store,
    accessed,
    walk,
)
from tilewright.nest.print import declaration, expr_text, extent_text, nest_text
from tilewright.nest.swizzle import Swizzle
from tilewright.nest.workers import check_workers, kernels


@dataclass(frozen=True, slots=True)
class Storage:
    """A tensor in scope; `offset` is where its window starts, None for a whole buffer, which has no
    `scope` either.
    """

    tensor: Tensor
    writable: bool
    offset: tuple[Expr, ...] | None = None
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class VerifiedScope:
    """What a node sees: storage by name, loops around it, and what is known there."""

    program: str
    symbolic: bool
    storage: Mapping[str, Storage]
    loops: tuple[str, ...]
    facts: Facts

    def fail(self, node: str, problem: str) -> NoReturn:
        place = f" inside loops {' > '.join(self.loops)}" if self.loops else ""
        raise VerifyError(f"program {self.program}: {node.strip()}{place}: {problem}")


def verify(program: Program, *, symbolic: bool = False) -> None:
    """Raise VerifyError where `program` breaks an invariant of this layer.

    `symbolic` admits extents that are expressions, free decision variables, `Hoist` and `when`;
    accesses are then not bounded.
    """
    scope = VerifiedScope(program.name, symbolic, {}, (), Facts.of({}))
    scope = replace(scope, storage=_interface(program, scope))
    written = {n.tensor.name for n in walk(program.body) if isinstance(n, Store)}
    for t in program.outputs:
        if t.name not in written:
            scope.fail(f"output {declaration(t)}", "it is never written")
    _node(program.body, scope)
    check_workers(program, symbolic=symbolic)
    for kernel in kernels(program.body):
        race = first_race(kernel)
        if race is not None:
            first, second = race
            scope.fail(
                nest_text(kernel).splitlines()[0],
                f"no barrier between the {'write' if first.writes else 'read'} of {first} and the "
                f"{'write' if second.writes else 'read'} of {second} by other threads",
            )
        overlap = first_overlap(kernel)
        if overlap is not None:
            a, b = overlap
            scope.fail(nest_text(kernel).splitlines()[0], f"{a} and {b} live in the same bytes")


def _interface(program: Program, scope: VerifiedScope) -> dict[str, Storage]:
    storage: dict[str, Storage] = {}
    readable = (*program.inputs, *program.constants, *program.tables)
    for t in (*readable, *program.outputs):
        if t.name in storage:
            scope.fail(declaration(t), "its name is used twice in the interface")
        for extent in t.shape:
            _extent(extent, scope, declaration(t), least=1)
        storage[t.name] = Storage(t, writable=t in program.outputs)
    for t in program.tables:
        values = t.source.values if isinstance(t.source, Table) else None
        if values is None or values.shape != t.shape:
            scope.fail(f"table {declaration(t)}", "its values are missing or of another shape")
    return storage


def _node(node: Node, scope: VerifiedScope) -> None:
    match node:
        case Seq(body):
            for n in body:
                _node(n, scope)
        case For():
            _loop(node, scope)
        case If(cond, body):
            head = f"if {expr_text(cond)}"
            _condition(cond, scope, head)
            facts = scope.facts.assume(cond)
            _node(body, replace(scope, facts=facts))
        case Alloc():
            _alloc(node, scope)
        case Store():
            _store(node, scope)
        case Instruction():
            _instruction(node, scope)
        case Hoist(loops, live, body):
            head = f"hoist of {', '.join(v.name for v in loops)}"
            if not scope.symbolic:
                scope.fail(head, "a concrete program has no hoist")
            if len(loops) != len(live) or not {v.name for v in loops} <= set(scope.loops):
                scope.fail(head, "it needs one condition a loop, of loops around it")
            for cond in live:
                _condition(cond, scope, head)
            _node(body, scope)


def _loop(loop: For, scope: VerifiedScope) -> None:
    head = f"for {loop.var.name} in range({extent_text(loop.extent)})"
    if loop.var.name in scope.loops:
        scope.fail(head, "a loop around it has the same variable")
    if loop.var.dtype != INT64:
        scope.fail(head, f"its variable is {loop.var.dtype}, not int64")
    _extent(loop.extent, scope, head, least=1)
    _marks(loop, scope, head)
    if loop.when is not None:
        if not scope.symbolic:
            scope.fail(head, "a concrete program has no `when`")
        _condition(loop.when, scope, head)
    facts = scope.facts
    if isinstance(loop.extent, int):
        facts = facts.loop(loop.var, loop.extent)
    _node(loop.body, replace(scope, loops=(*scope.loops, loop.var.name), facts=facts))


def _marks(node: For | Store, scope: VerifiedScope, head: str) -> None:
    """Known ones, on their kind of node, at a place and with a value that the table allows."""
    for name, value in node.marks:
        rule = MARKS.get(name)
        if rule is None or rule.node != type(node).__name__:
            scope.fail(head, f"it cannot be marked {name!r}")
        _extent(value, scope, f"{head.strip()} ({name})", least=1)
        if isinstance(node, Store):
            storage = scope.storage[node.tensor.name]
            problem = rule.refusal(node.tensor, storage.offset is None, value)
            if problem:
                scope.fail(head, f"{name}: {problem}")


def _extent(extent: Extent, scope: VerifiedScope, head: str, least: int) -> None:
    if isinstance(extent, int):
        if extent < least:
            scope.fail(head, f"{extent} is below {least}")
        return
    if not scope.symbolic:
        scope.fail(head, f"a concrete program has int extents, not {expr_text(extent)}")
    _index(extent, scope, head)


def _alloc(node: Alloc, scope: VerifiedScope) -> None:
    head = f"alloc {declaration(node.tensor)}"
    if node.tensor.name in scope.storage:
        scope.fail(head, "a tensor of that name is in scope already")
    if node.swizzled and node.scope is not Scope.SHARED:
        scope.fail(head, "only rows of shared storage are swizzled")
    if node.swizzled and not scope.symbolic:
        Swizzle.of(node.tensor)
    if len(node.offset) != node.tensor.rank:
        scope.fail(head, f"{len(node.offset)} offsets for {node.tensor.rank} dimensions")
    for extent in node.tensor.shape:
        _extent(extent, scope, head, least=1)
    for e in node.offset:
        _index(e, scope, head)
    storage = Storage(node.tensor, True, node.offset, node.scope)
    _node(node.body, replace(scope, storage={**scope.storage, node.tensor.name: storage}))


def _store(node: Store, scope: VerifiedScope) -> None:
    head = nest_text(node)
    _access(node.tensor, node.indices, scope, head)
    if not scope.storage[node.tensor.name].writable:
        scope.fail(head, f"{node.tensor.name} is an input, a constant or a table")
    if node.reduce is not None and node.reduce not in REDUCTIONS:
        scope.fail(head, f"unknown reduction {node.reduce!r}; known: {', '.join(REDUCTIONS)}")
    if node.value.dtype != node.tensor.dtype.compute:
        scope.fail(
            head, f"a {node.value.dtype} value into {node.tensor.dtype}, which is computed in "
            f"{node.tensor.dtype.compute}"
        )  # fmt: skip
    _value(node.value, scope, head)
    _marks(node, scope, head)


def _instruction(node: Instruction, scope: VerifiedScope) -> None:
    """Runs of elements inside of tensors where the instruction takes them, of its dtypes."""
    head = nest_text(node)
    rule = INSTRUCTIONS.get(node.name)
    if rule is None:
        scope.fail(head, f"no such instruction; known: {', '.join(INSTRUCTIONS)}")
    if len(node.operands) != len(rule.operands) or (node.result is None) != (not rule.result):
        scope.fail(head, f"it has {len(rule.operands)} operands and {bool(rule.result):d} results")
    if node.result is not None:
        _run(node.result, rule.result, scope, head)
        if not scope.storage[node.result.tensor.name].writable:
            scope.fail(head, f"{node.result.tensor.name} is an input, a constant or a table")
    for operand, size in zip(node.operands, rule.operands, strict=True):
        match operand:
            case Read() if isinstance(size, Window):
                _window(operand, size, scope, head)
            case Read() if isinstance(size, int) and size:
                _run(operand, size, scope, head)
            case Select(cond, Read() as read, Const(0 | 0.0)) if node.name.startswith(COPY):
                _condition(cond, scope, head)
                assert isinstance(size, int)
                _run(read, size, replace(scope, facts=scope.facts.assume(cond)), head)
            case Const(value) if not size or (value == 0 and node.name.startswith(COPY)):
                continue
            case _ if not size and scope.symbolic:
                continue
            case _:
                scope.fail(head, f"{expr_text(operand)} is no operand of it")
    _tensors(node, rule, scope, head)


def _tensors(node: Instruction, rule: InstructionRule, scope: VerifiedScope, head: str) -> None:
    """Where an instruction's tensors lie, and their dtypes."""
    runs = [_moved(e) for e in accessed(node) if reads(e)]
    for tensor, where in zip(runs, rule.scopes, strict=False):
        if scope.storage[tensor.name].scope is not where:
            place = "an input or an output" if where is None else f"{where.value} storage"
            scope.fail(head, f"{tensor.name} is not {place}")
    if node.result is None:
        return
    result, *operands = (t.dtype.name for t in runs)
    if rule.dtypes and not set(operands) <= set(rule.dtypes):
        scope.fail(head, f"operands are {' or '.join(rule.dtypes)}, not {', '.join(operands)}")
    wanted = rule.sums or (operands[0] if operands else result)
    if len(set(operands)) > 1 or result != wanted:
        of = ", ".join(operands)
        scope.fail(head, f"it makes {wanted} of operands of one dtype, not {result} of {of}")


def _moved(e: Expr) -> Tensor:
    """The tensor that a result or an operand is of."""
    read = e.a if isinstance(e, Select) else e
    assert isinstance(read, Read)
    return read.tensor


def _run(read: Read, size: int, scope: VerifiedScope, head: str) -> None:
    """The first and the last of so many bytes from an element on."""
    last = read.indices[-1] + (size // read.tensor.dtype.bytes - 1)
    _access(read.tensor, read.indices, scope, head)
    _access(read.tensor, (*read.indices[:-1], last), scope, head)


def _window(read: Read, window: Window, scope: VerifiedScope, head: str) -> None:
    """The first and the last element of a window."""
    steps = [0] * read.tensor.rank
    last = window.offsets()[-1, -1].tolist()
    if len(last) > len(steps):
        scope.fail(head, f"{read.tensor.name} is no tile that it takes")
    steps[-len(last) :] = last
    _access(read.tensor, read.indices, scope, head)
    moved = tuple(i + step for i, step in zip(read.indices, steps, strict=True))
    _access(read.tensor, moved, scope, head)


def _access(tensor: Tensor, indices: tuple[Expr, ...], scope: VerifiedScope, head: str) -> None:
    storage = scope.storage.get(tensor.name)
    if storage is None:
        known = ", ".join(scope.storage)
        scope.fail(head, f"{tensor.name} is not declared here; declared: {known}")
    if storage.tensor != tensor:
        scope.fail(head, f"{declaration(tensor)} is declared as {declaration(storage.tensor)}")
    if len(indices) != tensor.rank:
        scope.fail(head, f"{tensor.name} has {tensor.rank} dimensions, {len(indices)} indices")
    for d, index in enumerate(indices):
        _index(index, scope, head)
        if not scope.symbolic:
            _inside(storage, d, index, scope, head)


def _inside(storage: Storage, d: int, index: Expr, scope: VerifiedScope, head: str) -> None:
    extent = storage.tensor.shape[d]
    assert isinstance(extent, int)
    if scope.facts.impossible:
        return
    local = index if storage.offset is None else index - storage.offset[d]
    bounds = scope.facts.bounds(local)
    if not bounds.within(0, extent - 1):
        bounds = intersection(bounds, scope.facts.tried(local))
    if not bounds.within(0, extent - 1):
        start = "" if storage.offset is None else f" - ({expr_text(storage.offset[d])})"
        scope.fail(
            head,
            f"dimension {d} of {storage.tensor.name}: {expr_text(index)}{start} is in "
            f"[{bounds.lo}, {bounds.hi}], the extent is {extent}",
        )


def _index(e: Expr, scope: VerifiedScope, head: str) -> None:
    if e.dtype != INT64:
        scope.fail(head, f"the index {expr_text(e)} is {e.dtype}, not int64")
    _value(e, scope, head)


def _condition(e: Expr, scope: VerifiedScope, head: str) -> None:
    if e.dtype != BOOL:
        scope.fail(head, f"the condition {expr_text(e)} is {e.dtype}, not bool")
    _value(e, scope, head)


def _value(e: Expr, scope: VerifiedScope, head: str) -> None:
    """Check an expression; a branch of a select sees its condition."""
    match e:
        case Var(name) if name not in scope.loops and not scope.symbolic:
            scope.fail(head, f"{name} is not a loop around it")
        case Read(tensor, indices):
            _access(tensor, indices, scope, head)
            return
        case Reduce():
            scope.fail(head, "a nest has loops and updates, not reductions in a value")
        case Select(cond, a, b):
            _condition(cond, scope, head)
            _same_dtype((a, b), scope, head)
            _value(a, replace(scope, facts=scope.facts.assume(cond)), head)
            _value(b, replace(scope, facts=scope.facts.assume(cond, holds=False)), head)
            return
        case Binary(_, a, b):
            _same_dtype((a, b), scope, head)
        case Call(_, args):
            _same_dtype(args, scope, head)
    for c in children(e):
        _value(c, scope, head)


def _same_dtype(operands: tuple[Expr, ...], scope: VerifiedScope, head: str) -> None:
    if len({o.dtype for o in operands}) > 1:
        texts = ", ".join(f"{expr_text(o)}: {o.dtype}" for o in operands)
        scope.fail(head, f"operands of one operation have different dtypes: {texts}")
