"""Which reads of a value need a guard.

    select(i > 0, x[i - 1], 0) * y[i]      x[i - 1] is exposed: where the condition fails, it has no
                                           element; y[i], made whatever is chosen, is certain

A part of a value that stands in several branches is written once where none of them guards it: all
that it reads has elements, or is read outside of the branches, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from tilewright.codegen.llvm.types import SsaValue
from tilewright.expr.dtypes import BOOL, INT64
from tilewright.expr.nodes import Const, Expr, Read, Select, Var
from tilewright.expr.traversal import PerNode, children, holds_data

Reads: TypeAlias = frozenset[int]
"""Reads by the ids of their nodes."""


def recurs(e: Expr) -> bool:
    """Whether an operation stands in several places of a value, or makes an index of data. What
    indices alone decide is no part of it.
    """
    seen: set[int] = set()
    stack = [e]
    while stack:
        x = stack.pop()
        if isinstance(x, Const | Var) or (x.dtype in (INT64, BOOL) and not holds_data(x)):
            continue
        if x.dtype == INT64 or (id(x) in seen and not isinstance(x, Read)):
            return True
        if id(x) not in seen:
            seen.add(id(x))
            stack.extend(children(x))
    return False


class GuardLevel(NamedTuple):
    """A guard (None: everything holds), and the exposed reads that are made under it."""

    guard: SsaValue | None
    certain: Reads


class Exposure:
    """Of the parts of one statement's value. `exists` says whether the element that a read names
    exists whatever a guard says.

        exposed(e)      reads in `e` of which that is not known
        certain(e)      those of them that are made whatever its selects choose
    """

    def __init__(self, exists: Callable[[Read], bool]) -> None:
        self._exists = exists
        self.exposed = PerNode(self._exposed)
        self.certain = PerNode(self._certain)

    def _exposed(self, e: Expr, ask: Callable[[Expr], Reads]) -> Reads:
        return self._own(e).union(*map(ask, children(e)))

    def _certain(self, e: Expr, ask: Callable[[Expr], Reads]) -> Reads:
        match e:
            case Select(cond, a, b):
                return ask(cond) | (ask(a) & ask(b))
        return self._own(e).union(*map(ask, children(e)))

    def _own(self, e: Expr) -> Reads:
        return frozenset((id(e),) if isinstance(e, Read) and not self._exists(e) else ())
