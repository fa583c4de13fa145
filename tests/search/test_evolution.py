"""Evolution: children are valid programs, every operator works, better candidates are found."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.cost.candidates import Population, concatenate
from tilewright.search.strategies.evolution import (
    CROSSOVER,
    PARENT,
    SKETCH,
    Evolution,
    EvolutionSettings,
    Score,
    fingerprints,
)
from tilewright.space.rules import CPU_RULES
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import OPERATORS, conv_layer

SMALL = EvolutionSettings(population=256, generations=4)
CHANGES = ("tile", "parallel", "pragma", "location", "sketch", "crossover")


@pytest.fixture(scope="module")
def layer(target: Target) -> Space:
    """Convolution, bias and ReLU: several sketches, every kind of decision."""
    return Space(conv_layer(), target)


def keys(space: Space, population: Population) -> list[int]:
    return fingerprints(space.canonical(population)).tolist()


def distance_score(space: Space, goal: np.ndarray, sketch: int) -> Score:
    """Higher the nearer a candidate is to a goal row of one sketch; at most 0."""
    columns = space.sketches[sketch].columns

    def score(population: Population) -> np.ndarray:
        rows = space.canonical(population).rows[:, columns]
        logs = np.log2(np.maximum(rows, 1))
        gap = np.abs(logs - np.log2(np.maximum(goal[columns], 1))).sum(axis=1)
        return -gap - 20.0 * (population.sketch != sketch)

    return score


def generations(space: Space, seed: int = 0, rounds: int = 6) -> tuple[Evolution, list[Population]]:
    evolution = Evolution(space, SMALL)
    rng = np.random.default_rng(seed)
    found = [evolution.initial(rng, None)]
    for _ in range(rounds):
        child, how = evolution.generation(rng, found[-1], rng.random(SMALL.population))
        assert len(child) == len(how) == SMALL.population
        found.append(child)
    return evolution, found


@pytest.mark.parametrize("name", ["GMM", "C2D", "GRD", "NRM"])
def test_children_are_valid(name: str, target: Target) -> None:
    space = Space(OPERATORS[name](), target)
    _, found = generations(space)
    for population in found:
        assert space.valid(population).all()


def test_every_operator_makes_valid_children(layer: Space) -> None:
    evolution, _ = generations(layer)
    assert set(evolution.attempts) == set(CHANGES)
    assert sum(evolution.attempts.values()) == 6 * SMALL.population
    for name in CHANGES:
        assert 0 < evolution.valid[name] <= evolution.attempts[name], name
    assert evolution.attempts["tile"] > evolution.attempts["parallel"] > 0


def test_mutations_change_one_decision(layer: Space) -> None:
    evolution = Evolution(layer, EvolutionSettings(population=512, mutation=1.0))
    rng = np.random.default_rng(1)
    population = evolution.initial(rng, None)
    mothers = {k: i for i, k in enumerate(keys(layer, population))}
    assert len(mothers) > 500
    child, how = evolution.generation(rng, population, np.ones(512))
    rows = {tuple(r): s for r, s in zip(population.rows.tolist(), population.sketch, strict=True)}
    for i in np.flatnonzero(how == SKETCH):
        assert tuple(child.rows[i].tolist()) in rows  # the row rides along
    changed = 0
    for i in np.flatnonzero((how != SKETCH) & (how != PARENT)):
        differs = (population.rows != child.rows[i]).any(axis=1)
        spans = [layer.span(d) for d in layer.sketches[child.sketch[i]].decisions]
        per_decision = np.array(
            [(population.rows[:, s] != child.rows[i, s]).any(axis=1) for s in spans]
        )
        assert (per_decision.sum(axis=0) <= 1).any()
        changed += bool(differs.all())
    assert changed > 200


def test_crossover_takes_nodes_from_either_parent(layer: Space) -> None:
    evolution = Evolution(layer, EvolutionSettings(population=128, mutation=0.0))
    rng = np.random.default_rng(2)
    parents = layer.sample(rng, 2)
    while parents.sketch[0] == parents.sketch[1]:
        parents = layer.sample(rng, 2)
    population = parents[np.arange(128) % 2]
    child, how = evolution.generation(rng, population, np.arange(128) % 2 + 1.0)
    assert (how == CROSSOVER).any()
    for i in np.flatnonzero(how == CROSSOVER):
        assert child.sketch[i] in parents.sketch
        for decision in layer.decisions:
            span = layer.span(decision)
            options = [parents.rows[k, span].tolist() for k in (0, 1)]
            assert child.rows[i, span].tolist() in options


def test_parents_of_different_sketches_have_valid_children(layer: Space) -> None:
    """Decisions of both parents end up in one program, of either sketch."""
    evolution = Evolution(layer, EvolutionSettings(population=64, mutation=0.0))
    rng = np.random.default_rng(3)
    mixed = 0
    for _ in range(20):
        parents = layer.sample(rng, 2)
        if parents.sketch[0] == parents.sketch[1]:
            continue
        child, how = evolution.generation(rng, parents[np.arange(64) % 2], np.ones(64))
        for i in np.flatnonzero(how == CROSSOVER):
            columns = layer.sketches[child.sketch[i]].columns
            a, b = (child.rows[i, columns] == parents.rows[k][columns] for k in (0, 1))
            mixed += bool((a & ~b).any() and (b & ~a).any())
    assert mixed > 100


def test_invalid_children_are_replaced_by_their_parent(layer: Space) -> None:
    evolution = Evolution(layer, EvolutionSettings(population=512, mutation=0.0))
    rng = np.random.default_rng(4)
    population = evolution.initial(rng, None)
    child, how = evolution.generation(rng, population, np.ones(512))
    lost = np.flatnonzero(how == PARENT)
    assert len(lost) == evolution.attempts["crossover"] - evolution.valid["crossover"] > 0
    known = set(keys(layer, population))
    assert set(keys(layer, child[lost])) <= known


@pytest.mark.parametrize("seed", range(3))
def test_a_synthetic_score_improves(layer: Space, seed: int) -> None:
    """Evolution comes much nearer to a hidden candidate than as many random ones."""
    rng = np.random.default_rng(seed)
    goal = layer.sample(rng, 1)
    score = distance_score(layer, goal.rows[0], int(goal.sketch[0]))
    settings = EvolutionSettings(population=512, generations=6)
    found = Evolution(layer, settings).run(rng, score, None)
    draws = layer.sample(np.random.default_rng(100 + seed), 512 * 7)
    assert found.score[0] > score(draws).max()
    assert (np.diff(found.score) <= 0).all()
    np.testing.assert_allclose(found.score, score(found.population))


def test_runs_repeat_by_seed(layer: Space) -> None:
    def run(seed: int) -> list[int]:
        score = distance_score(layer, layer.sample(np.random.default_rng(9), 1).rows[0], 0)
        found = Evolution(layer, SMALL).run(np.random.default_rng(seed), score, None)
        return fingerprints(found.population).tolist()

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_results_are_distinct_and_canonical(layer: Space) -> None:
    score = distance_score(layer, layer.sample(np.random.default_rng(9), 1).rows[0], 0)
    found = Evolution(layer, SMALL).run(np.random.default_rng(0), score, None)
    rows = np.column_stack([found.population.sketch, found.population.rows])
    assert len(np.unique(rows, axis=0)) == len(rows)
    canonical = layer.canonical(found.population)
    np.testing.assert_array_equal(canonical.rows, found.population.rows)
    assert set(found.origin) >= {"sample", "tile", "crossover"}


def test_every_candidate_is_scored_once(layer: Space) -> None:
    """However often generations repeat it; and the scores are those of scoring it again."""
    score = distance_score(layer, layer.sample(np.random.default_rng(9), 1).rows[0], 0)
    asked: list[int] = []

    def counted(population: Population) -> np.ndarray:
        asked.extend(keys(layer, population))
        return score(population)

    found = Evolution(layer, SMALL).run(np.random.default_rng(0), counted, None)
    assert len(asked) == len(set(asked)) == len(found.population)
    assert len(asked) < SMALL.population * (SMALL.generations + 1)
    np.testing.assert_array_equal(found.score, score(found.population))


def test_measured_candidates_are_among_the_first(layer: Space) -> None:
    rng = np.random.default_rng(5)
    measured = layer.canonical(layer.sample(rng, 100))
    initial = Evolution(layer, SMALL).initial(rng, measured)
    assert len(initial) == SMALL.population
    elite = int(SMALL.population * SMALL.elite)
    assert keys(layer, initial[:elite]) == keys(layer, measured[:elite])


def test_equal_scores_select_uniformly(layer: Space) -> None:
    """No score stands out: every parent has the same chance, and nothing divides by zero."""
    evolution = Evolution(layer, SMALL)
    rng = np.random.default_rng(6)
    population = evolution.initial(rng, None)
    child, _ = evolution.generation(rng, population, np.zeros(SMALL.population))
    assert len(set(keys(layer, child))) > SMALL.population // 2


def test_fingerprints_tell_rows_and_sketches_apart(layer: Space) -> None:
    population = layer.canonical(layer.sample(np.random.default_rng(7), 3000))
    rows = np.column_stack([population.sketch, population.rows])
    assert len(np.unique(fingerprints(population))) == len(np.unique(rows, axis=0))
    twice = concatenate([population, population])
    assert len(np.unique(fingerprints(twice))) == len(np.unique(fingerprints(population)))


def test_a_space_of_one_sketch_never_changes_it() -> None:
    rules = [r for r in CPU_RULES if r.name != "add_cache_write"]
    space = Space(OPERATORS["GMM"](), Target.parse("cpu:haswell cores=2"), rules)
    assert len(space.sketches) == 1
    evolution, _ = generations(space, rounds=2)
    assert evolution.attempts["sketch"] == 0
