"""Ask for constants before they are needed: a part of the next panel in every innermost iteration.

    for j.0: for i.1: for k: c[…] += a[…] * w[j.0, k, …]      w's panel j.0 serves every i.1
        prefetch  &w[j.0 + 1] + (i.1 * K + k) * step          all of panel j.0 + 1 by the last i.1

A constant that every pass reads as a whole is such a panel, too; after it in memory comes the
constant that the network needs next (`tilewright.runtime.constants`).

In a network each weight comes from main memory: other weights were used since its last use. The
hardware prefetchers run ahead by some lines only, so without this the first pass over a panel
waits for memory while the later ones, which find it in the cache, leave memory idle.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tilewright.codegen.linear import Linear
from tilewright.codegen.llvm.values import Evaluator
from tilewright.codegen.summary import Summaries
from tilewright.expr.nodes import Read, reads
from tilewright.nest.nodes import Node, Store, bodies

LEAST_PASSES = 4  # over a panel: fewer leave no time
LINE = 64
INTO_SECOND_LEVEL = "i32 0, i32 2, i32 1"  # a read, of data that is used again


class Prefetcher:
    """Writes the prefetches of one function, for `constants`. `loops` are those that run around
    the current statement, outermost first: variable → extent.
    """

    def __init__(self, ev: Evaluator, summaries: Summaries, constants: frozenset[str]) -> None:
        self.ev = ev
        self.summaries = summaries
        self.constants = constants
        self.loops: dict[str, int] = {}

    def ahead(self, body: Node) -> None:
        """Where `body` is that of an innermost loop, prefetch for what it reads."""
        summary = self.summaries.of(body)
        if summary.loops:
            return
        for name in sorted(self.constants & summary.index_vars.keys()):
            self.panel(next(r for r in _reads(body) if r.tensor.name == name))

    def panel(self, read: Read) -> None:
        """Prefetch the next panel that `read` moves to, evenly over the passes of this one."""
        ev, tensor = self.ev, read.tensor
        buffer = ev.buffers[tensor.name]
        size = tensor.dtype.bytes
        form = ev.form(read, tensor, read.indices)
        if any(n in ev.forms.opaque for n, _ in form.terms):
            return
        names = list(self.loops)
        strides = [form.coefficient(n) for n in names]
        at = _panel_loop(strides, list(self.loops.values()))
        if at is None:
            return
        panel = strides[at] if at >= 0 else buffer.elements
        start, position = Linear(panel), Linear(0)
        for name, stride in zip(names[: at + 1], strides, strict=False):
            start = start.plus(ev.ix.env[name], stride)
        for name in names[at + 1 :]:
            position = position.times(self.loops[name]).plus(ev.ix.env[name])
        steps = prod(self.loops[n] for n in names[at + 1 :])
        share = -(-panel * size // steps)
        place = start.times(size).plus(position, share)
        prefetch = ev.m.declare("llvm.prefetch.p0", "void", ["ptr", "i32", "i32", "i32"])
        for line in range(0, share, LINE):
            pointer = ev.ix.pointer(buffer.base, place.shifted(line), 1)
            ev.b.do(f"call void {prefetch}(ptr {pointer}, {INTO_SECOND_LEVEL})")


def _panel_loop(strides: list[int], extents: list[int]) -> int | None:
    """The innermost loop that moves a read while enough passes inside of it do not.

    -1 where all passes are over the whole constant; None where there are too few passes, or
    where panels overlap.
    """
    passes, inside = 1, 0
    for i in reversed(range(len(strides))):
        if strides[i] < 0 or (strides[i] and inside >= strides[i]):
            return None
        if strides[i] and passes >= LEAST_PASSES:
            return i
        if strides[i]:
            inside += strides[i] * (extents[i] - 1)
        else:
            passes *= extents[i]
    return -1 if inside and passes >= LEAST_PASSES else None


def _reads(node: Node) -> Iterator[Read]:
    """All reads below a node."""
    if isinstance(node, Store):
        yield from reads(node.value)
        for index in node.indices:
            yield from reads(index)
    for body in bodies(node):
        yield from _reads(body)
