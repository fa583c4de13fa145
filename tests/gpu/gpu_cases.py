"""Programs for the workers of a GPU, scheduled by hand: what the tests of this folder run.

CASES["gemm"].lowered() -> Lowered        CASES["gemm"].arrays(rng) -> {"A": …, "B": …}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tilewright.build import build
from tilewright.contract.artifact import Artifact
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr, Tensor
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.runtime.device import Device, DeviceFunction
from tilewright.schedule.lower import Lowered, lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import (
    Annotate,
    CacheRead,
    ComputeAt,
    ComputeInline,
    FollowFusedSplit,
    FollowSplit,
    Fuse,
    Mark,
    Reorder,
    RFactor,
    SetScope,
    Split,
    Step,
)
from tilewright.target import Target

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    dag: Callable[[], ComputeDAG]
    trace: tuple[Step, ...]

    def lowered(self) -> Lowered:
        return lower(State(self.dag()).replay(self.trace), "kernel")

    def artifact(self, target: Target) -> Artifact:
        return build(self.dag(), self.trace, target, "kernel")

    def arrays(self, seed: int = 0) -> dict[str, Array]:
        rng = np.random.default_rng(seed)
        return {
            t.name: rng.standard_normal(t.shape).astype(t.dtype.numpy)
            for t in (*self.dag().inputs, *self.dag().constants)
        }

    def check(self, artifact: Artifact, device: Device) -> None:
        """Run on a device; the outputs must be those of the math."""
        arrays = self.arrays()
        fn = DeviceFunction(artifact, device)
        fn.prepare({p.source.name: arrays[p.source.name] for p in artifact.packings})
        found = fn(*(arrays[s.name] for s in artifact.inputs))
        expected = self.dag().evaluate(arrays)
        for spec, array in zip(artifact.outputs, found, strict=True):
            wanted = expected[spec.name]
            assert array.dtype == wanted.dtype
            tolerance = 2e-3 if wanted.dtype == np.float16 else 1e-4
            np.testing.assert_allclose(
                array.astype(np.float64), wanted.astype(np.float64), tolerance, tolerance
            )


def gemm_relu(m: int, n: int, k: int, dtype: str = "float32") -> ComputeDAG:
    a, b = placeholder((m, k), dtype, name="A"), placeholder((k, n), dtype, name="B")
    return ComputeDAG([ops.relu(ops.matmul(a, b, name="C"), name="D")])


def fetch(stage: str, cache: str, width: int, align: int = 1) -> tuple[Step, ...]:
    """A cache of an operand, filled by all threads of the block, `width` elements at a time; its
    rows are half of `align` beyond a multiple of it.
    """
    return (
        ComputeAt(cache, stage, 3),
        SetScope(cache, "shared"),
        *((Mark(cache, "align", align),) if align > 1 else ()),
        Fuse(cache, ("d0", "d1")),
        Split(cache, "d0@d1", (width,)),
        FollowFusedSplit(cache, "d0@d1.0", stage, ("i", "j"), 2),
        Annotate(cache, "d0@d1.0.1", "thread.x"),
        Annotate(cache, "d0@d1.1", "vector"),
    )


def tiled(
    width: int = 4,
    k: tuple[int, ...] = (2, 4),
    stage: str = "C",
    aligns: tuple[int, int] = (1, 1),
) -> tuple[Step, ...]:
    """Blocks of 2 virtual x 4 real threads of 2 x 1 elements in both directions."""
    letters = ("block", "virtual thread", "thread.x")
    inner = [(stage, f"{x}.{level}") for x in "ij" for level in (3, 4)]
    inner += [("D", f"{x}.3") for x in ("i0", "i1")]
    return (
        *(() if stage == "C" else (ComputeInline("C"),)),
        CacheRead("A", (stage,)),
        CacheRead("B", (stage,)),
        Split(stage, "i", (2, 4, 2, 1)),
        Split(stage, "j", (2, 4, 2, 1)),
        Split(stage, "k", k),
        Reorder(
            stage,
            (
                ("i.0", "j.0"), ("i.1", "j.1"), ("i.2", "j.2"), ("k.0",), ("k.1",),
                ("i.3", "j.3"), ("k.2",), ("i.4", "j.4"),
            ),
        ),
        FollowSplit("D", "i0", stage, "i", 4),
        FollowSplit("D", "i1", stage, "j", 4),
        Reorder("D", tuple((f"i0.{level}", f"i1.{level}") for level in range(4))),
        *(Annotate("D", f"{x}.{i}", w) for x in ("i0", "i1") for i, w in enumerate(letters)),
        ComputeAt(stage, "D", 2),
        *(Annotate(name, leaf, "unrolled") for name, leaf in inner),
        *fetch(stage, f"A.{stage}", width, aligns[0]),
        *fetch(stage, f"B.{stage}", width, aligns[1]),
    )  # fmt: skip


def row_sums(rows: int, columns: int) -> ComputeDAG:
    x = placeholder((rows, columns), name="x")
    k = reduce_axis(columns, "k")
    return ComputeDAG([compute((rows,), lambda i: sum_over(x[i, k] * x[i, k], k), name="s")])


def combined(threads: int, rows: int) -> tuple[Step, ...]:
    """`threads` of each row reduce to one result; `rows` rows a block."""
    return (
        RFactor("s", "k", threads),
        Split("s", "i", (rows,)),
        Annotate("s", "i.0", "block"),
        Annotate("s", "i.1", "thread.y"),
        Annotate("s", "k.f", "thread.x"),
        ComputeAt("s.rf", "s", 1),
    )


def halves(function: Callable[..., Tensor]) -> ComputeDAG:
    """A function of every element of a float16 tensor."""
    return ComputeDAG([function(placeholder((6, 40), "float16", name="x"), name="y")])


EIGHT_A_THREAD: tuple[Step, ...] = (
    Split("y", "i1", (8,)),
    Annotate("y", "i0", "block"),
    Annotate("y", "i1.0", "thread.x"),
    Annotate("y", "i1.1", "vector"),
)


def chain(rows: int, columns: int) -> ComputeDAG:
    """t needs all of a row of s, y all of a row of t and u; u could be in the bytes of s."""
    shape, x = (rows, columns), placeholder((rows, columns), name="x")

    def last(t: Tensor, b: Expr, i: Expr) -> Expr:
        return t[b, columns - 1 - i]

    s = compute(shape, lambda b, i: x[b, i] * 2.0 - last(x, b, i), name="s")
    t = compute(shape, lambda b, i: s[b, i] - last(s, b, i) * 3.0, name="t")
    u = compute(shape, lambda b, i: x[b, i] * x[b, i], name="u")
    return ComputeDAG([compute(shape, lambda b, i: last(t, b, i) - last(u, b, i), name="y")])


def in_shared_memory(*stages: str) -> tuple[Step, ...]:
    """Stages that the threads of y's blocks compute together, one after the other."""
    return tuple(
        step
        for stage in stages
        for step in (
            ComputeAt(stage, "y", 0),
            SetScope(stage, "shared"),
            Annotate(stage, "i", "thread.x"),
        )
    )


def scaled_rows(rows: int, columns: int) -> ComputeDAG:
    """Every row's sum, times its largest element: two reductions of one block."""
    x = placeholder((rows, columns), name="x")
    k, r = reduce_axis(columns, "k"), reduce_axis(columns, "r")
    m = compute((rows,), lambda i: max_over(x[i, r], r), name="m")
    return ComputeDAG([compute((rows,), lambda i: sum_over(x[i, k] * m[i], k), name="s")])


def two_kernels() -> ComputeDAG:
    """y = 2 x, z = y + its reverse: the second kernel reads what all blocks of the first wrote."""
    x = placeholder((12,), name="x")
    y = compute((12,), lambda i: x[i] * 2.0, name="y")
    return ComputeDAG([compute((12,), lambda i: y[i] + y[11 - i], name="z")])


CASES: dict[str, Case] = {
    "gemm": Case(lambda: gemm_relu(32, 32, 16), tiled()),
    "gemm_padded": Case(lambda: gemm_relu(27, 19, 13), tiled(2, (2, 3))),
    "gemm_half": Case(lambda: gemm_relu(32, 32, 16, "float16"), tiled(stage="C_acc")),
    "gemm_aligned": Case(lambda: gemm_relu(32, 32, 16), tiled(aligns=(2, 8))),
    "gemm_half_eight": Case(lambda: gemm_relu(32, 32, 16, "float16"), tiled(8, stage="C_acc")),
    "gemm_half_padded": Case(
        lambda: gemm_relu(27, 24, 13, "float16"), tiled(8, stage="C_acc", aligns=(2, 16))
    ),
    # 51200 bytes of shared memory
    "gemm_deep": Case(lambda: gemm_relu(32, 32, 800), tiled(k=(50, 8))),
    "half_relu": Case(lambda: halves(ops.relu), EIGHT_A_THREAD),
    "half_floats": Case(lambda: halves(partial(ops.cast_to, dtype="float32")), EIGHT_A_THREAD),
    "rows_warp": Case(lambda: row_sums(6, 64), combined(32, 2)),
    "rows_block": Case(lambda: row_sums(4, 96), combined(48, 1)),
    "rows_pair": Case(lambda: row_sums(6, 24), combined(12, 3)),
    "chain": Case(
        lambda: chain(5, 48),
        (
            Annotate("y", "b", "block"),
            Annotate("y", "i", "thread.x"),
            *in_shared_memory("u", "t", "s"),
        ),
    ),
    "rows_scaled": Case(
        lambda: scaled_rows(4, 96),
        (
            RFactor("s", "k", 48),
            Annotate("s", "i", "block"),
            Annotate("s", "k.f", "thread.x"),
            ComputeAt("s.rf", "s", 1),
            ComputeAt("m", "s", 0),
            RFactor("m", "r", 48),
            SetScope("m", "shared"),
            Annotate("m", "r.f", "thread.x"),
            ComputeAt("m.rf", "m", 1),
        ),
    ),
    "two_kernels": Case(
        two_kernels,
        tuple(
            step
            for s in ("y", "z")
            for step in (
                Split(s, "i", (4,)),
                Annotate(s, "i.0", "block"),
                Annotate(s, "i.1", "thread.x"),
            )
        ),
    ),
}
