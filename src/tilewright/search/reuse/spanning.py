"""The tree of least cost that spans all nodes of a directed graph: a minimum arborescence.

Input: a graph's numbered edges; node 0, the root, reaches every other. Output: each one's parent.

    spanning_tree([[], [(5.0, 2), (9.0, 0)], [(4.0, 1), (9.0, 0)]])      # [-1, 0, 1], cost 13

Nodes take their cheapest edges; a cycle of these becomes one node, which takes an edge in turn
(Edmonds, "Optimum branchings", 1967). Walking from edge to edge against their direction comes upon
every cycle once (Tarjan, "Finding optimum branchings", Networks 7, 1977). Time: edges x log² of
their number. networkx has the algorithm, too, but copies the graph for every cycle: 7 s for 167
operators that may all reuse each other, instead of 0.1 s, and minutes for thousands of bridges.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

Arriving = Sequence[Sequence[tuple[float, int]]]
"""For each node, by number, the edges into it as (cost, source), the cheapest first."""


def spanning_tree(arriving: Arriving) -> list[int]:
    """Each node's parent `[nodes]`, -1 for the root, which must reach all of them."""
    return _Contraction(arriving).parents()


class _Contraction:
    """A graph whose cycles of cheapest edges become nodes, numbered after all others.

    An edge into a cycle replaces the one that leads to its target there, so what counts is how much
    more it costs than that one. Costs in a heap are right up to a constant: only edges into the
    same node are compared.
    """

    def __init__(self, arriving: Arriving) -> None:
        self.count = len(arriving)
        self.heaps = [  # which sorted lists are
            [(weight, source, target) for weight, source in edges]
            for target, edges in enumerate(arriving)
        ]
        self.cycle = [-1] * self.count  # which each node is a member of
        self.outer = list(range(self.count))  # a shortcut towards the outermost of its cycles
        self.chosen = [(0.0, -1, 0)] * self.count

    def parents(self) -> list[int]:
        """Contract all cycles; then open them, the last one first."""
        done = {0}
        for start in range(1, self.count):
            done.update(self._walk(start, done))
        for number in range(len(self.chosen) - 1, self.count - 1, -1):
            # The edge that enters a cycle replaces the one into the member where it arrives.
            member = self.chosen[number][2]
            while self.cycle[member] != number:
                member = self.cycle[member]
            self.chosen[member] = self.chosen[number]
        return [source for _, source, _ in self.chosen[: self.count]]

    def _walk(self, start: int, done: set[int]) -> list[int]:
        """Against the cheapest edges until a node that is done; the nodes left on the path."""
        path: dict[int, None] = {}
        node = self._outermost(start)
        while node not in done:
            members = []
            while node in path:
                members.append(path.popitem()[0])
            if members:
                node = self._contract(members)
            path[node] = None
            node = self._outermost(self._choose(node))
        return list(path)

    def _choose(self, node: int) -> int:
        """Take the node's cheapest edge from outside; where it comes from."""
        heap = self.heaps[node]
        while self._outermost(heap[0][1]) == node:
            heappop(heap)
        self.chosen[node] = heap[0]
        return heap[0][1]

    def _contract(self, members: Sequence[int]) -> int:
        """Make the cycle one node, whose edges are the members', put into the largest heap."""
        number = len(self.heaps)
        for member in members:
            self.cycle[member] = self.outer[member] = number
        largest = max(members, key=lambda member: len(self.heaps[member]))
        merged = self.heaps[largest]
        for member in members:
            if member != largest:
                change = self.chosen[largest][0] - self.chosen[member][0]
                for weight, source, target in self.heaps[member]:
                    heappush(merged, (weight + change, source, target))
                self.heaps[member] = []
        self.heaps.append(merged)
        self.cycle.append(-1)
        self.outer.append(number)
        self.chosen.append((0.0, -1, 0))
        return number

    def _outermost(self, node: int) -> int:
        """The node that stands for this one; what lies between is skipped the next time."""
        while self.outer[node] != node:
            self.outer[node] = self.outer[self.outer[node]]
            node = self.outer[node]
        return node
