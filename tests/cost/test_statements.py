"""What is known of a statement before any decision."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.contract.sizes import Size, Sizes
from tilewright.cost.statements import statements
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Var, select
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import ComputeInline

ROWS: Sizes = (Size("S", 1, 64, ((6, 1.0), (64, 1.0))),)


def taps(extent: Any, sizes: Sizes) -> ComputeDAG:
    """y[i, c] = Σ P[i + r, k] * w[r, k, c] over r < 3 and k < 64; P pads rows by one."""
    x = placeholder((extent, 64), name="x")
    w = placeholder((3, 64, 32), name="w", constant=True)
    p = compute(
        (extent + 2, 64),
        lambda i, k: select((i >= 1) & (i < extent + 1), x[i - 1, k], 0.0),
        name="P",
    )
    r, k = reduce_axis(3, "r"), reduce_axis(64, "k")
    y = compute((extent, 32), lambda i, c: sum_over(p[i + r, k] * w[r, k, c], (r, k)), name="y")
    return ComputeDAG([y], sizes)


@pytest.mark.parametrize(("extent", "sizes", "asked"), [(64, (), 0), (Var("S"), ROWS, 3)])
def test_padding_of_any_size_is_asked_for_while_it_runs(
    extent: Any, sizes: Sizes, asked: int
) -> None:
    """Under the loops i, c, r, and for all of k at once."""
    state = State(taps(extent, sizes))
    state.apply(ComputeInline("P"))
    found = [s for s in statements(lower(state, "y").program) if s.stage == "y" and not s.is_init]
    assert [s.asked for s in found] == [asked]
    assert [loop.name.rpartition(".")[2] for loop in found[0].loops][:3] == ["i", "c", "r"]
