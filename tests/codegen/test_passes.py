"""Every pass turns a valid nest into a valid one with the same results; and what each achieves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from kernel_nests import Conv, P, S, U, V, conv2d, gemm, nest, tile, under
from kernel_runs import HOST, random_arrays

from tilewright.codegen.passes import cpu_passes, prepared
from tilewright.codegen.passes.guards import hoisted_guards
from tilewright.codegen.passes.join import joined
from tilewright.codegen.passes.simplify import simplified
from tilewright.codegen.passes.size import accumulator_copies, statement_count
from tilewright.codegen.passes.tiles import strip_mined, tiled
from tilewright.codegen.passes.unroll import unrolled
from tilewright.codegen.passes.version import versioned
from tilewright.codegen.passes.zero_terms import with_zero_terms, without_zero_terms
from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.index.intervals import Interval
from tilewright.expr.nodes import Const, Select, Tensor, Var, as_expr
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import BuildError
from tilewright.nest.marks import marks
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Program, Store, seq, walk
from tilewright.nest.print import nest_text
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify
from tilewright.target import CpuTarget, Target

PROGRAMS = {
    "gemm": gemm(12, 64, 8, 6, 32),
    "gemm with tails": gemm(13, 70, 9, 4, 32, k_inner=4),
    "gemm in place": gemm(7, 20, 5, 3, 16, local=False),
    "conv": conv2d(Conv(6, 6, 4, 32), 3, 2, 32),
    "conv with tails": conv2d(Conv(7, 5, 3, 20), 2, 3, 16, c_inner=2),
    "conv with windows": conv2d(Conv(7, 5, 3, 20), 2, 3, 16, attach_pad=True),
    "conv with strides": conv2d(Conv(9, 7, 4, 16, stride=2), 2, 2, 16),
}
X = placeholder((100,), name="x")
Y = Tensor("y", (100,), FLOAT32)
I, J, K, M, N = (Var(name) for name in "ijkmn")  # noqa: E741
ZERO = Const(0.0, FLOAT32)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_pass_keeps_results(name: str) -> None:
    program = PROGRAMS[name]
    arrays = random_arrays(program)
    expected = interpret(program, arrays, arrays)
    body = program.body
    for label, run in cpu_passes(HOST):
        body = run(body)
        changed = replace(program, body=body)
        verify(changed)
        got = interpret(changed, arrays, arrays)
        for key, array in expected.items():
            np.testing.assert_allclose(got[key], array, rtol=1e-4, atol=1e-4, err_msg=label)


def nodes(node: Node, kind: type) -> Iterator[Node]:
    return (n for n in walk(node) if isinstance(n, kind))


def stores_under_guards(node: Node) -> int:
    """Guards that stand inside a running loop."""
    loops = [n for n in nodes(node, For) if isinstance(n, For) and n.kind is Kind.SERIAL]
    return sum(len(list(nodes(loop.body, If))) for loop in loops if isinstance(loop, For))


# ---- linear forms ----------------------------------------------------------------------------


def test_linear_forms() -> None:
    forms = AffineForms()
    form = forms.of(I * 28 + (J - 1) * 7 - K)
    assert form == Affine(-7, (("i", 28), ("j", 7), ("k", -1)))
    assert form.bounds({n: Interval(0, 3) for n in "ijk"}) == Interval(-10, 98)
    assert form.split(frozenset("ij")) == (
        Affine(0, (("i", 28), ("j", 7))),
        Affine(-7, (("k", -1),)),
    )
    assert form.stride() == 1 and form.plus(form, -1) == Affine(0)
    assert forms.of(forms.expr(form)) == form


def test_what_is_not_linear_gets_a_name() -> None:
    forms = AffineForms()
    form = forms.of(I // 3 * 5 + 1)
    ((name, k),) = form.terms
    assert (k, forms.inside[name]) == (5, frozenset("i"))
    assert forms.of(I // 3) == Affine(0, ((name, 1),))
    assert forms.variables(form) == frozenset("i")


@pytest.mark.parametrize(
    ("cond", "form"),
    [
        (I < 7, Affine(6, (("i", -1),))),
        (I <= J, Affine(0, (("i", -1), ("j", 1)))),
        (I * 2 > 3, Affine(-4, (("i", 2),))),
        (I >= J + 1, Affine(-1, (("i", 1), ("j", -1)))),
    ],
)
def test_conditions_as_forms(cond: If, form: Affine) -> None:
    assert AffineForms().condition(cond) == form


# ---- simplify --------------------------------------------------------------------------------


def test_simplify_drops_unit_loops_and_decided_guards() -> None:
    statement = Store(Y, (I * 4 + J,), X[I * 4 + J])
    node = nest([("i", 25, S)], For(J, 1, If(I * 4 + J < 100, statement)))
    assert simplified(node) == For(I, 25, Store(Y, (I * 4,), X[I * 4]))
    assert simplified(For(I, 4, If(I > 7, statement))) == seq(*())


def test_guards_decide_selects_but_leave_indices() -> None:
    value = Select(I < 8, X[I + 1], X[I])
    node = nest([("i", 50, S)], If(I < 1, Store(Y, (I,), value)))
    inner = next(nodes(simplified(node), Store))
    assert inner == Store(Y, (I,), X[I + 1])


# ---- tiles -----------------------------------------------------------------------------------


def test_loops_over_a_small_allocation_are_unrolled() -> None:
    acc = Tensor("acc", (6,), FLOAT32)
    body = seq(
        nest([("j", 6, S)], Store(acc, (J,), ZERO)),
        nest([("k", 9, S), ("j", 6, S)], Store(acc, (J,), X[K], "sum")),
        nest([("j", 6, S)], Store(Y, (J,), acc[J])),
    )
    node = tiled(Alloc(acc, (as_expr(0),), body), HOST)
    kinds = {(n.var.name, n.kind) for n in nodes(node, For) if isinstance(n, For)}
    assert kinds == {("j", Kind.UNROLLED), ("k", Kind.SERIAL)}


def test_a_large_allocation_keeps_its_loops() -> None:
    acc = Tensor("acc", (90,), FLOAT32)
    body = nest([("j", 90, S)], Store(acc, (J,), ZERO))
    node = tiled(Alloc(acc, (as_expr(0),), body), HOST)
    assert all(n.kind is Kind.SERIAL for n in nodes(node, For) if isinstance(n, For))


def test_the_pragma_unrolls_what_fits() -> None:
    body = nest([("j", 5, S), ("k", 4, S)], Store(Y, (I * 20 + J * 4 + K,), X[I]))
    loops = {}
    for step in (3, 4, 20):
        node = tiled(replace(For(I, 5, body), marks=marks(unroll_step=step)), HOST)
        loops[step] = [n.kind for n in nodes(node, For) if isinstance(n, For)]
    s, u = Kind.SERIAL, Kind.UNROLLED
    assert loops == {3: [s, s, s], 4: [s, s, u], 20: [s, u, u]}


def test_too_much_unrolling_falls_back_to_loops() -> None:
    wide = Tensor("wide", (64, 64), FLOAT32)
    node = tiled(nest([("i", 64, U), ("j", 64, U)], Store(wide, (I, J), ZERO)), HOST)
    kinds = [n.kind for n in nodes(node, For) if isinstance(n, For)]
    assert kinds == [Kind.SERIAL, Kind.UNROLLED]
    assert statement_count(node, 512) == 64


def test_a_long_vector_loop_becomes_a_loop_over_vectors() -> None:
    long = Tensor("long", (100003,), FLOAT32)
    node = tiled(nest([("i", 100003, V)], Store(long, (I,), ZERO)), HOST)
    assert statement_count(node, HOST.vector_bits) <= 8
    total = 0
    for loop in nodes(node, For):
        assert isinstance(loop, For) and isinstance(loop.extent, int)
        if loop.kind is Kind.SERIAL:
            assert isinstance(loop.body, For) and isinstance(loop.body.extent, int)
            total += loop.extent * loop.body.extent
    tail = [n for n in (node.body if not isinstance(node, For) else ()) if isinstance(n, For)]
    total += sum(t.extent for t in tail if t.kind is Kind.VECTOR and isinstance(t.extent, int))
    assert total == 100003


def test_strip_mining_covers_every_iteration_once() -> None:
    node = strip_mined(For(I, 11, Store(Y, (I,), X[I])), 4)
    program = Program("strips", (X,), (), (), (Tensor("y", (11,), FLOAT32),), node)
    x = np.arange(100, dtype=np.float32)
    y = interpret(replace(program, outputs=(Y,), body=seq(_fill(), node)), {"x": x})["y"]
    np.testing.assert_array_equal(y[:11], x[:11])


def _fill() -> Node:
    return nest([("z", 100, V)], Store(Y, (Var("z"),), ZERO))


# ---- join ------------------------------------------------------------------------------------


def test_short_vectors_of_copies_are_joined() -> None:
    copy = nest([("i", 25, S), ("j", 4, V)], Store(Y, (I * 4 + J,), X[I * 4 + J]))
    (loop,) = nodes(joined(copy, 512), For)
    assert isinstance(loop, For) and (loop.extent, loop.kind) == (100, Kind.VECTOR)


@pytest.mark.parametrize(
    "statement",
    [
        Store(Y, (I * 4 + J,), X[I]),  # not by the sum alone
        Store(Y, (I * 4 + J,), X[I * 4 + J], "sum"),  # an accumulator
        Store(Y, (I * 8 + J,), X[I * 8 + J]),  # a gap
    ],
)
def test_other_short_vectors_stay(statement: Store) -> None:
    node = nest([("i", 12, S), ("j", 4, V)], statement)
    assert joined(node, 512) == node


# ---- guards, zero terms, versions ------------------------------------------------------------


def test_guards_move_to_the_loop_they_bound() -> None:
    guarded = under([I * 4 + J < 50, K < 3], Store(Y, (I * 4 + J,), X[K]))
    node = hoisted_guards(nest([("i", 13, S), ("k", 4, S), ("j", 4, S)], guarded))
    text = nest_text(node).split("\n")
    assert [line.strip() for line in text if line] == [
        "for i in range(13):",
        "for k in range(3):",
        "for j in range(4):",
        "if i * 4 + j < 50:",
        "y[i * 4 + j] = x[k]",
    ]


def test_a_guard_leaves_a_sequence_that_shares_it() -> None:
    first, second = Store(Y, (I,), ZERO), Store(Y, (I + 50,), ZERO)
    node = hoisted_guards(For(I, 60, seq(If(I < 50, first), If(I < 50, second))))
    assert node == For(I, 50, seq(first, second))


def padded_sum() -> Node:
    """y[j] += select(1 <= i + j < 90, x[i + j - 1], 0) * 2 for a tile of 4."""
    at = I * 4 + J + K
    inside = Select((at >= 1) & (at < 90), X[at - 1], ZERO)
    update = Store(Y, (I * 4 + J,), inside * 2.0, "sum")
    return nest([("i", 24, P), ("k", 3, S), ("j", 4, U)], update)


def test_padding_zeros_are_not_added() -> None:
    node = without_zero_terms(padded_sum())
    assert len(list(nodes(node, If))) == 1
    assert not any(isinstance(s.value, Select) for s in nodes(node, Store) if isinstance(s, Store))


def test_padding_gives_a_first_a_middle_and_a_last_version() -> None:
    node = versioned(hoisted_guards(without_zero_terms(padded_sum())), 512)
    assert len(list(nodes(node, Store))) <= 7  # also by k in the first and the last tiles
    assert len(list(nodes(node, Store))) >= 3


def test_tiles_inside_have_no_conditions_where_the_kernels_loop_runs() -> None:
    """Rows i*4 + j + k of 96, padded by one: only the first and the last tile meet the border."""
    at = I * 4 + J + K
    inside = Select((at >= 1) & (at < 97), X[at - 1], ZERO)
    update = Store(Y, (I * 4 + J,), inside * 2.0, "sum")
    node = nest([("i", 24, S), ("k", 3, S), ("j", 4, U)], update)
    node = versioned(hoisted_guards(without_zero_terms(node)), 512)
    free = [n for n in nodes(node, If) if isinstance(n, If) and not list(nodes(n.body, If))]
    assert "if i * 4 >= 4 and i * 4 <= 88:" in [nest_text(n).split("\n")[0] for n in free]


def test_the_case_with_the_most_values_is_split_before_the_limit_is_reached() -> None:
    """A border that is split first would leave the tiles inside with their other conditions."""
    rows, columns = I * 4 + J, M * 4 + N
    inside = Select(
        (rows >= 1) & (rows < 96) & (columns >= 1) & (columns < 96), X[rows + columns], ZERO
    )
    body: Node = Store(Y, (J * 4 + N,), inside * 2.0, "sum")
    body = nest([("k", 3, S), ("j", 4, U), ("n", 4, U), ("o", 9, U)], body)
    node = versioned(
        hoisted_guards(without_zero_terms(nest([("i", 24, S), ("m", 24, S)], body))), 512
    )
    free = [n for n in nodes(node, For) if n.var.name == "k" and not list(nodes(n, If))]
    assert free


@pytest.mark.parametrize("bits", [512, 256, 128])
def test_a_version_for_full_tiles_and_one_for_the_rest(bits: int) -> None:
    """The guard of a vector tile leaves the reduction loop, which narrow vectors make no longer."""
    f = tile("f", 200, 64)
    acc = Tensor("acc", (64,), FLOAT32)
    wide = Tensor("wide", (200,), FLOAT32)
    update = under(f.guards, Store(wide, (f.index,), X[K], "sum"))
    body = nest([("k", 120, U), f.loop(1, V)], update)
    node = versioned(hoisted_guards(nest([f.loop(0, P)], body)), bits)
    extents = sorted(n.extent for n in nodes(node, For) if n.kind is Kind.VECTOR)
    assert extents == [8, 64]
    assert stores_under_guards(node) == 0
    assert acc.rank == 1


def test_a_tile_gets_versions_though_a_loop_that_runs_has_its_guard_too() -> None:
    """A tile of 192 statements, beside a loop over its rows as a softmax has in a chain."""
    matrix = Tensor("matrix", (14, 512), FLOAT32)
    rows = I * 6 + J
    inside = [rows < 14]
    tile_ = nest(
        [("k", 8, S), ("j", 6, U), ("m", 512, V)],
        under(inside, Store(matrix, (rows, M), X[K], "sum")),
    )
    beside = nest([("j", 6, S)], under(inside, Store(Y, (rows,), X[rows] * 2.0)))
    node = versioned(hoisted_guards(nest([("i", 3, P)], seq(tile_, beside))), 512)
    extents = [n.extent for n in nodes(node, For) if n.var.name == "j"]
    assert sorted(extents) == [2, 2, 6, 6]
    assert stores_under_guards(node) == 0


def test_full_tiles_have_no_version_for_a_border_that_only_the_last_tile_meets() -> None:
    """Of 95 rows padded by one: the first tile, the full ones behind it, the last with three rows.

    A fourth version would never run and could use up the limit.
    """
    rows, at = I * 4 + J, I * 4 + J + K
    inside = Select((at >= 1) & (at < 96), X[at - 1], ZERO)
    update = If(rows < 95, Store(Y, (rows,), inside * 2.0, "sum"))
    node = nest([("i", 24, S), ("k", 3, S), ("j", 4, U)], update)
    node = versioned(hoisted_guards(without_zero_terms(node)), 512)
    kernels = [n for n in nodes(node, For) if isinstance(n, For) and n.var.name == "k"]
    assert len(kernels) == 3


def test_residues_separate_the_phases_of_a_stride() -> None:
    cond = ((I + J) % 2).eq(0)
    value = Select(cond, X[(I + J) // 2], ZERO) * 2.0
    loops = [("i", 4, S), ("k", 9, S), ("j", 4, U)]
    node = nest(loops, Store(Y, (J,), value, "sum"))
    node = versioned(hoisted_guards(without_zero_terms(node)), 512)
    tests = [nest_text(n).split("\n")[0] for n in nodes(node, If)]
    assert "if i % 2 == 0:" in tests and "if i % 2 == 1:" in tests


def test_a_condition_left_inside_becomes_a_select_again() -> None:
    update = If(I + K >= 9, Store(Y, (J,), X[K] * 2.0, "sum"))
    node = nest([("i", 4, S), ("k", 9, S), ("j", 4, U)], update)
    back = with_zero_terms(node, 512)
    assert not list(nodes(back, If))
    guard = nest([("j", 101, S)], If(J < 100, Store(Y, (J,), X[K] * 2.0, "sum")))
    assert with_zero_terms(guard, 512) == guard  # element 100 does not exist


# ---- unroll, copies --------------------------------------------------------------------------


def test_small_reduction_bodies_are_repeated() -> None:
    node = unrolled(nest([("k", 64, S), ("j", 6, U)], Store(Y, (J,), X[K], "sum")), HOST)
    (strip,) = (n for n in nodes(node, For) if isinstance(n, For) and n.var.name == "k")
    assert (strip.kind, strip.extent) == (Kind.UNROLLED, 8)


def test_copies_of_accumulators() -> None:
    def copies(rows: int, columns: int) -> dict[str, int]:
        loops = [("k", 64, S), ("i", rows, U), ("j", columns, V)]
        return accumulator_copies(nest(loops, Store(Y, (I * columns + J,), X[K], "sum")), 512)

    assert [copies(1, 16), copies(3, 16), copies(2, 64)] == [{"y": 8}, {"y": 4}, {}]


def test_copies_do_not_depend_on_the_version(target: Target) -> None:
    assert isinstance(target, CpuTarget)
    whole, tail = (prepared(gemm(m, 16, 64, 2, 16), target) for m in (4, 5))
    assert whole.copies == tail.copies == {"C.local": 4}


def test_a_program_too_large_to_write_is_rejected() -> None:
    parts = [nest([("i", 100, U)], Store(Y, (I,), X[I])) for _ in range(400)]
    program = Program("huge", (X,), (), (), (Y,), seq(*parts))
    with pytest.raises(BuildError, match="huge would become 40000 statements"):
        prepared(program, HOST)
