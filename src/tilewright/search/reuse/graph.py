"""Which operator reuses which, at the least total cost: trees in the graph of optimisation choices.

Input: the OC graph of ETO (section 6) as a mapping from edges to what they cost. An edge
(source, target) says that target may be tuned with what was found for source; an edge from the root
says that an operator is tuned from nothing. Nodes are any hashable values, costs any finite numbers
from 0, in one unit. Output: a tree from the root as {child: parent}.

    graph = {("root", "a"): 64, ("root", "b"): 64, ("root", "c"): 64,
             ("a", "b"): 50, ("c", "a"): 5, ("c", "b"): 5}
    steiner_tree(graph, "root", ["b"])            # {"b": "root"}, cost 64
    steiner_tree(graph, "root", ["a", "b"])       # {"a": "c", "b": "c", "c": "root"}, cost 74

`arborescence` spans all nodes, at the least cost. `steiner_tree` spans the operators that are
wanted, its terminals, and goes over others, the bridges, where that pays. The least cost of such a
tree is NP-hard to find, so it is approximated. Both depend on the order of the graph's edges, where
there are several trees of equal cost, and on nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from tilewright.ground.errors import InputError
from tilewright.search.reuse.flow import Arriving, Flow

N = TypeVar("N", bound=Hashable)

Graph = Mapping[tuple[N, N], float]
"""The cost of every edge (source, target). Edges into the root and loops are idle."""

Tree = dict[N, N]
"""The parent of every node in the tree but the root."""


def cost(tree: Mapping[N, N], graph: Graph[N]) -> float:
    """The sum of a tree's edges, rounded once; KeyError if one is not of the graph."""
    return math.fsum(graph[parent, child] for child, parent in tree.items())


def arborescence(graph: Graph[N], root: N) -> Tree[N]:
    """The tree of least cost that spans all nodes of the graph (Edmonds, 1967).

    Raises InputError if the root does not reach a node, or a cost is negative or not finite.
    """
    numbers, arriving = _numbered(graph, root)
    nodes = list(numbers)
    _check_reached(arriving, range(len(nodes)), nodes)
    parents = _spanning(arriving, range(len(nodes)))
    return {nodes[child]: nodes[parent] for child, parent in parents.items()}


def steiner_tree(graph: Graph[N], root: N, terminals: Sequence[N]) -> Tree[N]:
    """A tree of low cost that spans the terminals, by the greedy algorithm GFLAC.

    Source: Watel and Weisser, "A practical greedy approximation for the directed Steiner tree
    problem", J. Comb. Optim. 32 (2016). Parts of a tree are joined to what stands, the root at
    first, until all terminals are in it. `Flow` finds each part as one that costs little for the
    terminals it brings. The cost is at most as many times the least as there are terminals; with
    one terminal, the tree is a shortest path. In the end, the nodes that were chosen are connected
    anew at the least cost, and branches without a terminal are left out.

    Raises InputError if the root does not reach a terminal, or a cost is negative or not finite.
    """
    numbers, arriving = _numbered(graph, root, terminals)
    nodes = list(numbers)
    wanted = list(dict.fromkeys(numbers[terminal] for terminal in terminals))
    _check_reached(arriving, wanted, nodes)

    standing = {0}
    while left := [terminal for terminal in wanted if terminal not in standing]:
        standing.update(Flow(arriving, standing, left).run())
    parents = _pruned(_spanning(arriving, sorted(standing)), wanted)
    return {nodes[child]: nodes[parent] for child, parent in parents.items()}


def _numbered(
    graph: Graph[N], root: N, terminals: Iterable[N] = ()
) -> tuple[dict[N, int], Arriving]:
    """All nodes by number, the root's being 0, and the edges that can be of use."""
    numbers = {root: 0}
    for node in chain(chain.from_iterable(graph), terminals):
        numbers.setdefault(node, len(numbers))
    arriving: list[list[tuple[float, int]]] = [[] for _ in numbers]
    for (source, target), weight in graph.items():
        if not 0 <= weight < math.inf:
            raise InputError(
                f"the edge from {source!r} to {target!r} costs {weight}: "
                f"a cost is a finite number and not negative"
            )
        if source != target and target != root:
            arriving[numbers[target]].append((weight, numbers[source]))
    for edges in arriving:
        edges.sort()
    return numbers, arriving


def _check_reached(arriving: Arriving, wanted: Iterable[int], nodes: Sequence[Hashable]) -> None:
    leaving: list[list[int]] = [[] for _ in arriving]
    for target, edges in enumerate(arriving):
        for _, source in edges:
            leaving[source].append(target)
    reached = {0}
    found = [0]
    for node in found:  # which grows meanwhile
        fresh = set(leaving[node]) - reached
        reached |= fresh
        found += fresh
    for node in wanted:
        if node not in reached:
            raise InputError(
                f"no path leads from the root {nodes[0]!r} to {nodes[node]!r}: "
                f"give the graph an edge from the root to it, or to a node that leads there"
            )


def _spanning(arriving: Arriving, chosen: Collection[int]) -> dict[int, int]:
    """The tree of least cost over the chosen nodes alone, the root among them."""
    import networkx  # which takes a tenth of a second, and few runs plan

    some = set(chosen)
    between = networkx.DiGraph()
    between.add_nodes_from(chosen)
    for node in chosen:
        edges = ((source, node, weight) for weight, source in arriving[node] if source in some)
        between.add_weighted_edges_from(edges)
    tree = networkx.minimum_spanning_arborescence(between)
    return {child: parent for parent, child in tree.edges}


def _pruned(parents: dict[int, int], wanted: Sequence[int]) -> dict[int, int]:
    """Without what leads to no terminal."""
    kept = {0}
    for terminal in wanted:
        node = terminal
        while node not in kept:
            kept.add(node)
            node = parents[node]
    return {child: parent for child, parent in parents.items() if child in kept}
