"""Rows that a loop stacks, as many as data say: a size with a limit that the user gives.

Loop(n, true) {…} → y        n is a size; y has n rows
Loop(, c) {…} → y            at most as many steps as the limit, which are counted: y is cut to
                             as many; a loop that would go on ends the run
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tilewright.expr.index.extents import minimum
from tilewright.expr.nodes import Expr, Extent, Shape
from tilewright.expr.sizes import most
from tilewright.graph.builder import BodyBuilder
from tilewright.graph.ir import Value
from tilewright.graph.onnx.ops.call import Rejected
from tilewright.graph.onnx.region import SubgraphImporter


@dataclass(frozen=True)
class Ends:
    """How often a loop runs: `count` times, or as `trips` says when it runs. Rows `named` so are
    `longest` at most; what it takes is counted where a condition may end it. `open` says whether it
    would go on but for the limit, as far as its count is concerned (None: it would not).
    """

    region: SubgraphImporter
    count: Extent | None
    trips: Value | None
    named: str = ""
    longest: int = 0
    open: Value | None = None
    counts: bool = False

    def limited(self, named: str, decisive: Value | None, conditional: bool) -> Ends:
        """The same with a limit of its rows. Raises Rejected where nobody gave one."""
        b, longest = self.region.builder, self.region.importer.limits.get(named)
        if longest is None:
            reason = "it stacks a row a step, but how many steps it takes depends on data"
            raise Rejected(reason, decisive, named)
        whole = replace(self, named=named, longest=longest, counts=conditional)
        if self.trips is None:
            if self.count is not None and most(self.count, b.sizes) <= longest:
                return whole
            is_open = self.region.constant(np.array(True))
            count = longest if self.count is None else minimum(self.count, longest)
            return replace(whole, count=count, open=is_open)
        trips = b.reshape(self.trips, ())
        if not conditional:
            return replace(whole, count=whole._size(trips), trips=None)
        limit = self.region.constant(np.array(longest, np.dtype(trips.dtype)))
        is_open = b.emit("greater", trips, limit)
        return replace(whole, count=longest, trips=b.emit("minimum", trips, limit), open=is_open)

    def steps(self, body: BodyBuilder, position: int) -> list[Value]:
        """How many there were after a step, which the loop carries as input `position` of its body,
        if they are counted.
        """
        if not self.counts:
            return []
        body.input("steps", (), "int64")
        body.inputs.insert(position, body.inputs.pop())
        return [body.emit("add", body.inputs[0], body.constant("one", np.array(1, np.int64)))]

    def rows(self, carried: list[Value], stacked: list[Value]) -> list[Value]:
        """The arrays that it stacked, as many rows as it took steps."""
        if not self.counts:
            return stacked
        b, going, steps = self.region.builder, carried[0], carried[-1]
        if self.open is not None:
            full, more = (self.region.constant(np.array(self.longest + n)) for n in (0, 1))
            at_end = b.emit("logical_and", going, b.emit("equal", steps, full))
            steps = b.emit("where", b.emit("logical_and", at_end, self.open), more, steps)
        size = self._size(steps)
        return [b.cut(v, 0, 0, size) for v in stacked]

    def _size(self, number: Value) -> Expr:
        """A number of steps as a size; more than there may be end the run."""
        b, name, longest = self.region.builder, self.named, self.longest
        if number.dtype != "int64":
            number = b.emit("cast_to", number, dtype="int64")
        shapes: tuple[Shape] = ((),)
        limits = f"limits={{{name!r}: {longest}}}"
        reason = f"{self.region.label}: it takes more steps than the {longest} that {limits} allows"
        return b.select("number", [number], lambda _: shapes, longest, name, reason=reason)[0]
