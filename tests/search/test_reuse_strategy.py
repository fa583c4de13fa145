"""What is proposed for an operator whose relatives' good programs are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tilewright.cost.candidates import concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cost.usage import usage_of
from tilewright.expr.dag import ComputeDAG
from tilewright.records.rows import CARRIED, DEFAULT
from tilewright.search.model.cost_model import GradientBoostedModel
from tilewright.search.reuse import strategy as reuse
from tilewright.search.reuse.correspondence import Correspondence, Named
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.ranges import Ranges, ranges_of
from tilewright.search.reuse.strategy import (
    LENGTH,
    RANKED,
    ROUND,
    Relative,
    ReuseStrategy,
)
from tilewright.search.strategies.evolution import CHOICE
from tilewright.search.strategies.memory import Candidate, as_population
from tilewright.search.strategies.table import EvolutionStrategy
from tilewright.space.default import default_of
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import convolution

TARGETS = {"cpu": Target.parse("cpu:icelake-server cores=2"), "gpu": Target.parse("cuda:h100")}
DAGS: dict[str, Callable[[], ComputeDAG]] = {
    "here": lambda: convolution(1, 14, 16, 32, 3, padding=1),
    "there": lambda: convolution(2, 10, 24, 32, 3, padding=1),
    "far": lambda: convolution(1, 16, 8, 64, 1),
    "large": lambda: convolution(1, 28, 32, 64, 3, padding=1),
    "large strided": lambda: convolution(1, 56, 32, 64, 3, stride=2, padding=1),
}
Round = tuple[list[Candidate], list[float | None]]
Latency = Callable[[Candidate], float | None]


@pytest.fixture(autouse=True)
def small_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "POOL", 256)


@cache
def space_of(name: str, kind: str = "cpu") -> Space:
    return Space(DAGS[name](), TARGETS[kind])


@cache
def extractor(name: str, kind: str = "cpu") -> FeatureExtractor:
    return FeatureExtractor(space_of(name, kind))


@cache
def relative(name: str, kind: str = "cpu", rules: tuple[str, ...] | None = None) -> Relative:
    """Two programs, the best by the estimate of many; of some rules only where these are given."""
    space = space_of(name, kind)
    drawn = space.sample(np.random.default_rng(0), 256)
    if rules is not None:
        drawn = drawn[[space.sketches[k].rules == rules for k in drawn.sketch]]
    best = np.argsort(extractor(name, kind).latency(drawn), kind="stable")[:2]
    return Relative(Named(space, Operator.of(space.dag)), drawn[best])


def strategy(name: str, *relatives: Relative, kind: str = "cpu") -> ReuseStrategy:
    model = GradientBoostedModel(seed=0)  # which learns nothing here
    return ReuseStrategy(space_of(name, kind), extractor(name, kind), model, lambda: relatives)


@cache
def default(name: str, kind: str = "cpu") -> Candidate:
    """What is measured before anything is asked for."""
    space = space_of(name, kind)
    one = default_of(space, extractor(name, kind))
    return Candidate.at(one, space.gene(int(one.sketch[0]), one.rows[0]), DEFAULT)


def estimate(s: ReuseStrategy, c: Candidate) -> float:
    return float(s.extractor.latency(as_population([c]))[0])


def fails(c: Candidate) -> None:
    return None


def rounds(
    s: ReuseStrategy, count: int, latency: Latency | None = None, n: int = 5, first: int = 0
) -> list[Round]:
    """What is proposed when `n` programs are asked for, `count` times, and told."""
    found = []
    for number in range(first, first + count):
        batch = s.ask(np.random.default_rng([0, number]), n)
        took = latency or (lambda c: estimate(s, c))
        found.append((batch, [took(c) for c in batch]))
        s.tell(*found[-1])
    return found


def genes(found: Sequence[Round]) -> list[list[str]]:
    return [[c.gene.text for c in batch] for batch, _ in found]


def proposed(found: Sequence[Round]) -> set[str]:
    return {text for batch in genes(found) for text in batch}


def origins(found: Sequence[Round]) -> list[str]:
    return [c.origin for batch, _ in found for c in batch]


def told_default(name: str, *relatives: Relative, kind: str = "cpu") -> ReuseStrategy:
    s = strategy(name, *relatives, kind=kind)
    s.tell([default(name, kind)], [estimate(s, default(name, kind))])
    return s


# ---- rounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TARGETS)
def test_programs_are_valid_and_new(kind: str) -> None:
    s = told_default("here", relative("there", kind), relative("far", kind), kind=kind)
    found = rounds(s, 5)
    batch = [c for some, _ in found for c in some]
    assert s.space.valid(as_population(batch)).all()
    assert [c.gene for c in batch] == [s.space.gene(c.sketch, np.array(c.row)) for c in batch]
    assert len({*(c.gene for c in batch), default("here", kind).gene}) == len(batch) + 1
    assert all(c.predicted is not None and np.isfinite(c.predicted) for c in batch[:LENGTH])


@pytest.mark.parametrize(
    ("n", "sizes"),
    [(1, [1] * 12), (3, [3, 1] * 3), (4, [4] * 3), (64, [4] * 3)],
)
def test_rounds_are_of_few_whatever_is_asked(n: int, sizes: list[int]) -> None:
    s = told_default("here", relative("there"))
    assert s.reusing
    found = rounds(s, len(sizes), n=n)
    assert [len(batch) for batch, _ in found] == sizes and sum(sizes) == LENGTH
    assert not s.reusing
    ((batch, _),) = rounds(s, 1, n=n)
    assert len(batch) == n and not {CARRIED, RANKED} & {c.origin for c in batch}


@pytest.mark.parametrize(
    ("gain", "own", "programs"),
    [(1.0, 1.0, ROUND), (1.2, 1.0, LENGTH), (1.0, 1.2, LENGTH), (1.02, 1.02, ROUND)],
)
def test_what_cannot_pay_ends_after_a_round(gain: float, own: float, programs: int) -> None:
    """Neither the relative nor the first round was much faster than the untuned program."""
    s = strategy("here", replace(relative("there"), gain=gain))
    s.tell([default("here")], [1e-3])
    asked = 0
    while s.reusing:
        ((batch, _),) = rounds(s, 1, lambda _: 1e-3 / own, first=asked)
        asked += len(batch)
    assert asked == programs
    again = strategy("here", replace(relative("there"), gain=gain))
    again.tell([default("here")], [1e-3])
    rounds(again, 1, lambda _: 1e-3 / own)
    assert again.reusing == (programs > ROUND), "from what was told alone"


def test_a_shorter_reuse() -> None:
    s = strategy("here", relative("there"))
    s.length = 6
    assert [len(batch) for batch, _ in rounds(s, 3)] == [4, 2, 5]


def test_relatives_programs_come_first() -> None:
    """The nearest to each relative's best, one each of up to half a round."""
    sources = (relative("there"), relative("far"))
    s = told_default("here", *sources)
    ((batch, _),) = rounds(s, 1)
    assert [c.origin for c in batch[:2]] == [CARRIED] * 2
    assert CARRIED not in {c.origin for c in batch[2:]}
    later = origins(rounds(s, 2, first=1))
    assert CARRIED not in later and CHOICE in later[ROUND:]


def test_relatives_are_asked_when_the_first_program_is_wanted() -> None:
    """They may have been searched earlier in the same run."""
    known: list[Relative] = []
    s = strategy("here")
    s.relatives = lambda: known
    s.tell([default("here")], [1.0])
    known.append(relative("there"))
    ((batch, _),) = rounds(s, 1)
    assert batch[0].origin == CARRIED


def best_of(source: Relative) -> Relative:
    return replace(source, programs=source.programs[:1])


def nearest(s: ReuseStrategy, one: Relative) -> str:
    """The program here that is nearest to a relative's, as the first `rounds` draw them."""
    like = Correspondence(one.named, int(one.programs.sketch[0]), s.named)
    found = like.neighbours(np.random.default_rng([0, 0]), one.programs.rows[0], reuse.POOL)
    return s.space.gene(int(found.sketch[0]), found.rows[0]).text


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("name", ["there", "far"])
def test_the_first_programs_are_in_the_relatives_ranges(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or the one that is nearest where none is."""
    monkeypatch.setattr(reuse, "POOL", 4096)
    one = best_of(relative(name, kind))
    s = strategy("here", one, kind=kind)
    ((batch, _),) = rounds(s, 1)
    mine = as_population([c for c in batch if c.origin in (CARRIED, RANKED)])
    given = usage_of(extractor(name, kind), one.programs)
    ranges = ranges_of(TARGETS[kind], s.named.operator, one.named.operator)
    held = ranges.hold(usage_of(s.extractor, mine), given)
    assert len(mine) >= ROUND - 1 or batch[0].gene.text == nearest(s, one)
    assert held.all() or len(mine) == 1


def test_the_nearest_program_where_none_is_in_the_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ranges, "hold", lambda _, usage, given: usage.blocks < 0)
    one = best_of(relative("there"))
    s = strategy("here", one)
    ((batch, _),) = rounds(s, 1)
    assert batch[0].origin == CARRIED and batch[0].gene.text == nearest(s, one)
    assert RANKED not in {c.origin for c in batch}


def test_any_number_of_programs_may_be_known() -> None:
    """Each has half as many neighbours to choose from as the one before; the last have none."""
    source = relative("there")
    many = replace(source, programs=concatenate([source.programs] * 12))
    ((batch, _),) = rounds(strategy("here", many), 1)
    assert len(batch) == ROUND


# ---- determinism --------------------------------------------------------------------------------


@pytest.mark.parametrize("pool", [256, 1])
def test_proposals_repeat_and_a_new_strategy_goes_on(
    pool: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a kill: what was measured is told, in rounds, and nothing asked. Where few programs are
    near the relatives', evolution helps out.
    """
    monkeypatch.setattr(reuse, "POOL", pool)
    first = told_default("here", relative("there"))
    found = rounds(first, 5)
    assert genes(rounds(told_default("here", relative("there")), 5)) == genes(found)
    assert [len(batch) for batch, _ in found[:3]] == [ROUND] * 3
    for count in (2, 3):
        again = told_default("here", relative("there"))
        for batch, latencies in found[:count]:
            again.tell(batch, latencies)
        assert genes(rounds(again, 5 - count, first=count)) == genes(found[count:])


def test_recorded_programs_are_not_proposed_again() -> None:
    known = rounds(strategy("here", relative("there")), 2)
    s = strategy("here", relative("there"))
    for batch, latencies in known:
        s.tell(batch, latencies)
    assert not proposed(rounds(s, 3)) & proposed(known)


# ---- when relatives are no help -----------------------------------------------------------------


def no_counterpart() -> Relative:
    """Programs of rules that the space here has not."""
    source = relative("there")
    space = Space(DAGS["there"](), TARGETS["cpu"])
    space.sketches = tuple(replace(k, rules=("mine", *k.rules)) for k in space.sketches)
    return Relative(Named(space, source.named.operator), source.programs)


@pytest.mark.parametrize("relatives", [(), (no_counterpart,)], ids=["none", "of other rules"])
def test_without_relatives_it_is_evolution(relatives: tuple[Callable[[], Relative], ...]) -> None:
    s = told_default("here", *(make() for make in relatives))
    plain = EvolutionStrategy(s.space, s.extractor, s.model)
    plain.tell([default("here")], [estimate(s, default("here"))])
    for number in range(2):
        batch, same = (some.ask(np.random.default_rng(number), 8) for some in (s, plain))
        assert batch == same and len(batch) == 8
        for some in (s, plain):
            some.tell(batch, [estimate(s, c) for c in batch])


def of_other_rules(one: Candidate, s: ReuseStrategy) -> Relative:
    """A relative's programs of a sketch that a program here is not of."""
    found = {sketch.rules for sketch in s.space.sketches} - {s.space.sketches[one.sketch].rules}
    (rules,) = found
    return relative("there", "cpu", rules)


def test_slow_programs_of_relatives_give_way_to_the_default() -> None:
    s = told_default("here")
    own = default("here")
    source = of_other_rules(own, s)
    s.relatives = lambda: [source]
    default_s = estimate(s, own)
    ((batch, _),) = rounds(s, 1, lambda c: 10 * default_s)
    (like,) = {s.space.sketches[c.sketch].rules for c in batch if c.origin == CARRIED}
    assert like != s.space.sketches[own.sketch].rules
    later = [c for some, _ in rounds(s, 2, lambda c: 2 * default_s, first=1) for c in some]
    mine = [c for c in later if c.origin == RANKED]
    assert mine and {c.sketch for c in mine} == {own.sketch}


def test_good_programs_of_relatives_are_followed() -> None:
    s = told_default("here")
    own = default("here")
    source = of_other_rules(own, s)
    s.relatives = lambda: [source]
    default_s = estimate(s, own)
    ((batch, _),) = rounds(s, 1, lambda c: default_s * (0.5 if c.origin == CARRIED else 2.0))
    carried = {c.sketch for c in batch if c.origin == CARRIED}
    assert own.sketch not in carried
    later = [c for some, _ in rounds(s, 2, lambda c: default_s, first=1) for c in some]
    rules = {s.space.sketches[c.sketch].rules for c in later if c.origin == RANKED}
    assert rules == {s.space.sketches[k].rules for k in carried}


@pytest.mark.parametrize("knows_default", [True, False])
def test_all_programs_may_fail(knows_default: bool) -> None:
    s = (told_default if knows_default else strategy)("here", relative("there"))
    found = rounds(s, 5, fails)
    assert [len(batch) for batch, _ in found] == [4, 4, 4, 5, 5]
    assert len(proposed(found)) == 22


# ---- other rules --------------------------------------------------------------------------------


def test_a_slot_is_for_programs_of_other_rules() -> None:
    """The strided source has no Winograd form; whoever reuses it may."""
    source = relative("large strided")
    assert not any("winograd" in sketch.rules for sketch in source.named.space.sketches)
    s = strategy("large", source)
    assert any("winograd" in sketch.rules for sketch in s.space.sketches)
    source_rules = {source.named.space.sketches[k].rules for k in source.programs.sketch}
    ((batch, _),) = rounds(s, 1)
    rules = [s.space.sketches[c.sketch].rules for c in batch]
    other = [c for c, own in zip(batch, rules, strict=True) if own not in source_rules]
    assert len(other) == 1 and other[0].origin not in (CARRIED, RANKED)
