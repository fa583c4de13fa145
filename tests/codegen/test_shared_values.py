"""Values whose parts are used again and again, from a stage to machine code and to C.

Written out, each has 2^24 nodes or more: who looked at them one by one would take minutes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kernel_runs import check

from tilewright.codegen.clike import emit
from tilewright.codegen.clike.cuda import Cuda
from tilewright.codegen.clike.opencl import OpenclC
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr, Tensor, binary, call, cast, select
from tilewright.expr.operators.movement import clamped_index
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.nest.nodes import Program
from tilewright.nest.print import program_text
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import Annotate

pytestmark = pytest.mark.cpu

LEVELS = 24
X = placeholder((48,), name="x")


def through(e: Expr) -> Expr:
    """An element at a place that data decide."""
    return X[clamped_index(cast("int64", e * 4), 48, "x")]


STEPS: dict[str, Callable[[Expr], Expr]] = {
    "sum": lambda e: (e + e) * 0.5,
    "least": lambda e: binary("min", e, 1 - e),
    "call": lambda e: call("fma", e, 0.25, e * 0.5),
    "branches": lambda e: select(e > 0.5, e * 0.5, e + 0.25),
    "index": lambda e: through(e) - through(e + 1),
}


def chain(step: str, first: Expr) -> Expr:
    """Steps, so many levels of each as give so many nodes."""
    for _ in range(LEVELS // 4 if step == "index" else LEVELS):
        first = STEPS[step](first)
    return first


def mapped(step: str) -> Tensor:
    return compute((48,), lambda i: chain(step, X[i]), name="y")


def summed(step: str) -> Tensor:
    k = reduce_axis(12, "k")
    return compute((4,), lambda i: sum_over(chain(step, X[i * 12 + k]), k), name="y")


def padded(step: str) -> Tensor:
    def body(i: Expr) -> Expr:
        inside = (i >= 1) & (i < 40)
        return select(inside, chain(step, X[i - 1]), 0.0)

    return compute((41,), body, name="y")


def program(tensor: Tensor, kind: str = "serial") -> Program:
    state = State(ComputeDAG([tensor]))
    state.apply(Annotate("y", "i", kind))
    return lower(state, "shared").program


@pytest.mark.parametrize("make", [mapped, summed, padded])
@pytest.mark.parametrize("step", STEPS)
def test_machine_code_computes_each_part_once(step: str, make: Callable[[str], Tensor]) -> None:
    check(program(make(step)))


@pytest.mark.parametrize("step", STEPS)
def test_vectors_of_parts_are_computed_once(step: str) -> None:
    check(program(mapped(step), "vector"))


@pytest.mark.parametrize("make", [mapped, padded])
@pytest.mark.parametrize("step", STEPS)
def test_texts_name_what_is_used_again(step: str, make: Callable[[str], Tensor]) -> None:
    nest = program(make(step), "thread.x")
    assert len(program_text(nest)) < 30_000
    for dialect in (Cuda(), OpenclC()):
        text = emit(nest, dialect).ir
        assert " part = " in text and len(text) < 60_000
