"""Extent arithmetic and column programs: ints, expressions and columns agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_strategies import bounds, conditions, indices, sample

from tilewright.expr.evaluate import ColumnProgram, evaluate
from tilewright.expr.index import extents
from tilewright.expr.index.intervals import Interval
from tilewright.expr.nodes import Expr, Extent, Var, as_expr, binary, cast, select
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ExprError

T, U = Var("T"), Var("U")
OPERATIONS = {
    "add": (extents.add, lambda a, b: a + b),
    "sub": (extents.sub, lambda a, b: a - b),
    "mul": (extents.mul, lambda a, b: a * b),
    "floordiv": (extents.floordiv, lambda a, b: a // b),
    "ceildiv": (extents.ceildiv, lambda a, b: math.ceil(a / b)),
    "minimum": (extents.minimum, min),
    "maximum": (extents.maximum, max),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_extent_arithmetic_agrees_on_ints_and_expressions(name: str) -> None:
    fn, expected = OPERATIONS[name]
    for a in range(6):
        for b in range(1, 6):
            value = fn(a, b)
            assert type(value) is int and value == expected(a, b)
            for x, y in ((T, b), (a, U), (T, U), (T * 1, U)):
                symbolic = fn(x, y)
                values = ColumnProgram([symbolic]).run({"T": a, "U": b})
                assert values[symbolic] == expected(a, b)


def test_extents_fold_what_is_trivial() -> None:
    assert extents.mul(T, 1) is T and extents.mul(0, T) == 0
    assert extents.add(0, T) is T and extents.sub(T, T) == 0
    assert extents.ceildiv(T, 1) is T and extents.ceildiv(T, T) == 1 and extents.ceildiv(1, T) == 1
    assert extents.minimum(T, T) is T
    assert extents.maximum(extents.maximum(T, U), T) == extents.maximum(T, U)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    exprs=st.lists(st.one_of(indices(), conditions(), st.integers(0, 9)), min_size=1, max_size=5),
    env=bounds(),
)
def test_columns_equal_evaluation(exprs: list[Extent], env: dict[str, Interval]) -> None:
    points = sample(env)
    program = ColumnProgram(exprs)
    values = program.run(points)
    for e in exprs:
        expected = e if isinstance(e, int) else evaluate(e, points)
        np.testing.assert_array_equal(values[e], expected)
    row = {name: int(values[40]) for name, values in points.items()}
    values = program.run(row)
    for e in exprs:
        assert isinstance(values[e], int)
        assert values[e] == (e if isinstance(e, int) else evaluate(e, row))


def test_common_subexpressions_are_computed_once() -> None:
    product = T * U
    exprs = [T * U + 1, U * T + 1, product, extents.ceildiv(512, product), 7]
    program = ColumnProgram(exprs)
    assert program.operations == 4  # T*U, +1, 511//, +1
    assert program.variables == ("T", "U")
    found = program.run({"T": np.array([1, 2]), "U": np.array([3, 5])})
    columns = [np.asarray(found[e]).tolist() for e in exprs]
    assert columns == [[4, 11], [4, 11], [3, 10], [171, 52], 7]


def test_equal_expressions_share_a_number() -> None:
    one, other, third = T * U + 1, 1 + U * T, T * U + 2
    constant = (Var("fixed") + 2) * 3
    program = ColumnProgram([one, other, third, constant, 5], {"fixed": as_expr(4)})
    assert program.number(one) == program.number(other) != program.number(third)
    assert not program.number(one)[1] and not program.number(third)[1]
    assert program.number(constant) == (18, True) and program.number(5) == (5, True)


def test_variables_may_stand_for_expressions() -> None:
    area = T * U
    exprs = [Var("area") + 1, Var("twice"), area]
    program = ColumnProgram(exprs, {"area": area, "twice": area * 2})
    assert program.variables == ("T", "U") and program.operations == 3
    values = program.run({"T": 3, "U": 5})
    assert [values[e] for e in exprs] == [16, 30, 15]


def test_storage_of_dead_columns_is_reused() -> None:
    total: Expr = T
    for n in range(2, 200):
        total = binary("max", total * U, T + n)
    program = ColumnProgram([total])
    values = program.run({"T": np.arange(8), "U": np.full(8, 1)})
    assert values[total].tolist() == [199 + t for t in range(8)]
    held = len({out for _, out, *_ in program._steps})
    assert program.operations > 390 and held <= 4


def test_inputs_are_not_changed() -> None:
    column = np.arange(1, 5)
    ColumnProgram([T * 2 + 1, T, -T]).run({"T": column})
    assert column.tolist() == [1, 2, 3, 4]


def test_select_casts_and_logic_over_columns() -> None:
    exprs = [
        select((T < 3) & ~T.eq(1), T // (T - 2), T),
        cast("int64", T < 3) + 1,
        cast("bool", T - 2),
    ]
    found = ColumnProgram(exprs).run({"T": np.array([0, 1, 2, 3])})
    assert [found[e].tolist() for e in exprs] == [
        [0, 1, 0, 3],
        [2, 2, 2, 1],
        [True, True, False, True],
    ]


def test_what_columns_cannot_hold_is_named() -> None:
    with pytest.raises(ExprError, match="Read"):
        ColumnProgram([placeholder((4,), "int64", name="A")[T]])
    with pytest.raises(ExprError, match="no column for U"):
        ColumnProgram([T * U]).run({"T": 1})
