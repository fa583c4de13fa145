"""Expressions whose parts are used again and again: 2^24 nodes written out, some dozens shared.

Whoever looked at each part as often as it is used would take minutes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest

from tilewright.expr import access
from tilewright.expr.dag import ComputeDAG, stage_flops
from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.evaluate import evaluate
from tilewright.expr.index.intervals import interval, may_wrap
from tilewright.expr.index.polynomials import sort_key
from tilewright.expr.index.simplify import simplify
from tilewright.expr.nodes import Binary, Expr, Read, Tensor, Var, binary, call, cast, select
from tilewright.expr.operators.movement import clamped_index
from tilewright.expr.rewrites.zero_terms import congruences, zero_factors
from tilewright.expr.serialize import dag_from_json, dag_to_json, structure_hash, workload_hash
from tilewright.expr.structure import structure
from tilewright.expr.tensors import Compute, compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.expr.traversal import (
    conjuncts,
    free_vars,
    holds_data,
    reads,
    relinked,
    shared,
    substitute,
    transform,
    walk,
    with_reads,
)
from tilewright.nest.operations import operations

LEVELS = 24
X = placeholder((8,), name="x")
AT = placeholder((8,), "int64", name="at")


def through(e: Expr) -> Expr:
    """An element at a place that data decide."""
    return X[clamped_index(cast("int64", e), 8, "x")]


STEPS: dict[str, Callable[[Expr], Expr]] = {
    "sum": lambda e: e + e,
    "product": lambda e: e * e,
    "least": lambda e: binary("min", e, 1 - e),
    "call": lambda e: call("fma", e, e, e),
    "cast": lambda e: cast("float32", cast("float64", e) * cast("float64", e)),
    "branches": lambda e: select(e > 0.5, e * 0.5, e + 0.25),
    "index": lambda e: through(e) - through(e + 1),
}


def chain(step: Callable[[Expr], Expr], first: Expr, levels: int = LEVELS) -> Expr:
    """A step after another, each of which uses the one before it several times."""
    for _ in range(levels):
        first = step(first)
    return first


def stage(name: str, more: int = 0) -> Tensor:
    """A step that uses the one before it four times has as many nodes in half the levels."""
    levels = LEVELS // 2 if name == "index" else LEVELS
    return compute((8,), lambda i: chain(STEPS[name], X[i], levels + more), name="y")


def body(tensor: Tensor) -> Expr:
    assert isinstance(tensor.source, Compute)
    return tensor.source.body


def unshared(e: Expr) -> Expr:
    """The same tree, no part of which is one object in two places."""
    return relinked(copy.copy(e), tuple(map(unshared, [*_operands(e)])))


def _operands(e: Expr) -> tuple[Expr, ...]:
    match e:
        case Binary(_, a, b):
            return (a, b)
        case Read(_, indices):
            return indices
    return ()


def test_a_stage_has_equal_parts_once() -> None:
    y = compute((8,), lambda i: (X[i] + 1.0) * (X[i] + 1.0) - (X[i] + 1.0), name="y")
    parts = list(walk(body(y)))
    assert len(parts) == len(set(parts)) == 6
    whole = shared(unshared(chain(STEPS["sum"], X[Var("i")], 8)))
    assert len(list(walk(whole))) == 10


@pytest.mark.parametrize("step", STEPS)
def test_graphs_are_looked_at_part_by_part(step: str) -> None:
    y = stage(step)
    e, dag = body(y), ComputeDAG([y])
    parts = list(walk(e))
    assert len(parts) == len(set(map(id, parts))) < 20 * LEVELS
    assert free_vars(e) == {"i"} and len(reads(e)) >= 1
    assert holds_data(e) and may_wrap(e) == (step == "index")
    assert interval(e).lo is None and len(sort_key(e)) < 1 << 13
    access.accesses(y.source)  # type: ignore[arg-type]
    assert not access.branches_on_position(y.source)  # type: ignore[arg-type]
    assert not access.is_movement(e)
    assert not congruences(y.source)  # type: ignore[arg-type]
    assert stage_flops(y) > 2 ** (LEVELS - 1) or step in ("branches", "index")
    assert sum(n for _, n in operations(e, None, FLOAT32, {"i"})) > 1 << len(parts) // 20
    assert structure(y.source) == structure(dag.stages[0].source)  # type: ignore[arg-type]


@pytest.mark.parametrize("step", STEPS)
def test_what_is_rewritten_stays_shared(step: str) -> None:
    e = body(stage(step))
    size = len(list(walk(e)))
    assert transform(e, lambda _: None) is e
    for made in (
        substitute(e, {"i": Var("j") * 2}),
        with_reads(e, lambda t, i: Read(placeholder(t.shape, t.dtype, name="z"), i)),
        simplify(e),
        shared(copy.deepcopy(e)),
    ):
        assert len(list(walk(made))) <= 2 * size


@pytest.mark.parametrize("step", STEPS)
def test_copies_are_compared_part_by_part(step: str) -> None:
    e = body(stage(step))
    again = substitute(substitute(e, {"i": Var("j")}), {"j": Var("i")})
    assert again is not e and again == e and hash(again) == hash(e)
    other = substitute(e, {"i": Var("i") + 1})
    assert other != e
    assert {e: 1}[again] == 1 and other not in {e: 1}


@pytest.mark.parametrize("step", STEPS)
def test_a_long_expression_is_kept_as_a_graph(step: str) -> None:
    dag = ComputeDAG([stage(step)])
    text = dag_to_json(dag)
    again = dag_from_json(text)
    assert len(text) < 20_000 and dag_to_json(again) == text
    assert again.stages == dag.stages and again.stages[0].source == dag.stages[0].source
    assert workload_hash(again) == workload_hash(dag)
    assert structure_hash(again) == structure_hash(dag)
    assert workload_hash(ComputeDAG([stage(step, more=1)])) != workload_hash(dag)


@pytest.mark.parametrize("step", STEPS)
def test_values_are_computed_once(step: str) -> None:
    values = np.random.default_rng(1).uniform(0, 7, 8).astype(np.float32)
    found = evaluate(body(stage(step)), {"i": np.arange(8)}, {"x": values})
    short = compute((8,), lambda i: chain(STEPS[step], X[i], 3), name="y")
    few = ComputeDAG([short]).evaluate({"x": values})["y"]
    tree = evaluate(body(short), {"i": np.arange(8)}, {"x": values})
    assert found.shape == (8,)
    np.testing.assert_array_equal(few, tree)


def test_conditions_and_factors_of_graphs_are_listed_once() -> None:
    i = Var("i")
    conditions = chain(lambda c: c & c, i < 3)
    assert list(conjuncts(conditions)) == [i < 3]
    padded = select(i < 3, X[i], 0.0)
    assert list(zero_factors(chain(lambda e: e * e, padded))) == [padded]


def test_what_data_decide_is_counted_and_bounded_once() -> None:
    e = chain(lambda e: binary("max", e, AT[e % 8] + e), AT[Var("i")], 12)
    assert holds_data(e) and may_wrap(e)
    simplify(e)
    assert interval(e).within(-(2**63), 2**63 - 1)


def test_operations_of_graphs_are_counted_at_each_place() -> None:
    k = reduce_axis(8, "k")
    y = compute((4,), lambda i: sum_over(chain(STEPS["product"], X[k]), k), name="y")
    counts = dict(operations(body(y).body, "sum", FLOAT32, {"i", "k"}))  # type: ignore[union-attr]
    assert counts == {("float", "mad"): 1, ("float", "mul"): 2**LEVELS - 2}
