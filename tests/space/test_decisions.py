"""Decision kinds: valid values, encoding, mutation."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import pytest

from tilewright.space.decisions import (
    TILE,
    WASTE,
    Choice,
    Decision,
    Rows,
    S,
    TileFactors,
    another,
    divisors,
    encode,
    sample,
    slack,
    variables,
)

FOUR = (S, S, S, TILE)
ONCE = replace(S, most=1)
VECTOR = (S, S, S, replace(TILE, lanes=16))
DECISIONS: dict[str, Decision] = {
    "composite": TileFactors("c.i", "c", 48, FOUR, slack=3),
    "power of two": TileFactors("c.i", "c", 512, FOUR, slack=32),
    "prime": TileFactors("c.i", "c", 61, FOUR, slack=3),
    "two levels": TileFactors("c.k", "c", 36, (S, TILE)),
    "vector": TileFactors("c.j", "c", 40, VECTOR, slack=15),
    "groups": TileFactors("c.j", "c", 96, VECTOR, slack=15, within=32),
    "panels": TileFactors("c.j", "c", 40, (ONCE, ONCE, S, TILE), slack=2),
    "tiny": TileFactors("c.i", "c", 2, FOUR),
    "steps": Choice("c.unroll", "c", "pragma", (0, 16, 64, 512), ordered=True),
    "places": Choice("c.at", "c", "location", (0, 1, 2)),
    "fixed": Choice("c.at", "c", "location", (1,)),
    "rows": Rows("c.tiles", "c", ((6, 64, 2), (6, 64, 1), (12, 32, 1), (14, 16, 3))),
    "one row": Rows("c.tiles", "c", ((6, 64),)),
}
MANY = {n: d for n, d in DECISIONS.items() if len(d.table) > 1}


def brute_force(extent: int, levels: int, innermost: int) -> set[tuple[int, ...]]:
    """Exact tilings: inner lengths whose product divides the extent."""
    rows = product(*(divisors(extent) for _ in range(levels - 1)))
    return {r for r in rows if extent % prod(r) == 0 and r[-1] <= innermost}


@pytest.mark.parametrize(("extent", "levels"), [(48, 4), (36, 2), (7, 3), (60, 3)])
def test_exact_tiles_are_all_factorisations(extent: int, levels: int) -> None:
    table = TileFactors("t", "s", extent, (*[S] * (levels - 1), TILE)).table
    assert {tuple(int(x) for x in row) for row in table} == brute_force(extent, levels, 64)
    few = (*[S] * (levels - 1), replace(TILE, most=4))
    assert TileFactors("t", "s", extent, few).table[:, -1].max() <= 4


@pytest.mark.parametrize("extent", [31, 61, 127, 100])
def test_padded_tiles_cover_the_axis_within_the_waste(extent: int) -> None:
    decision = TileFactors("t", "s", extent, FOUR, slack=slack(extent))
    inner = decision.table.prod(axis=1)
    covered = -(-extent // inner) * inner
    assert (covered >= extent).all() and (covered <= extent + extent // WASTE).all()
    assert (covered - extent < decision.table[:, -1]).all()
    exact = {tuple(int(x) for x in row) for row in decision.table[covered == extent]}
    assert exact == brute_force(extent, 4, 64)
    assert extent < WASTE or (covered > extent).any()


@pytest.mark.parametrize(
    ("extent", "padded"), [(6, set()), (7, {2, 4}), (13, {2, 7}), (14, {3, 5})]
)
def test_short_axes_may_run_over_by_one(extent: int, padded: set[int]) -> None:
    """From 7 on: one in five is too much of a waste."""
    last = TileFactors("t", "s", extent, FOUR[1:], slack=slack(extent, by_one=True)).table[:, -1]
    assert set(last.tolist()) == set(divisors(extent)) | padded


def test_vector_tiles_fill_whole_vectors() -> None:
    last = TileFactors("t", "s", 40, VECTOR, slack=slack(40, 16)).table[:, -1]
    assert set(last) == {1, 2, 4, 5, 8, 10, 16, 40}


def test_tiles_within_groups_never_cross_them() -> None:
    tiles = DECISIONS["groups"].table
    assert {prod(row) for row in tiles.tolist()} == {1, 2, 4, 8, 16, 32}
    assert set(tiles[:, -1]) == {1, 2, 4, 8, 16, 32}


def test_levels_have_at_most_so_many_iterations() -> None:
    """Of all tilings those in which the first two have one."""
    every = TileFactors("c.j", "c", 40, FOUR, slack=2).table
    once = DECISIONS["panels"].table
    np.testing.assert_array_equal(once, every[(every[:, 0] == 1) & (every.prod(axis=1) >= 40)])
    two = TileFactors("c.j", "c", 40, (S, replace(S, most=2), S, TILE), slack=2).table
    np.testing.assert_array_equal(two, every[every[:, 0] <= 2])


@pytest.mark.parametrize("name", DECISIONS)
def test_tables_are_sorted_unique_and_encode_back(name: str) -> None:
    decision = DECISIONS[name]
    table = decision.table
    assert table.shape == (len(table), len(decision.columns)) and len(table)
    assert [v.name for v in variables(decision)] == list(decision.columns)
    assert sorted(map(tuple, table.tolist())) == [tuple(r) for r in table.tolist()]
    np.testing.assert_array_equal(encode(decision, table), np.arange(len(table)))
    assert len(set(map(tuple, table.tolist()))) == len(table)


@pytest.mark.parametrize("name", DECISIONS)
def test_values_outside_the_table_are_refused(name: str) -> None:
    decision = DECISIONS[name]
    table = decision.table
    rng = np.random.default_rng(0)
    strange = rng.integers(-3, int(table.max()) + 9, (400, table.shape[1]))
    known = set(map(tuple, table.tolist()))
    expected = np.array([tuple(r) in known for r in strange.tolist()])
    np.testing.assert_array_equal(encode(decision, strange) >= 0, expected)


@pytest.mark.parametrize("name", MANY)
def test_mutations_are_valid_and_move(name: str) -> None:
    decision = MANY[name]
    rng = np.random.default_rng(3)
    rows = sample(decision, rng, 2000)
    before = rows.copy()
    moved = decision.mutate(rng, rows)
    np.testing.assert_array_equal(rows, before)
    assert (encode(decision, moved) >= 0).all()
    assert (moved != rows).any(axis=1).all()
    other = another(decision, rng, rows)
    assert (encode(decision, other) >= 0).all() and (other != rows).any(axis=1).all()


def test_the_only_value_stays() -> None:
    decision = DECISIONS["fixed"]
    rows = sample(decision, np.random.default_rng(0), 5)
    np.testing.assert_array_equal(decision.mutate(np.random.default_rng(1), rows), rows)


@pytest.mark.parametrize("name", MANY)
def test_mutation_reaches_every_value(name: str) -> None:
    """From one value, step by step."""
    decision = MANY[name]
    rng = np.random.default_rng(4)
    rows = np.repeat(decision.table[:1], 512, axis=0)
    seen: set[int] = set()
    for _ in range(60):
        seen.update(encode(decision, rows).tolist())
        rows = decision.mutate(rng, rows)
    assert len(seen) == len(decision.table)


def test_tile_mutation_moves_one_factor() -> None:
    """Most children of an exact tiling keep the product and differ in two levels."""
    decision = TileFactors("t", "s", 96, FOUR)
    rng = np.random.default_rng(5)
    rows = sample(decision, rng, 1000)
    moved = decision.mutate(rng, rows)
    before = np.column_stack([96 // rows.prod(axis=1), rows])
    after = np.column_stack([96 // moved.prod(axis=1), moved])
    assert ((before != after).sum(axis=1) == 2).mean() > 0.6


def test_ordered_choices_take_neighbours() -> None:
    decision = DECISIONS["steps"]
    rng = np.random.default_rng(6)
    rows = sample(decision, rng, 500)
    gap = encode(decision, decision.mutate(rng, rows)) - encode(decision, rows)
    assert set(np.abs(gap)) == {1}


@pytest.mark.parametrize("name", MANY)
def test_sampling_is_uniform(name: str) -> None:
    decision = MANY[name]
    drawn = encode(decision, sample(decision, np.random.default_rng(7), 40 * len(decision.table)))
    counts = np.bincount(drawn, minlength=len(decision.table))
    assert chi_square_z(counts) < 4


def chi_square_z(counts: np.ndarray) -> float:
    """How many standard deviations the statistic lies above its mean, for equal frequencies."""
    expected = counts.sum() / len(counts)
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = len(counts) - 1
    return float((statistic - freedom) / np.sqrt(2 * freedom))


def test_rows_move_to_those_that_differ_little() -> None:
    decision = DECISIONS["rows"]
    start = np.repeat([[6, 64, 1]], 2048, axis=0)
    found = encode(decision, decision.mutate(np.random.default_rng(0), start))
    _, other, near, far = np.bincount(found, minlength=4)  # by 1, 2, 3 numbers
    assert 3 < other / near < 5 and 3 < near / far < 5
