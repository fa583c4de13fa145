"""Verifier: the invariants that every program of this layer keeps.

    verify(program)                     a concrete program; returns None or raises VerifyError
    verify(program, symbolic=True)      a sketch: extents over decision variables

Checked: names are declared, in scope and unique along a path; reads and stores have the rank,
dtype and int64 indices of their tensor; inputs are not written, every output is; a concrete
program has int extents, or ones over its sizes, no `Hoist`, no `when`, and every access stays
inside its buffer or window, and below what a size makes of that, by interval arithmetic under the
conditions around it, or by trying all values. Worker loops, scopes
and barriers keep the rules of `workers`, a barrier stands between conflicting accesses
(`barriers`), and what lies in the same bytes lives one after the other (`lifetimes`). The message
names the node and its loops.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tilewright.expr.dtypes import INT64
from tilewright.expr.index.facts import Facts
from tilewright.expr.nodes import REDUCTIONS, Extent
from tilewright.expr.sizes import ranges_of
from tilewright.expr.tensors import Table
from tilewright.expr.text import expr_text, extent_text
from tilewright.expr.traversal import free_vars, reads
from tilewright.nest.gpu.barriers import first_race, with_phases
from tilewright.nest.gpu.lifetimes import first_overlap
from tilewright.nest.gpu.swizzle import Swizzle
from tilewright.nest.gpu.workers import check_workers, kernels
from tilewright.nest.instructions import (
    Window,
    rule_of,
)
from tilewright.nest.marks import MARKS
from tilewright.nest.nodes import (
    Alloc,
    For,
    Hoist,
    If,
    Instruction,
    Kind,
    Node,
    Program,
    Scope,
    Seq,
    Store,
    touched,
    walk,
)
from tilewright.nest.print import declaration, nest_text
from tilewright.nest.verified import (
    Head,
    Storage,
    VerifiedScope,
    check_access,
    check_condition,
    check_index,
    check_value,
    written,
)
from tilewright.nest.verify_instruction import check_instruction

VARYING = (Kind.SERIAL, Kind.PARALLEL, Kind.BLOCK, Kind.VECTOR, Kind.UNROLLED)
"""Loops whose extents may be over sizes."""


def verify(program: Program, *, symbolic: bool = False) -> None:
    """Raise VerifyError where `program` breaks an invariant of this layer.

    `symbolic` admits extents that are expressions, free decision variables, `Hoist` and `when`;
    accesses are then not bounded.
    """
    known = ranges_of(program.sizes)
    scope = VerifiedScope(program.name, symbolic, {}, (), Facts(known), frozenset(known))
    if len(known) < len(program.sizes):
        scope.fail(f"sizes {', '.join(s.name for s in program.sizes)}", "one is there twice")
    scope = replace(scope, storage=_interface(program, scope))
    written = {n.tensor.name for n in walk(program.body) if isinstance(n, Store)}
    for t in program.outputs:
        if t.name not in written:
            scope.fail(f"output {declaration(t)}", "it is never written")
    _node(program.body, scope)
    check_workers(program, symbolic=symbolic)
    for kernel in kernels(program.body):
        _only_instructions(kernel, scope)
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


def _only_instructions(kernel: Node, scope: VerifiedScope) -> None:
    """No thread touches by itself what has phases."""
    own = with_phases(kernel)
    for n in walk(kernel) if own else ():
        if isinstance(n, Instruction):
            rule = rule_of(n)
            pairs = zip(n.operands, rule.operands, strict=True)
            alone = [e for e, size in pairs if rule.semantics and not isinstance(size, Window)]
        else:
            alone = [*touched(n)]
        for read in (r for e in alone for r in reads(e)):
            if read.tensor.name in own:
                scope.fail(nest_text(n), f"{read.tensor.name} is for instructions with phases")


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
            check_condition(cond, scope, lambda: f"if {expr_text(cond)}")
            facts = scope.facts.assume(cond)
            _node(body, replace(scope, facts=facts))
        case Alloc():
            _alloc(node, scope)
        case Store():
            _store(node, scope)
        case Instruction():
            check_instruction(node, scope)
        case Hoist(loops, live, body):
            head = f"hoist of {', '.join(v.name for v in loops)}"
            if not scope.symbolic:
                scope.fail(head, "a concrete program has no hoist")
            if len(loops) != len(live) or not {v.name for v in loops} <= set(scope.loops):
                scope.fail(head, "it needs one condition a loop, of loops around it")
            for cond in live:
                check_condition(cond, scope, head)
            _node(body, scope)


def _loop(loop: For, scope: VerifiedScope) -> None:
    head = f"for {loop.var.name} in range({extent_text(loop.extent)})"
    if loop.var.name in scope.loops:
        scope.fail(head, "a loop around it has the same variable")
    if loop.var.name in scope.sizes:
        scope.fail(head, "a size has the same name")
    if loop.var.dtype != INT64:
        scope.fail(head, f"its variable is {loop.var.dtype}, not int64")
    _extent(loop.extent, scope, head, least=1)
    varies = not isinstance(loop.extent, int) and not scope.symbolic
    if varies and loop.kind not in VARYING:
        scope.fail(head, f"a {loop.kind.value} loop has a constant extent")
    _marks(loop, scope, head)
    if loop.when is not None:
        if not scope.symbolic:
            scope.fail(head, "a concrete program has no `when`")
        check_condition(loop.when, scope, head)
    is_known = varies or isinstance(loop.extent, int)
    facts = scope.facts.loop(loop.var, loop.extent) if is_known else scope.facts
    _node(loop.body, replace(scope, loops=(*scope.loops, loop.var.name), facts=facts))


def _marks(node: For | Store, scope: VerifiedScope, head: Head) -> None:
    """Known ones, on their kind of node, at a place and with a value that the table allows."""
    for name, value in node.marks:
        rule = MARKS.get(name)
        if rule is None or rule.node != type(node).__name__:
            scope.fail(head, f"it cannot be marked {name!r}")
        _extent(value, scope, f"{written(head)} ({name})", least=1)
        if isinstance(node, Store):
            storage = scope.storage[node.tensor.name]
            problem = rule.refusal(node.tensor, storage.offset is None, value)
            if problem:
                scope.fail(head, f"{name}: {problem}")


def _extent(extent: Extent, scope: VerifiedScope, head: Head, least: int) -> None:
    if isinstance(extent, int):
        if extent < least:
            scope.fail(head, f"{extent} is below {least}")
        return
    if not scope.symbolic and not free_vars(extent) <= scope.sizes:
        scope.fail(head, f"a concrete program has int extents, not {expr_text(extent)}")
    check_index(extent, scope, head)
    if not scope.symbolic and (reads(extent) or scope.facts.bounds(extent).hi is None):
        scope.fail(head, f"no size bounds the extent {expr_text(extent)}")


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
        check_index(e, scope, head)
    storage = Storage(node.tensor, True, node.offset, node.scope)
    _node(node.body, replace(scope, storage={**scope.storage, node.tensor.name: storage}))


def _store(node: Store, scope: VerifiedScope) -> None:
    head = partial(nest_text, node)
    check_access(node.tensor, node.indices, scope, head)
    if not scope.storage[node.tensor.name].writable:
        scope.fail(head, f"{node.tensor.name} is an input, a constant or a table")
    if node.reduce is not None and node.reduce not in REDUCTIONS:
        scope.fail(head, f"unknown reduction {node.reduce!r}; known: {', '.join(REDUCTIONS)}")
    if node.value.dtype != node.tensor.dtype.compute:
        scope.fail(
            head, f"a {node.value.dtype} value into {node.tensor.dtype}, which is computed in "
            f"{node.tensor.dtype.compute}"
        )  # fmt: skip
    check_value(node.value, scope, head)
    _marks(node, scope, head)
