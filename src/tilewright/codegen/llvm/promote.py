"""Which tensor elements a region can keep in registers.

    for rc: for y (unrolled, 6): for f (vector, 64):  C[y0*6 + y, f0*64 + f] += ...

Inside the loop over rc every access to C is at a constant distance from one address that does not
change: 24 vectors that are equal or disjoint. They can be loaded (or initialised) before the loop,
carried through it as SSA values and stored after it; an allocation whose whole life is inside such
a region never exists in memory.

`Scan` walks a region as code generation will, unrolled loops and vector chunks included, and
collects the elements of each tensor, or rejects it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tilewright.codegen.lanes import VectorLanes
from tilewright.codegen.llvm.indices import LANE
from tilewright.codegen.llvm.masks import mask_form
from tilewright.codegen.llvm.values import Evaluator
from tilewright.codegen.passes.size import BUDGET
from tilewright.codegen.summary import Summaries
from tilewright.expr.index.affine import Affine, Terms
from tilewright.expr.nodes import Expr, Tensor
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Seq, Store


@dataclass(slots=True)
class Element:
    """One promoted value: `lanes` elements from `at` on, of which `active` exist.

    `load`: its memory is read before it is written. `sure`: some access always happens, so its
    address exists, in lanes that a `mask` (`masks`) does not switch off. `ops`: the reductions
    applied, None among them for anything else. `uses` counts accesses, `folded` the most lanes that
    one update brings to a scalar element.
    """

    at: Affine
    lanes: int
    active: int
    load: bool = False
    sure: bool = False
    written: bool = False
    uses: int = 0
    folded: int = 0
    ops: set[str | None] = field(default_factory=set)
    mask: Affine | None = None

    def span(self) -> VectorLanes | None:
        """The lanes of a load or store of the whole element."""
        return VectorLanes("", self.lanes, self.active) if self.at.coefficient(LANE) else None


@dataclass(slots=True)
class Use:
    """The elements of one tensor in a region, by (constant part of the number, lane stride)."""

    tensor: Tensor
    elements: dict[tuple[int, int], Element] = field(default_factory=dict)
    terms: Terms | None = None
    owner: dict[int, tuple[int, int]] = field(default_factory=dict)

    def registers(self, vector_bits: int) -> int:
        """Vector registers that all elements take."""
        bits = self.tensor.dtype.compute.bits
        return sum(max(1, -(-e.lanes * bits // vector_bits)) for e in self.elements.values())

    @property
    def saves(self) -> bool:
        """Whether registers save accesses to memory."""
        return any(e.uses > 1 or e.ops != {None} for e in self.elements.values())

    @property
    def sure(self) -> bool:
        """Whether every element certainly exists and belongs to this region."""
        return all(e.sure for e in self.elements.values())


class Scan:
    """Collects the uses of `tensors` in a region; those that cannot be promoted are left out."""

    def __init__(self, ev: Evaluator, summaries: Summaries, tensors: Iterable[str]) -> None:
        self.ev = ev
        self.summaries = summaries
        self.live = set(tensors)
        self.uses: dict[str, Use] = {}
        self.seen = 0
        self.mask: Affine | None = None

    def run(self, region: Node) -> dict[str, Use]:
        """Uses by tensor name."""
        ev = self.ev
        summary = self.summaries.of(region)
        none: frozenset[str] = frozenset()
        self.live = {t for t in self.live if not summary.index_vars.get(t, none) & summary.loops}
        if summary.parallel or not self.live:
            return {}
        saved = dict(ev.ix.env), ev.lanes, ev.b.ranges.get(LANE)
        ev.ix.dry = True
        self.visit(region, False, 1)
        ev.ix.dry = False
        ev.ix.env.clear()
        ev.ix.env.update(saved[0])
        ev.lanes = saved[1]
        if saved[2] is not None:
            ev.b.ranges[LANE] = saved[2]
        return {name: use for name, use in self.uses.items() if name in self.live}

    # ---- the walk ---------------------------------------------------------------------------

    def visit(self, node: Node, conditional: bool, times: int) -> None:
        if not self.live & self.summaries.of(node).index_vars.keys():
            return
        match node:
            case Seq(body):
                for part in body:
                    self.visit(part, conditional, times)
            case Alloc(_, _, body):
                self.visit(body, conditional, times)
            case If(cond, body):
                self.reads(cond, conditional)
                known = self.ev.ix.decide(cond)
                if known is not False:
                    before, certain = self.mask, known is not None
                    if not certain and self.mask is None and self.ev.guard is None:
                        self.mask = mask_form(self.ev, cond)
                        certain = self.mask is not None
                    with self.ev.ix.assuming(cond):
                        self.visit(body, conditional or not certain, times)
                    self.mask = before
            case For():
                self.loop(node, conditional, times)
            case Store():
                self.store(node, conditional, times)

    def loop(self, node: For, conditional: bool, times: int) -> None:
        env, name = self.ev.ix.env, node.var.name
        assert isinstance(node.extent, int)
        if node.kind in (Kind.SERIAL, Kind.PARALLEL):
            self.running(node, conditional, times)
            return
        if node.kind is Kind.VECTOR and self.ev.lanes is None:
            for start, lanes in self.ev.chunks(node):
                self.ev.enter_lanes(lanes, start)
                self.visit(node.body, conditional, times)
            self.ev.lanes = None
            return
        summary = self.summaries.of(node)
        found = summary.index_vars
        matters = name in summary.cond_vars or any(name in found.get(t, ()) for t in self.live)
        if not matters:
            env[name] = Affine(0)
            self.visit(node.body, conditional, times * node.extent)
            return
        for i in range(node.extent):
            env[name] = Affine(i)
            self.visit(node.body, conditional, times)

    def running(self, node: For, conditional: bool, times: int) -> None:
        """A loop that runs; guards below it that hold in its first iteration do not matter."""
        env, body, holds = self.ev.ix.env, node.body, tuple[Expr, ...]()
        if isinstance(body, If):
            env[node.var.name] = Affine(0)
            if self.ev.ix.decide(body.cond):
                holds, body = (body.cond,), body.body
        env.pop(node.var.name, None)
        with self.ev.ix.assuming(*holds, loop=node):
            self.visit(body, conditional, times)

    def reads(self, e: Expr, conditional: bool) -> None:
        for read, skipped in self.summaries.reads(e):
            if read.tensor.name in self.live:
                sure = not (skipped or conditional)
                self.access(read, read.tensor, read.indices, not sure, "read", None, 1)

    def store(self, node: Store, conditional: bool, times: int) -> None:
        self.reads(node.value, conditional)
        if node.tensor.name in self.live:
            how = "write" if node.reduce is None else "update"
            self.access(node, node.tensor, node.indices, conditional, how, node.reduce, times)

    # ---- one access -------------------------------------------------------------------------

    def access(
        self,
        node: object,
        tensor: Tensor,
        indices: tuple[Expr, ...],
        conditional: bool,
        how: str,
        op: str | None,
        times: int,
    ) -> None:
        at = self.ev.ix.resolve(self.ev.form(node, tensor, indices))
        self.seen += 1
        if at is None or self.seen > BUDGET.scan:
            self.live.discard(tensor.name)
            return
        lanes = self.ev.lanes
        stride = at.coefficient(LANE)
        conditional |= self.mask is not None and stride == 0
        use = self.uses.setdefault(tensor.name, Use(tensor))
        number = self.ev.number_of(node, tensor, indices, at)
        element = self.element(use, at, number, lanes if stride else None)
        if element is None or (stride == 0 and lanes is not None and how == "write"):
            self.live.discard(tensor.name)
            return
        if lanes is not None and stride == 0 and how == "update":
            element.folded = max(element.folded, lanes.count)
        if not element.written and how != "write":
            element.load = True
        if conditional and not element.written:
            element.load = True
        element.sure |= not conditional
        element.written |= how != "read"
        element.uses += times
        element.ops.add(op)

    def element(
        self, use: Use, at: Affine, number: Affine, lanes: VectorLanes | None
    ) -> Element | None:
        """The element of a number, at an address; None where it overlaps another one or the terms
        differ.
        """
        stride = number.coefficient(LANE)
        terms = number.without(LANE).terms
        if use.terms is None:
            use.terms = terms
        if use.terms != terms:
            return None
        key = (number.const, stride)
        count, active = (lanes.count, lanes.active) if lanes else (1, 1)
        mask = self.mask if stride else None
        known = use.elements.get(key)
        if known is not None:
            same = (known.lanes, known.active, known.mask) == (count, active, mask)
            return known if same else None
        for i in range(active):
            if use.owner.setdefault(number.const + i * stride, key) != key:
                return None
        use.elements[key] = Element(at, count, active, mask=mask)
        return use.elements[key]
