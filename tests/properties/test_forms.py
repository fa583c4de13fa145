"""Stages in forms: prefixes, terms with a place and orders, by many programs equal to the math."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from random_dags import Case
from test_random_programs import check_program

from kernel_calls import poisoned
from tilewright.contract.artifact import Array
from tilewright.cost.candidates import Population
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Tensor, as_expr, const, select
from tilewright.expr.tensors import Compute, compute, placeholder, reduce_axis
from tilewright.expr.tensors import max as max_over
from tilewright.expr.tensors import sum as sum_over
from tilewright.expr.traversal import reads
from tilewright.ground.errors import ScheduleError
from tilewright.schedule.form_step import taken
from tilewright.schedule.forms import FORMS
from tilewright.schedule.state import State
from tilewright.schedule.steps import ComputeAt, ComputeInline, Parallel, Split, UseForm
from tilewright.space.rules import form as rule
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import interpreted, shuffled

pytestmark = [pytest.mark.cpu, pytest.mark.no_cover]

TARGETS = (Target.parse("cpu:icelake-server cores=2"), Target.parse("cpu:haswell cores=1"))
SEEDS = 12
ROWS = 3  # of each sketch
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 1.0, -2.5)
Drawn = tuple[Tensor, dict[str, Array]]


def shape_of(
    rng: np.random.Generator, most: int = 40, others: int = 5
) -> tuple[tuple[int, ...], int]:
    """One to three dimensions, and which of them something happens along."""
    rank = int(rng.integers(1, 4))
    shape = [int(rng.integers(1, others + 1)) for _ in range(rank)]
    axis = int(rng.integers(rank))
    shape[axis] = int(rng.integers(1, most))
    return tuple(shape), axis


def running(rng: np.random.Generator) -> Drawn:
    shape, axis = shape_of(rng)
    kind = str(rng.choice(("float32", "int32", "float16", "uint8")))
    options = {n: bool(rng.integers(2)) for n in ("product", "exclusive", "reverse")}
    x = placeholder(shape, kind, name="x")
    given = x if rng.integers(2) else ops.add(x, x, name="twice")
    return ops.cumulative(given, axis, **options), {"x": rng.integers(0, 3, shape).astype(kind)}


def scattered(rng: np.random.Generator) -> Drawn:
    shape, axis = shape_of(rng)
    kind = str(rng.choice(("float32", "int32")))
    window = tuple(int(rng.integers(1, n + 1)) for n in shape)
    arrays = {
        "x": rng.integers(-9, 9, shape).astype(kind),
        "i": rng.integers(-shape[axis] - 2, shape[axis] + 2, window),
        "u": rng.integers(-9, 9, window).astype(kind),
    }
    x, i, u = (placeholder(a.shape, a.dtype.name, name=n) for n, a in arrays.items())
    reduction = str(rng.choice(("none", "add", "mul", "max", "min")))
    return ops.scatter_elements(x, i, u, axis, reduction=reduction, name="y"), arrays


def rows_scattered(rng: np.random.Generator) -> Drawn:
    shape = (int(rng.integers(1, 9)), int(rng.integers(1, 9)), int(rng.integers(1, 20)))
    depth, count = int(rng.integers(1, 4)), int(rng.integers(1, 30))
    at = [rng.integers(-n, n, count) for n in shape[:depth]]
    arrays = {
        "x": rng.integers(-9, 9, shape).astype("f4"),
        "i": np.stack(at, 1),
        "u": rng.integers(-9, 9, (count, *shape[depth:])).astype("f4"),
    }
    x, i, u = (placeholder(a.shape, a.dtype.name, name=n) for n, a in arrays.items())
    reduction = str(rng.choice(("none", "add", "max")))
    return ops.scatter_nd(x, i, u, reduction=reduction, name="y"), arrays


def ordered(rng: np.random.Generator) -> Drawn:
    shape, axis = shape_of(rng, 50, 2)
    kinds = ("float32", "float16", "int32", "int64", "uint8", "int8", "float64", "bool")
    kind = str(rng.choice(kinds))
    if kind.startswith("float"):
        x = rng.choice(SPECIAL, shape) if rng.integers(2) else rng.standard_normal(shape)
    else:
        info = np.iinfo(kind if kind != "bool" else "uint8")
        low, high = (info.min, info.max) if rng.integers(2) else (0, 3)
        x = rng.integers(low, high, shape, dtype=info.dtype)
    count = int(rng.integers(1, shape[axis] + 1)) if rng.integers(2) else 1 + shape[axis] // 20
    largest = bool(rng.integers(2))
    y = ops.top_indices(placeholder(shape, kind, name="x"), count, axis, largest=largest, name="y")
    return y, {"x": x.astype(kind)}


MAKERS: tuple[Callable[[np.random.Generator], Drawn], ...] = (
    running, scattered, rows_scattered, ordered,
)  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
def test_random_programs_equal_the_math(make: Callable[[np.random.Generator], Drawn]) -> None:
    met: Counter[str] = Counter()
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        y, arrays = make(rng)
        if seed % 3 == 0:
            y = ops.add(y, y, name="read")
        case = Case(ComputeDAG([y]), arrays, is_exact=True)
        space = Space(case.dag, TARGETS[seed % len(TARGETS)])
        expected = case.dag.evaluate(arrays)
        for number, sketch in enumerate(space.sketches):
            if "form" not in sketch.rules:
                continue
            drawn = Population(space.draw(rng, 64), np.full(64, number))
            found = drawn.rows[space.satisfied(drawn)][:ROWS]
            for row, backend in zip(found, (poisoned, interpreted, shuffled), strict=False):
                check_program(case, space, number, row, backend, expected)
                met[backend.__name__] += 1
    assert met["poisoned"] >= SEEDS // 2 and len(met) >= 2, met


# ---- which stages -----------------------------------------------------------------------------


def counted(**changes: Any) -> ComputeDAG:
    """How many of the elements before are smaller, or a change of it."""
    x, k = placeholder((30,), name="x"), reduce_axis(30, "k")

    def body(i: Any) -> Any:
        term = x[i] if changes.get("own") else x[k]
        cond = as_expr(k) <= as_expr(i) + changes.get("shift", 0)
        rest = const(changes.get("rest", 0.0), x.dtype)
        return sum_over(select(cond, term, rest), k)

    return ComputeDAG([compute((changes.get("extent", 30),), body, name="y")])


def placed(rest: int, low: int) -> ComputeDAG:
    """The largest of the numbers from `low` on that are meant for a place, `rest` where none is."""
    at, k = placeholder((20,), "int64", name="at"), reduce_axis(20, "k")
    return ComputeDAG(
        [
            compute(
                (9,),
                lambda i: max_over(select(at[k].eq(i), as_expr(k) + low, as_expr(rest)), k),
                name="y",
            )
        ]
    )


def shared_ranks() -> ComputeDAG:
    y = ops.top_indices(placeholder((30,), name="x"), 3, name="y")
    assert isinstance(y.source, Compute)
    rank = next(r.tensor for r in reads(y.source.body) if r.tensor.name == "y_rank")
    return ComputeDAG([y, ops.add(rank, rank, name="also")])


FOUND: dict[str, tuple[Callable[[], ComputeDAG], str | None]] = {
    "prefix": (counted, "running"),
    "its own element": (lambda: counted(own=True), None),
    "shifted": (lambda: counted(shift=1), None),
    "others count": (lambda: counted(rest=1.0), None),
    "more elements": (lambda: counted(extent=31), None),
    "place": (lambda: placed(-1, 0), "scattered"),
    "no term is less": (lambda: placed(5, 5), "scattered"),
    "a term is less": (lambda: placed(5, 4), None),
    "ranks": (lambda: ComputeDAG([ops.top_indices(placeholder((30,)), 3, name="y")]), "selected"),
    "shared ranks": (shared_ranks, "scattered"),
}


@pytest.mark.parametrize("name", FOUND)
def test_which_stages_have_a_form(name: str) -> None:
    make, expected = FOUND[name]
    state = State(make())
    found = [form for form in FORMS if taken(state, state["y"], form)]
    assert (found[0] if found else None) == expected


def test_long_stages_have_no_other_program() -> None:
    lanes = TARGETS[0].lanes(DTYPES["int64"])
    for extent, only in (
        (rule.GREATEST_GAIN * lanes, False),
        (rule.GREATEST_GAIN * lanes + 1, True),
    ):
        dag = ComputeDAG([ops.cumulative(placeholder((extent,), "int64", name="x"))])
        rules = ["form" in s.rules for s in Space(dag, TARGETS[0]).sketches]
        assert any(rules) and all(rules) is only


def test_a_form_keeps_its_loops() -> None:
    x = placeholder((3, 30, 4), name="x")
    dag = ComputeDAG([ops.cumulative(ops.exp(x, name="e"), 1, name="y")])
    state = State(dag).apply(UseForm("y", "running", 4))
    for step in (Split("y", "i1", (3,)), ComputeAt("e", "y", 0), UseForm("y", "running", 4)):
        with pytest.raises(ScheduleError, match="y"):
            state.apply(step)
    assert [s.name for s in state.apply(ComputeInline("e")).apply(Parallel("y", 1)).trace][1:] == [
        "compute_inline",
        "parallel",
    ]
    for name, problem in (("running", "cannot be computed"), ("sideways", "no form")):
        with pytest.raises(ScheduleError, match=problem):
            State(dag).apply(UseForm("y", name, 0))
