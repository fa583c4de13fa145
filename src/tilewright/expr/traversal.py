"""Walking over expressions as the graphs that they are: each part is visited once.

walk(e), reads(e), free_vars(e)           all parts, reads, names of variables
transform(e, leaf), substitute(e, {...})  the expression made anew, equal parts shared
PerNode(make)                             a function of nodes that is computed once for each
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import is_
from typing import Any, Generic, TypeVar

from tilewright.expr.dtypes import BOOL
from tilewright.expr.nodes import (
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Read,
    Reduce,
    Select,
    Tensor,
    Var,
    binary,
    call,
    cast,
)

T = TypeVar("T")


def children(e: Expr) -> tuple[Expr, ...]:
    """Direct operands of a node, in order."""
    match e:
        case Const() | Var():
            return ()
        case Read(_, indices):
            return indices
        case Binary(_, a, b):
            return (a, b)
        case Call(_, args):
            return args
        case Cast(_, x):
            return (x,)
        case Select(c, a, b):
            return (c, a, b)
        case Reduce(_, _, body):
            return (body,)


def rebuild(e: Expr, parts: tuple[Expr, ...]) -> Expr:
    """The node `e` with its operands replaced by `parts` (smart constructors fold)."""
    match e:
        case Binary(op, _, _):
            return binary(op, *parts)
        case Call(fn, _):
            return call(fn, *parts)
        case Cast(to, _):
            return cast(to, parts[0])
    return relinked(e, parts)


def relinked(e: Expr, parts: tuple[Expr, ...]) -> Expr:
    """The very node `e` with `parts` for its operands; nothing is folded."""
    match e:
        case Const() | Var():
            return e
        case Read(tensor, _):
            return Read(tensor, parts)
        case Binary(op, _, _):
            return Binary(op, *parts)
        case Call(fn, _):
            return Call(fn, parts)
        case Cast(to, _):
            return Cast(to, *parts)
        case Select():
            return Select(*parts)
        case Reduce(op, axes, _):
            return Reduce(op, axes, *parts)


class PerNode(Generic[T]):
    """A function of nodes that looks at each once, however often it stands in expressions: `of(e,
    ask)` may ask for operands. What it gave is remembered, which keeps the nodes alive, too.

        count = PerNode(lambda e, ask: 1 + sum(map(ask, children(e))))
    """

    __slots__ = ("_known", "_of")

    def __init__(self, of: Callable[[Expr, Callable[[Expr], T]], T]) -> None:
        self._of = of
        self._known: dict[int, tuple[Expr, T]] = {}

    def __call__(self, e: Expr) -> T:
        hit = self._known.get(id(e))
        if hit is None:
            hit = self._known[id(e)] = e, self._of(e, self)
        return hit[1]


def _same(old: tuple[Expr, ...], new: tuple[Expr, ...]) -> bool:
    return all(map(is_, old, new))


def shared(e: Expr) -> Expr:
    """`e` with equal parts as one object each, so that who visits every object once visits every
    different part once.
    """
    made: dict[Any, Expr] = {}

    def one(x: Expr, ask: Callable[[Expr], Expr]) -> Expr:
        old = children(x)
        new = tuple(map(ask, old))
        key = (type(x), _label(x), *map(id, new))
        if key not in made:
            made[key] = x if _same(old, new) else relinked(x, new)
        return made[key]

    return PerNode(one)(e)


def _label(e: Expr) -> Any:
    """What tells a node from others of its type with the same operands. Tensors of one name and
    shape may be computed in different ways.
    """
    match e:
        case Const() | Var():
            return e
        case Read(tensor, _):
            return id(tensor)
        case Binary(op, _, _) | Call(op, _):
            return op
        case Cast(to, _):
            return to
        case Select():
            return None
        case Reduce(op, axes, _):
            return op, axes


def rewriting(leaf: Callable[[Expr, Callable[[Expr], Expr]], Expr | None]) -> PerNode[Expr]:
    """Rewrites expressions bottom-up; where `leaf(node, rewrite)` returns an expression, that
    replaces the node, which is not visited otherwise.
    """

    def rewritten(e: Expr, ask: Callable[[Expr], Expr]) -> Expr:
        found = leaf(e, ask)
        if found is not None:
            return found
        old = children(e)
        new = tuple(map(ask, old))
        return e if _same(old, new) else rebuild(e, new)

    return PerNode(rewritten)


def transform(e: Expr, leaf: Callable[[Expr], Expr | None]) -> Expr:
    """Rewrite bottom-up; where `leaf` returns an expression, that replaces the node unvisited."""
    return rewriting(lambda x, _: leaf(x))(e)


def with_reads(e: Expr, access: Callable[[Tensor, tuple[Expr, ...]], Expr]) -> Expr:
    """Every read replaced by what `access` makes of its tensor and of its indices, in which reads
    are replaced already.
    """

    def leaf(x: Expr, rewrite: Callable[[Expr], Expr]) -> Expr | None:
        if not isinstance(x, Read):
            return None
        found = access(x.tensor, tuple(map(rewrite, x.indices)))
        if isinstance(found, Read) and found.tensor is x.tensor:
            return x if _same(found.indices, x.indices) else found
        return found

    return rewriting(leaf)(e)


def substitute(e: Expr, values: dict[str, Expr]) -> Expr:
    """Replace variables by name."""
    if not values:
        return e
    return transform(e, lambda x: values.get(x.name) if isinstance(x, Var) else None)


def walk(e: Expr, below: Callable[[Expr], tuple[Expr, ...]] = children) -> Iterator[Expr]:
    """All nodes, parents first; one that stands in several places once. `below` says which operands
    of a node are visited.
    """
    seen: set[int] = set()
    stack = [e]
    while stack:
        x = stack.pop()
        if id(x) not in seen:
            seen.add(id(x))
            yield x
            stack.extend(reversed(below(x)))


def conjuncts(condition: Expr, in_order: bool = False) -> Iterator[Expr]:
    """The conditions that all have to hold; with `in_order`, also those that are asked only where
    the ones before them hold.
    """

    def parts(x: Expr) -> tuple[Expr, ...]:
        match x:
            case Binary("and", a, b):
                return a, b
            case Select(a, b, Const(value=False)) if in_order:
                return a, b
        return ()

    for x in walk(condition, parts):
        if not (parts(x) or (isinstance(x, Const) and x.value)):
            yield x


def reads(e: Expr) -> list[Read]:
    """All tensor reads in `e`, in order; one that stands in several places once."""
    try:
        found: tuple[Read, ...] = e._reads
    except AttributeError:
        found = tuple(x for x in walk(e) if isinstance(x, Read))
        object.__setattr__(e, "_reads", found)
    return list(found)


def free_vars(e: Expr) -> set[str]:
    """Names of the variables in `e`."""
    return set(_free_vars(e))


@lru_cache(maxsize=1 << 14)  # the parts of a program, which are asked again and again
def _free_vars(e: Expr) -> frozenset[str]:
    return frozenset(x.name for x in walk(e) if isinstance(x, Var))


@lru_cache(maxsize=1 << 14)
def holds_data(e: Expr) -> bool:
    """Whether an int64 expression depends on more than indices: on elements of tensors, or on what
    a cast makes of a number.
    """
    return any(isinstance(x, Read) or (isinstance(x, Cast) and x.x.dtype != BOOL) for x in walk(e))
