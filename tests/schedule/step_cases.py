"""One case a transform step: a DAG, the steps before it, the step itself.

CASES["split"].before() -> State        CASES["split"].step -> Split("C", "i", (2, 4))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import select
from tilewright.expr.tensors import cast, compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.schedule import steps
from tilewright.schedule.state import State


@dataclass(frozen=True)
class Case:
    """`step` applied to the DAG after `prelude`."""

    dag: Callable[[], ComputeDAG]
    step: steps.Step
    prelude: tuple[steps.Step, ...] = ()

    def before(self) -> State:
        return State(self.dag()).replay(self.prelude)


def matmul() -> ComputeDAG:
    """C = A · B, 8 x 12 x 6; B is a constant."""
    a, b = placeholder((8, 6), name="A"), placeholder((6, 12), name="B", constant=True)
    return ComputeDAG([ops.matmul(a, b, name="C")])


def of_bytes() -> ComputeDAG:
    """C = A · B in int32, 8 x 12 x 6."""
    a = placeholder((8, 6), name="A", dtype="uint8")
    b = placeholder((6, 12), name="B", dtype="int8")
    k = reduce_axis(6, "k")

    def product(i: Any, j: Any) -> Any:
        return sum_over(cast("int32", a[i, k]) * cast("int32", b[k, j]), k)

    return ComputeDAG([compute((8, 12), product, name="C")])


def matmul_relu() -> ComputeDAG:
    """D = max(C, 0)."""
    return ComputeDAG([ops.relu(matmul().outputs[0], name="D")])


def shifted() -> ComputeDAG:
    """D takes columns 1 to 8 of C: where C is computed inside, it needs a part of B."""
    c = matmul().outputs[0]
    return ComputeDAG([ops.strided_slice(c, (0, 1), (8, 9), name="D")])


def blur() -> ComputeDAG:
    """P pads x by one on either side; y[i] = Σ P[i + r] over r < 3."""
    x = placeholder((10,), name="x")
    p = compute((12,), lambda i: select((i >= 1) & (i < 11), x[i - 1], 0.0), name="P")
    r = reduce_axis(3, "r")
    return ComputeDAG([compute((10,), lambda i: sum_over(p[i + r], r), name="y")])


def spread() -> ComputeDAG:
    """y[h] = Σ z[h + r] * w[r] over r < 5, where every other element of z is zero."""
    x, w = placeholder((6,), name="x"), placeholder((5,), name="w", constant=True)
    z = compute((13,), lambda i: select((i % 2).eq(0) & (i < 12), x[i // 2], 0.0), name="z")
    r = reduce_axis(5, "r")
    return ComputeDAG([compute((9,), lambda h: sum_over(z[h + r] * w[r], r), name="y")])


def rows() -> ComputeDAG:
    """A convolution along h: y[h, o] = Σ x[h + r, c] * w[r, c, o] over r < 3, c < 4."""
    x, w = placeholder((11, 4), name="x"), placeholder((3, 4, 8), name="w", constant=True)
    r, c = reduce_axis(3, "r"), reduce_axis(4, "c")
    y = compute((9, 8), lambda h, o: sum_over(x[h + r, c] * w[r, c, o], (r, c)), name="y")
    return ComputeDAG([y])


def attention() -> ComputeDAG:
    """y = softmax(x) · v along 8 keys."""
    x, v = placeholder((3, 8), name="x"), placeholder((8, 2), name="v")
    return ComputeDAG([ops.matmul(ops.softmax(x, name="p"), v, name="y")])


def prefixes() -> ComputeDAG:
    """y[i] = Σ e[k] over k <= i, along the first axis."""
    e = ops.exp(placeholder((6, 10), name="x"), name="e")
    return ComputeDAG([ops.cumulative(e, 0, name="y")])


def two_readers() -> ComputeDAG:
    """y = a / b, where a doubles p and b sums its rows."""
    x = placeholder((4, 6), name="x")
    p = compute((4, 6), lambda i, j: x[i, j] + 1.0, name="p")
    a = compute((4, 6), lambda i, j: p[i, j] * 2.0, name="a")
    r = reduce_axis(6, "r")
    b = compute((4,), lambda i: sum_over(p[i, r], r), name="b")
    return ComputeDAG([compute((4, 6), lambda i, j: a[i, j] / b[i], name="y")])


TILED = (
    steps.Split("C", "i", (4,)),
    steps.Split("C", "j", (4,)),
    steps.Reorder("C", (("i.0", "j.0"), ("k",), ("i.1", "j.1"))),
)

BOUND = (*TILED, steps.Annotate("C", "i.0", "block"), steps.Annotate("C", "j.1", "thread.x"))
FETCHED = (
    steps.CacheRead("A", ("C",)),
    *BOUND,
    steps.ComputeAt("A.C", "C", 1),
    steps.SetScope("A.C", "shared"),
)

IN_ROWS = (steps.ComputeAt("b", "y", 0), steps.ComputeAt("a", "y", 0))

CASES: dict[str, Case] = {
    "split": Case(matmul, steps.Split("C", "i", (2, 2))),
    "split_padded": Case(matmul, steps.Split("C", "j", (5,))),
    "split_twice_padded": Case(
        matmul, steps.Split("C", "k.1", (2,)), (steps.Split("C", "k", (3,)),)
    ),
    "follow_split": Case(
        matmul_relu,
        steps.FollowSplit("D", "i0", "C", "i", 2),
        (steps.Split("C", "i", (2, 2)),),
    ),
    "follow_fused_split": Case(
        matmul_relu,
        steps.FollowFusedSplit("D", "i0@i1", "C", ("i", "j"), 1),
        (*TILED[:2], steps.Fuse("D", ("i0", "i1"))),
    ),
    "fuse": Case(matmul, steps.Fuse("C", ("i", "j"))),
    "reorder": Case(
        matmul, steps.Reorder("C", (("k",), ("j", "i.0"), ("i.1",))), (steps.Split("C", "i", (4,)),)
    ),
    "compute_at": Case(matmul_relu, steps.ComputeAt("C", "D", 0)),
    "compute_at_window": Case(blur, steps.ComputeAt("P", "y", 0), (steps.Split("y", "i", (4,)),)),
    "compute_root": Case(blur, steps.ComputeRoot("P"), (steps.ComputeAt("P", "y", 0),)),
    "compute_inline": Case(blur, steps.ComputeInline("P")),
    "cache_write": Case(matmul, steps.CacheWrite("C")),
    "cache_read": Case(matmul, steps.CacheRead("A", ("C",))),
    "widen_read": Case(of_bytes, steps.WidenRead("C", "A")),
    "pack_read": Case(matmul, steps.PackRead("C", "B", "k", "j", 4)),
    "rfactor_outer": Case(matmul, steps.RFactor("C", "k", 2, outer=True)),
    "rfactor_padded": Case(matmul, steps.RFactor("C", "k", 4)),
    "winograd": Case(rows, steps.Winograd("y", ("h",), 2)),
    "winograd_grid": Case(rows, steps.WinogradGrid("y", ("h",), 2)),
    "online_softmax": Case(attention, steps.OnlineSoftmax("y", 4)),
    "form": Case(prefixes, steps.UseForm("y", "running", 4), (steps.ComputeInline("e"),)),
    "store_at": Case(two_readers, steps.StoreAt("p", "y", 0), IN_ROWS),
    "store_at_deeper": Case(
        two_readers, steps.ComputeAt("p", "a", 1), (*IN_ROWS, steps.StoreAt("p", "y", 0))
    ),
    "skip_zeros": Case(spread, steps.SkipZeros("y"), (steps.ComputeInline("z"),)),
    "annotate": Case(matmul, steps.Annotate("C", "j.1", "vector"), TILED),
    "parallel": Case(matmul, steps.Parallel("C", 2), TILED),
    "mark_unroll_step": Case(matmul, steps.Mark("C", "unroll_step", 16), TILED),
    "mark_streamed": Case(matmul, steps.Mark("C", "streamed", 1)),
    "mark_align": Case(matmul_relu, steps.Mark("C", "align", 16), (steps.ComputeAt("C", "D", 0),)),
    "layout_rewrite": Case(matmul, steps.LayoutRewrite("C", "B"), TILED),
    "layout_rewrite_window": Case(
        shifted, steps.LayoutRewrite("C", "B"), (steps.ComputeAt("C", "D", 0),)
    ),
    "bind": Case(matmul, BOUND[-1], BOUND[:-1]),
    "bind_cooperative": Case(
        matmul,
        steps.Annotate("A.C", "d0@d1.1", "thread.x"),
        (*FETCHED, steps.Fuse("A.C", ("d0", "d1")), steps.Split("A.C", "d0@d1", (4,))),
    ),
    "bind_reduction": Case(
        matmul,
        steps.Annotate("C", "k.f", "thread.x"),
        (
            steps.RFactor("C", "k", 2),
            steps.Annotate("C", "i", "block"),
            steps.Annotate("C", "j", "thread.y"),
            steps.ComputeAt("C.rf", "C", 2),
        ),
    ),
    "scope": Case(matmul, FETCHED[-1], FETCHED[:-1]),
}
