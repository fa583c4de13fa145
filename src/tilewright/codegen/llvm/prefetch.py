"""Ask for memory before it is needed: constants, rows of large inputs, and where a register tile
will be stored.

A constant is fetched ahead, a part of its next panel in every innermost iteration:

    for j.0: for i.1: for k: c[…] += a[…] * w[j.0, k, …]      w's panel j.0 serves every i.1
        prefetch  &w[j.0 + 1] + (i.1 * K + k) * step          all of panel j.0 + 1 by the last i.1

A constant that every pass reads as a whole is such a panel, too; after it in memory comes the
constant that the network needs next (`tilewright.runtime.constants`).

In a network each weight comes from main memory: other weights were used since its last use. The
hardware prefetchers run ahead by some lines only, so without this the first pass over a panel
waits for memory while the later ones, which find it in the cache, leave memory idle.

An input that is larger than a second-level cache and that a kernel passes over once comes from
behind that cache. Where a register tile reads many rows of it side by side, an element at a time,
each is a stream for the hardware prefetchers to find, and ends before they are far ahead. The rows
together are a block without gaps, and the next block is asked for:

    for i.0: for k: for i.1 in range(13): for j: c[…] += a[i.0 * 13 + i.1, k] * b[k, j]
        prefetch  &a[(i.0 + 1) * 13] + k * step               all of the next 13 rows by the last k

Vectors are not read ahead so: there is too little arithmetic between two lines.

Where such an input is computed into a panel first, memory would be idle while the panel is used.
What the next panel is made of is asked for meanwhile:

    for i.0: panel[…] = relu(x[i.0 * 13 + …, …]);  for j.0: for k: … c[…] += panel[…, k] * b[k, j]
        prefetch  &x[(i.0 + 1) * 13] + (j.0 * K + k) * step

Lines that a long reduction writes only at its end are asked for at its start, for writing: its
stores would each wait for a line, and the next tile's loads behind them.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tilewright.codegen.llvm.indices import LANE
from tilewright.codegen.llvm.promote import Use
from tilewright.codegen.llvm.values import Evaluator
from tilewright.codegen.panels import filled
from tilewright.codegen.summary import Summaries
from tilewright.expr.index.affine import Affine
from tilewright.expr.nodes import Read, Tensor
from tilewright.expr.reference import static_shape
from tilewright.expr.traversal import reads
from tilewright.nest.nodes import Alloc, For, Kind, Node, Store, bodies

LEAST_PASSES = 4  # over a panel: fewer leave no time
LEAST_SHARE_BYTES = 16  # of a block, an iteration: else most prefetches ask for what is there
LEAST_PANEL_BYTES = 4  # the same of a panel, which is read all at once: nothing hides its misses
LEAST_STEPS = 4  # iterations of a reduction for each line: fewer are hardly longer than the stores
LINE = 64
INTO_SECOND_LEVEL = "i32 0, i32 2, i32 1"  # a read, of data that is used again
TO_BE_WRITTEN = "i32 1, i32 3, i32 1"


class Prefetcher:
    """Writes the prefetches of one function, for `constants`, large inputs (`streams`) and
    `outputs`. `loops` are those that run around the current statement, outermost first: variable →
    extent. What is asked for to be read goes into the second-level cache, of `cache_bytes`.
    """

    def __init__(
        self,
        ev: Evaluator,
        summaries: Summaries,
        constants: frozenset[str],
        streams: frozenset[str],
        cache_bytes: int,
        outputs: frozenset[str],
    ) -> None:
        self.ev = ev
        self.summaries = summaries
        self.constants = constants
        self.streams = streams
        self.cache_bytes = cache_bytes
        self.outputs = outputs
        self.loops: dict[str, int] = {}
        self.panels: dict[str, list[tuple[Tensor, Affine, int, int]]] = {}

    def fills(self, node: Alloc) -> None:
        """Note what an allocation in the current loops is made of, where that is a block without
        gaps of a large input: the input, where the block begins, its elements, how many loops are
        around.
        """
        found = []
        for part in filled(node, self.streams):
            buffer = self.ev.buffers[part.tensor.name]
            if buffer.pitches:
                continue
            form = buffer.flat(self.ev.forms, part.start)
            whole = static_shape(part.tensor)
            spans = [min(n, most) for n, most in zip(part.spans, whole, strict=True)]
            size = _covered(list(zip(buffer.strides, spans, strict=True)))
            is_known = not any(n in self.ev.forms.opaque for n, _ in form.terms)
            if size is not None and is_known:
                found.append((part.tensor, form, size, len(self.loops)))
        self.panels[node.tensor.name] = found

    def ahead(self, body: Node) -> None:
        """Where `body` is that of an innermost loop, prefetch for what it reads."""
        summary = self.summaries.of(body)
        if summary.loops:
            return
        for name in sorted(self.panels.keys() & summary.index_vars.keys() - summary.stores):
            self.next_panel(name)
        for name in sorted((self.constants | self.streams) & summary.index_vars.keys()):
            read = next(r for r in _reads(body) if r.tensor.name == name)
            form = self.ev.form(read, read.tensor, read.indices)
            if any(n in self.ev.forms.opaque for n, _ in form.terms):
                continue
            if name in self.constants:
                self.panel(read.tensor, form)
            else:
                self.block(read.tensor, form, body)

    def next_panel(self, name: str) -> None:
        """Prefetch what the next panel will be made of, evenly over the uses of this one."""
        for tensor, form, size, depth in self.panels[name]:
            outside = [n for n in list(self.loops)[:depth] if self.loops[n] > 1]
            step = form.coefficient(outside[-1]) if outside else 0
            nbytes = min(size, step) * tensor.dtype.bytes
            steps = prod(list(self.loops.values())[depth:])
            if step > 0 and steps * LEAST_PANEL_BYTES <= nbytes <= self.cache_bytes // 2:
                self.share(tensor, form, depth - 1, form.const + max(size, step), min(size, step))

    def panel(self, tensor: Tensor, form: Affine) -> None:
        """Prefetch the next panel that a read moves to, evenly over the passes of this one."""
        strides = [form.coefficient(n) for n in self.loops]
        at = _panel_loop(strides, list(self.loops.values()))
        if at is not None:
            panel = strides[at] if at >= 0 else self.ev.buffers[tensor.name].elements
            self.share(tensor, form, at, panel, panel)

    def block(self, tensor: Tensor, form: Affine, body: Node) -> None:
        """Prefetch the next block of rows that a read moves to, evenly over this one."""
        loops = list(_loops(body))
        if any(n.kind is Kind.VECTOR and form.coefficient(n.var.name) for n in loops):
            return
        strides, extents = [form.coefficient(n) for n in self.loops], list(self.loops.values())
        inside = [
            (form.coefficient(n.var.name), n.extent) for n in loops if isinstance(n.extent, int)
        ]
        found = _block_loop(inside, strides, extents)
        if found is None:
            return
        at, first, elements = found
        steps, nbytes = prod(extents[at + 1 :]), elements * tensor.dtype.bytes
        if steps * LEAST_SHARE_BYTES <= nbytes <= self.cache_bytes // 2:
            self.share(tensor, form, at, first, elements)

    def share(self, tensor: Tensor, form: Affine, at: int, first: int, elements: int) -> None:
        """Prefetch an iteration's share of `elements` from `first` on, counted from where `form` is
        at the start of the loops inside number `at`.
        """
        ev = self.ev
        size = tensor.dtype.bytes
        names = list(self.loops)
        start, position = Affine(first), Affine(0)
        for name in names[: at + 1]:
            start = start.plus(ev.ix.env[name], form.coefficient(name))
        for name in names[at + 1 :]:
            position = position.times(self.loops[name]).plus(ev.ix.env[name])
        steps = prod(self.loops[n] for n in names[at + 1 :])
        share = -(-elements * size // steps)
        place = start.times(size).plus(position, share)
        for line in range(0, share, LINE):
            pointer = ev.ix.pointer(ev.buffers[tensor.name].base, place.shifted(line), 1)
            self.line(pointer, INTO_SECOND_LEVEL)

    def destination(self, use: Use, region: Node) -> None:
        """At the start of `region`, prefetch the elements of an output that it only writes."""
        if use.tensor.name not in self.outputs:
            return
        size = use.tensor.dtype.bytes
        lines: dict[int, Affine] = {}  # as if the unknown part of the address were at a line
        for e in use.elements.values():
            if e.written and not e.load:
                stride = e.at.coefficient(LANE)
                for i in range(0, e.active, max(1, LINE // max(1, abs(stride) * size))):
                    place = e.at.without(LANE).shifted(i * stride)
                    lines.setdefault(place.const * size // LINE, place)
        if not lines or _steps(region) < LEAST_STEPS * len(lines):
            return
        base = self.ev.buffers[use.tensor.name].base
        for place in lines.values():
            self.line(self.ev.ix.pointer(base, place, size), TO_BE_WRITTEN)

    def line(self, pointer: str, how: str) -> None:
        """Prefetch one cache line."""
        parameters = ["ptr", "i32", "i32", "i32"]
        prefetch = self.ev.m.declare("llvm.prefetch.p0", "void", parameters)
        self.ev.b.do(f"call void {prefetch}(ptr {pointer}, {how})")


def _steps(node: Node) -> int:
    """Iterations of the loops that run one inside the other, at most."""
    inner = max((_steps(b) for b in bodies(node)), default=1)
    if isinstance(node, For) and node.kind is Kind.SERIAL and isinstance(node.extent, int):
        return inner * node.extent
    return inner


def _block_loop(
    inside: list[tuple[int, int]], strides: list[int], extents: list[int]
) -> tuple[int, int, int] | None:
    """The innermost loop one iteration of which reads a block without gaps, its rows apart in the
    innermost body: (number of the loop, first element to prefetch, how many elements).

    `inside` are the strides and extents of the body itself. Where the next block begins inside this
    one, the rest of it is to be prefetched. None where there is no such loop, where loops around it
    pass over the same elements again, or where the body reads without gaps: a single stream.
    """
    if _covered(inside) is not None or min(strides, default=0) < 0:
        return None
    for i in reversed(range(len(strides))):
        size = _covered(inside) if strides[i] else None
        if size is not None:
            once = all(s or e == 1 for s, e in zip(strides[:i], extents, strict=False))
            return (i, max(size, strides[i]), min(size, strides[i])) if once else None
        inside = [*inside, (strides[i], extents[i])]
    return None


def _covered(moves: list[tuple[int, int]]) -> int | None:
    """How many elements lie from the first to the last that loops of these strides and extents
    read; None where they leave gaps.
    """
    covered = 1
    for stride, extent in sorted(m for m in moves if m[0]):
        if stride > covered and extent > 1:
            return None
        covered += stride * (extent - 1)
    return covered


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


def _loops(node: Node) -> Iterator[For]:
    """All loops below a node."""
    if isinstance(node, For):
        yield node
    for body in bodies(node):
        yield from _loops(body)
