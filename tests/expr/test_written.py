"""How large expressions become when stages are inlined, known without inlining them."""

from __future__ import annotations

import pytest

from tilewright.expr import tensors
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr, Tensor, Var, select
from tilewright.expr.tensors import compute, placeholder
from tilewright.expr.traversal import children
from tilewright.expr.written import (
    DEEPEST_EXPRESSION,
    GREATEST_EXPRESSION,
    Definition,
    written,
)
from tilewright.ground.errors import ExprError, ScheduleError
from tilewright.schedule.state import State
from tilewright.schedule.steps import ComputeInline


def doubled(times: int) -> list[Tensor]:
    """v = v + v, so many times."""
    made = [placeholder((4,), name="x")]
    for n in range(times):
        last = made[-1]
        made.append(compute((4,), lambda i, v=last: v[i] + v[i], name=f"v{n}"))
    return made[1:]


def definition_of(tensor: Tensor, known: dict[str, Definition]) -> Definition:
    source = tensor.source
    axes = tuple(a.name for a in source.axes)  # type: ignore[union-attr]
    return axes, written(source.body, lambda t: known.get(t.name))  # type: ignore[union-attr]


def tree(e: Expr) -> tuple[int, int]:
    """Nodes and depth of an expression, counted one by one (variables are not deep)."""
    parts = [tree(c) for c in children(e)]
    nodes = 1 + sum(n for n, _ in parts)
    return nodes, 0 if isinstance(e, Var) else 1 + max((d for _, d in parts), default=0)


def test_the_size_is_that_of_the_expression_that_inlining_makes() -> None:
    x = placeholder((6, 8), name="x")
    a = compute((6, 8), lambda i, j: select(x[i, j] > 0.0, x[i, j], 0.5) * x[i, 0], name="a")
    b = compute((48,), lambda i: a[i // 8, i % 8] + a[i // 8, 7 - i % 8], name="b")
    c = compute((6, 8), lambda p, q: b[p * 8 + q] * b[q * 6 + p], name="c")
    known: dict[str, Definition] = {}
    for tensor in (a, b, c):
        known[tensor.name] = definition_of(tensor, known)
    state = State(ComputeDAG([c]))
    for name in ("a", "b"):
        state.apply(ComputeInline(name))
    found = known["c"][1]
    assert (found.total, found.depth) == tree(state["c"].compute.body)


def test_shared_parts_are_counted_once_for_each_use_but_visited_once() -> None:
    e: Expr = Var("i")
    for _ in range(200):
        e = e * e
    assert written(e).total == 2**201 - 1 and not written(e).fits


def test_inlining_stops_before_an_expression_is_too_large() -> None:
    stages = doubled(40)
    state = State(ComputeDAG([stages[-1]]))
    refused = 0
    for stage in reversed(stages[:-1]):
        try:
            state.apply(ComputeInline(stage.name))
        except ScheduleError as error:
            assert f"more than {GREATEST_EXPRESSION} operations" in str(error)
            refused += 1
    assert 0 < refused < 10
    assert all(written(s.compute.body).fits for s in state.stages.values())


def test_inlining_stops_before_an_expression_is_too_deep() -> None:
    last = placeholder((4,), name="x")
    names = []
    for n in range(2 * DEEPEST_EXPRESSION):
        last = compute((4,), lambda i, v=last: -v[i], name=f"v{n}")
        names.append(last.name)
    state = State(ComputeDAG([last]))
    with pytest.raises(ScheduleError, match=f"more than {DEEPEST_EXPRESSION} within"):
        for name in reversed(names[:-1]):
            state.apply(ComputeInline(name))


def test_an_element_of_too_many_operations_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "GREATEST_BODY", 100)
    x = placeholder((4,), name="x")

    def body(i: Expr, times: int) -> Expr:
        e: Expr = x[i]
        for n in range(times):
            e = e + e * float(n)
        return e

    compute((4,), lambda i: body(i, 30))
    with pytest.raises(ExprError, match="y: an element has more than 100 operations"):
        compute((4,), lambda i: body(i, 40))
