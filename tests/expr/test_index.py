"""Everything that reckons with indices, judged at samples of random indices and conditions."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_judge import Judge, form_values, ssa_values
from index_strategies import (
    COMPARISONS,
    LOOPS,
    bounds,
    conditions,
    indices,
    movements,
    sample,
    sums,
)

from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.indices import LANE, Indexer
from tilewright.cost.widths import Widths
from tilewright.expr.evaluate import evaluate
from tilewright.expr.index import extents
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.index.facts import Facts
from tilewright.expr.index.intervals import (
    ARITHMETIC_BOUNDS,
    UNBOUNDED,
    Interval,
    compare,
    interval,
)
from tilewright.expr.index.simplify import Simplifier, affine, simplify
from tilewright.expr.nodes import Expr, Var, as_expr, binary, call
from tilewright.expr.traversal import conjuncts, free_vars
from tilewright.schedule.windows import Surroundings, window

Env = dict[str, Interval]
quick = settings(max_examples=100, deadline=None, derandomize=True)
ORDERED_SUMS = st.builds(partial(binary, "lt"), sums(), sums())
LOOP_RANGES = {"i": Interval(0, 7), "j": Interval(0, 3), "k": Interval(0, 4)}
POSITIONS = {**LOOP_RANGES, "T": Interval(1, 6), "U": Interval(1, 4)}


@quick
@given(e=indices(), env=bounds())
def test_an_index_keeps_its_values_within_its_bounds(e: Expr, env: Env) -> None:
    judge, forms, simplified = Judge(env), AffineForms(), simplify(e, env)
    judge.equal(e, simplified)
    judge.equal(e, forms.expr(forms.of(e)))
    atoms = {n: interval(x, env) for n, x in forms.opaque.items()}
    for b in (
        interval(e, env),
        interval(simplified, env),
        Simplifier(env).bounds(e),
        forms.of(e).bounds({**env, **atoms}),
        Facts(env).bounds(e),
        Facts(env).tried(e),
    ):
        judge.within(e, b)


@quick
@given(e=conditions(), env=bounds(), unknown=st.sets(st.sampled_from(["i", "j", "U"])))
def test_a_condition_keeps_its_values(e: Expr, env: Env, unknown: set[str]) -> None:
    partial = {n: b for n, b in env.items() if n not in unknown}
    judge, simplified = Judge(env), simplify(e, partial)
    judge.equal(e, simplified)
    judge.equal(call("not", e), simplify(call("not", e), partial))
    judge.within(e, interval(e, partial))
    judge.within(e, interval(simplified, partial))


@quick
@given(op=st.sampled_from(COMPARISONS), a=indices(2), b=indices(2), env=bounds())
def test_a_comparison_is_a_form_of_at_least_zero(op: str, a: Expr, b: Expr, env: Env) -> None:
    e, judge, forms = binary(op, a, b), Judge(env), AffineForms()
    judge.within(e, compare(op, interval(a - b, env)))
    form = forms.condition(e)
    assert (form is None) == (op in ("eq", "ne"))
    if form is not None:
        judge.equal(e, forms.expr(form) >= 0)


@quick
@given(
    conds=st.lists(st.tuples(conditions() | ORDERED_SUMS, st.booleans()), min_size=1, max_size=2),
    e=indices() | sums(),
    env=bounds(),
)
def test_conditions_narrow_what_is_known(conds: list[tuple[Expr, bool]], e: Expr, env: Env) -> None:
    """Also where they contradict each other, and any bounds are right."""
    facts, given, ranges = Facts(env), as_expr(True), env
    for cond, holds in conds:
        facts = facts.assume(cond, holds)
        given = given & (cond if holds else call("not", cond))
        if holds:
            ranges = AffineForms().narrowed(ranges, conjuncts(cond))
    judge = Judge(env, given)
    judge.within(e, facts.bounds(e))
    judge.within(e, facts.tried(e))
    assert not (judge.count and facts.impossible)
    for name, b in (*facts.ranges.items(), *ranges.items()):
        judge.within(Var(name), b)


@quick
@given(e=indices(), env=bounds())
def test_affine_coefficients_rebuild_the_value(e: Expr, env: Env) -> None:
    found = affine(e, ("i", "j"))
    if found is not None:
        coefficients, total = found
        for name, factor in coefficients.items():
            total = total + Var(name) * factor
        Judge(env).equal(e, total)


@quick
@given(e=indices() | sums(), env=bounds(), unrolled=st.sets(st.sampled_from(LOOPS)))
def test_an_index_in_ssa_form_has_its_values(e: Expr, env: Env, unrolled: set[str]) -> None:
    """Loops in `unrolled` are numbers, the others counters, `i` counts lanes."""
    judge, b = Judge(env), Builder("f", [])
    counters = {name: f"%{name}" for name in env if name not in unrolled} | {"i": LANE}
    b.ranges.update({ssa: env[name] for name, ssa in counters.items()})
    numbers = {n: Affine(int(judge.points[n][0])) for n in env}
    places = {n: Affine(0, ((ssa, 1),)) for n, ssa in counters.items()}
    ix = Indexer(b, AffineForms(), {**numbers, **places})
    ix.dry = True
    form = ix.of(e)
    if form is None:
        return
    fixed = np.full(96, True)
    for name in env.keys() - counters.keys():
        fixed &= judge.points[name] == judge.points[name][0]
    names = ssa_values(b, {ssa: judge.points[n][fixed] for n, ssa in counters.items()})
    found = np.broadcast_to(form_values(form, names), int(fixed.sum()))
    np.testing.assert_array_equal(found, judge.values(e)[fixed])
    for name, reach in b.ranges.items():
        if name in names:
            assert reach.lo is None or reach.lo <= names[name].min()
            assert reach.hi is None or names[name].max() <= reach.hi


@quick
@given(cond=conditions(), env=bounds())
def test_what_bounds_decide_of_a_condition_is_so(cond: Expr, env: Env) -> None:
    b = Builder("f", [])
    b.ranges.update({f"%{name}": reach for name, reach in env.items()})
    places = {n: Affine(0, ((f"%{n}", 1),)) for n in env}
    ix = Indexer(b, AffineForms(), places)
    ix.dry = True
    known = ix.decide(cond)
    if known is not None:
        assert (Judge(env).values(cond) == known).all()


@quick
@given(e=movements(), inside=st.sets(st.sampled_from(LOOPS)))
def test_a_window_holds_all_values(e: Expr, inside: set[str]) -> None:
    """From a base that stands still while the loops inside move."""
    loops = {n: b.hi + 1 for n, b in LOOP_RANGES.items()}
    outside = {n: x for n, x in loops.items() if n not in inside}
    found = window(e, Surroundings({n: loops[n] for n in inside}, outside))
    if found is not None:
        judge = Judge(POSITIONS)
        assert not free_vars(found.base) & inside
        offset = judge.values(e) - judge.values(found.base)
        assert (offset >= 0).all()
        assert (offset < judge.values(as_expr(found.span))).all()


@quick
@given(
    terms=st.lists(
        st.tuples(st.sampled_from(LOOPS), st.integers(0, 9), st.sampled_from((*LOOPS, "T"))),
        max_size=4,
    ),
    running=st.sets(st.sampled_from(LOOPS)),
)
def test_a_width_is_how_far_a_sum_moves(
    terms: list[tuple[str, int, str]], running: set[str]
) -> None:
    e = as_expr(3)
    for name, k, factor in terms:
        e = e + Var(name) * k * Var(factor)
    widths = Widths({n: b.hi for n, b in LOOP_RANGES.items()})
    width = as_expr(widths.of(e, running))
    for tile in (1, 5):
        points = np.meshgrid(*(np.arange(LOOP_RANGES[n].hi + 1 if n in running else 1)
                               for n in LOOPS))  # fmt: skip
        values = evaluate(e, {**dict(zip(LOOPS, points, strict=True)), "T": np.asarray(tile)})
        assert int(evaluate(width, {"T": np.asarray(tile)})) == values.max() - values.min()


@pytest.mark.parametrize("op", ARITHMETIC_BOUNDS)
def test_a_rule_bounds_all_pairs_of_numbers(op: str) -> None:
    """Intervals with few members, each end open in turn; divisors are not zero."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        (a0, b0), (da, db) = rng.integers(-9, 9, 2), rng.integers(0, 12, 2)
        a, b = np.arange(a0, a0 + da + 1), np.arange(b0, b0 + db + 1)
        ends = [int(x) for x in (a[0], a[-1], b[0], b[-1])]
        if op in ("floordiv", "mod"):
            b = b[b != 0]
            if not b.size:
                continue
        x, y = np.meshgrid(a, b)
        values = evaluate(binary(op, Var("x"), Var("y")), {"x": x, "y": y})
        for open_end in range(5):
            lo_a, hi_a, lo_b, hi_b = (None if n == open_end else end for n, end in enumerate(ends))
            found = ARITHMETIC_BOUNDS[op](Interval(lo_a, hi_a), Interval(lo_b, hi_b))
            assert found.lo is None or found.lo <= values.min()
            assert found.hi is None or values.max() <= found.hi
            ARITHMETIC_BOUNDS[op](Interval(lo_a, hi_a), Interval(hi_b, lo_b))  # has no members


@quick
@given(a=st.integers(0, 40), b=st.integers(1, 12), symbolic=st.tuples(*[st.booleans()] * 2))
def test_extents_are_numbers_or_expressions(a: int, b: int, symbolic: tuple[bool, bool]) -> None:
    x, y = (Var(n) if s else v for n, s, v in zip("xy", symbolic, (a, b), strict=True))
    at = {"x": np.asarray(a), "y": np.asarray(b)}
    for name, expected in (
        ("add", a + b), ("sub", a - b), ("mul", a * b), ("floordiv", a // b),
        ("ceildiv", -(-a // b)), ("minimum", min(a, b)), ("maximum", max(a, b)),
    ):  # fmt: skip
        if name != "ceildiv" or a:
            assert int(evaluate(as_expr(getattr(extents, name)(x, y)), at)) == expected


def test_nothing_is_known_of_what_nothing_bounds() -> None:
    assert Facts({}).bounds(Var("i")) == UNBOUNDED == interval(Var("i") // 2 - Var("j"))
    assert sample({"i": Interval(0, 0)})["i"].max() == 0
