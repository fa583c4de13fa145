"""Random schedules that keep a stage further out than they compute it: refused, or right.

y[i] = f(a, b) reads a chunk's products `a` and what the chunks have in common, `b`; both read p
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from test_random_programs import compare

from kernel_calls import poisoned
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.reference import static_shape
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import ScheduleError
from tilewright.nest.print import program_text
from tilewright.nest.verify import verify
from tilewright.schedule.lower import lower
from tilewright.schedule.state import State
from tilewright.schedule.steps import ComputeAt, Reorder, Split, StoreAt
from tilewright.schedule.trace import trace_to_json
from tilewright.space.space import Space
from tilewright.testing import HOST, interpreted

pytestmark = [pytest.mark.cpu, pytest.mark.no_cover]

SCHEDULES = 400
COMPILED = 12


def two_readers(rng: np.random.Generator) -> ComputeDAG:
    """p is read with a step, a window and a shift by `a`; `b` reads rows, or elements."""
    rows, columns, taps = int(rng.integers(1, 9)), int(rng.integers(2, 9)), int(rng.integers(1, 4))
    step, ahead = int(rng.choice((1, 1, 1, 2))), int(rng.choice((0, 0, 0, 1)))
    read = step * (columns - 1) + taps
    length = read + ahead + 1
    x = placeholder((rows, length), name="x")
    p = compute((rows, length), lambda i, j: x[i, j] * 2.0 + 1.0, name="p")
    r = reduce_axis(taps, "r")
    a = compute((rows, columns), lambda i, j: sum_over(p[i, j * step + r + ahead], r), name="a")
    if rng.random() < 0.7:
        s = reduce_axis(read + int(rng.random() < 0.1), "s")
        b = compute((rows,), lambda i: sum_over(p[i, s + ahead], s), name="b")
    else:
        b = compute((rows,), lambda i: p[i, ahead] * 3.0, name="b")
    return ComputeDAG([compute((rows, columns), lambda i, j: a[i, j] * b[i], name="y")])


def schedule(rng: np.random.Generator, dag: ComputeDAG) -> State:
    """p stored in y and computed inside a."""
    state = State(dag)
    for name in ("y", "a"):
        for axis in ("i", "j") if name == "y" else ("i0", "i1", "i", "j"):
            if axis in state[name].leaves and rng.random() < 0.7:
                state.apply(Split(name, axis, (int(rng.integers(1, 5)),)))
        spatial = [leaf for leaf in state[name].leaves if not state[name].is_reduction(leaf)]
        outer = [leaf for leaf in spatial if not leaf.endswith(".1")]
        inner = [leaf for leaf in state[name].leaves if leaf not in outer]
        if rng.random() < 0.3:
            outer.reverse()
        state.apply(Reorder(name, (*((leaf,) for leaf in outer), *((leaf,) for leaf in inner))))
    panel, chunk = (int(rng.integers(0, 3)) for _ in range(2))
    later = panel if rng.random() < 0.7 else int(rng.integers(0, 3))
    state.apply(ComputeAt("b", "y", later)).apply(ComputeAt("a", "y", panel))
    store = panel if rng.random() < 0.7 else int(rng.integers(0, 3))
    return state.apply(StoreAt("p", "y", store)).apply(ComputeAt("p", "a", chunk))


def test_what_is_kept_is_all_that_is_read() -> None:
    met: Counter[str] = Counter()
    for seed in range(SCHEDULES):
        rng = np.random.default_rng(seed)
        dag = two_readers(rng)
        x = dag.inputs[0]
        arrays = {"x": rng.integers(-4, 5, static_shape(x)).astype("f4")}
        try:
            state = schedule(rng, dag)
            lowered = lower(state, "program")
        except ScheduleError as error:
            met[str(error).partition("p ")[2][:20]] += 1
            continue
        run = poisoned if met["right"] < COMPILED else interpreted
        try:
            verify(lowered.program)
            compare(run(lowered, arrays)["y"], dag.evaluate(arrays)["y"], exact=True)
        except Exception as error:
            error.add_note(f"{trace_to_json(state.trace)}\n{program_text(lowered.program)}")
            raise
        met["right"] += 1
    assert met["right"] > SCHEDULES // 8, met
    assert met["is not all computed "] > SCHEDULES // 20, met


def rows(rng: np.random.Generator) -> ComputeDAG:
    """A softmax over some axes, or what is like one: a row's terms are summed, then read again."""
    shape = [int(rng.choice((1, 3, 7))) for _ in range(int(rng.integers(1, 4)))]
    x = placeholder((*shape, int(rng.choice((33, 64, 200)))), name="x")
    if rng.random() < 0.5:
        return ComputeDAG([ops.softmax(x, -1, name="y")])
    terms = ops.sqrt(ops.absolute(x), name="terms")
    total = ops.reduce_sum(terms, (-1,), keepdims=True, name="total")
    return ComputeDAG([ops.multiply(terms, total, name="y")])


@pytest.mark.parametrize("seed", range(10))
def test_terms_of_a_sum_that_are_kept(seed: int) -> None:
    """One pass computes and sums a row's terms; later ones read what was kept."""
    rng = np.random.default_rng(seed)
    dag = rows(rng)
    (x,) = dag.inputs
    arrays = {"x": rng.uniform(-3, 3, static_shape(x)).astype(np.float32)}
    (expected,) = dag.evaluate(arrays, float64=True).values()
    space = Space(dag, HOST)
    kept = [n for n, s in enumerate(space.sketches) if "kept" in s.name]
    assert kept
    population = space.sample(rng, 64)
    chosen = [i for i, n in enumerate(population.sketch) if n in kept][:4]
    assert chosen
    for i in chosen:
        trace = space.trace(int(population.sketch[i]), population.rows[i])
        lowered = lower(State(dag).replay(trace), "row")
        verify(lowered.program)
        for run in (interpreted, poisoned):
            (found,) = run(lowered, arrays).values()
            np.testing.assert_allclose(found, expected, rtol=1e-4, err_msg=str(trace))
