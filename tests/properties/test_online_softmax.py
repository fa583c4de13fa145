"""Softmax in its online form: which sums have it, and that it computes the same, however masked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from random_dags import Case
from random_schedules import random_step
from test_random_programs import check_program, compare

from kernel_calls import poisoned
from tilewright.cost.candidates import Population
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.reference import static_shape
from tilewright.expr.rewrites import online_softmax as math
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ScheduleError
from tilewright.nest.print import program_text
from tilewright.nest.verify import verify
from tilewright.schedule.lower import lower
from tilewright.schedule.online_softmax_step import softmax_product
from tilewright.schedule.state import State
from tilewright.schedule.steps import OnlineSoftmax
from tilewright.space.rules import online_softmax
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import interpreted, shuffled
from workloads import given

pytestmark = [pytest.mark.cpu, pytest.mark.no_cover]

TARGETS = (Target.parse("cpu:icelake-server cores=2"), Target.parse("cpu:haswell cores=1"))
DAGS = 10
ROWS = 3  # of each sketch
DRAWS = 1024


def attention(heads: int, rows: int, keys: int, width: int, out: int) -> ComputeDAG:
    """Masked scores, with the mask and the scale between the products."""
    q, k = given(heads, rows, width, name="q"), given(heads, width, keys, name="k")
    scores = ops.multiply(ops.batch_matmul(q, k, name="scores"), 0.125, name="scaled")
    masked = ops.add(scores, given(rows, keys, name="mask"), name="masked")
    p = ops.softmax(masked, name="p")
    return ComputeDAG([ops.batch_matmul(p, given(heads, keys, out, name="v"), name="y")])


def arrays_of(dag: ComputeDAG, rng: np.random.Generator) -> dict[str, Any]:
    """A quarter of the scores masked; a chunk of keys wholly, and in one program of two a row."""
    found = {t.name: rng.standard_normal(static_shape(t)).astype("f4") for t in dag.inputs}
    mask = np.where(rng.random(found["mask"].shape) < 0.25, -np.inf, 0.0).astype("f4")
    keys = mask.shape[1]
    mask[:, keys // 4 : keys // 2] = -np.inf
    if rng.random() < 0.5:
        mask[int(rng.integers(len(mask)))] = -np.inf
    return {**found, "mask": mask, "q": found["q"] * np.float32(rng.choice((1, 100)))}


def test_random_programs_of_the_rule_equal_the_math(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online_softmax, "NEAR", 0.0)
    monkeypatch.setattr(math, "LENGTHS", (2, 5))
    met: Counter[str] = Counter()
    for seed in range(DAGS):
        rng = np.random.default_rng(seed)
        heads, rows, width, out = (int(rng.integers(1, n)) for n in (4, 18, 7, 20))
        dag = attention(heads, rows, int(rng.choice((8, 16, 20, 24, 33))), width, out)
        if seed % 2:  # what reads the result is tiled with it
            dag = ComputeDAG([ops.transpose(dag.outputs[0], (1, 0, 2), name="turned")])
        case = Case(dag, arrays_of(dag, rng), is_exact=False)
        space = Space(dag, TARGETS[seed % len(TARGETS)])
        expected = dag.evaluate(case.arrays)
        for number, sketch in enumerate(space.sketches):
            if "online_softmax" not in sketch.rules:
                continue
            drawn = Population(space.draw(rng, DRAWS), np.full(DRAWS, number))
            found = drawn.rows[space.satisfied(drawn)][:ROWS]
            for row, backend in zip(found, (poisoned, interpreted, shuffled), strict=False):
                check_program(case, space, number, row, backend, expected)
                met[backend.__name__] += 1
                met["turned"] += seed % 2
    assert min(met.values()) >= DAGS // 2 and len(met) == ROWS + 1, met


def test_any_steps_may_follow() -> None:
    met = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        dag = attention(2, int(rng.integers(1, 6)), 12, 3, int(rng.integers(1, 6)))
        arrays = arrays_of(dag, rng)
        state = State(dag).apply(OnlineSoftmax("y", int(rng.choice((1, 3, 4, 12)))))
        for _ in range(12):
            try:
                state.apply(random_step(rng, state))
            except ScheduleError:
                continue
        try:
            lowered = lower(state, "program")
        except ScheduleError:
            continue  # not all of a stage was computed that is stored further out
        verify(lowered.program)
        run = poisoned if seed % 8 == 0 else interpreted
        try:
            compare(run(lowered, arrays)["y"], dag.evaluate(arrays)["y"], exact=False)
        except Exception as error:
            error.add_note(program_text(lowered.program))
            raise
        met += 1
    assert met > 25


# ---- numbers --------------------------------------------------------------------------------

SCORES: dict[str, Callable[[np.random.Generator], Any]] = {
    "plain": lambda rng: rng.standard_normal((3, 12)),
    "large": lambda rng: rng.standard_normal((3, 12)) * 1e30,
    "as low as it goes": lambda rng: np.full((3, 12), -3e38),
    "one is left": lambda rng: np.where(np.arange(36).reshape(3, 12) % 12 == 7, 0.5, -np.inf),
    "a row is masked": lambda rng: np.repeat(np.float32([[1], [-np.inf], [1]]), 12, axis=1),
    "infinity": lambda rng: np.where(np.arange(36).reshape(3, 12) == 5, np.inf, 1.0),
    "not a number": lambda rng: np.where(np.arange(36).reshape(3, 12) == 30, np.nan, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("length", [1, 3, 12])
@pytest.mark.parametrize("name", SCORES)
def test_hard_numbers(name: str, length: int) -> None:
    """Where the direct form has NaN, and nowhere else, the online form has it."""
    rng = np.random.default_rng(0)
    dag = ComputeDAG([ops.matmul(ops.softmax(given(3, 12), name="p"), given(12, 5, name="v"))])
    arrays = {
        "x": SCORES[name](rng).astype("f4"),
        "v": rng.standard_normal((12, 5)).astype("f4"),
    }
    lowered = lower(State(dag).apply(OnlineSoftmax("matmul", length)), "k")
    (expected,) = dag.evaluate(arrays).values()
    for run in (interpreted, poisoned):
        np.testing.assert_allclose(run(lowered, arrays)["matmul"], expected, rtol=1e-5, atol=1e-6)


# ---- which sums -----------------------------------------------------------------------------


def after_softmax(make: Callable[[Tensor], Tensor], axis: int = -1) -> ComputeDAG:
    return ComputeDAG([make(ops.softmax(given(6, 8), axis, name="p"))])


def by_hand() -> ComputeDAG:
    """A softmax in other stages, and one of its keys' dimensions in front."""
    x, v = given(8, 6), given(8, 4, name="v")
    top = ops.reduce_max(x, 0, name="top")
    exps = ops.exp(ops.subtract(x, top, name="less"), name="exps")
    total = ops.reduce_sum(exps, 0, name="total")
    p = ops.transpose(ops.divide(exps, total, name="p"), (1, 0), name="turned")
    return ComputeDAG([ops.matmul(p, v, name="y")])


def shared() -> ComputeDAG:
    """Somebody else reads the softmax."""
    p = ops.softmax(given(6, 8), name="p")
    return ComputeDAG([ops.matmul(p, given(8, 4, name="v"), name="y"), ops.relu(p)])


def half() -> ComputeDAG:
    p = ops.softmax(placeholder((6, 8), "float16", name="x"), name="p")
    return ComputeDAG([ops.matmul(p, placeholder((8, 4), "float16", name="v"), name="y")])


FOUND: dict[str, tuple[Callable[[], ComputeDAG], bool]] = {
    "product": (lambda: after_softmax(lambda p: ops.matmul(p, given(8, 4, name="v"))), True),
    "weights second": (lambda: after_softmax(lambda p: ops.matmul(given(4, 6), p), 0), True),
    "by hand": (by_hand, True),
    "other axis": (lambda: after_softmax(lambda p: ops.matmul(p, given(8, 4)), 0), False),
    "with itself": (
        lambda: after_softmax(lambda p: ops.matmul(p, p, transpose_b=True)), False
    ),
    "no sum": (lambda: after_softmax(ops.relu), False),
    "logarithm": (
        lambda: ComputeDAG([ops.matmul(ops.log_softmax(given(6, 8)), given(8, 4, name="v"))]), False
    ),
    "shared": (shared, False),
    "half": (half, False),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_which_sums_have_an_online_form(name: str) -> None:
    make, expected = FOUND[name]
    dag = make()
    state = State(dag)
    end = next(s for s in reversed(state.stages.values()) if s.name != "relu" or name == "no sum")
    assert (softmax_product(state, end) is not None) is expected
    if expected:
        arrays = {
            t.name: np.random.default_rng(0).standard_normal(static_shape(t)).astype("f4")
            for t in dag.inputs
        }
        lowered = lower(state.apply(OnlineSoftmax(end.name, 2)), "k")
        found = interpreted(lowered, arrays)[end.name]
        np.testing.assert_allclose(found, dag.evaluate(arrays)[end.name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("extent", "found"),
    [
        (1024, [256]),
        (4096, [256, 512]),
        (3000, [250, 500]),
        (1500, [250, 375]),
        (4099, []),
        (6, []),
    ],
)
def test_chunks_divide_rows(extent: int, found: list[int]) -> None:
    assert math.lengths(extent) == found


@pytest.mark.parametrize(("keys", "offered"), [(256, False), (16384, True), (16381, False)])
def test_long_rows_are_offered_it(keys: int, offered: bool) -> None:
    """Not where some rows stay in the first-level cache, nor where no chunk divides them."""
    space = Space(attention(1, 32, keys, 16, 16), TARGETS[0])
    assert any("online_softmax" in s.rules for s in space.sketches) is offered
