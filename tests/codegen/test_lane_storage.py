"""Storage inside loops whose iterations run at once belongs to each of them, compiled as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from kernel_runs import run

from tilewright.codegen.passes import cpu_passes
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import select
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.nest.nodes import Alloc, For, Kind, Program, walk
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import (
    Annotate,
    CacheRead,
    CacheWrite,
    ComputeAt,
    FollowSplit,
    Reorder,
    Split,
    Step,
)
from tilewright.target import Target

pytestmark = pytest.mark.cpu

TARGETS = {name: Target.parse(f"cpu:{name}") for name in ("haswell", "icelake-server")}


def matmul_relu(n: int = 10) -> ComputeDAG:
    a, b = placeholder((3, 7), name="A"), placeholder((7, n), name="B")
    c = ops.matmul(a, b, name="C")
    return ComputeDAG([compute((3, n), lambda i, j: select(c[i, j] > 0.0, c[i, j], 0.0), name="D")])


def padded_sums(n: int = 10) -> ComputeDAG:
    """C[i] = Σ over r < 3 of P[i + r], P the input with a zero at both ends."""
    x, r = placeholder((n,), name="x"), reduce_axis(3, "r")
    padded = compute(
        (n + 2,), lambda i: select((i >= 1) & (i < n + 1), x[i - 1] * 2.0, 0.0), name="P"
    )
    return ComputeDAG([compute((n,), lambda i: sum_over(padded[i + r], r), name="C")])


def squares(n: int = 21) -> ComputeDAG:
    """S = Σ over k of T[k]², T[k] = x[k] + 1."""
    x, k = placeholder((2, n), name="x"), reduce_axis(n, "k")
    t = compute((2, n), lambda i, j: x[i, j] + 1.0, name="T")
    return ComputeDAG([compute((2,), lambda i: sum_over(t[i, k] * t[i, k], k), name="S")])


@dataclass(frozen=True)
class Hand:
    """A schedule written by hand; `lanes`: an allocation stands in one of its vector loops."""

    dag: ComputeDAG
    steps: Sequence[Step]
    lanes: bool = True


VECTOR = Annotate("D", "j", "vector")
ATTACHED = ComputeAt("C", "D", 1)
SCHEDULES = {
    "attached, then vector": Hand(matmul_relu(), [ATTACHED, VECTOR]),
    "vector, then attached": Hand(matmul_relu(), [VECTOR, ATTACHED]),
    "a whole vector": Hand(matmul_relu(16), [VECTOR, ATTACHED]),
    "many vectors": Hand(matmul_relu(600), [VECTOR, ATTACHED]),
    "a followed split": Hand(
        matmul_relu(),
        [
            Split("C", "j", (1, 1, 10)),
            FollowSplit("D", "j", "C", "j", 4),
            Annotate("D", "j.3", "vector"),
            ATTACHED,
        ],
    ),
    "a vector within": Hand(matmul_relu(), [VECTOR, ATTACHED, Annotate("C", "k", "vector")]),
    "padded tiles": Hand(
        matmul_relu(), [Split("D", "j", (4,)), Annotate("D", "j.1", "vector"), ATTACHED]
    ),
    "a vector outside": Hand(
        matmul_relu(),
        [
            Split("D", "j", (4,)),
            Reorder("D", (("j.0",), ("i",), ("j.1",))),
            Annotate("D", "j.0", "vector"),
            ATTACHED,
        ],
    ),
    "a write cache": Hand(
        matmul_relu(),
        [CacheWrite("D"), VECTOR, ComputeAt("D.local", "D", 1), ComputeAt("C", "D", 1)],
    ),
    "a read cache": Hand(
        matmul_relu(),
        [CacheRead("B", ("C",)), Annotate("C", "j", "vector"), ComputeAt("B.C", "C", 1)],
    ),
    "windows": Hand(padded_sums(), [Annotate("C", "i", "vector"), ComputeAt("P", "C", 0)]),
    "windows of tiles": Hand(
        padded_sums(),
        [
            Split("C", "i", (3,)),
            Reorder("C", (("i.0",), ("i.1",), ("r",))),
            Annotate("C", "i.0", "vector"),
            ComputeAt("P", "C", 0),
        ],
    ),
    "windows of padded tiles": Hand(
        padded_sums(),
        [
            Split("C", "i", (4,)),
            Reorder("C", (("i.0",), ("i.1",), ("r",))),
            Annotate("C", "i.0", "vector"),
            ComputeAt("P", "C", 0),
        ],
    ),
    "lanes of a reduction": Hand(squares(), [Annotate("S", "k", "vector"), ComputeAt("T", "S", 1)]),
    "unrolled": Hand(matmul_relu(), [Annotate("D", "j", "unrolled"), ATTACHED], lanes=False),
    # no storage, but a running loop whose end differs between the lanes around it
    "a guard of lanes": Hand(
        ComputeDAG([ops.relu(placeholder((50,), name="x"), name="D")]),
        [
            Split("D", "i0", (7,)),
            Annotate("D", "i0.0", "vector"),
        ],
        lanes=False,
    ),
}


def program_of(hand: Hand) -> Program:
    return lower(State(hand.dag).replay(hand.steps), "program").program


def arrays_of(program: Program) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    shapes = {t.name: tuple(int(e) for e in t.shape) for t in program.inputs}
    return {n: rng.integers(-4, 5, s).astype(np.float32) for n, s in shapes.items()}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_hand_schedule_computes_the_math(name: str) -> None:
    hand = SCHEDULES[name]
    program = program_of(hand)
    inside = [
        n
        for loop in walk(program.body)
        if isinstance(loop, For) and loop.kind is Kind.VECTOR
        for n in walk(loop.body)
        if isinstance(n, Alloc)
    ]
    assert bool(inside) == hand.lanes
    arrays = arrays_of(program)
    expected = hand.dag.evaluate(arrays)
    for found in (interpret(program, arrays), run(program, arrays)):
        for key, value in expected.items():
            np.testing.assert_array_equal(found[key], value)


@pytest.mark.parametrize("name", ["windows of padded tiles", "a vector within", "padded tiles"])
@pytest.mark.parametrize("target", TARGETS)
def test_passes_keep_what_lanes_hold(name: str, target: str) -> None:
    hand = SCHEDULES[name]
    program = program_of(hand)
    arrays = arrays_of(program)
    body = program.body
    for label, step in cpu_passes(TARGETS[target]):
        body = step(body)
        changed = Program("p", program.inputs, (), (), program.outputs, body)
        verify(changed)
        for key, value in hand.dag.evaluate(arrays).items():
            np.testing.assert_array_equal(interpret(changed, arrays)[key], value, err_msg=label)


def test_storage_in_a_vector_loop_gets_a_dimension_for_the_lanes() -> None:
    _, grow = cpu_passes(TARGETS["haswell"])[0]
    program = program_of(SCHEDULES["a vector within"])
    before = [n for n in walk(program.body) if isinstance(n, Alloc)]
    after = [n for n in walk(grow(program.body)) if isinstance(n, Alloc)]
    assert [n.tensor.shape for n in before] == [(1, 1)]
    assert [n.tensor.shape for n in after] == [(1, 1, 10)]
