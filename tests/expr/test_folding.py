"""Literal folding against evaluation, dtype by dtype; the simplifier's query methods."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from index_strategies import LOOPS

from tilewright.expr.dtypes import DTYPES, DType
from tilewright.expr.evaluate import evaluate
from tilewright.expr.folding import fold
from tilewright.expr.index.intervals import Interval, interval
from tilewright.expr.index.simplify import FALSE, TRUE, Simplifier, simplify
from tilewright.expr.nodes import (
    ARITHMETIC,
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Var,
    as_expr,
    const,
    select,
)
from tilewright.expr.tensors import placeholder
from tilewright.expr.traversal import walk

quick = settings(max_examples=400, deadline=None, derandomize=True)
KINDS = [DTYPES[n] for n in ("float32", "float64", "int8", "uint8", "int32", "bool")]
i, j, T = Var("i"), Var("j"), Var("T")


@st.composite
def literals(draw: st.DrawFn, kind: DType) -> Const:
    if kind.is_float:
        numbers = st.sampled_from([0.0, -0.0, 0.5, -1.5, 2.5, 3.0, 1e30, float("inf"), 0.1, 7.0])
        return const(draw(numbers), kind)
    limits = np.iinfo(kind.name) if kind.name != "bool" else np.iinfo("uint8")
    value = draw(st.integers(max(int(limits.min), -300), min(int(limits.max), 300)))
    return const(value, kind)


@st.composite
def operations(draw: st.DrawFn) -> Expr:
    """One operation on literals."""
    kind = draw(st.sampled_from(KINDS))
    a, b = draw(literals(kind)), draw(literals(kind))
    ops = [op for op in ARITHMETIC if op != "div" or kind.is_float]
    if kind.name == "bool":
        ops = []
    form = draw(st.sampled_from(["binary", "call", "cast"]))
    if form == "cast":
        return Cast(draw(st.sampled_from(KINDS)), a)
    if form == "binary":
        return Binary(draw(st.sampled_from([*ops, *COMPARISONS])), a, b)
    if kind.name == "bool":
        return Call("not", (a,))
    calls = ["neg", "abs"]
    if kind.is_float:
        calls += ["floor", "ceil", "trunc", "round", "isnan", "isinf", "sqrt"]
    return Call(draw(st.sampled_from(calls)), (a,))


@quick
@given(e=operations())
def test_folding_keeps_the_value_and_its_sign(e: Expr) -> None:
    folded = fold(e)
    assume(folded is not e)
    expected, found = evaluate(e, {}), evaluate(folded, {})
    assert folded.dtype == e.dtype and found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(
        np.signbit(found.astype(float)), np.signbit(expected.astype(float))
    )


@quick
@given(e=operations())
def test_bounds_of_narrow_integers_allow_for_wrapping(e: Expr) -> None:
    division = isinstance(e, Binary) and e.op in ("floordiv", "mod") and not e.b.value  # type: ignore[union-attr]
    assume(not e.dtype.is_float and not division)
    source = e.x if isinstance(e, Cast) else as_expr(0)
    assume(not source.dtype.is_float)  # a float may be out of the integer's range: undefined
    b, value = interval(e), int(evaluate(e, {}))
    assert (b.lo is None or b.lo <= value) and (b.hi is None or value <= b.hi)


def test_what_does_not_fit_or_is_not_exact_stays() -> None:
    int8 = DTYPES["int8"]
    kept = [
        Binary("add", const(100, int8), const(100, int8)),
        Call("neg", (const(-128, int8),)),
        Cast(int8, const(300, DTYPES["int32"])),
        Cast(DTYPES["float32"], const(16777217, DTYPES["int32"])),
        Cast(DTYPES["int32"], const(float("nan"), DTYPES["float32"])),
        Binary("floordiv", const(3, int8), const(0, int8)),
    ]
    assert [fold(e) for e in kept] == kept
    assert fold(Cast(int8, const(100, DTYPES["int32"]))) == const(100, int8)


def test_index_tensors_bound_the_index_by_their_dtype() -> None:
    where = placeholder((8,), "uint8", name="where")
    e = Cast(DTYPES["int64"], where[i])
    assert interval(e) == Interval(0, 255)
    assert simplify(e < 256) == TRUE and simplify(e // 256) == as_expr(0)
    assert simplify(e < 255) != TRUE
    assert interval(Cast(DTYPES["int64"], Call("isnan", (const(1.0, DTYPES["float32"]),)))).hi == 1


def test_queries_of_one_simplifier() -> None:
    s = Simplifier({"i": Interval(0, 7), "j": Interval(0, 3), "T": Interval(1, None)})
    assert s.equal(i * 4 + j, j + i * 2 * 2) and not s.equal(i, j) and s.equal(3, as_expr(3))
    assert s.bounds(i * 4 + j) == Interval(0, 31)
    assert s.bounds(i < 8) == Interval(1, 1) and s.bounds(i < 7) == Interval(0, 1)
    assert s.simplify(select(i < j, TRUE, FALSE)) == (i < j)


def test_long_products_are_not_multiplied_out() -> None:
    long = as_expr(1)
    for n, name in enumerate(LOOPS * 4):
        long = long + Var(f"{name}{n}") * Var(name)
    e = long * (long + 5) * (i + 1)
    names = sorted({x.name for x in _variables(e)})
    rng = np.random.default_rng(0)
    env = {n: rng.integers(0, 9, 20) for n in names}
    simplified = simplify(e)
    np.testing.assert_array_equal(evaluate(simplified, env), evaluate(e, env))
    assert len(_variables(simplified)) < 120


def _variables(e: Expr) -> list[Var]:
    return [x for x in walk(e) if isinstance(x, Var)]


@pytest.mark.parametrize("c", [-12, -5, 3, 8])
def test_division_by_negative_and_positive_literals(c: int) -> None:
    points = {"i": np.arange(-30, 31)}
    for e in (i // c, i % c, (i * 4 + 3) // c, (i * 4 + 3) % c, (i // c) * c + i % c):
        np.testing.assert_array_equal(evaluate(simplify(e), points), evaluate(e, points))
    assert simplify((i // c) * c + i % c) == i
