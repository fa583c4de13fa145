"""Selective tuning: similar operators in clusters, programs taken over as they are."""

from __future__ import annotations

import numpy as np
from benchmarks.selective import TOP, TopKStrategy, clusters, similarity

from tilewright.cost.candidates import Population, concatenate
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.records.rows import CARRIED
from tilewright.search.reuse.correspondence import Named
from tilewright.search.reuse.family import Operator
from tilewright.search.reuse.strategy import Relative
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import given, product, weight

CPU = Target.parse("cpu:icelake-server cores=2")


def matmul(n: int, m: int, k: int) -> Named:
    dag = product(n, m, k)
    return Named(Space(dag, CPU), Operator.of(dag))


def conv(size: int, channels: int) -> Named:
    y = ops.conv2d(given(1, size, size, channels), weight(1, 1, channels, channels))
    dag = ComputeDAG([y])
    return Named(Space(dag, CPU), Operator.of(dag))


def examples(named: Named, n: int) -> Population:
    return named.space.canonical(named.space.sample(np.random.default_rng(3), n))


def test_similarity_is_overlap() -> None:
    one, same, other, prime = matmul(64, 64, 64), matmul(64, 64, 64), matmul(64, 64, 32), 61
    assert similarity(one, same) == 1.0
    assert 0.0 < similarity(one, other) < 1.0
    assert similarity(one, other) == similarity(other, one)
    assert similarity(one, matmul(prime, prime, prime)) < similarity(one, other)


def test_clusters_are_cliques_of_one_family() -> None:
    operators = [matmul(64, 64, 64), conv(28, 64), matmul(64, 64, 32), matmul(61, 67, 71)]
    found = clusters(operators)
    assert sorted(i for cluster in found for i in cluster) == [0, 1, 2, 3]
    assert sorted(found[0]) == [0, 2]
    for cluster in found:
        for i in cluster:
            for j in cluster:
                assert i == j or similarity(operators[i], operators[j]) >= 0.01
    assert all(len(c) == 1 for c in clusters(operators, threshold=1.1))


def test_the_best_programs_are_tried_as_they_are() -> None:
    source, target = matmul(64, 64, 64), matmul(128, 64, 64)
    programs = examples(source, 2 * TOP)
    strategy = TopKStrategy(target.space, lambda: [Relative(source, programs)], target)
    batch = strategy.ask(np.random.default_rng(0), 64)
    assert len(batch) == TOP
    assert {c.origin for c in batch} == {CARRIED}
    rows = Population(np.array([c.row for c in batch]), np.array([c.sketch for c in batch]))
    assert target.space.valid(rows).all()
    strategy.tell(batch, [None, 1e-3, None])
    assert strategy.ask(np.random.default_rng(0), 64) == []


def test_the_next_ones_follow_while_none_runs() -> None:
    source = matmul(64, 64, 64)
    programs = examples(source, 2 * TOP)
    strategy = TopKStrategy(source.space, lambda: [Relative(source, programs)], source)
    rng = np.random.default_rng(0)
    first = strategy.ask(rng, 2)
    strategy.tell(first, [None, None])
    third = strategy.ask(rng, 2)
    assert len(third) == 1, "the first three belong together"
    strategy.tell(third, [None])
    second = strategy.ask(rng, 64)
    assert len(second) == TOP
    strategy.tell(second, [None] * TOP)
    assert strategy.ask(rng, 64) == []
    proposed = concatenate([source.space.row_of(c.gene) for c in (*first, *third, *second)])
    assert (proposed.rows == programs.rows).all() and (proposed.sketch == programs.sketch).all()
