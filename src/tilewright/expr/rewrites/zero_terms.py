"""Terms of a sum that are known to be zero, and the sum without them.

    y[h] = Σ_r select((h + r) % 2 == 0, x[(h + r) // 2], 0) * w[r]                  r < 4
      ->   Σ_q x[q + (h + h % 2) // 2] * w[q*2 + h % 2]                             q < 2

A transposed convolution reads its input through a stage that puts zeros between the elements: a
select on a congruence. For given outer axes such a congruence has one solution in every `modulus`
values of a reduction axis; `without_zero_terms` lets that axis run over the solutions alone. The
rest of the division, `h % 2` above, is the *phase*: it repeats with a short period along spatial
axes. The results agree for finite weights: no zero is multiplied with an infinite one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import gcd, lcm

from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.index.extents import ceildiv
from tilewright.expr.index.intervals import Interval
from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import (
    COMPARISONS,
    Axis,
    Binary,
    Cast,
    Const,
    Expr,
    Reduce,
    Select,
    Var,
    const,
    select,
)
from tilewright.expr.reference import sizes
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import children, conjuncts, reads, transform, walk


@dataclass(frozen=True, slots=True)
class Congruence:
    """`form ≡ 0 (mod modulus)`, without which a term is zero."""

    condition: Expr
    form: Affine
    modulus: int

    def solvable_for(self, axes: tuple[Axis, ...]) -> Axis | None:
        """The axis that has the fewest solutions; None where each value of every axis solves it."""
        shares = {a: gcd(self.form.coefficient(a.name), self.modulus) for a in axes}
        best = min(axes, key=shares.__getitem__, default=None)
        return None if best is None or shares[best] == self.modulus else best


def zero_factors(e: Expr) -> Iterator[Select]:
    """Selects between a value and zero among the factors of a product, however converted."""

    def factors(x: Expr) -> tuple[Expr, ...]:
        is_product = isinstance(x, Binary) and x.op == "mul"
        return children(x) if is_product or isinstance(x, Cast) else ()

    for x in walk(e, factors):
        match x:
            case Select(_, _, Const(0, _)):
                yield x


def congruences(compute: Compute) -> list[Congruence]:
    """The congruences that a term of the sum must satisfy to be other than zero."""
    body = compute.body
    if not isinstance(body, Reduce) or body.op != "sum":
        return []
    names = [a.name for a in (*compute.axes, *compute.reduce_axes)]
    found: list[Congruence] = []
    for condition in _needed(body.body):
        match condition:
            case Binary("eq", Binary("mod", u, Const(m)), Const(r)) if m > 1:
                form = Simplifier().form(u - r, names)
                if form is not None:
                    found.append(Congruence(condition, form, int(m)))
    return found


def _needed(e: Expr) -> Iterator[Expr]:
    """Conditions under which alone a term is other than zero."""
    for factor in zero_factors(e):
        yield from conjuncts(factor.cond)
        yield from _needed(factor.a)


def is_solvable(compute: Compute) -> bool:
    """Whether `without_zero_terms` shortens a reduction axis.

    Not where it finds that all terms are zero: what they read would be left without a reader.
    """
    if all(c.solvable_for(compute.reduce_axes) is None for c in congruences(compute)):
        return False
    left = reads(without_zero_terms(compute).body)
    return {r.tensor for r in left} == {r.tensor for r in reads(compute.body)}


def without_zero_terms(compute: Compute) -> Compute:
    """The compute whose reduction axes run over the solutions of its congruences.

    An axis `r` that a congruence modulo s bounds becomes `r.q`, of 1/s of its extent (rounded up;
    a guard then drops what lies beyond). Where several values of no axis solve it (a dilation that
    shares a factor with the stride), a condition on the other axes is left.
    """
    while True:
        for congruence in congruences(compute):
            axis = congruence.solvable_for(compute.reduce_axes)
            if axis is not None:
                compute = _solved(compute, congruence, axis)
                break
        else:
            return compute


def periods(compute: Compute) -> dict[str, int]:
    """Spatial axis -> the period in which the solutions of its congruences repeat along it."""
    found: dict[str, int] = {}
    spatial = {a.name for a in compute.axes}
    for c in congruences(compute):
        if c.solvable_for(compute.reduce_axes) is not None:
            for name, k in c.form.terms:
                if name in spatial:
                    period = c.modulus // gcd(k, c.modulus)
                    found[name] = lcm(found.get(name, 1), period)
    return {name: period for name, period in found.items() if period > 1}


def nonzero_terms(compute: Compute) -> int:
    """Iterations of spatial and reduction axes in which every congruence holds."""
    found = congruences(compute)
    moduli = [c.modulus for c in found]
    counts = {tuple(c.form.const % c.modulus for c in found): 1}
    axes = (*compute.axes, *compute.reduce_axes)
    for axis, extent in zip(axes, sizes(axes), strict=True):
        steps = [c.form.coefficient(axis.name) for c in found]
        if not any(steps):
            counts = {residues: n * extent for residues, n in counts.items()}
            continue
        spread: dict[tuple[int, ...], int] = {}
        for residues, n in counts.items():
            for v in range(extent):
                rows = zip(residues, steps, moduli, strict=True)
                key = tuple((r + k * v) % m for r, k, m in rows)
                spread[key] = spread.get(key, 0) + n
        counts = spread
    return counts.get((0,) * len(found), 0)


def _solved(compute: Compute, c: Congruence, axis: Axis) -> Compute:
    """`compute` with `axis` restricted to the solutions of a congruence.

    With d the axis' coefficient and g = gcd(d, s), solutions are r = q * (s / g) + phase, and
    there the left side is s * (q * (d / g) + (rest + d * phase) / s).
    """
    body = compute.body
    assert isinstance(body, Reduce)
    (extent,) = sizes((axis,))
    d = c.form.coefficient(axis.name)
    g = gcd(d, c.modulus)
    step = c.modulus // g
    rest = AffineForms().expr(c.form.without(axis.name))
    phase = (rest // g * (-pow(d // g, -1, step) % step)) % step
    solutions = Axis(f"{axis.name}.q", ceildiv(extent, step), reduce=True)
    value = solutions.var * step + phase
    left = (solutions.var * (d // g) + (rest + phase * d) // c.modulus) * c.modulus
    axes = tuple(solutions if a is axis else a for a in compute.reduce_axes)
    every = (*compute.axes, *axes)
    names = [a.name for a in (*compute.axes, *compute.reduce_axes)]

    def leaf(e: Expr) -> Expr | None:
        if e == c.condition:
            return (rest % g).eq(0)
        match e:
            case Binary(op, a, b) if op in (*COMPARISONS, "floordiv", "mod"):
                shift = _shift(a, c, names)
                if shift is not None:
                    return Binary(op, left + shift, transform(b, leaf))
            case Var(name, _) if name == axis.name:
                return value
        return None

    term = transform(body.body, leaf)
    if extent % step:
        term = select(value < extent, term, const(0, term.dtype))
    ends = ((a.name, a.extent) for a in every)
    ranges = {n: Interval(0, e - 1 if isinstance(e, int) else None) for n, e in ends}
    return replace(compute, body=Reduce("sum", axes, Simplifier(ranges).simplify(term)))


def _shift(e: Expr, c: Congruence, names: list[str]) -> int | None:
    """`e` minus the left side of a congruence, where that is a constant."""
    form = Simplifier().form(e, names)
    return None if form is None or form.terms != c.form.terms else form.const - c.form.const
