"""Integer polynomials over atoms: the normal form behind `simplify`.

    i0*T1*T2 + i1*T2 - 3   is   {(T1, T2, i0): 1, (T2, i1): 1, (): -3}

A `Poly` maps monomials to non-zero integer coefficients. A monomial is a sorted tuple of atom
numbers (repeated for powers; the empty one is 1). An *atom* is whatever addition and
multiplication do not look into: a variable, a floor division, a minimum, a read. `Atoms` numbers
them so that equal atoms share a number, and remembers each one's expression, bounds and sort key.
Terms are written out in the order of those keys, so equal polynomials give equal expressions.

Values are int64, which wraps around. Sums and products may be rewritten all the same; what divides,
compares or bounds a polynomial takes it for the number that it is only where it is `exact`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import gcd
from typing import TypeAlias

from tilewright.expr.dtypes import INT64
from tilewright.expr.index.intervals import (
    FAR,
    Interval,
    add,
    cast,
    multiply,
    of_dtype,
    point,
    scale,
)
from tilewright.expr.nodes import Binary, Call, Cast, Const, Expr, Read, Reduce, Select, Var
from tilewright.expr.traversal import PerNode, children, free_vars

Monomial: TypeAlias = tuple[int, ...]
Poly: TypeAlias = dict[Monomial, int]
ONE: Monomial = ()
LONGEST_KEY = 1 << 12
"""Characters of a text that orders expressions."""


def constant(value: int) -> Poly:
    """The polynomial of a number."""
    return {ONE: value} if value else {}


def as_constant(p: Poly) -> int | None:
    """The number `p` is, or None."""
    if not p:
        return 0
    return p[ONE] if len(p) == 1 and ONE in p else None


def plus(a: Poly, b: Poly, factor: int = 1) -> Poly:
    """`a + b * factor`."""
    out = dict(a)
    for mono, k in b.items():
        total = out.get(mono, 0) + k * factor
        if total:
            out[mono] = total
        else:
            out.pop(mono, None)
    return out


def times(a: Poly, b: Poly) -> Poly:
    """`a * b`, multiplied out."""
    out: Poly = {}
    for m, j in a.items():
        for n, k in b.items():
            mono = tuple(sorted(m + n)) if m and n else m or n
            total = out.get(mono, 0) + j * k
            if total:
                out[mono] = total
            else:
                out.pop(mono, None)
    return out


def content(p: Poly) -> int:
    """The greatest common divisor of all coefficients but the constant's."""
    return gcd(*(k for mono, k in p.items() if mono))


def without(mono: Monomial, part: Monomial) -> Monomial | None:
    """`mono / part`, or None where it does not divide."""
    rest = list(mono)
    for a in part:
        if a not in rest:
            return None
        rest.remove(a)
    return tuple(rest)


def freeze(p: Poly) -> Hashable:
    """A dictionary key for `p`."""
    return frozenset(p.items())


@dataclass(frozen=True, slots=True)
class Atom:
    """What is known of one atom. `op` and `args` are kept where rules look inside."""

    expr: Expr
    key: str
    bounds: Interval
    names: frozenset[str]
    op: str = ""
    args: tuple[Poly, ...] = ()
    data: bool = False


class Atoms:
    """The numbered atoms of one simplification; `env` bounds the variables. `may_wrap` says that
    data, or a number that no index has, were met.
    """

    def __init__(self, env: Mapping[str, Interval]) -> None:
        self.env = env
        self.may_wrap = False
        self.key = sort_keys()
        self.table: list[Atom] = []
        self._number: dict[Hashable, int] = {}
        self._exprs: dict[Hashable, Expr] = {}

    def number(self, identity: Hashable, make: Callable[[], Atom]) -> int:
        """The number of the atom with this identity; `make` describes it when it is new."""
        found = self._number.get(identity)
        if found is None:
            self.table.append(make())
            found = self._number[identity] = len(self.table) - 1
        return found

    def variable(self, v: Var) -> Poly:
        """The polynomial of one int64 variable."""
        found = self._number.get(v.name)
        if found is None:
            bounds = self.env.get(v.name, Interval(None, None))
            if bounds.value is not None:
                return constant(bounds.value)
            found = self.number(v.name, lambda: Atom(v, v.name, bounds, frozenset((v.name,))))
        return {(found,): 1}

    def operation(self, op: str, args: tuple[Poly, ...], bounds: Interval) -> Poly:
        """The atom `op(args)` of int64 operands, as a polynomial (a number where bounds say so)."""
        bounds = cast(bounds, INT64)
        if bounds.value is not None:
            return constant(bounds.value)

        def make() -> Atom:
            exprs = [self.expr(p) for p in args]
            out = exprs[0]
            for e in exprs[1:]:
                out = Binary(op, out, e)
            key = short(f"~{op}({','.join(self.text(p) for p in args)})")
            return Atom(out, key, bounds, self.names(*args), op, args, self.hold_data(*args))

        return {(self.number((op, *map(freeze, args)), make),): 1}

    def exact(self, p: Poly) -> bool:
        """Whether `p` and all with parts of its terms surely are the numbers that they would be
        without end: indices always, data where the bounds of all terms together fit.
        """
        if not self.may_wrap or (len(p) == 1 and all(len(m) == 1 and k == 1 for m, k in p.items())):
            return True
        total = 0
        for mono, k in p.items():
            greatest = self._greatest(mono)
            if greatest is not None:
                total += abs(k) * greatest
            elif abs(k) > FAR:
                return False
        return total < 1 << 63

    def whole(self, p: Poly) -> Poly:
        """`p`, as an atom where it is not `exact`."""
        if self.exact(p):
            return p
        e = self.expr(p)
        return {(self.number(e, lambda: self.opaque(e, of_dtype(INT64), data=True)),): 1}

    def opaque(self, e: Expr, bounds: Interval, data: bool) -> Atom:
        """What is known of an expression that no rule looks into."""
        self.may_wrap |= data
        return Atom(e, f"~{self.key(e)}", bounds, frozenset(free_vars(e)), "opaque", data=data)

    def _greatest(self, mono: Monomial) -> int | None:
        """The greatest magnitude of a product of atoms; None of indices that are not bounded."""
        found, unknown = 1, False
        for a in mono:
            b = self.table[a].bounds
            if b.lo is None or b.hi is None:
                found, unknown = found * FAR, True
            else:
                found *= max(abs(b.lo), abs(b.hi))
        return None if unknown and not any(self.table[a].data for a in mono) else found

    def hold_data(self, *polys: Poly) -> bool:
        """Whether more than indices occurs in the polynomials."""
        return any(self.table[a].data for p in polys for mono in p for a in mono)

    def names(self, *polys: Poly) -> frozenset[str]:
        """The variables that occur in the polynomials."""
        found: set[str] = set()
        for p in polys:
            for mono in p:
                for a in mono:
                    found |= self.table[a].names
        return frozenset(found)

    def value_bounds(self, p: Poly) -> Interval:
        """Bounds of what `p` is in int64."""
        return self.bounds(p) if self.exact(p) else of_dtype(INT64)

    def bounds(self, p: Poly) -> Interval:
        """Bounds of a polynomial as a number without end: the sum of its terms' bounds."""
        total = point(p.get(ONE, 0))
        for mono, k in p.items():
            if mono:
                term = self.table[mono[0]].bounds
                for a in mono[1:]:
                    term = multiply(term, self.table[a].bounds)
                total = add(total, scale(term, k))
                if total.lo is None and total.hi is None:
                    break
        return total

    def ordered(self, p: Poly) -> list[tuple[list[str], Monomial, int]]:
        """The terms of `p` in the order they are written, the constant last."""
        table = self.table
        terms = [(sorted(table[a].key for a in mono), mono, k) for mono, k in p.items() if mono]
        terms.sort(key=lambda t: t[0])
        if ONE in p:
            terms.append(([], ONE, p[ONE]))
        return terms

    def text(self, p: Poly) -> str:
        """A sort key for `p`, independent of the atoms' numbers."""
        return "+".join(f"{k}{'*'.join(keys)}" for keys, _, k in self.ordered(p))

    def expr(self, p: Poly) -> Expr:
        """`p` as an expression: positive terms first, then subtractions."""
        key = freeze(p)
        hit = self._exprs.get(key)
        if hit is None:
            hit = self._exprs[key] = self._write(p)
        return hit

    def _write(self, p: Poly) -> Expr:
        if self.may_wrap:
            p = {mono: j for mono, k in p.items() if (j := INT64.wrapped(k))}
        terms = [(mono, k) for _, mono, k in self.ordered(p)]
        if not terms:
            return Const(0, INT64)
        first = next((i for i, (_, k) in enumerate(terms) if k > 0), 0)
        out = self._term(*terms[first])
        rest = terms[:first] + terms[first + 1 :]
        for mono, k in sorted(rest, key=lambda t: (t[0] == ONE, t[1] < 0)):
            negative = k < 0 and -k == INT64.wrapped(-k)
            out = Binary("sub" if negative else "add", out, self._term(mono, -k if negative else k))
        return out

    def _term(self, mono: Monomial, k: int) -> Expr:
        if not mono:
            return Const(k, INT64)
        atoms = sorted((self.table[a] for a in mono), key=lambda a: a.key)
        out = atoms[0].expr
        for a in atoms[1:]:
            out = Binary("mul", out, a.expr)
        return out if k == 1 else Binary("mul", out, Const(k, INT64))


def sort_keys() -> Callable[[Expr], str]:
    """Texts that order expressions, by expression; equal ones have equal texts. What is part of
    many others is looked at once.
    """

    def key(e: Expr, ask: Callable[[Expr], str]) -> str:
        match e:
            case Const(value, _):
                return str(value)
            case Var(name, _):
                return name
            case Read(tensor, _):
                head, tail = f"{tensor.name}[", "]"
            case Binary(op, _, _):
                head, tail = f"{op}(", ")"
            case Call(fn, _):
                head, tail = f"{fn}(", ")"
            case Cast(to, _):
                head, tail = f"{to}(", ")"
            case Select():
                head, tail = "select(", ")"
            case Reduce(op, axes, _):
                head, tail = f"{op}({','.join(a.name for a in axes)};", ")"
        return short(f"{head}{','.join(map(ask, children(e)))}{tail}")

    return PerNode(key)


def sort_key(e: Expr) -> str:
    """The text of one expression that orders it among others."""
    return sort_keys()(e)


def short(key: str) -> str:
    """A text that stands for a long one: those of graphs would grow with every level."""
    if len(key) <= LONGEST_KEY:
        return key
    return key[: LONGEST_KEY // 2] + sha256(key.encode()).hexdigest()
