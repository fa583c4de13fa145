"""Which contractions stay together in one kernel on a CPU: those whose middle value would travel.

    conv 1x1, clip  →  depthwise, clip  →  conv 1x1, add        one group of three contractions
    scale, shift, relu  →  conv                                 one group: a prologue

A search decides how a chain is computed, or that it is not, for both are sketches of one task
(`space/rules/chain.py`). Here is decided for which pairs it is asked: a task of two contractions
has a larger space than two tasks. What a chain saves is that the tensor between is written to and
read from beyond the near caches; what it costs is that rows around a window are computed twice.
Both are compared with the arithmetic, by the target's published speeds, never by measured ones: a
model is cut the same way whenever it is loaded.

A prologue, arithmetic that alone feeds a contraction, saves and costs the same: each element is
computed once, while rows are packed. What follows a contraction is its epilogue by then
(`fusion.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Protocol

from tilewright.expr.access import (
    EXPENSIVE,
    LONGEST_CHAIN,
    MIN_REUSE,
    affine_index,
    has_data_reuse,
    uses,
)
from tilewright.expr.dag import stage_flops
from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import Call
from tilewright.expr.reference import compute_of, extents_of, sizes
from tilewright.expr.rewrites.online_softmax import find, lengths
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import walk
from tilewright.graph.access import NodeMath
from tilewright.graph.dags import dag_of
from tilewright.graph.ir import Node, Value
from tilewright.target import CpuTarget
from tilewright.target.speeds import published

NEAR = 1.0  # of the cores' second-level caches: what is no larger is there still when it is read
PANEL = 0.5  # of one core's: what rows of the intermediate tensor may take
WORTH = 0.1  # of the time of the arithmetic, that moving the tensor takes at least
WORTH_PROLOGUE = 0.015  # of the same; it makes no space much larger
INTRINSIC_FLOPS = 96.0  # of an intrinsic that takes tens of instructions: two dozen cycles
FLOPS_PER_CYCLE = 4.0  # of one lane: two fused multiply-adds


@dataclass(frozen=True, slots=True)
class Link:
    """A contraction, or a prologue, and what follows it, and the value that the second reads.
    `gain` orders links: on a CPU it is the share of their arithmetic's time that not moving the
    value saves. `refusal` says why they stay apart, if so.
    """

    first: Node
    second: Node
    value: Value
    gain: float = 0.0
    refusal: str = ""

    @property
    def verdict(self) -> str:
        """What was decided."""
        return f"apart ({self.refusal})" if self.refusal else "in one kernel"

    def __str__(self) -> str:
        names = f"{self.first.output.name} and {self.second.output.name}"
        return f"{names} ({self.value.bytes / 1e3:,.0f} kB between)"


def is_near(value: Value, target: CpuTarget) -> bool:
    """Whether a value is still in the cores' second-level caches when it is read."""
    return value.bytes <= NEAR * target.cores * target.l2_bytes


def bytes_per_s(value: Value, target: CpuTarget) -> float:
    """The published speed of where a value is."""
    speeds = published(target.name)
    if is_near(value, target):
        return speeds.l2_bytes_per_s
    far = value.bytes > PANEL * target.l3_bytes
    return speeds.dram_bytes_per_s if far else speeds.l3_bytes_per_s


def is_contraction(math: NodeMath) -> bool:
    """Whether the node reduces, and one loaded element serves several of its outputs."""
    return any(map(has_data_reuse, math.stages))


def sums_softmax(nodes: Sequence[Node], reader: Node) -> bool:
    """Whether the reader sums products with a softmax, which the nodes make of scores, and can take
    its rows in chunks (`expr/rewrites/online_softmax.py`).
    """
    dag, _ = dag_of([*nodes, reader])
    product = compute_of(dag.outputs[0])
    found = find(product, lambda t: t.source if isinstance(t.source, Compute) else None)
    return found is not None and bool(lengths(*sizes(product.reduce_axes)))


class Links(Protocol):
    """What decides which contractions share a kernel with what follows them. A kernel has at most
    `longest` of those nodes that `joins` holds for.
    """

    @property
    def longest(self) -> int: ...

    def joins(self, math: NodeMath) -> bool: ...

    @property
    def math(self) -> Mapping[Node, NodeMath]: ...

    @property
    def readers(self) -> Mapping[Value, Sequence[Node]]: ...

    @property
    def returned(self) -> Collection[Value]: ...

    def link(self, before: Sequence[Node], after: Sequence[Node]) -> Link | None: ...


def linked(links: Links, before: Sequence[Node], after: Sequence[Node]) -> Link | None:
    """The link of a contraction and the first node after it that joins it, refused where others
    read what is between; None where there are none.
    """
    value = before[-1].output
    first = next((n for n in reversed(before) if is_contraction(links.math[n])), None)
    second = next((n for n in after if links.joins(links.math[n])), None)
    if first is None or second is None or value not in second.inputs:
        return None
    link = Link(first, second, value)
    if value in links.returned or list(links.readers[value]) != [second]:
        return replace(link, refusal="others read what is between, too")
    return link


@dataclass(frozen=True, slots=True)
class Chaining:
    """The links of a graph that runs on `target`: the `math` of its nodes, the `readers` of its
    values, and those that are `returned`.
    """

    target: CpuTarget
    math: Mapping[Node, NodeMath]
    readers: Mapping[Value, Sequence[Node]]
    returned: Collection[Value]

    longest = LONGEST_CHAIN

    def joins(self, math: NodeMath) -> bool:
        return is_contraction(math)

    def link(self, before: Sequence[Node], after: Sequence[Node]) -> Link | None:
        """What is to be said of two groups of nodes, the second of which reads the last value of
        the first; None where these are no two contractions, nor a prologue and one.
        """
        found = linked(self, before, after)
        link = found or self._prologue(before, after)
        if link is None or link.refusal:
            return link
        value = link.value
        if is_near(value, self.target) and found:
            return replace(link, refusal="what is between stays in the near caches")
        rows = self._recomputed(link)
        if rows is None:
            return replace(link, refusal="what is between is read in no fixed order")
        speeds = published(self.target.name)
        lanes = self.target.lanes(as_dtype(value.dtype))
        flops_per_s = FLOPS_PER_CYCLE * lanes * speeds.clock_hz
        own, others = self._flops(before), self._flops(after)
        # alone, a prologue computes while it moves
        again = rows * own if found else (1.0 + rows) * (own + self._intrinsics(before))
        saved_s = 2.0 * value.bytes / bytes_per_s(value, self.target) - again / flops_per_s
        gain = saved_s * flops_per_s / (own + others)
        if gain < (WORTH if found else WORTH_PROLOGUE):
            return replace(
                link, gain=gain, refusal=f"not moving what is between saves {max(gain, 0.0):.0%}"
            )
        return replace(link, gain=gain)

    def _prologue(self, before: Sequence[Node], after: Sequence[Node]) -> Link | None:
        """The link of arithmetic and the contraction that alone reads its result, each element many
        times, row by row as it is made, and rows enough for every core to pack its own.
        """
        first, value = before[-1], before[-1].output
        if value in self.returned or len(self.readers[value]) != 1 or self.math[first].moves:
            return None
        for math in (self.math[n] for n in before):
            turns = math.moves and not all(map(math.keeps_rows, math.node.inputs))
            if math.reduces or turns:
                return None
        (second,) = self.readers[value]
        math = self.math[second]
        if second not in after or not is_contraction(math):
            return None
        found = math.element_reads(value)
        if len(found) != 1:
            return None
        used = uses(*found[0])
        rows = prod(sizes(compute_of(found[0][0]).axes)) // used
        pays = used >= MIN_REUSE and rows >= MIN_REUSE * self.target.cores
        return Link(first, second, value) if pays else None

    def _intrinsics(self, nodes: Iterable[Node]) -> float:
        """Flops of what takes longer than one, besides that."""
        return INTRINSIC_FLOPS * sum(
            prod(sizes(compute_of(t).axes)) for n in nodes for t in self.math[n].stages
            for e in walk(compute_of(t).body) if isinstance(e, Call) and e.fn in EXPENSIVE
        )  # fmt: skip

    def _flops(self, nodes: Iterable[Node]) -> int:
        return sum(stage_flops(t) for n in nodes for t in self.math[n].stages)

    def _recomputed(self, link: Link) -> float | None:
        """The share of the value's rows that are computed twice, where a window slides over them;
        None where an index of the value is not affine.
        """
        value, math = link.value, self.math[link.second]
        simplifier = Simplifier()
        halos = [0] * len(value.shape)
        for stage, read in math.element_reads(value):
            compute = compute_of(stage)
            extents = extents_of((*compute.axes, *compute.reduce_axes))
            spatial = {a.name for a in compute.axes}
            for d, index in enumerate(read.indices):
                found = affine_index(index, extents, simplifier)
                if found is None:
                    return None
                steps = dict(found.coefficients)
                if spatial.isdisjoint(steps):
                    continue
                reach = sum(abs(k) * (extents[n] - 1) for n, k in steps.items() if n not in spatial)
                halos[d] = max(halos[d], reach)
        sliding = [d for d, halo in enumerate(halos) if halo]
        if not sliding:
            return 0.0
        extent = value.shape[sliding[0]]
        row_bytes = value.bytes / prod(value.shape[: sliding[0] + 1])
        rows = max(1.0, PANEL * self.target.l2_bytes // row_bytes)
        return 0.0 if rows >= extent else halos[sliding[0]] / rows
