"""Trees in the graph of optimisation choices, against an exact oracle and a published graph."""

from __future__ import annotations

import itertools
import json
import math
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ground.errors import InputError
from tilewright.search.reuse.graph import arborescence, cost, steiner_tree

quick = settings(max_examples=150, deadline=None, derandomize=True)

PUBLISHED = json.loads((Path(__file__).parent / "eto_graph.json").read_text())
EDGES = {(source, target): programs for source, target, programs in PUBLISHED["edges"]}
ROOT, OPERATORS, OPTIMUM = PUBLISHED["root"], PUBLISHED["operators"], PUBLISHED["optimum"]


def _distances(graph, nodes):
    """Costs of shortest paths `[from, to]` (Floyd and Warshall)."""
    number = {node: index for index, node in enumerate(nodes)}
    distances = np.full((len(nodes), len(nodes)), np.inf)
    for (source, target), weight in graph.items():
        distances[number[source], number[target]] = weight
    np.fill_diagonal(distances, 0.0)
    for middle in range(len(nodes)):
        over = distances[:, middle, None] + distances[None, middle]
        distances = np.minimum(distances, over)
    return distances


def _least_cost(graph, root, terminals):
    """The cost of the best Steiner tree (Dreyfus and Wagner, 1971): 3^terminals x nodes².

    The best tree from a node to several terminals goes somewhere, where it parts in two.
    """
    nodes = list(dict.fromkeys([root, *itertools.chain.from_iterable(graph)]))
    distances = _distances(graph, nodes)
    best = {1 << bit: distances[:, nodes.index(end)] for bit, end in enumerate(terminals)}
    for some in range(1, 1 << len(terminals)):
        if some in best:
            continue
        parted = np.full(len(nodes), np.inf)
        part = (some - 1) & some
        while part > some ^ part:  # each pair of parts once
            parted = np.minimum(parted, best[part] + best[some ^ part])
            part = (part - 1) & some
        best[some] = (distances + parted).min(axis=1)
    return best[(1 << len(terminals)) - 1][0]


def _check_tree(tree, graph, root, terminals):
    """Made of the graph's edges, every node below the root, every leaf a terminal."""
    assert all((parent, child) in graph for child, parent in tree.items())
    assert root not in tree
    for node in [*tree, *terminals]:
        steps = 0
        while node != root:
            node = tree[node]
            steps += 1
            assert steps <= len(tree), "a cycle"
    assert set(tree) - set(tree.values()) <= set(terminals)


@st.composite
def graphs(draw):
    """(graph, number of nodes): 0 reaches all of them; many costs are equal, some are 0."""
    count = draw(st.integers(2, 9))
    costs = st.integers(0, 12)
    graph = {(draw(st.integers(0, node - 1)), node): draw(costs) for node in range(1, count)}
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    graph.update(draw(st.dictionaries(ends, costs, max_size=40)))
    return graph, count


def _operators_and_bridges(operators, bridges, neighbours, seed):
    """A graph in the shape of the problem: all may be tuned from nothing, bridges lead to some."""
    generator = random.Random(seed)
    nodes = range(1, operators + bridges + 1)
    graph = {(0, node): generator.uniform(64, 128) for node in nodes}
    for bridge in nodes[operators:]:
        for other in generator.sample(nodes, neighbours):
            graph[bridge, other] = generator.uniform(4, 60)
            graph[other, bridge] = generator.uniform(4, 60)
    return graph, list(nodes[:operators])


def test_published_graph():
    tree = steiner_tree(EDGES, ROOT, OPERATORS)
    _check_tree(tree, EDGES, ROOT, OPERATORS)
    assert cost(tree, EDGES) == 1816.0 == OPTIMUM["steiner"]
    assert _least_cost(EDGES, ROOT, OPERATORS) == pytest.approx(1816.0)


def test_published_graph_with_all_bridges_and_with_none():
    tree = arborescence(EDGES, ROOT)
    _check_tree(tree, EDGES, ROOT, OPERATORS + PUBLISHED["bridges"])
    assert cost(tree, EDGES) == 2156.1 == OPTIMUM["arborescence_all_nodes"]

    direct = {e: w for e, w in EDGES.items() if not set(e) & set(PUBLISHED["bridges"])}
    tree = arborescence(direct, ROOT)
    _check_tree(tree, direct, ROOT, OPERATORS)
    assert cost(tree, direct) == 2685.6 == OPTIMUM["arborescence_without_bridges"]


@quick
@given(graphs(), st.data())
def test_a_steiner_tree_is_within_its_bound(drawn, data):
    graph, count = drawn
    nodes = st.integers(1, count - 1)
    terminals = data.draw(st.lists(nodes, min_size=1, max_size=8, unique=True))
    tree = steiner_tree(graph, 0, terminals)
    _check_tree(tree, graph, 0, terminals)
    least = _least_cost(graph, 0, terminals)
    assert least <= cost(tree, graph) <= len(terminals) * least


@quick
@given(graphs())
def test_an_arborescence_costs_the_least(drawn):
    graph, count = drawn
    others = range(1, count)
    tree = arborescence(graph, 0)
    _check_tree(tree, graph, 0, others)
    assert cost(tree, graph) == _least_cost(graph, 0, others)


@quick
@given(graphs(), st.data())
def test_the_tree_of_one_terminal_is_a_shortest_path(drawn, data):
    graph, count = drawn
    terminal = data.draw(st.integers(1, count - 1))
    tree = steiner_tree(graph, 0, [terminal])
    assert cost(tree, graph) == _distances(graph, range(count))[0, terminal]


def test_terminals_share_a_bridge_that_is_nearest_to_none():
    graph = {(0, 1): 5, (0, 2): 5, (0, 3): 6, (3, 1): 1, (3, 2): 1}
    assert steiner_tree(graph, 0, [1]) == {1: 0}
    assert steiner_tree(graph, 0, [1, 2]) == {1: 3, 2: 3, 3: 0}


def test_an_edge_fills_as_fast_as_terminals_flow():
    # 3 passes two terminals on from second 1, so the edge from 4 to it is full in second 4, not
    # 7, and the one from the root in second 51: later than the terminals' own, in second 20.
    graph = {(3, 1): 1, (3, 2): 1, (4, 3): 6, (0, 3): 100, (0, 4): 1000, (0, 1): 20, (0, 2): 20}
    assert steiner_tree(graph, 0, [1, 2]) == {1: 0, 2: 0}
    # Here it holds 2 in second 3, when the other terminal's water comes, and 100 in second 52.
    graph = {(3, 1): 1, (3, 2): 3, (0, 3): 100, (0, 1): 52.5, (0, 2): 52.5}
    assert steiner_tree(graph, 0, [1, 2]) == {1: 3, 2: 3, 3: 0}


def test_a_bridge_that_became_useless_is_left_out():
    # 3 brings 1 and 2 first; then 4 must be in the tree, and has cheaper edges to both.
    graph = {(0, 3): 6, (3, 1): 1, (3, 2): 1, (0, 4): 20, (4, 1): 0.5, (4, 2): 0.5}
    assert steiner_tree(graph, 0, [1, 2, 4]) == {1: 4, 2: 4, 4: 0}


def test_nothing_is_asked_for():
    assert steiner_tree({(0, 1): 5.0}, 0, []) == {}
    assert steiner_tree({(0, 1): 5.0}, 0, [0]) == {}
    assert arborescence({}, 0) == {}
    assert cost({}, {}) == 0.0


def test_a_terminal_may_be_named_twice():
    assert steiner_tree({(0, 1): 5.0, (1, 2): 1.0}, 0, [2, 2, 1]) == {1: 0, 2: 1}


def test_a_large_graph_and_many_cycles():
    graph, operators = _operators_and_bridges(60, 90, 12, seed=0)
    tree = steiner_tree(graph, 0, operators)
    _check_tree(tree, graph, 0, operators)
    everything = arborescence(graph, 0)
    _check_tree(everything, graph, 0, range(1, 151))
    assert cost(tree, graph) < cost(everything, graph) < math.fsum(graph[0, n] for n in everything)


@dataclass(frozen=True)
class _Named:
    """A node that hashes as it is told."""

    name: int
    number: int

    def __hash__(self):
        return self.number


def test_trees_do_not_depend_on_hashes():
    numbered = {edge: round(w) // 8 for edge, w in _operators_and_bridges(20, 40, 8, 1)[0].items()}
    trees = []
    for seed in range(3):
        hashes = random.Random(seed).sample(range(10**6), 61)
        nodes = [_Named(name, number) for name, number in enumerate(hashes)]
        graph = {(nodes[source], nodes[target]): w for (source, target), w in numbered.items()}
        found = steiner_tree(graph, nodes[0], nodes[1:21]), arborescence(graph, nodes[0])
        trees.append([[(c.name, p.name) for c, p in tree.items()] for tree in found])
    assert trees[0] == trees[1] == trees[2]


def test_a_node_out_of_reach_is_named():
    graph = {("root", "a"): 1.0, ("b", "c"): 1.0, ("c", "a"): 1.0}
    assert steiner_tree(graph, "root", ["a"]) == {"a": "root"}
    with pytest.raises(InputError, match="no path leads from the root 'root' to 'c'"):
        steiner_tree(graph, "root", ["a", "c"])
    with pytest.raises(InputError, match="to 'elsewhere'"):
        steiner_tree(graph, "root", ["elsewhere"])
    with pytest.raises(InputError, match="to 'b'"):
        arborescence(graph, "root")


@pytest.mark.parametrize("wrong", [-1.0, math.inf, math.nan])
def test_a_cost_is_a_number(wrong):
    with pytest.raises(InputError, match=f"from 'root' to 'a' costs {wrong}"):
        steiner_tree({("root", "a"): wrong}, "root", ["a"])


def test_a_foreign_edge_has_no_cost():
    with pytest.raises(KeyError):
        cost({"a": "b"}, {("root", "a"): 1.0})
