"""A part of a Steiner tree that costs little for the terminals in it: the algorithm FLAC.

Input: a graph's numbered edges, the nodes that the tree has, terminals that it has not. Output: the
nodes of one part more, which the tree's nodes have a cheap edge to.

Source: Watel and Weisser, "A practical greedy approximation for the directed Steiner tree
problem", J. Comb. Optim. 32 (2016).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush

Arriving = Sequence[Sequence[tuple[float, int]]]
"""For each node, by number, the edges into it as (cost, source), the cheapest first."""


class Flow:
    """FLAC: water flows from every terminal against the edges, until some reaches the tree.

    A terminal pours one unit of volume a second into each edge that arrives at it; an edge holds as
    much as it costs. A full edge passes the water on: all edges into its source fill, at as many
    units a second as terminals flow to that source. So an edge fills sooner the cheaper it is and
    the more terminals share it, and the first path of full edges down from the tree leads to a part
    that costs little a terminal.

    An edge that would give some node two ways to one terminal is closed when it is full: what it
    passed on would be counted twice. Hence full edges below any node form a tree.

    All edges into a node start to fill together, at one rate, so they hold equal volumes and are
    full in the order of their costs. One event a node stands in the queue: its next edge is full.
    """

    def __init__(
        self, arriving: Arriving, standing: Collection[int], terminals: Iterable[int]
    ) -> None:
        count = len(arriving)
        self.arriving = arriving
        self.standing = standing
        self.served = [0] * count  # the terminals below each node, a bit each
        self.sources: list[list[int]] = [[] for _ in range(count)]  # by full edges into each node
        self.targets: list[list[int]] = [[] for _ in range(count)]  # by full edges out of it
        self.next_edge = [0] * count
        self.volume = [0.0] * count  # in every edge into the node, when last looked at
        self.looked = [0.0] * count  # when that was, in seconds
        self.due = [math.inf] * count  # when the node's next edge is full
        self.events: list[tuple[float, int]] = []  # (time, node), valid if that is when it is due
        for bit, terminal in enumerate(terminals):
            self.served[terminal] = 1 << bit
            self._schedule(terminal, 0.0)

    def run(self) -> list[int]:
        """The nodes of the first part that hangs on a node of the tree."""
        while True:
            now, node = heappop(self.events)
            if self.due[node] != now:
                continue
            source = self.arriving[node][self.next_edge[node]][1]
            if source in self.standing:
                return self._below(node)
            self.next_edge[node] += 1
            self._fill(source, node, now)
            self._schedule(node, now)

    def _fill(self, source: int, node: int, now: float) -> None:
        """Let the full edge pass water on to its source and all above, or close it."""
        served = self.served[node]
        above = self._above(source, served)
        if above is None:
            return
        self.sources[node].append(source)
        self.targets[source].append(node)
        for other in above:
            self.volume[other] += self._poured(other, now)
            self.looked[other] = now
            self.served[other] |= served
            self._schedule(other, now)

    def _above(self, node: int, served: int) -> list[int] | None:
        """The node and all that full edges lead from to it; None if one serves a terminal twice."""
        found = [node]
        seen = {node}
        for other in found:  # which grows meanwhile
            if self.served[other] & served:
                return None
            for source in self.sources[other]:
                if source not in seen:
                    seen.add(source)
                    found.append(source)
        return found

    def _below(self, node: int) -> list[int]:
        found = [node]
        for other in found:  # which grows meanwhile
            found += self.targets[other]
        return found

    def _schedule(self, node: int, now: float) -> None:
        """Say when the node's next edge will be full, if it has one."""
        edges, number = self.arriving[node], self.next_edge[node]
        if number == len(edges):
            self.due[node] = math.inf
            return
        # What is left may come out just below 0 by rounding.
        left = max(0.0, edges[number][0] - self.volume[node] - self._poured(node, now))
        self.due[node] = now + left / self.served[node].bit_count()
        heappush(self.events, (self.due[node], node))

    def _poured(self, node: int, now: float) -> float:
        """The volume that came since the node was last looked at."""
        return (now - self.looked[node]) * self.served[node].bit_count()
