"""The workloads of ETO's evaluation: counts, frequencies and pairs."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from benchmarks.operator_sets import (
    MOST_FLOP,
    PAIR_TYPES,
    SETS,
    Bridge,
    by_family,
    has_winograd,
    pairs,
)

from tilewright.search.reuse.family import Operator, bridges, comparable

COUNTS = {
    "ResNet50": {"C2D": 20},
    "MobileNetV2": {"C2D": 21, "DEP": 10},
    "ResNeSt50": {"C2D": 26, "GRP": 7},
    "1D-IR": {"C1D": 35},
    "R2P1D": {"C3D": 25},
    "DCGAN": {"T2D": 5},
    "BERT-Base": {"BMM": 5},
    "ResNet50-L": {"C2D": 40},
    "BERT-L": {"BMM": 36},
}
# Layers of the networks: convolutions without dense layers, or products of the encoder's layers.
LAYERS = {
    "ResNet50": 1 + 3 * 16 + 4,
    "MobileNetV2": 1 + 2 + 3 * 16 + 1 + 1,
    "ResNeSt50": 3 + 5 * 16 + 4,
    "1D-IR": 5 + 7 + 10 * 7 + 4 + 20 * 5 + 7 + 10 * 5 + 1,
    "R2P1D": 2 + 4 * 8 + 3,
    "DCGAN": 5,
    "BERT-Base": 12 * 8,
    "ResNet50-L": 2 * 53,
    "BERT-L": 4 * (12 + 24) * 8,
}
# 1e9 multiply-adds, as the architectures' papers or ports give them
MULTIPLY_ADDS = {"ResNet50": 3.86, "MobileNetV2": 0.30, "ResNeSt50": 5.4, "R2P1D": 40.5}


def test_sets_are_the_papers() -> None:
    found = {n: dict(Counter(e.case.operator for e in members)) for n, members in SETS.items()}
    assert found == COUNTS


def test_frequencies_are_those_of_the_networks_layers() -> None:
    assert {name: sum(e.frequency for e in members) for name, members in SETS.items()} == LAYERS


@pytest.mark.parametrize("name", SETS)
def test_every_operator_has_a_name_and_a_computation(name: str) -> None:
    members = SETS[name]
    assert len({e.name for e in members}) == len(members)
    assert len({(e.case.make, e.case.batch, e.case.shape) for e in members}) == len(members)
    assert all(Operator.of(e.case.dag()).nest for e in members)


@pytest.mark.parametrize("name", MULTIPLY_ADDS)
def test_networks_have_their_published_work(name: str) -> None:
    work = sum(e.frequency * e.case.dag().useful_flops for e in SETS[name]) / 2
    assert work / 1e9 == pytest.approx(MULTIPLY_ADDS[name], rel=0.08)


def test_bridges_are_as_many_as_published() -> None:
    """ResNet50 has 44 after one hop and 49 in all, MobileNetV2 81 and 121 (figure 11)."""
    counts = {"ResNet50": (44, 49), "MobileNetV2": (81, 121)}
    for name, expected in counts.items():
        # the published sets keep the one convolution of a single pixel apart
        cases = [e.case for e in SETS[name] if e.case.shape[0] > 1]
        nests = [set(members) for members in by_family(cases).values()]
        found = (sum(len(bridges(n)) for n in nests), sum(len(bridges(n, None)) for n in nests))
        assert found == expected


def test_bert_has_the_published_pairs() -> None:
    """Four, all of dense layers (section 6.2)."""
    families = by_family(e.case for e in SETS["BERT-Base"]).values()
    counts = [sum(comparable(*pair) for pair in permutations(nests, 2)) for nests in families]
    assert counts == [4, 0]


@pytest.mark.parametrize("kind", PAIR_TYPES)
def test_pairs_are_comparable_and_small(kind: str) -> None:
    found = pairs(kind)
    assert len(found) == 8
    assert len({(a.name, b.name) for a, b in found}) == 8
    for pair in found:
        dags = [workload.dag() for workload in pair]
        target, source = map(Operator.of, dags)
        assert target.family == source.family
        assert target.nest != source.nest
        assert comparable(target.nest, source.nest)
        assert all(dag.useful_flops <= MOST_FLOP for dag in dags)
        assert kind != "WIN" or all(map(has_winograd, dags))
        for workload, operator in zip(pair, (target, source), strict=True):
            assert not isinstance(workload, Bridge) or workload.nest == operator.nest


def test_pairs_follow_the_seed() -> None:
    assert pairs("DEP") == pairs("DEP")
    assert pairs("DEP") != pairs("DEP", seed=1)
    assert pairs("DEP", count=3) == pairs("DEP")[:3]


def test_a_type_of_few_pairs_gives_all() -> None:
    found = pairs("CAP", count=1000)
    assert 8 < len(found) < 1000
    assert Counter(found) == Counter(pairs("CAP", count=1000, seed=1))
