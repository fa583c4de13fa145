"""Mistakes in expressions of one's own are named where they are written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.ground.errors import ExprError

A = tw.placeholder((8, 6), name="A")
K = tw.reduce_axis(6, "k")


@pytest.mark.parametrize(
    ("shape", "body", "says"),
    [
        (
            (8, 6),
            lambda i, j: A[i + 1, 0],
            "A: index i + 1 of dimension 0 is in 1..8, outside 0..7",
        ),
        (
            (8, 6),
            lambda i, j: A[i, j - 1],
            "A: index j - 1 of dimension 1 is in -1..4, outside 0..5",
        ),
        ((9, 6), lambda i, j: A[i, j], "A: index i of dimension 0 is in 0..8, outside 0..7"),
        ((8,), lambda i: A[i, 6], "A: index 6 of dimension 1 is in 6..6, outside 0..5"),
        (
            (8,),
            lambda i: tw.sum(A[i, K + 2], K),
            "index k . 2 of dimension 1 is in 2..7, outside 0..5",
        ),
        ((8, 6), lambda i, j: tw.select(i < 7, A[i + 2, j], 0.0), "is in 2..8, outside 0..7"),
        ((8, 6), lambda i, j: A[i * 2 // 2 + j, 0], "is in 0..12, outside 0..7"),
    ],
)
def test_a_read_outside_is_told_when_the_task_is_made(
    shape: tuple[int, ...], body: Callable[..., Any], says: str
) -> None:
    c = tw.compute(shape, body, name="C")
    with pytest.raises(ExprError) as caught:
        tw.Task([A, c])
    assert str(caught.value).startswith("C: ")
    assert says.replace(" . ", " + ") in str(caught.value)
    assert str(caught.value).endswith("; guard the access with tw.select")


@pytest.mark.parametrize(
    "body",
    [
        lambda i, j: tw.select(i < 7, A[i + 1, j], 0.0),
        lambda i, j: tw.select((j > 0) & (i > 1), A[i - 2, j - 1], A[i, j]),
        lambda i, j: A[7 - i, (j + 3) % 6],
        lambda i, j: A[(i * 6 + j) // 6, (i * 6 + j) % 6],
        lambda i, j: A[tw.minimum(i + 3, 7), tw.maximum(j - 2, 0)],
    ],
)
def test_reads_inside_are_taken(body: Callable[..., Any]) -> None:
    tw.Task([A, tw.compute((8, 6), body, name="C")])


@pytest.mark.parametrize(
    ("function", "ours"),
    [
        *(
            (f, f"use tw.{f.__name__}")
            for f in (np.exp, np.log, np.sqrt, np.tanh, np.sin, np.floor)
        ),
        (np.abs, "use tw.abs"),
        (np.rint, "use tw.round"),
        (np.arctan, "there are tw."),
        (lambda x: np.maximum(x, 0), "use tw.maximum"),
        (lambda x: np.power(x, 2), "use tw.power"),
        (lambda x: np.add.reduce(x), "np.add takes numbers, not expressions"),
    ],
)
@pytest.mark.parametrize("operand", [A[0, 0], A[0, 0] + 1.0, K], ids=["read", "sum", "axis"])
def test_numpys_functions_name_ours(function: Any, ours: str, operand: Any) -> None:
    with pytest.raises(ExprError, match=ours):
        function(operand)


def test_functions_of_math_name_ours() -> None:
    for function in (math.exp, math.sqrt, float):
        with pytest.raises(ExprError, match=r"use tw\.exp and the like, not those of math"):
            function(A[0, 0])


def test_a_tensor_is_computed_element_by_element() -> None:
    with pytest.raises(ExprError, match=r"A is a tensor, which np\.exp cannot take: compute its"):
        np.exp(A)


@pytest.mark.parametrize(
    "number", [np.float32(2), np.float64(2), np.array(2.0), np.array(2, np.int8)]
)
def test_numpys_numbers_are_numbers(number: Any) -> None:
    x = A[0, 0]
    two = number.item()
    assert number * x == two * x and number + x == two + x and number - x == two - x
    assert number / x == two / x
    assert [(number < x).op, (number >= x).op] == ["lt", "ge"]


def test_arrays_of_numpy_make_arrays_of_expressions() -> None:
    x = A[0, 0]
    assert (np.array([1.0, 2.0]) * x).tolist() == [1.0 * x, 2.0 * x]
