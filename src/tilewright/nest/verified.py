"""What a node sees where it stands, and whether its expressions keep the rules there.

    scope.fail(head, problem)               VerifyError with the node and the loops around it
    check_access(tensor, indices, scope, head)      declared, of its rank, inside of its window
    check_value(e, scope, head)             the dtypes of an expression and all that it reads
    check_written(dag)                      the same of computations as a user wrote them

`head` is the text of the node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from tilewright.errors import ExprError, VerifyError
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import BOOL, INT64
from tilewright.expr.intervals import Interval
from tilewright.expr.nodes import (
    Binary,
    Call,
    Expr,
    Read,
    Reduce,
    Select,
    Tensor,
    Var,
    children,
    reads,
)
from tilewright.expr.reference import compute_of
from tilewright.nest.facts import Facts, intersection
from tilewright.nest.nodes import (
    Scope,
)
from tilewright.nest.print import declaration, expr_text


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


def check_access(
    tensor: Tensor, indices: tuple[Expr, ...], scope: VerifiedScope, head: str
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
        check_index(index, scope, head)
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
            f"{storage.tensor.name}: index {expr_text(index)}{start} of dimension {d} is in "
            f"{_range(bounds)}, outside 0..{extent - 1}; guard the access with tw.select",
        )


def _range(bounds: Interval) -> str:
    lo, hi = ("?" if end is None else end for end in (bounds.lo, bounds.hi))
    return f"{lo}..{hi}"


def check_index(e: Expr, scope: VerifiedScope, head: str) -> None:
    """Fail unless it is int64, and all that it reads is right."""
    if e.dtype != INT64:
        scope.fail(head, f"the index {expr_text(e)} is {e.dtype}, not int64")
    check_value(e, scope, head)


def check_condition(e: Expr, scope: VerifiedScope, head: str) -> None:
    """Fail unless it is bool, and all that it reads is right."""
    if e.dtype != BOOL:
        scope.fail(head, f"the condition {expr_text(e)} is {e.dtype}, not bool")
    check_value(e, scope, head)


def check_value(e: Expr, scope: VerifiedScope, head: str) -> None:
    """Check an expression; a branch of a select sees its condition."""
    match e:
        case Var(name) if name not in scope.loops and not scope.symbolic:
            scope.fail(head, f"{name} is not a loop around it")
        case Read(tensor, indices):
            check_access(tensor, indices, scope, head)
            return
        case Reduce():
            scope.fail(head, "a nest has loops and updates, not reductions in a value")
        case Select(cond, a, b):
            check_condition(cond, scope, head)
            _same_dtype((a, b), scope, head)
            check_value(a, replace(scope, facts=scope.facts.assume(cond)), head)
            check_value(b, replace(scope, facts=scope.facts.assume(cond, holds=False)), head)
            return
        case Binary(_, a, b):
            _same_dtype((a, b), scope, head)
        case Call(_, args):
            _same_dtype(args, scope, head)
    for c in children(e):
        check_value(c, scope, head)


def _same_dtype(operands: tuple[Expr, ...], scope: VerifiedScope, head: str) -> None:
    if len({o.dtype for o in operands}) > 1:
        texts = ", ".join(f"{expr_text(o)}: {o.dtype}" for o in operands)
        scope.fail(head, f"operands of one operation have different dtypes: {texts}")


class _WrittenScope(VerifiedScope):
    """Where a user's expression stands: what is wrong there is no bug of ours."""

    __slots__ = ()

    def fail(self, node: str, problem: str) -> NoReturn:
        raise ExprError(f"{self.program}: {problem}")


def check_written(dag: ComputeDAG) -> None:
    """Raise ExprError where a computation may read outside of a tensor."""
    for stage in dag.stages:
        compute = compute_of(stage)
        body = compute.body.body if isinstance(compute.body, Reduce) else compute.body
        axes = {a.name: a.extent for a in (*compute.axes, *compute.reduce_axes)}
        ranges = {n: Interval(0, e - 1) for n, e in axes.items() if isinstance(e, int)}
        storage = {r.tensor.name: Storage(r.tensor, writable=False) for r in reads(body)}
        scope = _WrittenScope(stage.name, False, storage, tuple(axes), Facts.of(ranges))
        check_value(body, scope, stage.name)
