"""Programs of one operator as programs of another: names, sketches, neighbours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import permutations

import numpy as np
import pytest

from tilewright.cost.candidates import Ints
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import compute, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.search.reuse.correspondence import Correspondence, Named, kin, roles
from tilewright.search.reuse.family import Operator, family_of
from tilewright.space.decisions import Choice, TileFactors
from tilewright.space.rules import CPU_RULES, GPU_RULES
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import attention, convolution, given, normalised

TARGETS = {"cpu": Target.parse("cpu:icelake-server cores=2"), "gpu": Target.parse("cuda:h100")}
CONVOLUTIONS: dict[str, Callable[[], ComputeDAG]] = {
    "unpadded": lambda: convolution(1, 12, 16, 32, 3),
    "padded": lambda: convolution(1, 14, 16, 32, 3, padding=1),
    "batch 4": lambda: convolution(4, 9, 12, 16, 3, padding=1),
    "strided": lambda: convolution(1, 15, 16, 24, 3, stride=2, padding=1),
    "1x1": lambda: convolution(1, 10, 24, 40, 1),
    "one position": lambda: convolution(2, 3, 16, 32, 3),
    "one channel": lambda: convolution(1, 8, 1, 1, 3),
    "layer": lambda: normalised(convolution(1, 14, 16, 32, 3, padding=1)),
    "unpadded layer": lambda: normalised(convolution(2, 8, 8, 16, 3)),
}
PRODUCTS: dict[str, Callable[[], ComputeDAG]] = {
    f"{n}x{m}x{k}": lambda n=n, m=m, k=k: ComputeDAG(
        [ops.matmul(given(n, k), given(k, m, name="y"))]
    )
    for n, m, k in ((48, 56, 40), (1, 64, 128), (33, 7, 1))
}
NORMS: dict[str, Callable[[], ComputeDAG]] = {
    f"norm of {n}": lambda n=n: ComputeDAG([ops.matrix_norm(given(2, n, 3 * n))]) for n in (16, 64)
}
FAMILIES = (CONVOLUTIONS, PRODUCTS, NORMS)
DAGS = CONVOLUTIONS | PRODUCTS | NORMS
PAIRS = [pair for family in FAMILIES for pair in permutations(family, 2)]
MANY = {"cpu": 32, "gpu": 2048}  # draws; on a GPU few are valid where an operator is tiny
both_kinds = pytest.mark.parametrize("kind", TARGETS)


@cache
def named(name: str, kind: str) -> Named:
    dag = DAGS[name]()
    return Named(Space(dag, TARGETS[kind]), Operator.of(dag))


def random_rows(space: Space, sketch: int, n: int) -> Ints:
    """Valid rows of one sketch; some, where there are few."""
    drawn = space.sample(np.random.default_rng(sketch), 32 * len(space.sketches))
    rows = drawn.rows[drawn.sketch == sketch][:n]
    assert len(rows)
    return rows


def names(here: Named) -> dict[str, str]:
    """The spaces' decisions: own names, and those by role."""
    return {d.name: here.decision(d, s) for s in here.space.sketches for d in s.decisions}


# ---- roles and names ----------------------------------------------------------------------------


def test_operands_of_a_convolution_have_roles() -> None:
    found = roles(CONVOLUTIONS["unpadded"](), "conv2d")
    assert found == {"conv2d": "m", "x": "m<0", "w": "m<1"}
    found = roles(CONVOLUTIONS["padded"](), "conv2d")
    assert found == {"conv2d": "m", "conv2d_pad": "m<0", "w": "m<1", "x": "m<0<0"}


def test_what_comes_after_has_roles() -> None:
    found = roles(CONVOLUTIONS["unpadded layer"](), "conv2d")
    assert found == {
        "conv2d": "m", "x": "m<0", "w": "m<1",
        "multiply": "m>3", "scale": "m>3<1",
        "add": "m>2", "shift": "m>2<1",
        "relu": "m>1",
    }  # fmt: skip


def test_an_operand_read_twice_has_its_first_role() -> None:
    dag = attention()
    found = roles(dag, "attention")
    assert found["attention"] == "m" and found["v"] == "m<1"
    assert found["p"] == "m<0" and found["scores"].startswith("m<0<0")
    assert len(set(found.values())) == len(found)
    assert found.keys() == {t.name for t in (*dag.stages, *dag.inputs)}


@both_kinds
@pytest.mark.parametrize("name", DAGS)
def test_names_are_distinct_and_of_roles_and_axes(name: str, kind: str) -> None:
    here = named(name, kind)
    for sketch in here.space.sketches:
        found = [here.decision(d, sketch) for d in sketch.decisions]
        assert len(set(found)) == len(found)
        assert all(text.startswith("m") for text in found)
        assert all(text.startswith("m") for text in here.places(sketch))


def test_decisions_go_by_axis_and_purpose() -> None:
    found = names(named("layer", "cpu"))
    assert found["conv2d.h"] == "m.#1" and found["conv2d.rc"] == "m.#6"
    assert found["conv2d.level"] == "m.level" and found["conv2d.unroll"] == "m.unroll"
    assert found["conv2d_pad.at"] == "m<0.at" and found["relu.parallel"] == "m>1.parallel"


def test_staged_operands_go_by_role_even_if_called_like_an_axis() -> None:
    """A weight `w`, and the axis `w`."""
    padded, unpadded = names(named("padded", "gpu")), names(named("unpadded", "gpu"))
    assert padded["conv2d.w"] == unpadded["conv2d.w"] == "m.#2"
    assert padded["conv2d.fetch.w.conv2d.local"] == "m.fetch.m<1.m"
    assert padded["conv2d.align.conv2d_pad.conv2d.local"] == "m.align.m<0.m"
    assert unpadded["conv2d.align.x.conv2d.local"] == "m.align.m<0.m"
    assert set(padded.values()) <= set(unpadded.values())


def plainly_named() -> ComputeDAG:
    a, b, k = given(24, 96, name="A"), given(96, 40, name="B"), reduce_axis(96, "k")
    return ComputeDAG([compute((24, 40), lambda i, j: sum_over(a[i, k] * b[k, j], k), name="C")])


def oddly_named() -> ComputeDAG:
    """Tensors and axes called like each other, or like words that names are made of."""
    a, b, k = given(24, 96, name="j"), given(96, 40, name="root"), reduce_axis(96, "rc")
    return ComputeDAG([compute((24, 40), lambda j, at: sum_over(a[j, k] * b[k, at], k), name="x")])


@both_kinds
def test_users_names_do_not_matter(kind: str) -> None:
    dags = (plainly_named(), oddly_named())
    first, second = (Named(Space(d, TARGETS[kind]), Operator.of(d)) for d in dags)
    for one, other in zip(first.space.sketches, second.space.sketches, strict=True):
        assert one.rules == other.rules
        assert first.places(one) == second.places(other)
        mine = [first.decision(d, one) for d in one.decisions]
        assert mine == [second.decision(d, other) for d in other.decisions]


@both_kinds
def test_an_axis_of_one_element_has_no_decision(kind: str) -> None:
    found = {n: set(names(named(n, kind)).values()) for n in ("padded", "1x1", "batch 4")}
    assert {"m.#4", "m.#5"} <= found["padded"] and not {"m.#4", "m.#5"} & found["1x1"]
    assert "m.#0" in found["batch 4"] and "m.#0" not in found["padded"]


# ---- sketches -----------------------------------------------------------------------------------


def counterparts(there: str, here: str, kind: str = "cpu") -> dict[str, list[str]]:
    """Of each sketch there, by name, the names of those here."""
    a, b = named(there, kind), named(here, kind)
    return {
        sketch.name: [b.space.sketches[i].name for i in Correspondence(a, k, b).sketches]
        for k, sketch in enumerate(a.space.sketches)
    }


@both_kinds
@pytest.mark.parametrize("name", DAGS)
def test_a_sketch_corresponds_to_itself(name: str, kind: str) -> None:
    assert all(found == [own] for own, found in counterparts(name, name, kind).items())


def test_padded_and_unpadded_sketches_correspond_by_rules() -> None:
    found = counterparts("padded", "unpadded")
    assert len(found) == 7
    for name, (one,) in found.items():
        assert name.startswith(f"{one} · conv2d_pad: ")
    # Where there is no padding, nothing says where it is to be.
    back = counterparts("unpadded", "padded")
    assert {name: sorted(some) for name, some in back.items()} == {
        one: sorted(name for name in found if found[name] == [one]) for one in back
    }


def test_padding_is_placed_alike() -> None:
    found = counterparts("padded", "batch 4")
    assert all(some == [name] for name, some in found.items())


def test_a_write_cache_is_an_epilogue_to_others() -> None:
    """What a plain convolution keeps in a buffer of its own, one with an epilogue hands on."""
    there, here = named("unpadded", "cpu"), named("unpadded layer", "cpu")
    (k,) = (k for k, s in enumerate(there.space.sketches) if "add_cache_write" in s.rules)
    like = Correspondence(there, k, here)
    (number,) = like.sketches
    mine, theirs = here.space.sketches[number], there.space.sketches[k]
    assert mine.rules == kin(theirs.rules) != theirs.rules
    decisions = {here.decision(d, mine) for d in mine.decisions}
    assert {there.decision(d, theirs) for d in theirs.decisions} <= decisions
    assert "m>1.parallel" in decisions


def test_no_sketch_of_these_rules_no_neighbours() -> None:
    """A strided convolution has no sketch of Winograd's form."""
    dag = convolution(1, 28, 64, 64, 3, padding=1)
    there, here = Named(Space(dag, TARGETS["cpu"]), Operator.of(dag)), named("strided", "cpu")
    k = next(k for k, s in enumerate(there.space.sketches) if "winograd" in s.rules)
    like = Correspondence(there, k, here)
    (row,) = random_rows(there.space, k, 1)
    assert like.sketches == []
    found = like.neighbours(np.random.default_rng(0), row, 64)
    assert len(found) == 0 and found.rows.shape == (0, here.space.width)


@both_kinds
def test_a_space_of_fewer_rules_has_no_counterpart_of_the_others(kind: str) -> None:
    dag = CONVOLUTIONS["unpadded"]()
    rules = {"cpu": CPU_RULES, "gpu": GPU_RULES}[kind]
    there = named("padded", kind)
    here = Named(Space(dag, TARGETS[kind], rules[-1:], templates=()), Operator.of(dag))
    assert all(
        not Correspondence(there, k, here).sketches for k in range(len(there.space.sketches))
    )


# ---- neighbours ---------------------------------------------------------------------------------


@both_kinds
@pytest.mark.parametrize("name", DAGS)
def test_a_program_is_its_own_nearest(name: str, kind: str) -> None:
    here = named(name, kind)
    for k in range(len(here.space.sketches)):
        like = Correspondence(here, k, here)
        for row in random_rows(here.space, k, 3):
            assert all(far.min() == 0 for far in like.distances(row, k))
            found = like.neighbours(np.random.default_rng(1), row, 32)
            assert here.space.gene(int(found.sketch[0]), found.rows[0]) == here.space.gene(k, row)


@both_kinds
@pytest.mark.parametrize(("source", "name"), PAIRS)
def test_neighbours_are_valid_and_new_to_each_other(source: str, name: str, kind: str) -> None:
    there, here = named(source, kind), named(name, kind)
    assert family_of(there.space.dag) == family_of(here.space.dag)
    for k in range(len(there.space.sketches)):
        like = Correspondence(there, k, here)
        (row,) = random_rows(there.space, k, 1)
        found = like.neighbours(np.random.default_rng(2), row, MANY[kind])
        assert here.space.valid(found).all()
        assert set(found.sketch.tolist()) <= set(like.sketches)
        some = found[:32]
        genes = {here.space.gene(int(s), r) for s, r in zip(some.sketch, some.rows, strict=True)}
        assert len(genes) == len(some) and len(found) <= MANY[kind] + len(like.sketches)
        assert len(found) or not like.sketches


def total(like: Correspondence, here: Space, row: Ints, sketch: int, found: Ints) -> float:
    """How far a candidate is from what `row` has."""
    decisions = here.sketches[sketch].decisions
    return sum(
        float(far[(d.table == found[here.span(d)]).all(axis=1)][0])
        for d, far in zip(decisions, like.distances(row, sketch), strict=True)
    )


@both_kinds
def test_the_nearest_come_first(kind: str) -> None:
    there, here = named("padded", kind), named("strided", kind)
    for k in range(len(there.space.sketches)):
        like = Correspondence(there, k, here)
        (row,) = random_rows(there.space, k, 1)
        found = like.neighbours(np.random.default_rng(3), row, 64)
        far = [
            total(like, here.space, row, int(s), r)
            for s, r in zip(found.sketch, found.rows, strict=True)
        ]
        assert np.all(np.diff(far) > -1e-9)


def test_neighbours_repeat_by_seed() -> None:
    there, here = named("padded", "cpu"), named("strided", "cpu")
    (row,) = random_rows(there.space, 0, 1)
    one, same, other = (
        Correspondence(there, 0, here).neighbours(np.random.default_rng(seed), row, 64).rows
        for seed in (4, 4, 5)
    )
    assert np.array_equal(one, same) and not np.array_equal(one, other)


def test_tiles_are_carried_over() -> None:
    """The inner tile is kept before the outer one; an axis that is gone is of one element."""
    there, here = named("padded", "cpu"), named("1x1", "cpu")
    (k,) = (k for k, s in enumerate(here.space.sketches) if s.rules == ("multi_level_tiling",))
    row = random_rows(there.space, 0, 1)[0].copy()
    sources = {d.name: d for d in there.space.sketches[0].decisions}
    row[there.space.span(sources["conv2d.c"])] = (4, 1, 8)
    row[there.space.span(sources["conv2d.rc"])] = (4,)
    distances = Correspondence(there, 0, here).distances(row, k)
    for d, far in zip(here.space.sketches[k].decisions, distances, strict=True):
        if d.name in ("conv2d.c", "conv2d.rc"):
            nearest = d.table[far.argmin()]
            assert tuple(nearest) == {"conv2d.c": (5, 1, 8), "conv2d.rc": (4,)}[d.name]


def test_decisions_of_ones_own_are_free_or_one() -> None:
    there, here = named("1x1", "cpu"), named("padded", "cpu")
    (row,) = random_rows(there.space, 0, 1)
    like = Correspondence(there, 0, here)
    found = dict(zip(here.space.sketches[0].decisions, like.distances(row, 0), strict=True))
    by_name = {d.name: d for d in found}
    at, taps = by_name["conv2d_pad.at"], by_name["conv2d.rh"]
    assert isinstance(at, Choice) and len(at.table) > 1 and (found[at] == 0).all()
    assert isinstance(taps, TileFactors)
    assert taps.table[found[taps].argmin()].tolist() == [1] * (len(taps.levels) - 1)
