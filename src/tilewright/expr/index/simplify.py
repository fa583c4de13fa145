"""Simplifier: an expression and bounds of its variables -> an equal, canonical expression.

    i in [0, 3], j in [0, 7]   (i*8 + j) // 8  ->  i        i*8 + j < 32  ->  True
                               select(j < 9, A[0 + j*1], 0.0)  ->  A[j]

int64 arithmetic becomes a polynomial over atoms (`polynomials`), so that equal index expressions
become structurally equal; floor divisions, remainders, minima and comparisons are decided by
bounds where they can be (`division`). Indices never wrap around; data, what tensors and casts
give, may: a sum of data that does not surely fit int64 is one atom to a division or comparison.
Floating-point arithmetic is never reassociated: constants are folded only where the result is
exact, and only `x * 1.0`, `x / 1.0` and `-(-x)` are dropped. Divisors are taken to be non-zero.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from tilewright.expr.dtypes import BOOL, INT64
from tilewright.expr.folding import fold
from tilewright.expr.index.affine import Affine
from tilewright.expr.index.division import Division
from tilewright.expr.index.intervals import (
    AT_LEAST_ZERO,
    NEGATED,
    NO_BOUNDS,
    Interval,
    compare,
    interval,
    of_node,
)
from tilewright.expr.index.polynomials import (
    ONE,
    Atoms,
    Poly,
    as_constant,
    constant,
    content,
    plus,
    times,
)
from tilewright.expr.nodes import (
    COMPARISONS,
    LOGICAL,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Extent,
    Read,
    Reduce,
    Select,
    Var,
    as_expr,
)
from tilewright.expr.traversal import holds_data

TRUE = Const(True, BOOL)
FALSE = Const(False, BOOL)
LARGEST_LITERAL = 1 << 31
"""A greater number belongs to data, not to an index."""
LARGEST_PRODUCT = 64
"""Terms a product of sums may be multiplied out to; beyond it each sum is one atom."""


def simplify(e: Expr, env: Mapping[str, Interval] = NO_BOUNDS) -> Expr:
    """The canonical form of `e`; `env` bounds variables by name (others are unbounded)."""
    return Simplifier(env).simplify(e) if env or holds_data(e) else _simplified(e)


@lru_cache(maxsize=1 << 14)  # extents and places, of which a task's sketches have most in common
def _simplified(e: Expr) -> Expr:
    return Simplifier().simplify(e)


def affine(
    e: Expr, over: Collection[str], env: Mapping[str, Interval] = NO_BOUNDS
) -> tuple[dict[str, Expr], Expr] | None:
    """Coefficients of the variables `over` and the rest, or None where `e` is not affine in them.

    `i*T*4 + j + 3` over ("i", "j") gives ({"i": T*4, "j": 1}, 3). Variables that do not occur are
    left out; coefficients and rest do not hold any of `over`.
    """
    return Simplifier(env).affine(e, over)


class Simplifier:
    """Simplifies many expressions under the same bounds, sharing what was learnt.

    Results are remembered for each node, so common subexpressions are visited once.
    """

    def __init__(self, env: Mapping[str, Interval] = NO_BOUNDS) -> None:
        self.atoms = Atoms(env)
        self.division = Division(self.atoms)
        self._polys: dict[int, tuple[Expr, Poly]] = {}
        self._done: dict[int, tuple[Expr, Expr]] = {}

    def simplify(self, e: Expr) -> Expr:
        """The canonical form of an expression of any dtype."""
        hit = self._done.get(id(e))
        if hit is None:
            hit = self._done[id(e)] = (e, self._rewrite(e))
        return hit[1]

    def bounds(self, e: Expr) -> Interval:
        """Bounds of an int64 or bool expression after simplification."""
        if e.dtype == INT64:
            return self.atoms.value_bounds(self.poly(e))
        return interval(self.simplify(e), self.atoms.env)

    def equal(self, a: Extent, b: Extent) -> bool:
        """Whether two int64 expressions are certainly equal."""
        return not plus(self.poly(as_expr(a)), self.poly(as_expr(b)), -1)

    def affine(self, e: Expr, over: Collection[str]) -> tuple[dict[str, Expr], Expr] | None:
        """See the function `affine`."""
        wanted = frozenset(over)
        coefficients: dict[str, Poly] = {}
        rest: Poly = {}
        for mono, k in self.poly(e).items():
            inside = [a for a in mono if self.atoms.table[a].names & wanted]
            if not inside:
                rest[mono] = k
                continue
            atom = self.atoms.table[inside[0]]
            if len(inside) > 1 or not isinstance(atom.expr, Var):
                return None
            factor = tuple(a for a in mono if a != inside[0])
            coefficients.setdefault(atom.expr.name, {})[factor] = k
        return {n: self.atoms.expr(p) for n, p in coefficients.items()}, self.atoms.expr(rest)

    def form(self, e: Expr, over: Collection[str]) -> Affine | None:
        """`affine` where all coefficients and the rest are numbers; None of what is no index."""
        if e.dtype != INT64:
            return None
        const, terms = 0, []
        for mono, k in self.poly(e).items():
            match [self.atoms.table[a].expr for a in mono]:
                case []:
                    const = k
                case [Var(name, _)] if name in over:
                    terms.append((name, k))
                case _:
                    return None
        return Affine(const, tuple(sorted(terms)))

    def poly(self, e: Expr) -> Poly:
        """The polynomial of an int64 expression."""
        hit = self._polys.get(id(e))
        if hit is None:
            hit = self._polys[id(e)] = (e, self._poly(e))
        return hit[1]

    def _poly(self, e: Expr) -> Poly:
        match e:
            case Const(value, _):
                self.atoms.may_wrap |= abs(int(value)) > LARGEST_LITERAL
                return constant(int(value))
            case Var():
                return self.atoms.variable(e)
            case Binary(op, a, b):
                return self._arithmetic(op, self.poly(a), self.poly(b))
            case Call("neg", (x,)):
                return plus({}, self.poly(x), -1)
            case Select(cond, a, b):
                return self._select_poly(cond, self.poly(a), self.poly(b))
            case Cast(_, x) if x.dtype == INT64:
                return self.poly(x)
        return self._opaque(self._rebuild(e))

    def _arithmetic(self, op: str, a: Poly, b: Poly) -> Poly:
        match op:
            case "add":
                return self.division.recombine(plus(a, b))
            case "sub":
                return self.division.recombine(plus(a, b, -1))
            case "mul":
                return self._product(a, b)
        a, b = self.atoms.whole(a), self.atoms.whole(b)
        match op:
            case "floordiv":
                return self.division.quotient(a, b)
            case "mod":
                return self.division.remainder(a, b)
        return self.division.extremum(op, a, b)

    def _product(self, a: Poly, b: Poly) -> Poly:
        if len(a) > 1 and len(b) > 1 and len(a) * len(b) > LARGEST_PRODUCT:
            a, b = (self.atoms.operation("sum", (p,), self.atoms.value_bounds(p)) for p in (a, b))
        return self.division.recombine(times(a, b))

    def _select_poly(self, cond: Expr, a: Poly, b: Poly) -> Poly:
        test = self.simplify(cond)
        if isinstance(test, Const):
            return a if test.value else b
        if a == b:
            return a
        if isinstance(test, Call) and test.fn == "not":
            test, a, b = test.args[0], b, a
        e = Select(test, self.atoms.expr(a), self.atoms.expr(b))
        return self._opaque(e, self.atoms.value_bounds(a).union(self.atoms.value_bounds(b)))

    def _opaque(self, e: Expr, bounds: Interval | None = None) -> Poly:
        """The atom of an int64 expression whose operands are canonical already."""
        if isinstance(e, Const):
            return constant(int(e.value))
        known = of_node(e, self.bounds) if bounds is None else bounds
        if known.value is not None:
            return constant(known.value)
        return {(self.atoms.number(e, lambda: self.atoms.opaque(e, known, holds_data(e))),): 1}

    def _rewrite(self, e: Expr) -> Expr:
        kind = e.dtype
        if kind == INT64 and not isinstance(e, Reduce):
            return self.atoms.expr(self.poly(e))
        match e:
            case Const() | Var():
                return e
            case Binary(op, a, b) if op in COMPARISONS:
                return self._comparison(op, a, b)
            case Binary(op, _, _) if op in LOGICAL:
                return self._logical(op, e)
            case Call("not", (x,)):
                return self._negation(self.simplify(x))
            case Select(cond, a, b):
                return self._select(self.simplify(cond), self.simplify(a), self.simplify(b))
        return fold(self._rebuild(e))

    def _rebuild(self, e: Expr) -> Expr:
        """The node with simplified operands."""
        match e:
            case Read(tensor, indices):
                return Read(tensor, tuple(map(self.simplify, indices)))
            case Binary(op, a, b):
                return Binary(op, self.simplify(a), self.simplify(b))
            case Call(fn, args):
                return Call(fn, tuple(map(self.simplify, args)))
            case Cast(to, x):
                return fold(Cast(to, self.simplify(x)))
            case Reduce(op, axes, body):
                return Reduce(op, axes, self.simplify(body))
        return e

    def _select(self, cond: Expr, a: Expr, b: Expr) -> Expr:
        if isinstance(cond, Const):
            return a if cond.value else b
        if a == b:
            return a
        if a == TRUE and b == FALSE:
            return cond
        if isinstance(cond, Call) and cond.fn == "not":
            return Select(cond.args[0], b, a)
        return Select(cond, a, b)

    def _comparison(self, op: str, a: Expr, b: Expr) -> Expr:
        if a.dtype != INT64:
            return fold(Binary(op, self.simplify(a), self.simplify(b)))
        left, right = self.atoms.whole(self.poly(a)), self.atoms.whole(self.poly(b))
        difference = plus(left, right, -1)
        if not self.atoms.exact(difference):
            known = compare(op, self.atoms.bounds(difference)).value
            sides = Binary(op, self.atoms.expr(left), self.atoms.expr(right))
            return sides if known is None else TRUE if known else FALSE
        if op in AT_LEAST_ZERO:
            factor, shift = AT_LEAST_ZERO[op]
            return self._at_most(plus({}, difference, -factor), shift)
        return self._equality(op, difference)

    def _at_most(self, p: Poly, limit: int) -> Expr:
        """The condition `p <= limit`."""
        limit -= p.get(ONE, 0)
        p = {mono: k for mono, k in p.items() if mono}
        bounds = self.atoms.bounds(p)
        if bounds.hi is not None and bounds.hi <= limit:
            return TRUE
        if bounds.lo is not None and bounds.lo > limit:
            return FALSE
        g = content(p)
        if g > 1:
            p, limit = {mono: k // g for mono, k in p.items()}, limit // g
        for g in sorted({abs(k) for k in p.values()} - {1}, reverse=True):
            small = self.atoms.bounds({mono: k for mono, k in p.items() if k % g})
            if small.lo is None or small.hi is None:
                continue
            if (limit - small.lo) // g == (limit - small.hi) // g:
                large = {mono: k // g for mono, k in p.items() if k % g == 0}
                return self._at_most(large, (limit - small.lo) // g)
        undivided = self._undivided(p, limit)
        return self._write_at_most(p, limit) if undivided is None else undivided

    def _undivided(self, p: Poly, limit: int) -> Expr | None:
        """`x//c <= t` is `x <= t*c + c - 1`, and `-(x//c) <= t` is `-x <= t*c`."""
        if len(p) != 1:
            return None
        ((mono, k),) = p.items()
        atom = self.atoms.table[mono[0]]
        if len(mono) != 1 or atom.op != "floordiv" or abs(k) != 1:
            return None
        c = as_constant(atom.args[1])
        if c is None or c <= 0:
            return None
        if k == 1:
            return self._at_most(atom.args[0], limit * c + c - 1)
        return self._at_most(plus({}, atom.args[0], -1), limit * c)

    def _write_at_most(self, p: Poly, limit: int) -> Expr:
        left = {mono: k for mono, k in p.items() if k > 0}
        right = {mono: -k for mono, k in p.items() if k < 0}
        write = self.atoms.expr
        if not left:
            return Binary("ge", write(right), Const(-limit, INT64))
        if right and limit == 0:
            return Binary("le", write(left), write(right))
        return Binary("lt", write(left), write(plus(right, constant(limit + 1))))

    def _equality(self, op: str, p: Poly) -> Expr:
        """The condition `p == 0` or `p != 0`."""
        known = compare(op, self.atoms.bounds(p)).value
        offset, g = p.get(ONE, 0), content(p)
        if known is None and g and offset % g:
            known = int(op == "ne")
        if known is not None:
            return TRUE if known else FALSE
        _, _, first = self.atoms.ordered(p)[0]
        p = {mono: k // (g if first > 0 else -g) for mono, k in p.items()}
        left = {mono: k for mono, k in p.items() if k > 0 and mono}
        return Binary(op, self.atoms.expr(left), self.atoms.expr(plus(left, p, -1)))

    def _logical(self, op: str, e: Expr) -> Expr:
        """`and`/`or`, flattened, sorted, without duplicates; decided by a literal or `x & ~x`."""
        decided = op == "or"
        operands: dict[Expr, str] = {}
        for x in _flatten(op, e):
            for part in _flatten(op, self.simplify(x)):
                if isinstance(part, Const):
                    if bool(part.value) == decided:
                        return TRUE if decided else FALSE
                elif part not in operands:
                    operands[part] = self.atoms.key(part)
        if not operands:
            return FALSE if decided else TRUE
        if len(operands) > 1 and any(self._negation(x) in operands for x in operands):
            return TRUE if decided else FALSE
        ordered = sorted(operands, key=operands.__getitem__)
        out = ordered[0]
        for x in ordered[1:]:
            out = Binary(op, out, x)
        return out

    def _negation(self, e: Expr) -> Expr:
        """`not e` for a canonical `e`. Order comparisons of floats keep the `not` (NaN)."""
        match e:
            case Const(value, _):
                return FALSE if value else TRUE
            case Call("not", (x,)):
                return x
            case Binary(op, a, b) if op in NEGATED and (a.dtype == INT64 or op in ("eq", "ne")):
                return self._comparison(NEGATED[op], a, b)
            case Binary(op, a, b) if op in LOGICAL:
                parts = Binary("or" if op == "and" else "and", self._negation(a), self._negation(b))
                return self.simplify(parts)
        return Call("not", (e,))


def _flatten(op: str, e: Expr) -> list[Expr]:
    if isinstance(e, Binary) and e.op == op:
        return _flatten(op, e.a) + _flatten(op, e.b)
    return [e]
