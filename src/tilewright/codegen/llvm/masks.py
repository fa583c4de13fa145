"""Masks of the lanes that a size leaves of a vector.

    f.0*64 + 48 + LANE < N      mask_form: N - 1 - 48 - 64*f.0 - LANE >= 0
                                lanes_where: 0, 1, … 15 <= N - 49 - 64*f.0

A mask is one comparison of small numbers, written where its operands exist, outside of the loops
that it does not change in; it waits in a mask register.
"""

from __future__ import annotations

from tilewright.codegen.llvm.addresses import splat
from tilewright.codegen.llvm.indices import LANE
from tilewright.codegen.llvm.types import SsaValue
from tilewright.codegen.llvm.values import Evaluator
from tilewright.expr.dtypes import BOOL, INT32
from tilewright.expr.index.affine import Affine
from tilewright.expr.nodes import Expr
from tilewright.expr.traversal import reads


def mask_form(ev: Evaluator, cond: Expr) -> Affine | None:
    """A condition on a size that switches off all lanes but the first, as what is at least 0 in
    those; None for others, and where it may change inside of a region that a scan looks at.
    """
    if ev.ix.facts is None or ev.lanes is None or reads(cond):
        return None
    form = ev.forms.condition(cond)
    here = None if form is None else ev.ix.resolve(form)
    return here if here is not None and here.coefficient(LANE) == -1 else None


def lanes_where(ev: Evaluator, form: Affine, count: int) -> SsaValue:
    """The mask of `count` lanes in which a form, by which one lane is 1 less than the one before,
    is at least 0.
    """
    b, ix = ev.b, ev.ix
    limit = ix.extreme("max", form.without(LANE), Affine(-1))
    limit = None if limit is None else ix.extreme("min", limit, Affine(count - 1))
    assert limit is not None  # no lane is left in it
    last = ix.operand(limit)
    key = ("mask", last, count)
    found: str | None = b.recall(key)
    if found is None:
        small = b.pure(f"trunc i64 {last} to i32", last)
        all_lanes = splat(b, SsaValue(small, INT32, 1), count)
        numbers = ", ".join(f"i32 {i}" for i in range(count))
        depth = max(b.depth_of(all_lanes), b.floor)
        text = f"icmp sle <{count} x i32> <{numbers}>, {all_lanes}"
        found = b.place(text, depth)
        b.remember(key, found, depth)
    return SsaValue(found, BOOL, count)
