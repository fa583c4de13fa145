"""One conformance suite for every search strategy, and what each does besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import pytest

from tilewright.contract import arguments
from tilewright.cost.candidates import Population
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import ScheduleError
from tilewright.records.rows import CARRIED
from tilewright.schedule.templates import ON_CPUS, templates_of
from tilewright.search.model.cost_model import CostModel
from tilewright.search.reuse.correspondence import Named
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.strategy import RANKED, Relative, ReuseStrategy
from tilewright.search.strategies.evolution import TEMPLATE as ROW
from tilewright.search.strategies.evolution import EvolutionSettings, Scored, named
from tilewright.search.strategies.memory import (
    Candidate,
    Listed,
    ProposalMemory,
    as_population,
    unscored,
)
from tilewright.search.strategies.profiler import PROFILE, profile_of
from tilewright.search.strategies.table import (
    STRATEGIES,
    EvolutionStrategy,
    RandomStrategy,
    Strategy,
    by_template,
    in_turns,
    way_of,
)
from tilewright.search.task_scheduler import RoundRobin
from tilewright.search.tasks import TaskSearch, TuningTask
from tilewright.space.decisions import Decision
from tilewright.space.derivation import Rule
from tilewright.space.rules import CPU_RULES
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import StrategySuite, Untrained
from workloads import conv_layer, given, product


class PrefersWideVectors(Untrained):
    """A trained model whose score is the vector length of the longest statement."""

    trained = True

    def predict(self, features: np.ndarray, owner: np.ndarray, n: int) -> np.ndarray:
        score = np.zeros(n)
        np.maximum.at(score, owner, features[:, 17])
        return score


def small(target: Target, name: str = "") -> Space:
    """A space that can be listed; for a search among templates, one that has some."""
    if name == "templates":
        return with_templates(target)
    return Space(ComputeDAG([ops.matmul(given(4, 3, name="a"), given(3, 2, name="b"))]), target)


def with_templates(target: Target, rules: Sequence[Rule] = CPU_RULES) -> Space:
    """Of a product, a hundred rows of a template."""
    return Space(product(64, 128, 64), target, rules, templates=ON_CPUS)


def tiny(target: Target) -> Space:
    """A few dozen programs."""
    return Space(ComputeDAG([ops.relu(given(6, 48))]), target)


def reuse(space: Space, extractor: FeatureExtractor, model: CostModel) -> ReuseStrategy:
    """Of programs of the same operator, drawn at random."""
    same = Named(space, Operator.of(space.dag))
    some = space.sample(np.random.default_rng(9), 2)
    return ReuseStrategy(space, extractor, model, lambda: [Relative(same, some)])


MAKERS = {n: w.make for n, w in STRATEGIES.items() if w.reuse is None} | {"reuse": reuse}


def strategy(name: str, space: Space, model: Untrained | None = None) -> Strategy:
    return MAKERS[name](space, FeatureExtractor(space), model or Untrained())


told = StrategySuite.told


class TestRandom(StrategySuite):
    make = staticmethod(MAKERS["random"])


class TestExhaustive(StrategySuite):
    make = staticmethod(MAKERS["exhaustive"])


class TestEvolution(StrategySuite):
    make = staticmethod(MAKERS["evolution"])


class TestReuse(StrategySuite):
    make = staticmethod(reuse)


class TestTemplates(StrategySuite):
    """Where a task has some; a list ends when it is through."""

    make = staticmethod(MAKERS["templates"])
    test_a_tiny_space_is_exhausted = None

    def small(self) -> Space:
        return with_templates(self.target)

    def tiny(self) -> Space:
        return with_templates(self.target, ())


class TestProfile(StrategySuite):
    """Which has few programs."""

    make = staticmethod(MAKERS[PROFILE])
    test_no_program_is_proposed_twice = None
    test_a_tiny_space_is_exhausted = None
    test_more_is_proposed_before_the_last_is_told = None


class TestBeam(StrategySuite):
    """Which goes its way through a share of the space."""

    make = staticmethod(MAKERS["beam"])
    test_a_tiny_space_is_exhausted = None


def test_every_strategy_has_a_suite_and_takes_what_is_under_way() -> None:
    """The suite asks `expect` only of those that have it; reuse has rounds, one after the other."""
    suites = [s for s in StrategySuite.__subclasses__() if s.__module__ == __name__]
    assert {s.make for s in suites} == set(MAKERS.values())
    for suite in (s for s in suites if s is not TestReuse):
        one = suite()
        assert callable(getattr(one.strategy(one.small()), "expect", None)), suite.__name__


def test_what_is_under_way_is_a_parent_that_takes_what_was_predicted(target: Target) -> None:
    """And counts as tried: half of the first batch explores sketches, not of the second."""
    space = small(target)
    s = strategy("evolution", space)
    assert isinstance(s, EvolutionStrategy)
    rng = np.random.default_rng(0)
    first = s.ask(rng, 24)
    told(s, first[:8])
    alone = s._parents()
    s.expect(first[8:])
    parents = s._parents()
    assert alone is not None and parents is not None
    assert len(parents) == len(alone) + len(first[8:])
    assert (parents.rows[0] == alone.rows[0]).all(), "no prediction beats the best figure"
    told(s, first[8:])
    again = s._parents()
    assert again is not None and len(again) <= len(parents)
    assert not s._expected


@pytest.mark.parametrize("name", MAKERS)
def test_origins_are_known(name: str, target: Target) -> None:
    batch = strategy(name, small(target, name)).ask(np.random.default_rng(1), 16)
    known = {"sample", "crossover", PROFILE, CARRIED, RANKED, ROW, *target.backend.mutations}
    assert {c.origin for c in batch} <= known


def test_exhaustive_search_lists_everything_once(target: Target) -> None:
    space = tiny(target)
    s, rng = strategy("exhaustive", space), np.random.default_rng(6)
    order = [c.gene for c in iter_all(s, rng)]
    every = space.enumerate(1000)
    rows = zip(every.sketch, every.rows, strict=True)
    assert {*order} == {space.gene(int(k), row) for k, row in rows}
    assert len(order) == len(set(order)) == len(every)
    again = [c.gene for c in iter_all(strategy("exhaustive", space), np.random.default_rng(7))]
    assert again == order


def iter_all(s: Strategy, rng: np.random.Generator) -> list[Candidate]:
    found: list[Candidate] = []
    while batch := s.ask(rng, 7):
        found += batch
    return found


def test_exhaustive_search_refuses_large_spaces(target: Target) -> None:
    with pytest.raises(ScheduleError, match="use evolution or random search"):
        strategy("exhaustive", Space(conv_layer(), target))


def test_templates_are_measured_in_the_order_of_the_estimate_until_all_are(target: Target) -> None:
    space = with_templates(target)
    s, rng = strategy("templates", space), np.random.default_rng(8)
    found = list(iter_all(s, rng))
    numbers = [k for k, sketch in enumerate(space.sketches) if sketch.is_listed]
    listed = sum(len(space.listed(k, 1000)) for k in numbers)
    assert 0 < len(found) == listed <= 200 and {c.sketch for c in found} == set(numbers)
    latency = FeatureExtractor(space).latency(as_population(found))
    assert (np.diff(latency) >= 0).all()


def test_a_task_without_a_template_is_searched_by_evolution(
    target: Target, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        s = strategy("templates", Space(tiny(target).dag, target, templates=ON_CPUS))
    assert isinstance(s, EvolutionStrategy)
    assert "no template computes relu" in caplog.text
    usual = strategy("evolution", tiny(target))
    both = (one.ask(np.random.default_rng(0), 8) for one in (s, usual))
    assert [c.gene for c in next(both)] == [c.gene for c in next(both)]


def test_only_that_search_has_templates_where_the_target_has_none_of_its_own(
    target: Target,
) -> None:
    assert [name for name, way in STRATEGIES.items() if way.asks] == ["templates"]
    assert (templates_of(target), templates_of(target, asked=True)) == ((), ON_CPUS)
    h100 = Target.parse("cuda:h100")
    assert templates_of(h100) == templates_of(h100, asked=True)


def test_rows_of_templates_are_a_share_of_evolutions_batches(target: Target) -> None:
    space = with_templates(target)
    s = evolution(space, sources=[by_template(space, FeatureExtractor(space), 0.5)])
    rng, order = np.random.default_rng(0), []
    rows = list(iter_all(strategy("templates", space), rng))
    for _ in range(ceil(len(rows) / 8)):
        batch = s.ask(rng, 16)
        mine = [c for c in batch if c.origin == ROW]
        assert len(mine) <= 8
        order += [c.gene for c in mine]
        told(s, batch)
    known = {c.gene for c in rows}
    assert set(order) <= known and len(order) > len(rows) / 2, "evolution may come before"
    assert ROW not in {c.origin for c in s.ask(rng, 16)}


def evolution(
    given: Target | Space, model: Untrained | None = None, **shares: Any
) -> EvolutionStrategy:
    space = given if isinstance(given, Space) else Space(conv_layer(), given)
    model, settings = model or Untrained(), EvolutionSettings(population=256)
    return EvolutionStrategy(space, FeatureExtractor(space), model, settings, **shares)


def test_evolution_begins_with_a_profile_where_asked_to(target: Target) -> None:
    space = Space(conv_layer(), target)
    listed = partial(profile_of, space, FeatureExtractor(space), 5)
    s = evolution(space, sources=[(listed, 1.0)])
    rng = np.random.default_rng(0)
    first, second = s.ask(rng, 4), s.ask(rng, 4)
    assert [c.origin for c in first] == [PROFILE] * 4
    assert second[0].origin == PROFILE != second[1].origin
    assert len({c.gene for c in (*first, *second)}) == 8


def usual_estimate(s: EvolutionStrategy, quantile: float) -> float:
    random = s.space.sample(np.random.default_rng(1), 200)
    return float(np.quantile(s.extractor.latency(random), quantile))


def test_the_estimate_decides_until_this_workload_was_measured(target: Target) -> None:
    s = evolution(target, PrefersWideVectors(), epsilon=0.0)
    batch = as_population(s.ask(np.random.default_rng(0), 8))
    assert np.median(s.extractor.latency(batch)) <= usual_estimate(s, 0.1)


def test_evolution_follows_the_model(target: Target) -> None:
    model = PrefersWideVectors()
    s = evolution(target, model, epsilon=0.0, explore=0.0, vary=0.0)
    rng = np.random.default_rng(0)
    for _ in range(3):
        batch = s.ask(rng, 64)
        s.tell(batch, [1.0] * 64)
    scores = [c.predicted for c in batch]
    assert scores == sorted(scores, reverse=True)
    found, random = as_population(batch), s.space.sample(np.random.default_rng(1), 200)
    liked, usual = (
        model.predict(*s.extractor.extract(some), len(some)) for some in (found, random)
    )
    assert np.median(liked) >= np.quantile(usual, 0.9)


def changed(s: EvolutionStrategy, one: Candidate, other: Candidate) -> list[Decision]:
    """The decisions by which two programs of one sketch differ."""
    assert one.sketch == other.sketch
    spans = [(d, s.space.span(d)) for d in s.space.sketches[one.sketch].decisions]
    return [d for d, span in spans if one.row[span] != other.row[span]]


def test_the_best_is_tried_with_other_choices_in_turns(target: Target) -> None:
    s = evolution(target, PrefersWideVectors(), vary=0.1)
    rng = np.random.default_rng(0)
    first = s.ask(rng, 10)
    assert "choice" not in {c.origin for c in first}  # nothing is known to be best
    best = first[3]
    s.tell(first, [1.0 if c is best else 2.0 for c in first])
    tried = []
    for _ in range(6):
        batch = s.ask(rng, 10)
        (varied,) = (c for c in batch if c.origin == "choice")
        (decision,) = changed(s, best, varied)
        tried.append((decision.name, varied.row[s.space.span(decision)]))
        s.tell(batch, [3.0] * 10)
    decisions = {d.name: d for d in s.space.sketches[best.sketch].decisions}
    assert all("tile" not in decisions[name].mutations for name, _ in tried)
    options = [len(decisions[name].table) for name, _ in tried]
    assert options == sorted(options)
    assert len(set(tried)) == 6
    # A new best: what has been tried is tried last.
    better = next(c for c in batch if c.sketch == best.sketch and c.origin != "choice")
    s.tell([better], [0.5])
    (varied,) = (c for c in s.ask(rng, 10) if c.origin == "choice")
    (decision,) = changed(s, better, varied)
    assert (decision.name, varied.row[s.space.span(decision)]) not in tried


def test_sketches_take_turns_the_least_tried_first() -> None:
    sketch = np.array([0, 0, 1, 0, 2, 1, 2])
    rows = Population(np.arange(7)[:, None], sketch)
    found = Scored(rows, -np.arange(7.0), named("sample", 7))
    turns = in_turns(found, np.array([5, 0, 1]))
    assert turns.population.rows[:, 0].tolist() == [2, 4, 5, 6, 0, 1, 3]
    assert turns.score.tolist() == [-2, -4, -5, -6, 0, -1, -3]


def test_the_first_batch_tries_every_sketch(target: Target) -> None:
    s = evolution(target, Untrained(), epsilon=0.0)
    sketches = len(s.space.sketches)
    assert sketches > 1
    batch = s.ask(np.random.default_rng(0), 4 * sketches)
    assert {c.sketch for c in batch} == set(range(sketches))


def test_evolution_starts_from_the_estimate(target: Target) -> None:
    batch = evolution(target, Untrained(), epsilon=0.0).ask(np.random.default_rng(0), 8)
    assert all(c.predicted is not None and c.predicted > 0 for c in batch)


def test_a_share_of_every_batch_is_random(target: Target) -> None:
    batch = evolution(target, Untrained(), epsilon=1.0).ask(np.random.default_rng(0), 16)
    assert len(batch) == 16 and all(c.predicted is None for c in batch)
    batch = evolution(target, Untrained(), epsilon=0.5).ask(np.random.default_rng(0), 16)
    assert 2 < sum(c.predicted is None for c in batch) < 14


def test_winners_are_counted_by_operator(target: Target) -> None:
    s = evolution(target, Untrained())
    rng = np.random.default_rng(0)
    latency = 1.0
    for _ in range(3):
        batch = s.ask(rng, 6)
        s.tell(batch, [latency := latency * 0.9 for _ in batch])
    assert sum(s.winners.values()) == 18
    s.tell(s.ask(rng, 6), [None] * 6)
    s.tell(s.ask(rng, 6), [2.0] * 6)
    assert sum(s.winners.values()) == 18
    assert sum(s.evolution.attempts.values()) > 0


def test_task_search_counts_and_remembers_the_best(target: Target) -> None:
    task = TuningTask("relu", ComputeDAG([ops.relu(given(6, 48))]))
    search = TaskSearch.start(task, Space(task.dag, target), Untrained(), STRATEGIES["random"].make)
    first = search.propose(0, 5)
    again = TaskSearch.start(task, Space(task.dag, target), Untrained(), STRATEGIES["random"].make)
    assert [c.gene for c in again.propose(0, 5)] == [c.gene for c in first]
    search.tell(first, [3.0, None, 1.0, 2.0, 5.0])
    assert (search.rounds, search.trials, search.errors) == (1, 5, 1)
    assert (search.best_s, search.best) == (1.0, first[2].gene)
    assert [latency for latency, _ in search.finalists] == [1.0, 2.0, 3.0, 5.0]
    for _ in range(100):
        batch = search.propose(0, 5)
        if search.exhausted:
            break
        search.tell(batch, [4.0] * len(batch))
    assert search.exhausted and search.best_s == 1.0


def test_lists_with_one_memory_propose_nothing_twice(target: Target) -> None:
    """What one has proposed, or was told, the other passes over."""
    space, rng = small(target), np.random.default_rng(0)
    memory, every = ProposalMemory(space), unscored(space.enumerate(10_000))
    first, other = Listed(memory, lambda: every), Listed(memory, lambda: every, most=8)
    told(first, [known := strategy("exhaustive", space).ask(rng, 3)[2]])
    genes = [c.gene for c in first.ask(rng, 4)]
    assert known.gene not in genes and other.left == 3
    assert [c.gene for c in other.ask(rng, 16)] == [
        c.gene for c in strategy("exhaustive", space).ask(rng, 8)[5:]
    ]
    assert other.ask(rng, 16) == [] and other.left == 0


def test_a_way_is_named_made_or_given() -> None:
    mine = replace(STRATEGIES["evolution"], scheduler=RoundRobin)
    assert [way_of(w) for w in ("profile", mine)] == [STRATEGIES["profile"], mine]
    assert (way_of(RandomStrategy).name, way_of(RandomStrategy).make) == (
        "RandomStrategy",
        RandomStrategy,
    )
    assert tuple(STRATEGIES) == arguments.STRATEGIES
    assert {n for n, w in STRATEGIES.items() if w.reuse or w.short} == set(arguments.PLANNED)
