"""What a node sees where it stands, and whether its expressions keep the rules there.

    scope.fail(head, problem)               VerifyError with the node and the loops around it
    check_access(tensor, indices, scope, head)      declared, of its rank, inside of its window
    check_value(e, scope, head)             the dtypes of an expression and all that it reads
    check_written(dag)                      the same of computations as a user wrote them

`head` is the text of the node, or what writes it where something is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import NoReturn, TypeAlias

from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import BOOL, INT64
from tilewright.expr.index.facts import Facts
from tilewright.expr.index.intervals import Interval, intersection
from tilewright.expr.nodes import Binary, Call, Const, Expr, Read, Reduce, Select, Tensor, Var
from tilewright.expr.reference import compute_of
from tilewright.expr.sizes import ranges_of
from tilewright.expr.text import expr_text
from tilewright.expr.traversal import children, reads
from tilewright.ground.errors import ExprError, VerifyError
from tilewright.nest.nodes import (
    Scope,
)
from tilewright.nest.print import declaration

Head: TypeAlias = str | Callable[[], str]


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
    """What a node sees: storage by name, sizes and loops around it, and what is known there."""

    program: str
    symbolic: bool
    storage: Mapping[str, Storage]
    loops: tuple[str, ...]
    facts: Facts
    sizes: frozenset[str] = frozenset()

    def fail(self, head: Head, problem: str) -> NoReturn:
        place = f" inside loops {' > '.join(self.loops)}" if self.loops else ""
        raise VerifyError(f"program {self.program}: {written(head)}{place}: {problem}")


def written(head: Head) -> str:
    """The text of a node."""
    return (head if isinstance(head, str) else head()).strip()


class Checked:
    """What was looked at in one expression: each part once under the facts that are known there, or
    under weaker ones before.
    """

    def __init__(self) -> None:
        self._done: dict[tuple[int, int], Facts] = {}  # keeps facts alive: their ids name them
        self._branches: dict[tuple[int, bool, int], Facts] = {}
        self._around: dict[int, Facts] = {}

    def is_new(self, e: Expr, facts: Facts) -> bool:
        """Whether this is the first look at `e`, which is noted."""
        known: Facts | None = facts
        while known is not None:
            if (id(e), id(known)) in self._done:
                return False
            known = self._around.get(id(known))
        self._done[id(e), id(facts)] = facts
        return True

    def branch(self, cond: Expr, holds: bool, facts: Facts) -> Facts:
        """What is known where a condition holds, or does not."""
        key = (id(cond), holds, id(facts))
        if key not in self._branches:
            found = self._branches[key] = facts.assume(cond, holds)
            if found is not facts:
                self._around[id(found)] = facts
        return self._branches[key]


def check_access(
    tensor: Tensor,
    indices: tuple[Expr, ...],
    scope: VerifiedScope,
    head: Head,
    done: Checked | None = None,
) -> None:
    storage = scope.storage.get(tensor.name)
    if storage is None:
        known = ", ".join(scope.storage)
        scope.fail(head, f"{tensor.name} is not declared here; declared: {known}")
    if storage.tensor != tensor:
        scope.fail(head, f"{declaration(tensor)} is declared as {declaration(storage.tensor)}")
    if len(indices) != tensor.rank:
        scope.fail(head, f"{tensor.name} has {tensor.rank} dimensions, {len(indices)} indices")
    for d, index in enumerate(indices):
        check_index(index, scope, head, done)
        if not scope.symbolic:
            _inside(storage, d, index, scope, head)


def _inside(storage: Storage, d: int, index: Expr, scope: VerifiedScope, head: Head) -> None:
    extent = storage.tensor.shape[d]
    if scope.facts.impossible:
        return
    local = index if storage.offset is None else index - storage.offset[d]
    if not isinstance(extent, int):
        _below(extent, local, storage, d, scope, head)
        return
    bounds = scope.facts.bounds(local)
    if not bounds.within(0, extent - 1):
        bounds = intersection(bounds, scope.facts.tried(local))
    if not bounds.within(0, extent - 1) and not _is_quotient_below(local, extent, scope):
        start = "" if storage.offset is None else f" - ({expr_text(storage.offset[d])})"
        scope.fail(
            head,
            f"{storage.tensor.name}: index {expr_text(index)}{start} of dimension {d} is in "
            f"{_range(bounds)}, outside 0..{extent - 1}; guard the access with tw.select",
        )


def _below(
    extent: Expr, local: Expr, storage: Storage, d: int, scope: VerifiedScope, head: Head
) -> None:
    """Fail unless an index is in 0..extent - 1, whatever the sizes are: what is beyond is not
    live. Of what may have no elements the first may be read all the same, by an index that was
    clamped: memory has one.
    """
    whole = scope.facts.bounds(extent).hi
    room = whole is None or whole > 0
    if _least(local, scope) < 0 or not _is_up_to(local, extent, room, scope):
        low, gap = (_least(e, scope) for e in (local, extent - 1 - local))
        wrong = f"it may be {low}" if low < 0 else f"{expr_text(extent - 1 - local)} may be {gap}"
        scope.fail(
            head,
            f"{storage.tensor.name}: index {expr_text(local)} of dimension {d} may be outside "
            f"0..{expr_text(extent)} - 1 ({wrong})",
        )


def _is_quotient_below(e: Expr, extent: int, scope: VerifiedScope) -> bool:
    """Whether an index is a quotient by an extent over sizes that is surely in 0..extent - 1."""
    match scope.facts.simplifier.simplify(e):
        case Binary("floordiv", a, b) if _least(b, scope) >= 1 and _least(a, scope) >= 0:
            return _is_up_to(a, b * extent, False, scope)
    return False


def _least(e: Expr, scope: VerifiedScope) -> float:
    """No value of an index is below it, as a whole number."""
    bounds = scope.facts.bounds(e)
    if bounds.lo is None or bounds.lo < 0:
        bounds = intersection(bounds, scope.facts.tried(e))
    return -inf if bounds.lo is None else bounds.lo


def _is_up_to(e: Expr, extent: Expr, room: bool, scope: VerifiedScope) -> bool:
    """Whether an index is surely below `extent`, or with `room` the 0 of a clamped one."""
    if _least(extent - 1 - e, scope) >= 0:
        return True
    match e:
        case Binary("min", a, b):
            return any(_is_up_to(each, extent, room, scope) for each in (a, b))
        case Binary("max", a, Const(0, _)) if room:
            return _is_up_to(a, extent, room, scope)
        case Binary("mod", _, b) if _least(b, scope) >= 1 and _least(extent - b, scope) >= 0:
            return True
    return False


def _range(bounds: Interval) -> str:
    lo, hi = ("?" if end is None else end for end in (bounds.lo, bounds.hi))
    return f"{lo}..{hi}"


def check_index(e: Expr, scope: VerifiedScope, head: Head, done: Checked | None = None) -> None:
    """Fail unless it is int64, and all that it reads is right."""
    if e.dtype != INT64:
        scope.fail(head, f"the index {expr_text(e)} is {e.dtype}, not int64")
    check_value(e, scope, head, done)


def check_condition(e: Expr, scope: VerifiedScope, head: Head, done: Checked | None = None) -> None:
    """Fail unless it is bool, and all that it reads is right."""
    if e.dtype != BOOL:
        scope.fail(head, f"the condition {expr_text(e)} is {e.dtype}, not bool")
    check_value(e, scope, head, done)


def check_value(e: Expr, scope: VerifiedScope, head: Head, done: Checked | None = None) -> None:
    """Check an expression; a branch of a select sees its condition. `done` are the parts of a
    larger one that were checked before.
    """
    done = Checked() if done is None else done
    if not done.is_new(e, scope.facts):
        return
    match e:
        case Var(name) if not (scope.symbolic or name in scope.loops or name in scope.sizes):
            scope.fail(head, f"{name} is not a loop around it")
        case Read(tensor, indices):
            check_access(tensor, indices, scope, head, done)
            return
        case Reduce():
            scope.fail(head, "a nest has loops and updates, not reductions in a value")
        case Select(cond, a, b):
            check_condition(cond, scope, head, done)
            _same_dtype((a, b), scope, head)
            for branch, holds in ((a, True), (b, False)):
                facts = done.branch(cond, holds, scope.facts)
                check_value(branch, replace(scope, facts=facts), head, done)
            return
        case Binary(_, a, b):
            _same_dtype((a, b), scope, head)
        case Call(_, args):
            _same_dtype(args, scope, head)
    for c in children(e):
        check_value(c, scope, head, done)


def _same_dtype(operands: tuple[Expr, ...], scope: VerifiedScope, head: Head) -> None:
    if len({o.dtype for o in operands}) > 1:
        texts = ", ".join(f"{expr_text(o)}: {o.dtype}" for o in operands)
        scope.fail(head, f"operands of one operation have different dtypes: {texts}")


class _WrittenScope(VerifiedScope):
    """Where a user's expression stands: what is wrong there is no bug of ours."""

    __slots__ = ()

    def fail(self, node: Head, problem: str) -> NoReturn:
        raise ExprError(f"{self.program}: {problem}")


def check_written(dag: ComputeDAG) -> None:
    """Raise ExprError where a computation may read outside of a tensor."""
    for stage in dag.stages:
        compute = compute_of(stage)
        body = compute.term
        axes, facts = (*compute.axes, *compute.reduce_axes), Facts(ranges_of(dag.sizes))
        for axis in axes:
            facts = facts.loop(axis.var, axis.extent)
        storage = {r.tensor.name: Storage(r.tensor, writable=False) for r in reads(body)}
        sizes = frozenset(s.name for s in dag.sizes)
        names = tuple(a.name for a in axes)
        scope = _WrittenScope(stage.name, False, storage, names, facts, sizes)
        check_value(body, scope, stage.name)
