"""Which loops may run side by side: one case for each rule, and for each way to break it."""

from __future__ import annotations

import numpy as np
import pytest
from nest_programs import ZERO, gemm, loops, stencil, variables

from tilewright.expr.dtypes import FLOAT32, INT64
from tilewright.expr.nodes import Tensor, const
from tilewright.expr.tensors import placeholder
from tilewright.nest.nodes import Alloc, For, Kind, Node, Store, seq, walk
from tilewright.nest.reference.lanes import Lanes
from tilewright.nest.reference.lockstep import lockstep_loops

IV, JV, KV = variables("i j k")
X = placeholder((8, 8), name="x")
Y = Tensor("y", (8,), FLOAT32)
LINE = placeholder((8,), name="line")
AT = (const(0, INT64),)


def names(body: Node, *, parallel: bool = True) -> list[str]:
    """Variables of the lockstep loops, outermost first."""
    found = lockstep_loops(body, parallel=parallel)
    return [n.var.name for n in walk(body) if isinstance(n, For) and id(n) in found]


def all_loops(body: Node) -> list[str]:
    return [n.var.name for n in walk(body) if isinstance(n, For)]


@pytest.mark.parametrize("body", [gemm(10).body, stencil(10).body])
def test_all_loops_of_a_schedule(body: Node) -> None:
    assert names(body) == all_loops(body)


def test_parallel_loops_may_be_left_out() -> None:
    assert "i.0" not in names(gemm(8).body, parallel=False)
    assert "j" in names(gemm(8).body, parallel=False)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # 1. a single overwriting statement; 2. one reduction
        (loops(Store(Y, (JV,), X[IV, JV]), (IV, 8), (JV, 8)), ["i", "j"]),
        (loops(Store(Y, (IV,), X[IV, KV], "sum"), (KV, 8), (IV, 8)), ["k", "i"]),
        # two statements that write the same elements in turn
        (For(IV, 8, seq(Store(Y, AT, LINE[IV]), Store(Y, AT, ZERO))), []),
        # 3. elements apart, and a recurrence that is not
        (For(IV, 8, seq(Store(Y, (IV,), ZERO), Store(Y, (IV,), LINE[IV], "sum"))), ["i"]),
        (For(IV, 7, Store(Y, (IV + 1,), Y[IV])), []),
        # tiles that overlap by their inner loop
        (
            For(IV, 2, For(JV, 3, seq(Store(Y, (IV * 2 + JV,), ZERO), Store(Y, (JV,), ZERO)))),
            [],
        ),
        # an index that is not affine in the loop
        (For(IV, 8, seq(Store(Y, (IV // 2,), ZERO), Store(Y, (IV // 2,), ZERO, "sum"))), []),
        # different reductions of one element do not commute
        (For(IV, 8, seq(Store(Y, AT, ZERO, "max"), Store(Y, AT, ZERO, "sum"))), []),
    ],
)
def test_rules(body: Node, expected: list[str]) -> None:
    assert names(body) == expected


def test_scratch_inside_the_loop_is_private_and_outside_is_not() -> None:
    w = Tensor("w", (1,), FLOAT32)
    use = seq(Store(w, AT, LINE[IV]), Store(Y, (IV,), w[AT[0]]))
    assert names(For(IV, 8, Alloc(w, AT, use))) == ["i"]
    assert names(Alloc(w, AT, For(IV, 8, use))) == []


def test_an_overwrite_needs_the_loops_between_in_order() -> None:
    """`j` must run one by one for `w`, so `i` may not move its writes of `y` after one another."""
    w = Tensor("w", (9,), FLOAT32)
    chain = Store(w, (JV + 1,), w[JV])
    body = For(IV, 8, Alloc(w, AT, For(JV, 8, seq(chain, Store(Y, AT, LINE[IV])))), Kind.SERIAL)
    assert names(body) == []


def test_lanes_keep_the_order_of_the_loops() -> None:
    lanes = Lanes.single().spread("i", 3).spread("j", 2)
    np.testing.assert_array_equal(lanes.get("i"), [0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(lanes.get("j"), [0, 1, 0, 1, 0, 1])
    some = lanes.where(lanes.get("i") != 1).setting({"k": 7})
    np.testing.assert_array_equal(some.get("i"), [0, 0, 2, 2])
    np.testing.assert_array_equal(some.get("k"), [7, 7, 7, 7])
    with pytest.raises(KeyError, match="m"):
        some.get("m")
