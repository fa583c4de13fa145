"""Which nodes share a kernel: groups with at most one reduction, grown by access analysis.

    conv, add(bias), add(residual), relu        →  one group, anchored by the convolution
    pad, transpose (moved once)  →  conv        →  part of the convolution's group
    reshape                                     →  a view: no kernel, the same memory

Three steps, in this order. (1) A node that reads its operand element by element joins the group
that produces it, if the whole region between that operand and the place where its readers meet
again does so too. (2) Groups without a reduction join the only reader of their result: plain
movement joins any reader that does not lose contiguous rows by it; arithmetic joins only a reader
that uses each element once, since it would be repeated otherwise. (3) Views stay outside. A group
has one exit (only its last value is read outside), hence groups never depend on each other in a
circle.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from tilewright.graph.access import NodeMath
from tilewright.graph.ir import Graph, Node, Value

LARGEST_REGION = 24


@dataclass(slots=True, eq=False)
class Group:
    """Nodes of one kernel, in topological order; the last one's output leaves it."""

    nodes: list[Node] = field(default_factory=list)
    anchored: bool = False

    @property
    def exit(self) -> Value:
        return self.nodes[-1].output


@dataclass(frozen=True, slots=True)
class Fusion:
    """The groups of a graph in an order they can run in, and its views: output → operand."""

    groups: tuple[Group, ...]
    views: dict[Value, Value]


def fuse(graph: Graph) -> Fusion:
    """Cut `graph` into groups (see the module)."""
    return _Fuser(graph).run()


class _Fuser:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.order = {node: i for i, node in enumerate(graph.nodes)}
        self.math = {node: NodeMath.of(node) for node in graph.nodes}
        self.readers = graph.consumers()
        self.returned = set(graph.outputs)
        self.views = {n for n in graph.nodes if self.math[n].is_view}
        self.owner: dict[Node, Group] = {}
        self.made: dict[Value, Node] = graph.producers()

    def run(self) -> Fusion:
        for node in self.graph.nodes:
            if node not in self.owner and node not in self.views:
                self.place(node)
        for group in sorted(self.groups(), key=self.position, reverse=True):
            self.join_reader(group)
        views = {n.output: n.inputs[0] for n in self.graph.nodes if n in self.views}
        return Fusion(tuple(self.ordered()), views)

    def groups(self) -> list[Group]:
        return list(dict.fromkeys(self.owner[n] for n in self.graph.nodes if n in self.owner))

    def position(self, group: Group) -> int:
        return self.order[group.nodes[-1]]

    def place(self, node: Node) -> None:
        """Put `node` (and the region it opens) into the group of an operand, or a new one."""
        if not self.math[node].reduces:
            homes = [h for v in dict.fromkeys(node.inputs) if (h := self.home(v, node)) is not None]
            homes.sort(key=lambda h: not h[0].anchored)
            if homes:
                group, region = homes[0]
                self.assign(group, region)
                return
        group = Group(anchored=self.math[node].reduces)
        self.assign(group, [node])

    def assign(self, group: Group, nodes: list[Node]) -> None:
        group.nodes.extend(nodes)
        group.nodes.sort(key=self.order.__getitem__)
        self.owner.update(dict.fromkeys(nodes, group))

    def home(self, value: Value, node: Node) -> tuple[Group, list[Node]] | None:
        """The group that ends in `value` and the region from there that `node` belongs to."""
        producer = self.made.get(value)
        group = self.owner.get(producer) if producer is not None else None
        if group is None or group.exit is not value:
            return None
        region = self.region(value, group.anchored)
        return (group, region) if region is not None and node in region else None

    def region(self, value: Value, anchored: bool) -> list[Node] | None:
        """Nodes from `value` to where its readers meet again, if all may be fused with it."""
        if value in self.returned or not self.readers.get(value):
            return None
        inside = {value}
        region: list[Node] = []
        waiting: list[tuple[int, Node]] = []
        self.wait(waiting, value)
        while waiting:
            node = heapq.heappop(waiting)[1]
            if node in region:
                continue
            alone = not region and not waiting
            if len(region) == LARGEST_REGION or not self.follows(node, inside, anchored, alone):
                return None
            region.append(node)
            inside.add(node.output)
            if not any(n not in region for _, n in waiting):
                return region
            if node.output in self.returned:
                return None
            self.wait(waiting, node.output)
        return None

    def wait(self, waiting: list[tuple[int, Node]], value: Value) -> None:
        for reader in self.readers.get(value, []):
            heapq.heappush(waiting, (self.order[reader], reader))

    def follows(self, node: Node, inside: set[Value], anchored: bool, alone: bool) -> bool:
        """Whether `node` may be computed where the values `inside` are."""
        math = self.math[node]
        if node in self.owner or node in self.views or math.reduces:
            return False
        fused = [v for v in dict.fromkeys(node.inputs) if v in inside]
        if all(math.is_elementwise_in(v) for v in fused):
            return True
        return not anchored and alone and all(math.reads_once(v) for v in fused)

    def join_reader(self, group: Group) -> None:
        """Step 2: move a group without a reduction into the only reader of its exit."""
        value, path = group.exit, []
        while True:
            readers = self.readers.get(value, [])
            if group.anchored or len(readers) != 1 or value in self.returned:
                return
            if readers[0] not in self.views:
                break
            path.append(readers[0])
            value = readers[0].output
        reader = readers[0]
        target = self.owner[reader]
        if target is group or not target.anchored or not self.may_feed(group, path, reader, value):
            return
        self.views.difference_update(path)
        self.assign(target, [*group.nodes, *path])

    def may_feed(self, group: Group, path: list[Node], reader: Node, value: Value) -> bool:
        math = self.math[reader]
        maths = [self.math[n] for n in group.nodes]
        moving = all(m.moves and len(m.node.inputs) == 1 for m in maths)
        if not moving:
            return not path and math.reads_once(value)
        if not math.vectors_along(value):
            return True
        return all(m.keeps_rows(m.node.inputs[0]) for m in (*maths, *map(self.math.get, path)) if m)

    def ordered(self) -> list[Group]:
        """Groups by the position of their exits, which no operand comes after."""
        return sorted(self.groups(), key=self.position)
