"""The simplifier: hand-picked rewrites, and random ones that stay as they are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from index_strategies import bounds, indices

from tilewright.expr.dtypes import FLOAT32, FLOAT64
from tilewright.expr.index.intervals import Interval
from tilewright.expr.index.simplify import FALSE, TRUE, affine, simplify
from tilewright.expr.nodes import (
    Binary,
    Call,
    Const,
    Expr,
    Var,
    as_expr,
    binary,
    call,
    cast,
    const,
    select,
)
from tilewright.expr.tensors import placeholder
from tilewright.expr.traversal import walk

i, j, k, x, y, T, U = (Var(n) for n in "ijkxyTU")
ENV = {
    "i": Interval(0, 3),
    "j": Interval(0, 7),
    "k": Interval(0, 15),
    "T": Interval(1, None),
    "U": Interval(1, None),
}
A = placeholder((64, 64), name="A")
F = Var("f", FLOAT32)
quick = settings(max_examples=400, deadline=None, derandomize=True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((i * 8 + j) // 8, i),
        ((i * 8 + j) % 8, j),
        ((i * 8 + j) // 16, i // 2),
        ((8 * x + 2 * i) // 4, 2 * x + i // 2),
        ((x // 4) * 4 + x % 4, x),
        (((x // 4) % 3) * 4 + x % 4, x % 12),
        ((((x * 2 + y) // 4) % 3) * 4 + (x * 2 + y) % 4 + 12 * ((x * 2 + y) // 12), x * 2 + y),
        ((x // 4) // 5, x // 20),
        ((x % 12) // 4, (x // 4) % 3),
        ((x % 12) % 4, x % 4),
        ((x * T + T - 1) // T, x),
        ((i * T * U + x * T) // T, i * U + x),
        ((x // T) * T + x % T, x),
        ((x * T) % T, as_expr(0)),
        ((x * T) // (T * 4), x // 4),
        (x * T + x * 3 - x * T, x * 3),
        ((T + 3) * (U + 1), T * U + T + U * 3 + 3),
        (binary("min", i, 3), i),
        (binary("min", binary("min", x, 8), 4), binary("min", x, 4)),
        (binary("max", i - 4, 0), as_expr(0)),
        (binary("min", x + 3, x), x),
        (i < 4, TRUE),
        (i * 8 + j < 32, TRUE),
        (i * 8 + j < 24, i < 3),
        (i * 8 + 4 * T < 4 * x, i * 2 + T < x),
        (x // 4 < 3, x < 12),
        (x >= x + 1, FALSE),
        ((x * 2).eq(y * 2 + 1), FALSE),
        ((x - y).eq(0), x.eq(y)),
        (~((x < 3) & (x >= 1)), (x < 1) | (x >= 3)),
        ((x < 3) & (x >= 3), FALSE),
        ((x < 3) | (i < 9), TRUE),
        (select(i < 4, x, y), x),
        (select(x < 4, y, y + i - i), y),
        (select(~F.eq(1.0), x, y), select(F.ne(1.0), x, y)),
        (A[i * 4 // 4, j + 0 * x], A[i, j]),
        (cast("int64", i < 4), as_expr(1)),
        (call("abs", i - 5), call("abs", i - 5)),
        (call("neg", -x), x),
    ],
)
def test_rewrites(before: Expr, after: Expr) -> None:
    assert simplify(before, ENV) == simplify(after, ENV)
    assert len(list(walk(simplify(before, ENV)))) <= len(list(walk(after)))


def test_equal_sums_become_the_same_expression() -> None:
    expected = simplify(i * T * U + j * U + k)
    assert simplify(k + U * j + U * (i * T)) == expected
    assert simplify((i * T + j) * U + k) == expected


@quick
@given(e=indices(), env=bounds())
def test_simplifying_again_changes_nothing(e: Expr, env: dict[str, Interval]) -> None:
    once = simplify(e, env)
    assert simplify(once, env) == once


@quick
@given(a=indices(), b=indices(), env=bounds())
def test_the_order_of_operands_does_not_matter(a: Expr, b: Expr, env: dict[str, Interval]) -> None:
    assert simplify(a + b, env) == simplify(b + a, env)
    assert simplify(binary("min", a, b), env) == simplify(binary("min", b, a), env)
    assert simplify(a < b, env) == simplify(b > a, env)
    assert simplify(a.eq(b), env) == simplify(b.eq(a), env)


def test_affine_separates_variables_from_decisions() -> None:
    assert affine(i * T * 4 + j + 3, ("i", "j")) == ({"i": T * 4, "j": as_expr(1)}, as_expr(3))
    assert affine(i * j, ("i", "j")) is None
    assert affine(i // 2, ("i",)) is None
    assert affine(i // 2 + j, ("j",)) == ({"j": as_expr(1)}, i // 2)
    assert affine((i * 4 + T) // 1 - i * 4, ("i",)) == ({}, T)


def number(value: float, kind: str = "float32") -> Const:
    return const(value, FLOAT32 if kind == "float32" else FLOAT64)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (F * 1.0, F),
        (F / 1.0, F),
        (number(1.5) * number(2.0), number(3.0)),
        (number(0.5) + number(0.25), number(0.75)),
        (call("floor", number(-1.5)), number(-2.0)),
        (cast("int64", number(2.75)), as_expr(2)),
        (number(1.0) < number(2.0), TRUE),
        (select(x < x + 1, F, F * 2.0), F),
        (select(F < 1.0, F * 2.0, F * 2.0), F * 2.0),
    ],
)
def test_exact_float_rewrites(before: Expr, after: Expr) -> None:
    assert simplify(before) == after


@pytest.mark.parametrize(
    "e",
    [
        F * 0.0,
        F + 0.0,
        F - F,
        (F + 1.0) + 2.0,
        F * 2.0 * 3.0,
        Binary("div", number(1.0), number(3.0)),
        Binary("add", number(1.0), number(1e-10)),
        Binary("mul", number(3e38), number(10.0)),
        ~(F < 1.0),
        Binary("min", F, F * 2.0),
    ],
)
def test_inexact_float_rewrites_are_not_made(e: Expr) -> None:
    assert simplify(e) == e


def test_signed_zero_and_nan_are_kept() -> None:
    different = select(F < 1.0, number(0.0), number(-0.0))
    assert simplify(different) == different
    assert simplify(Call("neg", (number(0.0),))) == number(-0.0)
    assert number(float("nan")) == number(float("nan"))
