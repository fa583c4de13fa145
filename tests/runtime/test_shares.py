"""Iterations of a parallel region: each is done once, and a thread that is held up is helped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from native_kernels import fill_in, object_code

from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.shares import STEPS, fork
from tilewright.runtime import Artifact, BufferSpec
from tilewright.runtime.function import CompiledFunction
from tilewright.target import Target

# y[i] += 1 for lo <= i < hi, and y[{total}] counts all. Iteration {held} first waits until the
# others are done, a long time at most, and keeps in y[{total} + 1] how many were.
WORK = """
define internal void @work1(ptr %y, ptr %local, i64 %lo, i64 %hi) {
entry:
  %done = getelementptr i32, ptr %y, i64 {total}
  %seen = getelementptr i32, ptr %done, i64 1
  br label %loop
loop:
  %i = phi i64 [ %lo, %entry ], [ %next, %count ]
  %held = icmp eq i64 %i, {held}
  br i1 %held, label %wait, label %count
wait:
  %polls = phi i64 [ 0, %loop ], [ %polls.next, %wait ]
  %finished = load atomic i32, ptr %done monotonic, align 4
  store i32 %finished, ptr %seen
  %polls.next = add i64 %polls, 1
  %others = icmp slt i32 %finished, {others}
  %patient = icmp slt i64 %polls, 3000000000
  %on = and i1 %others, %patient
  br i1 %on, label %wait, label %count
count:
  %slot = getelementptr i32, ptr %y, i64 %i
  %once = atomicrmw add ptr %slot, i32 1 monotonic
  %all = atomicrmw add ptr %done, i32 1 monotonic
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %hi
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""


def counted(total: int, threads: int, held: int = -1) -> np.ndarray[Any, Any]:
    """y after a region of `total` iterations."""
    m, b = Module(), Builder("kernel", ["ptr %buffers", "ptr %params", "ptr %scratch"])
    y = b.here("load ptr, ptr %buffers")
    b.do(f"call void @llvm.memset.p0.i64(ptr {y}, i8 0, i64 {4 * (total + 2)}, i1 false)")
    m.declare("llvm.memset.p0.i64", "void", ["ptr", "i8", "i64", "i1"])
    fork(m, b, 1, [f"ptr {y}", "ptr %scratch"], total, 0, threads)
    m.functions += [fill_in(WORK, total=total, others=total - 1, held=held)]
    m.functions += [b.text("define void", "#0")]
    out = BufferSpec("y", (total + 2,), "int32")
    code = object_code(m.text("nounwind"))
    artifact = Artifact("kernel", str(Target.parse("cpu")), code, (), (), (out,), (), 64)
    [found] = CompiledFunction(artifact)()
    return found


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("total", [1, 2, 7, 64, 1000])
def test_every_iteration_is_done_once(total: int, threads: int) -> None:
    y = counted(total, threads)
    assert y[:total].tolist() == [1] * total
    assert y[total] == total


@pytest.mark.parametrize("held", [0, STEPS])  # the first of either share
def test_who_has_finished_takes_what_another_left(held: int) -> None:
    total = 2 * STEPS  # one iteration a step
    y = counted(total, 2, held)
    assert y[: total + 1].tolist() == [1] * total + [total]
    assert y[total + 1] == total - 1
