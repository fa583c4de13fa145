"""Partial accumulators: several values that together stand for one element of a reduction.

    for k (vector, 64): s += x[k]*x[k]      4 vectors of 16 partial sums, added up after the loop

Where lanes run over a reduction axis, every lane keeps a sum of its own. Where a tile has too few
elements to keep the multiply-add units busy (`passes.copies`), consecutive updates of one element
take turns between copies. A sum is thereby reassociated (its tolerance knows its depth); max and
min are not affected.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tilewright.codegen.lanes import VectorLanes, folds
from tilewright.codegen.llvm.arithmetic import apply, choose, combine, horizontal, neutral
from tilewright.codegen.llvm.promote import Element, Scan, Use
from tilewright.codegen.llvm.registers import MAIN, Key
from tilewright.codegen.llvm.types import SsaValue, mask_literal, shuffle_mask
from tilewright.codegen.llvm.values import Evaluator
from tilewright.codegen.summary import Summaries
from tilewright.expr.dtypes import BOOL
from tilewright.expr.index.affine import Affine
from tilewright.expr.nodes import Expr
from tilewright.nest.nodes import For, Kind, Store, walk


class Partials:
    """Opens and closes partial accumulators around loops, and updates them.

    `wanted` is the number of copies of each element, by tensor (1 where it is missing).
    """

    def __init__(self, ev: Evaluator, summaries: Summaries, wanted: Mapping[str, int]) -> None:
        self.ev = ev
        self.wanted = wanted
        self.summaries = summaries
        self._folds: dict[int, tuple[For, bool]] = {}

    @contextmanager
    def around(self, node: For) -> Iterator[None]:
        """Partial accumulators for what this loop only updates."""
        chosen = [
            (use, op, n) for use, op in self.candidates(node) if (n := self.copies(use, node))
        ]
        for use, op, n in chosen:
            self.enter(use, op, n)
        yield
        for use, op, _ in chosen:
            self.leave(use, op)

    def candidates(self, node: For) -> list[tuple[Use, str]]:
        """Tensors whose every access in the loop is an update with one operation."""
        if node.kind is not Kind.SERIAL and not self.folds(node):
            return []
        registers = self.ev.registers
        summary = self.summaries.of(node)
        busy = {key[0] for key in registers.partial}
        ops = {t: next(iter(found)) for t, found in summary.ops.items() if len(found) == 1}
        wanted = {t: op for t, op in ops.items() if op is not None and t not in busy}
        wanted = {t: op for t, op in wanted.items() if t in self.ev.buffers}
        if not wanted or self.ev.lanes is not None:
            return []
        uses = Scan(self.ev, self.summaries, wanted).run(node)
        return [(use, wanted[t]) for t, use in uses.items() if wanted[t] is not None]

    def folds(self, node: For) -> bool:
        """Whether a vector loop in the nest reduces over its own variable."""
        hit = self._folds.get(id(node))
        if hit is None:
            found = any(
                isinstance(n, For) and n.kind is Kind.VECTOR and folds(n) for n in walk(node)
            )
            hit = self._folds[id(node)] = (node, found)
        return hit[1]

    def copies(self, use: Use, node: For) -> int:
        """How many accumulators each element gets; 0: it stays as it is."""
        elements = list(use.elements.values())
        folded = any(e.folded for e in elements)
        promoted = use.tensor.name in self.ev.registers.tensors
        if not (promoted or use.sure):
            return 0
        n = self.wanted.get(use.tensor.name, 1)
        while any(e.uses % n for e in elements):
            n //= 2
        if folded:
            return n
        return n if promoted and n > 1 and self.summaries.of(node).loops else 0

    def enter(self, use: Use, op: str, n: int) -> None:
        registers, name = self.ev.registers, use.tensor.name
        for (const, stride), e in use.elements.items():
            keys: list[Key] = [(name, const, stride, j) for j in range(n)]
            registers.partial[(name, const, stride, MAIN)] = keys
            registers.turn[(name, const, stride, MAIN)] = 0
            for key in keys:
                registers.values[key] = neutral(op, use.tensor.dtype.compute, e.folded or e.lanes)

    def leave(self, use: Use, op: str) -> None:
        """Add up the copies, then the lanes, and the result to the element."""
        ev, registers, name = self.ev, self.ev.registers, use.tensor.name
        for (const, stride), e in use.elements.items():
            main = (name, const, stride, MAIN)
            parts = [registers.values.pop(key) for key in registers.partial.pop(main)]
            while len(parts) > 1:
                pairs = zip(parts[::2], parts[1::2], strict=False)
                rest = parts[len(parts) & ~1 :]
                parts = [combine(ev.b, ev.m, op, x, y) for x, y in pairs] + rest
            total = horizontal(ev.b, ev.m, op, parts[0]) if e.folded else parts[0]
            self.add(use, e, main, op, total)

    def add(self, use: Use, e: Element, main: Key, op: str, total: SsaValue) -> None:
        ev, name = self.ev, use.tensor.name
        if name in ev.registers.tensors:
            old = ev.registers.values[main]
            ev.registers.values[main] = combine(ev.b, ev.m, op, old, total)
            return
        buffer = ev.buffers[name]
        old = ev.memory.load(buffer, e.at, e.span(), None)
        ev.memory.store(buffer, e.at, combine(ev.b, ev.m, op, old, total), e.span(), None)

    # ---- updates ----------------------------------------------------------------------------

    def update(self, node: Store, number: Affine) -> bool:
        """Apply an update of element `number` to the accumulator whose turn it is; False where
        there is none.
        """
        ev = self.ev
        key = ev.registers.accumulator(node.tensor.name, number)
        if key is None:
            return False
        assert node.reduce is not None
        old = ev.registers.values[key]
        if (ev.lanes.count if ev.lanes else 1) == old.lanes:
            new = ev.accumulate(node, old)
            mask = self.mask(ev.lanes) if ev.lanes else ev.guard
            new = new if mask is None else choose(ev.b, mask, new, old)
        else:
            value = self.spread(node.reduce, self.masked(node.reduce, node.value), old.lanes)
            new = combine(ev.b, ev.m, node.reduce, old, value)
        ev.registers.values[key] = new
        return True

    def spread(self, op: str, value: SsaValue, lanes: int) -> SsaValue:
        """A scalar or a short vector in the first lanes, the others neutral."""
        b, rest = self.ev.b, neutral(op, value.dtype, lanes)
        if value.lanes == 1:
            text = f"insertelement {rest}, {value}, i64 0"
            return SsaValue(b.pure(text, value.text), value.dtype, lanes)
        filler = neutral(op, value.dtype, value.lanes)
        order = [min(i, value.lanes) for i in range(lanes)]
        text = f"shufflevector {value}, {filler}, {shuffle_mask(order)}"
        return SsaValue(b.pure(text, value.text), value.dtype, lanes)

    def masked(self, op: str, e: Expr) -> SsaValue:
        """The value in all lanes, neutral in those that do not count."""
        ev = self.ev
        value = ev.widen(ev.value(e))
        mask = self.mask(ev.lanes) if ev.lanes else ev.guard
        if mask is None:
            return value
        return choose(ev.b, mask, value, neutral(op, value.dtype, value.lanes))

    def mask(self, lanes: VectorLanes) -> SsaValue | None:
        """Lanes that count; None where all do."""
        guard = self.ev.guard
        if lanes.full:
            return None if guard is None else self.ev.widen(guard)
        tail = SsaValue(mask_literal(lanes.active, lanes.count), BOOL, lanes.count)
        return tail if guard is None else apply(self.ev.b, "and", self.ev.widen(guard), tail)

    def folded(self, op: str, before: SsaValue, e: Expr) -> SsaValue:
        """`before` combined with all lanes of `e` at once."""
        ev = self.ev
        total = horizontal(ev.b, ev.m, op, self.masked(op, e))
        return combine(ev.b, ev.m, op, before, total)
