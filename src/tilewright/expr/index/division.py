"""Floor division, remainder, minimum and maximum of integer polynomials.

    i in [0, 3], x any        (8*x + 2*i) // 4  ->  2*x + i//2        (8*x + i) % 4  ->  i
                              (x//4)*4 + x%4    ->  x       ((x//4)%3)*4 + x%4  ->  x % 12

Input and output are `Poly` values over one `Atoms` table; the bounds of the atoms decide what may
be dropped. Divisors are taken to be non-zero (a division by zero has no value to preserve).
"""

from __future__ import annotations

from collections.abc import Hashable
from math import gcd

from tilewright.expr.index.intervals import FAR, floordiv, maximum, minimum, modulo
from tilewright.expr.index.polynomials import (
    ONE,
    Atoms,
    Monomial,
    Poly,
    as_constant,
    constant,
    content,
    freeze,
    plus,
    times,
    without,
)


class Division:
    """The rules, sharing one table of atoms and remembering what was divided."""

    def __init__(self, atoms: Atoms) -> None:
        self.atoms = atoms
        self._quotients: dict[Hashable, Poly] = {}
        self._remainders: dict[Hashable, Poly] = {}
        self._has_mod = False

    def quotient(self, num: Poly, den: Poly) -> Poly:
        """`num // den`."""
        key = (freeze(num), freeze(den))
        hit = self._quotients.get(key)
        if hit is None:
            c = as_constant(den)
            if c is None:
                hit = self._symbolic_quotient(num, den)
            elif c == 0:
                hit = self._atom("floordiv", num, den)
            else:
                hit = self._quotient(num, c) if c > 0 else self._negated("floordiv", num, c)
            self._quotients[key] = hit
        return hit

    def remainder(self, num: Poly, den: Poly) -> Poly:
        """`num % den`, with the sign of `den`."""
        key = (freeze(num), freeze(den))
        hit = self._remainders.get(key)
        if hit is None:
            c = as_constant(den)
            if c is None:
                hit = self._symbolic_remainder(num, den)
            elif c == 0:
                hit = self._atom("mod", num, den)
            elif c > 0:
                hit = self._remainder(num, c)
            else:
                hit = self._negated("mod", num, c)
            self._remainders[key] = hit
        return hit

    def _negated(self, op: str, num: Poly, c: int) -> Poly:
        """A division by a negative number: `num // c` is `-num // -c`, `num % c` `-(-num % -c)`."""
        minus = plus({}, num, -1)
        if not self.atoms.exact(minus):
            return self._atom(op, num, constant(c))
        if op == "floordiv":
            return self._quotient(minus, -c)
        return plus({}, self._remainder(minus, -c), -1)

    def _atom(self, op: str, num: Poly, den: Poly) -> Poly:
        rule = floordiv if op == "floordiv" else modulo
        self._has_mod |= op == "mod"
        bounds = rule(self.atoms.bounds(num), self.atoms.bounds(den))
        return self.atoms.operation(op, (num, den), bounds)

    def _quotient(self, num: Poly, c: int) -> Poly:
        whole, rest = split(num, c)
        return plus(whole, self._small_quotient(rest, c))

    def _small_quotient(self, rest: Poly, c: int) -> Poly:
        """`rest // c` where every coefficient of `rest` is smaller than `c`."""
        level = self._constant_quotient(rest, c)
        if level is not None:
            return constant(level)
        parts = self._multiples(rest, c)
        if parts is not None:
            g, multiples, _ = parts
            return self._quotient(multiples, c // g)
        inner = self._only_atom(rest)
        if inner is not None:
            op, x, a = inner
            if op == "floordiv":  # (x//a + r) // c == (x + r*a) // (a*c)
                whole = plus(x, constant(rest.get(ONE, 0) * a))
                if self.atoms.exact(whole) and a * c <= FAR:
                    return self._quotient(whole, a * c)
            if op == "mod" and ONE not in rest and a % c == 0:  # (x % a) // c == (x//c) % (a/c)
                return self._remainder(self._quotient(x, c), a // c)
        return self._atom("floordiv", rest, constant(c))

    def _remainder(self, num: Poly, c: int) -> Poly:
        _, rest = split(self._unwrap_mods(num, c), c)
        level = self._constant_quotient(rest, c)
        if level is not None:
            lowered = plus(rest, constant(-level * c))
            return lowered if self.atoms.exact(lowered) else self._atom("mod", rest, constant(c))
        parts = self._multiples(rest, c)
        if parts is not None:
            g, multiples, remaining = parts
            return plus(remaining, self._remainder(multiples, c // g), g)
        return self._atom("mod", rest, constant(c))

    def _constant_quotient(self, rest: Poly, c: int) -> int | None:
        bounds = self.atoms.bounds(rest)
        if bounds.lo is None or bounds.hi is None or bounds.lo // c != bounds.hi // c:
            return None
        return bounds.lo // c

    def _multiples(self, p: Poly, c: int) -> tuple[int, Poly, Poly] | None:
        """`(g, m, r)` with `p = g*m + r`, g > 1 dividing `c`, and `r` always in [0, g)."""
        divisors = sorted({gcd(k, c) for mono, k in p.items() if mono} - {1}, reverse=True)
        for g in divisors:
            multiples = {mono: k // g for mono, k in p.items() if mono and k % g == 0}
            rest = {mono: k for mono, k in p.items() if not mono or k % g}
            level = self._constant_quotient(rest, g)
            if level is not None:
                return g, plus(multiples, constant(level)), plus(rest, constant(-level * g))
        return None

    def _only_atom(self, p: Poly) -> tuple[str, Poly, int] | None:
        """`(op, x, a)` where `p` is `x // a` or `x % a` (a > 0) plus a constant."""
        monos = [mono for mono in p if mono]
        if len(monos) != 1 or len(monos[0]) != 1 or p[monos[0]] != 1:
            return None
        atom = self.atoms.table[monos[0][0]]
        if atom.op not in ("floordiv", "mod"):
            return None
        a = as_constant(atom.args[1])
        return None if a is None or a <= 0 else (atom.op, atom.args[0], a)

    def _unwrap_mods(self, p: Poly, c: int) -> Poly:
        """Replace `k*(x % m)` by `k*x` where `c` divides `k*m`: equal modulo `c`."""
        if not self._has_mod:
            return p
        for mono, k in p.items():
            for a in mono:
                atom = self.atoms.table[a]
                m = as_constant(atom.args[1]) if atom.op == "mod" else None
                if m is not None and k * m % c == 0:
                    rest = without(mono, (a,))
                    assert rest is not None
                    unwrapped = plus({n: j for n, j in p.items() if n != mono},
                                     times({rest: k}, atom.args[0]))  # fmt: skip
                    if self.atoms.exact(unwrapped):
                        return self._unwrap_mods(self.recombine(unwrapped), c)
        return p

    def _symbolic_quotient(self, num: Poly, den: Poly) -> Poly:
        if self.atoms.may_wrap and self.atoms.hold_data(num, den):
            return self._atom("floordiv", num, den)
        whole, rest = split_symbolic(num, den)
        rest, den, _ = cancel(rest, den)
        if as_constant(den) is not None:
            return plus(whole, self.quotient(rest, den))
        level = floordiv(self.atoms.bounds(rest), self.atoms.bounds(den)).value
        if not rest or level is not None:
            return plus(whole, constant(level or 0))
        return plus(whole, self._atom("floordiv", rest, den))

    def _symbolic_remainder(self, num: Poly, den: Poly) -> Poly:
        if self.atoms.may_wrap and self.atoms.hold_data(num, den):
            return self._atom("mod", num, den)
        _, rest = split_symbolic(num, den)
        rest, small, common = cancel(rest, den)
        if as_constant(small) is not None:
            return times(common, self.remainder(rest, small))
        level = floordiv(self.atoms.bounds(rest), self.atoms.bounds(small)).value
        if not rest:
            return {}
        if level is not None:
            return times(common, plus(rest, small, -level))
        return times(common, self._atom("mod", rest, small))

    def recombine(self, p: Poly) -> Poly:
        """Join quotients and remainders: `(x//c)*c + x%c` and `((x//c)%d)*c + x%c`."""
        if not self._has_mod or len(p) < 2:
            return p
        for mono, k in p.items():
            for a in mono:
                if self.atoms.table[a].op == "mod":
                    joined = self._join(p, mono, a, k)
                    if joined is not None:
                        return self.recombine(joined)
        return p

    def _join(self, p: Poly, mono: Monomial, a: int, k: int) -> Poly | None:
        """`p` with its term `k * mono` (`mono` holds the remainder atom `a`) joined to others."""
        x, den = self.atoms.table[a].args
        rest = without(mono, (a,))
        assert rest is not None
        factor: Poly = {rest: k}
        quotients = times(times(factor, den), self.quotient(x, den))
        if quotients and all(p.get(n) == j for n, j in quotients.items()):
            return plus(plus(plus(p, quotients, -1), {mono: k}, -1), times(factor, x))
        c = as_constant(den)
        if c is None:
            return None
        for other, j in p.items():
            if other != mono and j == k * c:
                for b in other:
                    outer = self.atoms.table[b]
                    if outer.op == "mod" and without(other, (b,)) == rest:
                        joined = self._join_chain(x, a, c, outer.args)
                        if joined is not None:
                            p = plus(plus(p, {mono: k}, -1), {other: j}, -1)
                            return plus(p, times(factor, joined))
        return None

    def _join_chain(self, x: Poly, a: int, c: int, outer: tuple[Poly, ...]) -> Poly | None:
        """`c*(y % d) + x % c`, where `c*y + x%c` is itself some `z`, is `z % (c*d)`."""
        y, den = outer
        d = as_constant(den)
        if d is None:
            return None
        inner = self._join(plus({(a,): 1}, y, c), (a,), a, 1)
        if inner is None or not self.atoms.exact(inner) or c * d > FAR:
            return None
        return self._remainder(inner, c * d)

    def extremum(self, op: str, a: Poly, b: Poly) -> Poly:
        """`min(a, b)` or `max(a, b)`: flattened, without operands that bounds rule out."""
        sign = 1 if op == "min" else -1
        kept: list[Poly] = []
        for p in (*self._operands(op, a), *self._operands(op, b)):
            if any(self._never_below(p, q, sign) for q in kept):
                continue
            kept = [q for q in kept if not self._never_below(q, p, sign)]
            kept.append(p)
        if len(kept) == 1:
            return kept[0]
        kept.sort(key=lambda p: (as_constant(p) is not None, self.atoms.text(p)))
        rule = minimum if op == "min" else maximum
        bounds = self.atoms.bounds(kept[0])
        for p in kept[1:]:
            bounds = rule(bounds, self.atoms.bounds(p))
        return self.atoms.operation(op, tuple(kept), bounds)

    def _operands(self, op: str, p: Poly) -> tuple[Poly, ...]:
        if len(p) == 1:
            ((mono, k),) = p.items()
            if k == 1 and len(mono) == 1 and self.atoms.table[mono[0]].op == op:
                return self.atoms.table[mono[0]].args
        return (p,)

    def _never_below(self, p: Poly, q: Poly, sign: int) -> bool:
        """Whether `p >= q` always (`p <= q` for sign -1), so that `q` alone decides."""
        lo = self.atoms.bounds(plus(p, q, -1) if sign > 0 else plus(q, p, -1)).lo
        return lo is not None and lo >= 0


def split(p: Poly, c: int) -> tuple[Poly, Poly]:
    """`(q, r)` with `p = c*q + r`; coefficients of `r` are below `c` and keep their sign."""
    whole: Poly = {}
    rest: Poly = {}
    for mono, k in p.items():
        q = k // c if k > 0 or not mono else -(-k // c)
        if q:
            whole[mono] = q
        if k - q * c:
            rest[mono] = k - q * c
    return whole, rest


def split_symbolic(num: Poly, den: Poly) -> tuple[Poly, Poly]:
    """`(q, r)` with `num = den*q + r`; whole terms are split off where `den` is one term."""
    if len(den) > 1:
        mono, k = next((m, k) for m, k in den.items() if m)
        q, left = divmod(num.get(mono, 0), k)
        rest = plus(num, den, -q)
        return (constant(q), rest) if not left and len(rest) < len(num) else ({}, num)
    ((mono, k),) = den.items()
    whole: Poly = {}
    rest = {}
    for m, j in num.items():
        part = without(m, mono)
        if part is None or j % k:
            rest[m] = j
        else:
            whole[part] = j // k
    return whole, rest


def cancel(num: Poly, den: Poly) -> tuple[Poly, Poly, Poly]:
    """`(n, d, g)` with `num = n*g` and `den = d*g`, g one term; `n // d == num // den`."""
    if not num:
        return num, den, constant(1)
    g = gcd(content(num), num.get(ONE, 0), content(den), den.get(ONE, 0))
    common: Monomial = ()
    for a in min((m for p in (num, den) for m in p), key=len):
        longer = tuple(sorted((*common, a)))
        if all(without(m, longer) is not None for p in (num, den) for m in p):
            common = longer
    if g == 1 and not common:
        return num, den, constant(1)
    parts = [{without(m, common) or (): k // g for m, k in p.items()} for p in (num, den)]
    return parts[0], parts[1], {common: g}
