"""Which nodes share a kernel: groups grown from reductions by access analysis.

    conv, add(bias), add(residual), relu        →  one group, anchored by the convolution
    conv 1x1, relu, depthwise, relu, conv 1x1   →  one group, where a CPU gains by it
    matmul(q, k), mul, add(mask), softmax       →  one group: short sums, then row by row
    mean, sub, mul, mean, sqrt, div             →  one group: reductions over the same rows
    pad, transpose (moved once)  →  conv        →  part of the convolution's group
    scale, shift, relu  →  conv                 →  the same, where a CPU gains by it
    reshape                                     →  a view: no kernel, the same memory

Six steps, in this order.

(1) A node joins the group that produces its operand, if the whole region between that operand and
the place where its readers meet again does so too. It must read the region element by element;
or row by row, without reusing elements, where the group is light: all stages can then be computed
in one loop over rows (on a GPU not those after a contraction). A transposition that keeps rows
whole, or moves rows shorter than a cache line, only changes where the group stores.

(2) What widens the numbers that a group ends with goes to the group that alone reads them, if that
reads each once: bytes are stored then. Groups without a reduction join the readers of their result.
Plain movement joins all readers of one group that take each element once (slices before a
concatenation), arithmetic without functions like exp the concatenation or pad that alone reads it.
Movement joins an only reader that moves, a contraction (which may copy it in the order in which it
reads, or uses it a few times; not one of narrow numbers behind a view that divides their runs) and
any reader that does not lose contiguous rows by it; arithmetic joins a reader that uses each
element once; where an element costs no more than loading it, it is computed at every use.

(3) Views stay outside, and so does control flow, whose graphs are cut by themselves. A group has
one exit (only its last value is read outside), hence groups never depend on each other in a
circle.

(4) On a CPU a number or two that are found in a whole tensor (a scale) go to the group that alone
reads them, if that is a contraction's or makes numbers, too; a contraction takes what is made with
them on the way to it (bytes), if it alone reads both.

(5) Two contractions that follow each other share a group, or arithmetic and the contraction that it
feeds: on a CPU where the values between would travel (`chaining.py`), with a softmax between them,
whose rows may then be of any length; on a GPU where a template computes both, or a contraction and
the reduction of its columns (`pairing.py`).

(6) What a CPU computes between an image that is given and one that is returned absorbs both
transpositions where that takes less (`edges.py`); its stages are in the order of memory then.

A group is also bounded in size: no more than LARGEST_GROUP operators, and no expression that is too
large when its operators are written into each other (`expr/written.py`).
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from math import prod

from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.expr.written import Definition
from tilewright.graph.access import NodeMath
from tilewright.graph.chaining import Chaining, Link, Links, is_contraction, sums_softmax
from tilewright.graph.edges import Edges, is_edge
from tilewright.graph.ir import Graph, Node, Value
from tilewright.graph.pairing import Pairing
from tilewright.target import CpuTarget, GpuTarget, Target

FEW_USES = 4
"""Of what is moved, by a product (measured: keys of 16 to 1500 rows): to move it by itself
takes longer than to read it so often where it is."""
LARGEST_REGION = 24
LARGEST_GROUP = 64  # operators; a chain of any length is then compiled in so many equal parts
MOST_REDUCTIONS = 4  # each multiplies the places where stages may be computed
FEW_NUMBERS = 2  # a scale and a zero point
LONGEST_ROW = 16384  # bytes of a row that many stages share: it stays in the first cache
CACHE_LINE = 64  # bytes


@dataclass(slots=True, eq=False)
class FusionGroup:
    """Nodes of one kernel, in topological order; the last one's output leaves it.

    An `anchored` group holds a reduction; a `light` one does little for each element; a `turned`
    one has the order of the memory around it. `written` are the values that are no reduction's, by
    what they are when all are written into each other.
    """

    nodes: list[Node] = field(default_factory=list)
    anchored: bool = False
    light: bool = True
    turned: bool = False
    written: dict[Value, Definition] = field(default_factory=dict)

    @property
    def exit(self) -> Value:
        return self.nodes[-1].output


@dataclass(frozen=True, slots=True)
class Fusion:
    """The groups of a graph in an order they can run in, its views: output → operand, and what was
    decided about contractions and what they follow.
    """

    groups: tuple[FusionGroup, ...]
    views: dict[Value, Value]
    links: tuple[Link, ...] = ()


def fuse(graph: Graph, target: Target | None = None, chains: bool = True) -> Fusion:
    """Cut `graph` into groups (see the module), as `target` runs them; with `chains`, contractions
    share one where it gains by that.

    A graph with sizes is cut as it is where each of them is at its most, where rows and what is
    between contractions are longest; but for views, which are views of memory for the most (the
    beginning of a constant is read by who needs it).
    """
    if not graph.sizes:
        return _Fuser(graph, target).run(chains)
    heaviest = graph.at({s.name: s.most for s in graph.sizes})
    nodes = dict(zip(heaviest.nodes, graph.nodes, strict=True))
    fuser = _Fuser(heaviest, target)
    fuser.views = {
        n
        for n in fuser.views
        if NodeMath.of(nodes[n]).is_view(graph.sizes) and not n.inputs[0].is_constant
    }
    fusion = fuser.run(chains)
    for group in fusion.groups:
        group.nodes = [nodes[n] for n in group.nodes]
    views = {n.output: n.inputs[0] for n in (nodes[n] for n in heaviest.nodes if n in fuser.views)}
    return replace(fusion, views=views)


def is_few(value: Value) -> bool:
    """Whether a value is no tensor, but a number or two."""
    return value.elements <= FEW_NUMBERS


class _Fuser:
    def __init__(self, graph: Graph, target: Target | None) -> None:
        self.graph, self.target = graph, target
        self.order = {node: i for i, node in enumerate(graph.nodes)}
        self.plain = [n for n in graph.nodes if n.control is None]
        self.math = {node: NodeMath.of(node) for node in self.plain}
        self.readers = graph.consumers()
        self.returned = set(graph.outputs)
        self.views = {n for n in self.plain if self.math[n].is_view()}
        self.owner: dict[Node, FusionGroup] = {}
        self.made: dict[Value, Node] = graph.producers()

    def run(self, chains: bool) -> Fusion:
        for node in self.plain:
            if node not in self.owner and node not in self.views:
                self.place(node)
        for group in self.groups():
            self.hand_on(group)
        for group in sorted(self.groups(), key=self.position, reverse=True):
            self.join_reader(group)
        if isinstance(self.target, CpuTarget):
            for group in self.ordered():
                if self.owner[group.nodes[-1]] is group:
                    self.gather(group)
        decide = self.links(self.target) if self.target is not None and chains else None
        links = () if decide is None else self.chain(decide)
        if isinstance(self.target, CpuTarget):
            self.absorb(Edges(self.target, self.math))
        views = {n.output: n.inputs[0] for n in self.graph.nodes if n in self.views}
        return Fusion(tuple(self.ordered()), views, links)

    def groups(self) -> list[FusionGroup]:
        return list(dict.fromkeys(self.owner[n] for n in self.graph.nodes if n in self.owner))

    def position(self, group: FusionGroup) -> int:
        return self.order[group.nodes[-1]]

    def place(self, node: Node) -> None:
        """Put `node` (and the region it opens) into the group of an operand, or a new one."""
        operands = dict.fromkeys(v for v in node.inputs if not v.is_constant)
        homes = [h for v in operands if (h := self.home(v, node)) is not None]
        homes.sort(key=lambda h: not h[0].anchored)
        homes += [(FusionGroup(), r) for v in operands if (r := self.reduced_by_rows(v, node))]
        group, region = homes[0] if homes else (FusionGroup(), [node])
        self.assign(group, region)

    def reduced_by_rows(self, value: Value, node: Node) -> list[Node] | None:
        """The region that starts with `node` and reduces rows of `value`, which is in memory."""
        region = self.region(value, FusionGroup()) or [node]
        fits = 0 < self.reductions(region) <= MOST_REDUCTIONS and self.fits(FusionGroup(), region)
        return region if fits and region[0] is node else None

    def assign(self, group: FusionGroup, nodes: list[Node]) -> None:
        group.anchored |= any(self.math[n].reduces for n in nodes)
        group.light &= all(self.math[n].is_light for n in nodes)
        group.nodes.extend(nodes)
        group.nodes.sort(key=self.order.__getitem__)
        last = group.nodes[-len(nodes) :] == nodes
        known = group.written if last else {}
        group.written, _ = self.written(known, nodes if last else group.nodes)
        self.owner.update(dict.fromkeys(nodes, group))

    def written(
        self, known: Mapping[Value, Definition], nodes: list[Node]
    ) -> tuple[dict[Value, Definition], bool]:
        """What `nodes` add to the values `known`, and whether all of it is small enough."""
        found, fits = dict(known), True
        for node in nodes:
            value, small = self.math[node].written(found)
            fits &= small
            if value is not None:
                found[node.output] = value
        return found, fits

    def fits(self, group: FusionGroup, nodes: list[Node]) -> bool:
        """Whether `nodes` may come after those of `group`, as far as size goes."""
        if len(group.nodes) + len(nodes) > LARGEST_GROUP:
            return False
        return self.written(group.written, nodes)[1]

    def home(self, value: Value, node: Node) -> tuple[FusionGroup, list[Node]] | None:
        """The group that ends in `value` and the region from there that `node` belongs to."""
        producer = self.made.get(value)
        group = self.owner.get(producer) if producer is not None else None
        if group is None or group.exit is not value:
            return None
        region = self.region(value, group)
        if region is None or node not in region:
            return None
        more = self.reductions(region)
        if more and self.is_apart(group):
            return None
        fits = not more or more + self.reductions(group.nodes) <= MOST_REDUCTIONS
        return (group, region) if fits and self.fits(group, region) else None

    def is_apart(self, group: FusionGroup) -> bool:
        """Whether reductions of what the group makes are kernels of their own anyway: of a
        contraction on a GPU, which by itself may be a template's.
        """
        on_gpu = isinstance(self.target, GpuTarget)
        return on_gpu and any(is_contraction(self.math[n]) for n in group.nodes)

    def reductions(self, nodes: list[Node]) -> int:
        return sum(self.math[n].reductions for n in nodes)

    def region(self, value: Value, group: FusionGroup) -> list[Node] | None:
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
            if len(region) == LARGEST_REGION or not self.follows(node, inside, group, alone):
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

    def follows(self, node: Node, inside: set[Value], group: FusionGroup, alone: bool) -> bool:
        """Whether `node` may be computed where `group` computes the values `inside`."""
        if node in self.owner or node in self.views or node.control is not None:
            return False
        math = self.math[node]
        fused = [v for v in dict.fromkeys(node.inputs) if v in inside]
        if all(math.is_elementwise_in(v) for v in fused):
            return True
        once = alone and not math.reduces and all(math.reads_once(v) for v in fused)
        if once and (not group.anchored or (math.moves and self.stores_rows(math, fused[0]))):
            return True
        return group.light and math.streams(fused) and self.shares_rows(math, fused)

    def shares_rows(self, math: NodeMath, values: list[Value]) -> bool:
        """Whether several rows are read one by one, each short enough to stay close."""
        largest = max(values, key=lambda v: v.elements)
        count = prod(largest.shape[: math.rows(values)])
        return count > 1 and largest.bytes <= count * LONGEST_ROW

    def stores_rows(self, math: NodeMath, value: Value) -> bool:
        """Whether rows of `value` are stored whole, or are too short to matter."""
        line = as_dtype(value.dtype).bytes * next((n for n in value.shape[::-1] if n > 1), 1)
        return math.keeps_rows(value) or line < CACHE_LINE

    def hand_on(self, group: FusionGroup) -> None:
        """Move what a group ends with to the group that alone reads it, where that keeps narrower
        numbers between them: bytes, not the floats that they stand for.
        """
        *rest, last = group.nodes
        value, math = last.output, self.math[last]
        widened = [v for v in last.inputs if math.is_elementwise_in(v) and v.bytes < value.bytes]
        whole = [n for n in rest if n.output in last.inputs]
        readers = self.readers.get(value, [])
        if not widened or [n.output for n in whole] != widened or value in self.returned:
            return
        if len(readers) != 1 or (target := self.owner.get(readers[0])) in (None, group):
            return
        if not self.may_feed(FusionGroup([last]), [], readers[0], value):
            return
        if self.fits(FusionGroup(), [last, *target.nodes]):
            group.nodes = rest
            group.written, _ = self.written({}, rest)
            self.assign(target, [last])

    def join_reader(self, group: FusionGroup) -> None:
        """Step 2: move a group without a reduction into the only reader of its exit."""
        value, path = group.exit, []
        while True:
            readers = self.readers.get(value, [])
            if group.anchored or not readers or value in self.returned:
                return
            if len(readers) > 1 or readers[0] not in self.views:
                break
            path.append(readers[0])
            value = readers[0].output
        homes = {None if r.control else self.owner.get(r) for r in readers}
        target = homes.pop()
        if homes or target is None or target is group:
            return
        if not all(self.may_feed(group, path, r, value) for r in readers):
            return
        if not self.fits(FusionGroup(), [*group.nodes, *path, *target.nodes]):
            return
        self.views.difference_update(path)
        self.assign(target, [*group.nodes, *path])

    def may_feed(self, group: FusionGroup, path: list[Node], reader: Node, value: Value) -> bool:
        math = self.math[reader]
        maths = [self.math[n] for n in group.nodes]
        moving = all(m.moves and len(m.node.inputs) == 1 for m in maths)
        alone = len(self.readers[value]) == 1
        again = alone and not path and not math.reduces and all(m.is_slight for m in maths)
        if not self.owner[reader].anchored:
            if math.picks(value):
                along = math.moves or all(m.vectors_along(m.node.inputs[0]) for m in maths)
                slight = alone and math.moves and not any(m.is_expensive for m in maths)
                if along if moving else (slight and not path):
                    return True
            once = alone and math.reads_once(value)
            if once and (moving or (not path and math.is_elementwise_in(value))):
                return True
            return again and value.elements == 1
        if not alone:
            return False
        if not moving:
            return again or (not path and math.reads_once(value))
        views = [self.math[n] for n in path]
        few = math.steps <= FEW_USES * value.elements and is_contraction(math)
        if math.reuses or (few and math.takes_along_axes(value)):
            return math.reads_through(value, views)
        if not math.vectors_along(value):
            return True
        return all(m.keeps_rows(m.node.inputs[0]) for m in (*maths, *views))

    def gather(self, group: FusionGroup) -> None:
        """Step 4: take the numbers that `group` alone reads, and what is made with them for it."""
        contracts = any(is_contraction(self.math[n]) for n in group.nodes)
        if not contracts and not is_few(group.exit):
            return
        found = dict[FusionGroup, None]()
        nodes = set(group.nodes)
        while more := [g for g in self.feeding(nodes) if self.is_gathered(g, contracts)]:
            found.update(dict.fromkeys(more))
            nodes.update(n for g in more for n in g.nodes)
        if any(self.owner[self.made[v]] not in found for g in found for v in self.numbers(g)):
            return  # others read the numbers, too
        extra = [n for g in found for n in g.nodes]
        whole = sorted([*extra, *group.nodes], key=self.order.__getitem__)
        if extra and self.reductions(whole) <= MOST_REDUCTIONS and self.fits(FusionGroup(), whole):
            self.assign(group, extra)

    def feeding(self, nodes: Collection[Node]) -> list[FusionGroup]:
        """The groups that only these nodes read, and which are not among them."""
        given = dict.fromkeys(v for n in nodes for v in n.inputs if v in self.made)
        made = [v for v in given if self.made[v] not in nodes and v not in self.returned]
        read = [v for v in made if all(r in nodes for r in self.readers[v])]
        return [g for v in read if (g := self.owner.get(self.made[v])) is not None]

    def is_gathered(self, group: FusionGroup, contracts: bool) -> bool:
        """Whether a group may go to who alone reads it: numbers, or what is made with them for a
        contraction.
        """
        if any(is_contraction(self.math[n]) for n in group.nodes):
            return False
        return is_few(group.exit) or (contracts and not group.anchored and any(self.numbers(group)))

    def numbers(self, group: FusionGroup) -> list[Value]:
        """The few numbers that a group is given by others."""
        given = dict.fromkeys(v for n in group.nodes for v in n.inputs)
        made = [v for v in given if v in self.made and self.made[v] not in group.nodes]
        return [v for v in made if is_few(v) and self.made[v] in self.owner]

    def links(self, target: Target) -> Links | None:
        """What decides which contractions share a kernel there, if any may."""
        graph = self.math, self.readers, self.returned
        if isinstance(target, CpuTarget):
            return Chaining(target, *graph)
        pairs = target.backend.pairs
        return None if pairs is None else Pairing(target, pairs, *graph)

    def chain(self, links: Links) -> tuple[Link, ...]:
        """Step 5: make one group of two where that is worth it, the best pairs first."""
        pairs = (
            (self.with_scores(group, reader), self.owner[reader].nodes)
            for group in self.groups()
            for reader in self.readers.get(group.exit, [])[:1]
            if reader in self.owner
        )
        found = [link for pair in pairs if (link := links.link(*pair)) is not None]
        found.sort(key=lambda x: -x.gain)
        return tuple(self.chained(link, links) for link in found)

    def with_scores(self, group: FusionGroup, reader: Node) -> list[Node]:
        """The nodes of a group; where it is a softmax of rows too long to be shared, and `reader`
        may take these in chunks, with those that make the scores.
        """
        if not group.anchored:
            return group.nodes
        inside = {n.output for n in group.nodes}
        given = {v for n in group.nodes for v in n.inputs if not v.is_constant} - inside
        largest = max(given, key=lambda v: v.elements, default=None)
        producer = None if largest is None else self.made.get(largest)
        before = None if producer is None else self.owner.get(producer)
        if before is None or before.exit is not largest or before.exit in self.returned:
            return group.nodes
        if any(is_contraction(self.math[n]) for n in group.nodes):
            return group.nodes
        is_read_here = all(n in group.nodes for n in self.readers[before.exit])
        if not (is_read_here and sums_softmax(group.nodes, reader)):
            return group.nodes
        return [*before.nodes, *group.nodes]

    def chained(self, link: Link, links: Links) -> Link:
        """The link, with its groups made one if it has no refusal."""
        if link.refusal:
            return link
        second = self.owner[link.second]
        between = self.owner[self.made[link.value]]
        firsts = [n for g in dict.fromkeys((self.owner[link.first], between)) for n in g.nodes]
        nodes = [*firsts, *second.nodes]
        if sum(links.joins(self.math[n]) for n in nodes) > links.longest:
            return replace(link, refusal=f"{links.longest} contractions are a kernel already")
        if self.reductions(nodes) > MOST_REDUCTIONS or not self.fits(FusionGroup(), nodes):
            return replace(link, refusal="the kernel would be too large")
        self.assign(second, firsts)
        return link

    def absorb(self, edges: Edges) -> None:
        """Step 6: transpositions at the model's edges go into what is between them."""
        for last in self.plain:
            if last not in self.owner or not is_edge(last, self.returned):
                continue
            group = self.before(last)
            if group is None:
                continue
            own = [n for n in group.nodes if n is not last]
            nodes = [*self.movers(group), *own]
            if edges.absorbs(nodes, last) and self.fits(FusionGroup(), [*nodes, last]):
                self.assign(group, [n for n in (*nodes, last) if n not in group.nodes])
                group.turned = True

    def before(self, last: Node) -> FusionGroup | None:
        """The group that makes what a transposition reads, alone, or ends in it."""
        mine, (value,) = self.owner[last], last.inputs
        if len(mine.nodes) > 1:
            return mine if mine.nodes[-1] is last else None
        producer = self.made.get(value)
        group = None if producer is None else self.owner.get(producer)
        if group is None or group.exit is not value or self.readers[value] != [last]:
            return None
        return group

    def movers(self, group: FusionGroup) -> list[Node]:
        """Transpositions by themselves that only this group reads."""
        given = {v for n in group.nodes for v in n.inputs} - {n.output for n in group.nodes}
        made = (self.made[v] for v in given if v in self.made and v not in self.returned)
        return [
            n
            for n in made
            if n in self.owner and self.owner[n].nodes == [n] and self.math[n].moves
            if all(r in group.nodes for r in self.readers[n.output])
        ]

    def ordered(self) -> list[FusionGroup]:
        """Groups by the position of their exits, which no operand comes after."""
        return sorted(self.groups(), key=self.position)
