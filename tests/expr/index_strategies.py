"""Hypothesis strategies: random index expressions, with bounds and sample values of variables.

Variables i, j, k are loops (bounds drawn); T and U are decision variables (at least 1). Divisors
are never zero; values stay far from the limits of int64.
"""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tilewright.expr.index.intervals import Interval
from tilewright.expr.nodes import Expr, Var, as_expr, binary, call, select

LOOPS = ("i", "j", "k")
DECISIONS = ("T", "U")

CONSTANTS = st.sampled_from([-6, -3, 2, 3, 4, 6, 8, 12, 16])
T, U = Var("T"), Var("U")
DIVISORS = st.one_of(CONSTANTS, CONSTANTS, st.sampled_from([T, U, T * U, T * 4, T + 1, T * 2 + U]))
FACTORS = st.one_of(CONSTANTS, st.sampled_from([T, U, Var("i"), Var("j")]))
OPERATIONS = ("add", "add", "sub", "mul", "div", "div", "tile", "min", "max", "select", "abs")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


@st.composite
def indices(draw: st.DrawFn, depth: int = 4) -> Expr:
    """An int64 expression of at most `depth` operations in a row."""
    op = draw(st.sampled_from(("leaf", *OPERATIONS))) if depth else "leaf"
    if op == "leaf":
        if draw(st.booleans()):
            return Var(draw(st.sampled_from((*LOOPS, *LOOPS, *DECISIONS))))
        return as_expr(draw(st.integers(-9, 17)))
    inner = indices(depth - 1)
    x = draw(inner)
    match op:
        case "mul":
            return x * draw(FACTORS)
        case "div":
            return binary(draw(st.sampled_from(("floordiv", "mod"))), x, draw(DIVISORS))
        case "tile":  # an index that was split and put together again, as schedules make them
            c, d = draw(st.sampled_from([2, 4, 6, 8, T])), draw(st.sampled_from([2, 3, 8]))
            return ((x // c) % d) * c + x % c
        case "select":
            return select(draw(conditions(depth - 1)), x, draw(inner))
        case "abs":
            return call("abs", x)
    return binary(op, x, draw(inner))


@st.composite
def sums(draw: st.DrawFn) -> Expr:
    """Multiples of loops' sums, of their quotients and of their remainders."""
    small = st.sampled_from([-3, -2, -1, 1, 1, 2, 4])
    total = as_expr(draw(st.integers(-4, 4)))
    for _ in range(draw(st.integers(1, 3))):
        x = Var(draw(st.sampled_from(LOOPS))) * draw(small) + draw(st.integers(-1, 2))
        if draw(st.booleans()):
            x = x + Var(draw(st.sampled_from(LOOPS))) * draw(small)
        c = draw(st.sampled_from([2, 3, 4]))
        term = draw(st.sampled_from([x, x // c, x // c, x % c]))
        total = total + term * draw(small)
    return total


@st.composite
def movements(draw: st.DrawFn, depth: int = 3) -> Expr:
    """An index as stages have them: sums of loops, multiples and quotients by what is positive."""
    op = draw(st.sampled_from(("add", "sub", "mul", "floordiv", "mod", "select"))) if depth else ""
    positive = st.sampled_from([as_expr(2), as_expr(3), as_expr(8), T, T * 2])
    if not op:
        return draw(st.sampled_from([*map(Var, LOOPS), T, as_expr(1), as_expr(-2)]))
    x = draw(movements(depth - 1))
    if op in ("mul", "floordiv", "mod"):
        return binary(op, x, draw(positive))
    y = draw(movements(depth - 1))
    if op == "select":
        return select(Var(draw(st.sampled_from((*LOOPS, "T")))) < 2, x, y)
    return binary(op, x, y)


@st.composite
def conditions(draw: st.DrawFn, depth: int = 3) -> Expr:
    """A bool expression over comparisons of `indices`."""
    op = draw(st.sampled_from(("compare", "compare", "and", "or", "not"))) if depth else "compare"
    if op == "compare":
        inner = indices(max(0, depth - 1))
        return binary(draw(st.sampled_from(COMPARISONS)), draw(inner), draw(inner))
    x = draw(conditions(depth - 1))
    return call("not", x) if op == "not" else binary(op, x, draw(conditions(depth - 1)))


@st.composite
def bounds(draw: st.DrawFn) -> dict[str, Interval]:
    """Bounds of all variables."""
    env = {}
    for name in LOOPS:
        low = draw(st.sampled_from([0, 0, 0, -3, 2]))
        env[name] = Interval(low, low + draw(st.sampled_from([0, 1, 3, 5, 7, 15])))
    for name in DECISIONS:
        env[name] = Interval(1, draw(st.sampled_from([1, 4, 6])))
    return env


def sample(env: dict[str, Interval], count: int = 96) -> dict[str, np.ndarray]:
    """Values within the bounds: their corners first, then random ones. Deterministic."""
    rng = np.random.default_rng(7)
    columns = {}
    for n, (name, b) in enumerate(env.items()):
        corner = np.where((np.arange(32) >> n) & 1, b.hi, b.lo)
        columns[name] = np.concatenate([corner, rng.integers(b.lo, b.hi + 1, count - 32)])
    return columns
