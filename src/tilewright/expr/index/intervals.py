"""Bounds of index expressions: integer intervals and their arithmetic.

    i in [0, 7], j in [0, 3]   interval(i * 4 + j) = [0, 31]   interval(i // 4) = [0, 1]

`Interval(lo, hi)` is closed; None means unbounded on that side. A bool is 0 or 1. Bounds are
always sound (every value lies inside) and exact for monotone expressions in which each variable
occurs once; correlations between operands are not seen (`simplify` removes most of them first).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tilewright.expr.dtypes import BOOL, INT64, DType
from tilewright.expr.nodes import (
    ARITHMETIC,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Read,
    Reduce,
    Select,
    Var,
)
from tilewright.expr.traversal import PerNode, free_vars, holds_data, walk


@dataclass(frozen=True, slots=True)
class Interval:
    """The integers `lo <= x <= hi`; None is unbounded."""

    lo: int | None
    hi: int | None

    @property
    def value(self) -> int | None:
        """The only member, or None where there are several."""
        return self.lo if self.lo == self.hi else None

    def within(self, lo: int, hi: int) -> bool:
        """Whether every member lies in `lo <= x <= hi`."""
        return self.lo is not None and self.hi is not None and lo <= self.lo and self.hi <= hi

    def union(self, other: Interval) -> Interval:
        """The smallest interval that holds both."""
        lo = None if self.lo is None or other.lo is None else min(self.lo, other.lo)
        hi = None if self.hi is None or other.hi is None else max(self.hi, other.hi)
        return Interval(lo, hi)


UNBOUNDED = Interval(None, None)
FAR = 1 << 48
"""No index, size or stride is greater: memory has fewer elements."""
TRUTH = Interval(0, 1)
NATURAL = Interval(0, None)
NO_BOUNDS: Mapping[str, Interval] = {}
AT_LEAST_ZERO = {"lt": (-1, -1), "le": (-1, 0), "gt": (1, -1), "ge": (1, 0)}
"""`a op b` of integers is `factor * (a - b) + shift >= 0`."""
NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
"""Of integers; order comparisons of floats have no negation (NaN)."""


def point(value: int) -> Interval:
    """The interval that holds `value` alone."""
    return Interval(value, value)


LARGEST_INDEX = 1 << 31
"""What a variable is at most where nothing is known of it and data are."""


def intersection(a: Interval, b: Interval) -> Interval:
    """The integers in both; empty where `lo > hi`."""
    lo = b.lo if a.lo is None else a.lo if b.lo is None else max(a.lo, b.lo)
    hi = b.hi if a.hi is None else a.hi if b.hi is None else min(a.hi, b.hi)
    return Interval(lo, hi)


def is_empty(a: Interval) -> bool:
    """Whether no integer lies in `a`."""
    return a.lo is not None and a.hi is not None and a.lo > a.hi


def is_far(a: Interval) -> bool:
    """Whether a bound is none that an index could have."""
    return (a.lo is not None and a.lo < -FAR) or (a.hi is not None and a.hi > FAR)


def add(a: Interval, b: Interval) -> Interval:
    """Bounds of a sum."""
    return Interval(
        None if a.lo is None or b.lo is None else a.lo + b.lo,
        None if a.hi is None or b.hi is None else a.hi + b.hi,
    )


def negate(a: Interval) -> Interval:
    """Bounds of `-a`."""
    return Interval(None if a.hi is None else -a.hi, None if a.lo is None else -a.lo)


def scale(a: Interval, factor: int) -> Interval:
    """Bounds of `a * factor`."""
    if factor == 0:
        return point(0)
    lo = None if a.lo is None else a.lo * factor
    hi = None if a.hi is None else a.hi * factor
    return Interval(lo, hi) if factor > 0 else Interval(hi, lo)


def multiply(a: Interval, b: Interval) -> Interval:
    """Bounds of a product."""
    if a.value is not None:
        return scale(b, a.value)
    if b.value is not None:
        return scale(a, b.value)
    if a.lo is not None and b.lo is not None and a.lo >= 0 and b.lo >= 0:
        hi = None if a.hi is None or b.hi is None else a.hi * b.hi
        return Interval(a.lo * b.lo, hi)
    if a.lo is None or a.hi is None or b.lo is None or b.hi is None:
        return _unbounded_product(a, b)
    corners = (a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi)
    return Interval(min(corners), max(corners))


def _unbounded_product(a: Interval, b: Interval) -> Interval:
    """Only the sign can be known: `[0, ..]` where the signs agree, `[.., 0]` where they differ."""
    signs = [_sign(a), _sign(b)]
    if 0 in signs:
        return UNBOUNDED
    return Interval(0, None) if signs[0] == signs[1] else Interval(None, 0)


def _sign(a: Interval) -> int:
    if a.lo is not None and a.lo >= 0:
        return 1
    return -1 if a.hi is not None and a.hi <= 0 else 0


def _is_positive(a: Interval) -> bool:
    """Whether there are members, and all are above zero."""
    return a.lo is not None and a.lo > 0 and (a.hi is None or a.hi >= a.lo)


def floordiv(a: Interval, b: Interval) -> Interval:
    """Bounds of `a // b`; unbounded where `b` may be zero."""
    if not _is_positive(b):
        return floordiv(negate(a), negate(b)) if _is_positive(negate(b)) else UNBOUNDED
    assert b.lo is not None
    lo, hi = a.lo, a.hi
    if lo is not None:
        lo = lo // b.lo if lo < 0 else (0 if b.hi is None else lo // b.hi)
    if hi is not None:
        hi = hi // b.lo if hi >= 0 else (-1 if b.hi is None else hi // b.hi)
    return Interval(lo, hi)


def modulo(a: Interval, b: Interval) -> Interval:
    """Bounds of `a % b` (the sign of `b`); unbounded where `b` may be zero."""
    if not _is_positive(b):
        minus = negate(b)
        return negate(modulo(negate(a), minus)) if _is_positive(minus) else UNBOUNDED
    assert b.lo is not None
    top = None if b.hi is None else b.hi - 1
    if a.lo is None or a.hi is None:
        return Interval(0, top)
    if a.lo >= 0:
        if a.hi < b.lo:
            return a
        top = a.hi if top is None else min(top, a.hi)
    if b.value is not None and a.lo // b.value == a.hi // b.value:
        return Interval(a.lo % b.value, a.hi % b.value)
    return Interval(0, top)


def multiples(a: Interval, c: int) -> Interval:
    """The integers v with `c * v` in `a`."""
    if c < 0:
        return multiples(negate(a), -c)
    return Interval(None if a.lo is None else -(-a.lo // c), None if a.hi is None else a.hi // c)


def minimum(a: Interval, b: Interval) -> Interval:
    """Bounds of `min(a, b)`."""
    lo = None if a.lo is None or b.lo is None else min(a.lo, b.lo)
    hi = b.hi if a.hi is None else a.hi if b.hi is None else min(a.hi, b.hi)
    return Interval(lo, hi)


def maximum(a: Interval, b: Interval) -> Interval:
    """Bounds of `max(a, b)`."""
    return negate(minimum(negate(a), negate(b)))


def magnitude(a: Interval) -> Interval:
    """Bounds of `abs(a)`."""
    hi = None if a.lo is None or a.hi is None else max(a.hi, -a.lo)
    return Interval(max(0, a.lo or 0, -(a.hi or 0)), hi)


def compare(op: str, difference: Interval) -> Interval:
    """Truth of `a op b` from the bounds of `a - b`: [1, 1], [0, 0] or [0, 1]."""
    if op in AT_LEAST_ZERO:
        factor, shift = AT_LEAST_ZERO[op]
        form = add(scale(difference, factor), point(shift))
        yes, no = form.lo is not None and form.lo >= 0, form.hi is not None and form.hi < 0
    else:
        lo, hi = difference.lo, difference.hi
        yes, no = lo == hi == 0, (lo is not None and lo > 0) or (hi is not None and hi < 0)
        if op == "ne":
            yes, no = no, yes
    return point(1) if yes else point(0) if no else TRUTH


def of_dtype(kind: DType) -> Interval:
    """All values of a dtype; floats count as unbounded."""
    if kind == BOOL:
        return TRUTH
    if kind.is_float:
        return UNBOUNDED
    if kind.kind == "uint":
        return Interval(0, (1 << kind.bits) - 1)
    return Interval(-(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1)


ARITHMETIC_BOUNDS = {
    "add": add,
    "sub": lambda a, b: add(a, negate(b)),
    "mul": multiply,
    "floordiv": floordiv,
    "mod": modulo,
    "min": minimum,
    "max": maximum,
}


def interval(e: Expr, env: Mapping[str, Interval] = NO_BOUNDS) -> Interval:
    """Bounds of an int64 or bool expression, given those of its variables.

    Variables that `env` lacks are unbounded: sizes and indices, which never wrap. Other integers
    keep their dtype's range, and have all of it where they may wrap; floats are unbounded.
    """
    return intervals(env)(e)


def intervals(env: Mapping[str, Interval]) -> Callable[[Expr], Interval]:
    """`interval` for many expressions, which share parts."""

    return PerNode(lambda e, of: of_node(e, of, env))


def of_node(
    e: Expr, of: Callable[[Expr], Interval], env: Mapping[str, Interval] = NO_BOUNDS
) -> Interval:
    """Bounds of a node, given those of its operands."""
    match e:
        case Const(value, dtype):
            return UNBOUNDED if dtype.is_float else point(int(value))
        case Var(name, dtype):
            return env.get(name, UNBOUNDED if dtype == INT64 else of_dtype(dtype))
        case Read() | Reduce():
            return of_dtype(e.dtype)
        case Select(cond, a, b):
            known = of(cond).value
            if known is not None:
                return of(a if known else b)
            return of(a).union(of(b))
        case Cast(to, x):
            return of_dtype(to) if x.dtype.is_float else cast(of(x), to)
        case Binary(op, a, b) if a.dtype.is_float:
            return UNBOUNDED if op in ARITHMETIC else TRUTH
        case Binary(op, a, b):
            return _binary(op, of(a), of(b), a.dtype)
        case Call(fn, args):
            return _call(fn, of(args[0]), e.dtype)


def cast(a: Interval, to: DType) -> Interval:
    """Bounds of `a` converted to dtype `to`: kept where they fit, else the dtype's own. What is
    unbounded is an index, and stays one in int64.
    """
    if to == BOOL:
        return compare("ne", a)
    limits = of_dtype(to)
    if limits.lo is None or limits.hi is None:
        return UNBOUNDED
    unbounded = a.lo is None or a.hi is None
    return a if (unbounded and to == INT64) or a.within(limits.lo, limits.hi) else limits


def _binary(op: str, x: Interval, y: Interval, kind: DType) -> Interval:
    if op == "and":
        return minimum(x, y)
    if op == "or":
        return maximum(x, y)
    rule = ARITHMETIC_BOUNDS.get(op)
    if rule is None:
        return compare(op, add(x, negate(y)))
    found = cast(rule(x, y), kind)
    wraps = op in ("add", "sub", "mul") and (found.lo is None or found.hi is None)
    return UNBOUNDED if wraps and (is_far(x) or is_far(y)) else found


def _call(fn: str, x: Interval, kind: DType) -> Interval:
    if kind == BOOL:
        if fn != "not":
            return TRUTH
        return TRUTH if x.value is None else point(1 - x.value)
    if kind.is_float:
        return UNBOUNDED
    if fn == "neg":
        return cast(negate(x), kind)
    if fn == "abs":
        return cast(magnitude(x), kind)
    return of_dtype(kind)


@lru_cache(maxsize=1 << 14)
def may_wrap(e: Expr, linear: bool = False) -> bool:
    """Whether int64 arithmetic in `e` may leave int64, or only that of its `linear` part. Indices
    alone never do.
    """
    if not holds_data(e) and not any(
        isinstance(x, Const) and x.dtype == INT64 and abs(x.value) > FAR for x in walk(e)
    ):
        return False
    of = intervals({name: Interval(-LARGEST_INDEX, LARGEST_INDEX) for name in free_vars(e)})
    limits = of_dtype(INT64)
    for x in _sums(e) if linear else walk(e):
        if isinstance(x, Binary) and x.dtype == INT64 and x.op in ("add", "sub", "mul"):
            found = ARITHMETIC_BOUNDS[x.op](of(x.a), of(x.b))
            if found.lo is None or found.hi is None or cast(found, INT64) == limits:
                return True
    return False


def _sums(e: Expr) -> Iterator[Expr]:
    """The sums and products that the affine form of `e` is made of."""
    match e:
        case Binary("add" | "sub" | "mul", a, b):
            yield e
            yield from _sums(a)
            yield from _sums(b)
        case Call("neg", (x,)):
            yield from _sums(x)
