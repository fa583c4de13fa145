"""Kernels with sizes beside static ones: every case is there, a small one is measured."""

from __future__ import annotations

import pytest
from benchmarks.sizes import CASES, SizedCase, measured, product

from tilewright.contract.sizes import Size
from tilewright.expr.nodes import Var
from tilewright.target import Target


@pytest.mark.cpu
def test_a_small_case_is_measured_and_compared() -> None:
    values = ({"S": 1}, {"S": 9})
    case = SizedCase(lambda: product(Var("S"), 16, 32), (Size("S", 1, 12),), {"S": 8}, values)
    found = measured(case, Target.parse("cpu cores=1"), turns=1)
    assert [row["values"] for row in found["rows"]] == [*values]
    assert all(row["ratio"] > 0 for row in found["rows"]) and found["code_bytes"] > 0


@pytest.mark.parametrize("name", CASES)
def test_the_values_of_a_case_are_in_its_ranges(name: str) -> None:
    case = CASES[name]
    for values in (case.point, *case.values):
        assert case.dag().at(values).sizes == ()
