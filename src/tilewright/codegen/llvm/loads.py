"""Loads: which instructions read the lanes of an access.

0 1 2 3      contiguous: one load, masked or in pieces where lanes are missing
0 2 4 6      strides of 2 to 4: contiguous loads, shuffled, masked where lanes are switched off
0 0 1 1, 0 9 1 10    known places in a few runs: a load of each, shuffled
0 1 9 10 18   many runs of neighbours: a load of each, put together
0 9 18 27    other strides: neighbours from each lane's address on, transposed; or gathered
"""

from __future__ import annotations

from tilewright.codegen.lanes import next_power
from tilewright.codegen.llvm.addresses import MemoryAccess, powers
from tilewright.codegen.llvm.indices import LANE
from tilewright.codegen.llvm.resident import WAY_BYTES
from tilewright.codegen.llvm.types import mangled, shuffle_mask, vector
from tilewright.target.cpu import SHUFFLED_STRIDE, TURNED_BYTES

MOST_RUNS = 4  # of neighbours, that are loaded and shuffled rather than gathered
WORD, LONG = 32, 64  # bits of narrow neighbours, or of two numbers, that are loaded at once
FEWEST = 4
"""Neighbours that a transposed load takes where the last lane has no TURNED_BYTES of them."""


class MemoryLoad(MemoryAccess):
    """A load being written."""

    @property
    def key(self) -> object:
        """What makes two loads equal."""
        shape = (self.lanes.count, self.lanes.active) if self.lanes else None
        test = self.guard.text if self.guard else None
        at = self.at
        return (self.buffer.tensor.name, self.buffer.version, at.const, at.terms, shape, test)

    def value(self) -> str:
        """The loaded element or elements, by the shortest way."""
        stride = self.at.coefficient(LANE)
        if self.lanes is None:
            return self.scalar()
        if stride == 1:
            return self.contiguous()
        if 2 <= stride <= SHUFFLED_STRIDE and self.is_shuffled(stride):
            return self.shuffled(stride)
        if size := self.transposed_group():
            wanted = self.at.const % size
            first = self.at.shifted(-wanted)
            whole = MemoryLoad(self.emitter, self.buffer, first, self.lanes, None)
            return whole.transposed(stride, size, wanted)
        return self.strided(stride)

    def transposed_group(self) -> int:
        """How many neighbours, of which this element is one, to load for every lane; 0 for none.

        The others are likely to be wanted next (then they are there), and even for one the loads
        take no longer than a gather.
        """
        assert self.lanes is not None
        if self.guard is not None or self.dtype.bits > WORD:
            return 0
        if self.dtype.bits == WORD and not self.lanes.full:  # a gather, masked
            return 0
        for size in dict.fromkeys((TURNED_BYTES // self.dtype.bytes, FEWEST)):
            ends = (n - self.at.const % size for n in (0, size - 1))
            inside = (self.emitter.in_bounds(self.buffer, self.at.shifted(n)) for n in ends)
            if self.count % size == 0 and all(inside):
                return size
        return 0

    def load_text(self, text: str, *operands: str, key: object = None) -> str:
        """A load, shared and hoisted as far as nothing writes the buffer."""
        again = key is None and text.startswith("load ")
        if again:
            at = self.at.without(LANE)
            base = (self.buffer.tensor.name, at.terms)
            offset = at.const * self.dtype.bytes
            ways = self.target.l1_bytes // WAY_BYTES
            self.b.scopes[-1].residents.place(base, offset, self.target.line_bytes, ways)
        outermost = self.b.written_depth(self.buffer.tensor.name)
        return self.b.load(text, (self.key, key), outermost, *operands, again=again)

    def scalar(self) -> str:
        at = self.pointer()
        return self.load_text(f"load {self.element}, ptr {at}, align {self.align}", at)

    def contiguous(self) -> str:
        assert self.lanes is not None
        at = self.pointer()
        masked = self.guard is not None and self.guard.lanes > 1
        if self.lanes.full and not masked:
            return self.load_text(f"load {self.type}, ptr {at}, align {self.align}", at)
        if masked or self.dtype.bits in self.features.mask_bits:
            return self.masked_load(at, self.mask())
        return self.pieces(at)

    def masked_load(self, at: str, mask: str, *sources: str, key: object = None) -> str:
        """As many elements as there are lanes, zeros where the mask is off."""
        kind = self.bits_type()
        test = f"<{self.count} x i1>"
        fn = self.m.declare(f"llvm.masked.load.{mangled(kind)}.p0", kind, ["ptr", test, kind])
        args = f"ptr align {self.align} {at}, {test} {mask}, {kind} zeroinitializer"
        text = f"call {kind} {fn}({args})"
        if kind == self.type:
            return self.load_text(text, at, *sources, mask, key=key)
        raw = self.load_text(text, at, *sources, mask, key="bits")
        return self.b.pure(f"bitcast {kind} {raw} to {self.type}", raw)

    def pieces(self, at: str) -> str:
        """A tail in pieces of 8, 4, 2, 1 elements put into one vector."""
        assert self.lanes is not None
        total = "zeroinitializer"
        for start, size in powers(self.lanes.active):
            p = self.b.local(f"getelementptr {self.element}, ptr {at}, i64 {start}")
            kind = vector(self.element, size)
            part = self.load_text(f"load {kind}, ptr {p}, align {self.align}", p, at, key=start)
            if size == 1:
                text = f"insertelement {self.type} {total}, {kind} {part}, i64 {start}"
            else:
                name = f"llvm.vector.insert.{mangled(self.type)}.{mangled(kind)}"
                fn = self.m.declare(name, self.type, [self.type, kind, "i64"])
                text = f"call {self.type} {fn}({self.type} {total}, {kind} {part}, i64 {start})"
            total = self.b.pure(text, total, part)
        return total

    def is_shuffled(self, stride: int) -> bool:
        """Whether contiguous loads between the first and the last lane's element bring all lanes,
        masked where a guard switches some of them off.
        """
        assert self.lanes is not None
        if (self.lanes.active - 1) * stride + 1 < self.count:
            return False
        masked = self.features.mask_bits if self.dtype.bits >= 32 else ()
        return self.guard is None or (self.guard.lanes > 1 and self.dtype.bits in masked)

    def shuffled(self, stride: int) -> str:
        """Every stride-th element, from contiguous loads that stay within the span."""
        assert self.lanes is not None
        active = self.lanes.active
        span = (active - 1) * stride + 1
        starts = dict.fromkeys(min(j * self.count, span - self.count) for j in range(stride))
        at = self.pointer()
        total, known = "", 0  # lanes that are there
        for start in starts:
            p = self.b.local(f"getelementptr {self.element}, ptr {at}, i64 {start}")
            part = self.contiguous_part(p, at, start, stride)
            reached = min(active, (start + self.count - 1) // stride + 1)
            new = [self.count * (start > 0) + i * stride - start for i in range(known, reached)]
            wanted = [*range(known), *new, *[-1] * (self.count - reached)]
            first, second = (total, part) if total else (part, "poison")
            text = (
                f"shufflevector {self.type} {first}, {self.type} {second}, {shuffle_mask(wanted)}"
            )
            total, known = self.b.pure(text, first, second), reached
        return total

    def picked(self, apart: list[int]) -> str | None:
        """Elements so far behind the first lane's, from contiguous loads of a few runs; None where
        there are more, or a guard switches single lanes off.

            0 0 1 1 2 2 3 3      one run        0 9 1 10 2 11 3 12      two
        """
        assert self.lanes is not None
        runs: list[list[int]] = []
        for place in sorted(set(apart)):
            if runs and place < runs[-1][0] + self.count:
                runs[-1].append(place)
            else:
                runs.append([place])
        size = next_power(max(run[-1] - run[0] + 1 for run in runs))
        longer = [self.at.shifted(r[0] + size - 1) for r in runs if r[-1] - r[0] + 1 < size]
        inside = all(self.emitter.in_bounds(self.buffer, end) for end in longer)
        masked = self.guard is not None and self.guard.lanes > 1
        if len(runs) > MOST_RUNS and not masked and self.is_of_words(apart):
            return self.words(apart[:: self.word // self.dtype.bits])
        if len(runs) > MOST_RUNS or size < 2 or masked or not inside:
            return None
        kind = vector(self.element, size)
        parts = []
        for run in runs:
            at = self.pointer(run[0])
            text = f"load {kind}, ptr {at}, align {self.align}"
            parts.append(self.load_text(text, at, key=("run", run[0], size)))
        parts += parts[-1:] * (next_power(len(parts)) - len(parts))
        elements = size * len(parts)
        whole = vector(self.element, elements)
        number = {x: n * size + x - run[0] for n, run in enumerate(runs) for x in run}
        order = [number[x] for x in apart] + [elements] * (self.count - len(apart))
        joined = self._joined(parts, size)
        text = f"shufflevector {whole} {joined}, {whole} zeroinitializer, {shuffle_mask(order)}"
        return self.b.pure(text, joined)

    @property
    def word(self) -> int:
        """Bits of neighbours that are loaded at once where there are many runs of them."""
        return WORD if self.dtype.bits < WORD else LONG

    def is_of_words(self, apart: list[int]) -> bool:
        """Whether elements so far behind the first lane's fill all lanes with whole words."""
        each = self.word // self.dtype.bits
        if each < 2 or len(apart) != self.count or self.count % each:
            return False
        return all(x == apart[n - n % each] + n % each for n, x in enumerate(apart))

    def words(self, places: list[int]) -> str:
        """Words of elements that begin so far behind the first lane's."""
        one, total = f"i{self.word}", "poison"
        kind = vector(one, len(places))
        for n, place in enumerate(places):
            at = self.pointer(place)
            text = f"load {one}, ptr {at}, align {self.align}"
            part = self.load_text(text, at, key=("word", place))
            total = self.b.pure(f"insertelement {kind} {total}, {one} {part}, i64 {n}", total, part)
        return self.b.pure(f"bitcast {kind} {total} to {self.type}", total)

    def contiguous_part(self, p: str, at: str, start: int, stride: int) -> str:
        """As many elements as there are lanes, `start` behind the first lane's; only those of lanes
        that are switched on where a guard says which.
        """
        if self.guard is None:
            text = f"load {self.type}, ptr {p}, align {self.align}"
            return self.load_text(text, p, at, key=start)
        assert self.lanes is not None
        places = [divmod(start + e, stride) for e in range(self.count)]
        order = [
            lane if not rest and lane < self.lanes.active else self.count for lane, rest in places
        ]
        test, mask = f"<{self.count} x i1>", self.mask()
        text = f"shufflevector {test} {mask}, {test} zeroinitializer, {shuffle_mask(order)}"
        return self.masked_load(p, self.b.pure(text, mask), at, key=start)

    def transposed(self, stride: int, size: int, wanted: int) -> str:
        """Element number `wanted` from each lane's address on, of `size` that are all loaded.

            lanes 0..3 load  a0 a1 a2 a3 | b0 b1 b2 b3 | c0 .. | d0 ..     ->    a0 b0 c0 d0

        With `size` 4 each register holds the groups of every fourth lane; two rounds of shuffles
        within its 128-bit parts bring them together. The shuffles for the other elements are
        shared.
        """
        assert self.lanes is not None
        at = self.pointer()
        part = vector(self.element, size)
        rows = []
        for i in range(self.lanes.active):
            p = self.b.local(f"getelementptr {self.element}, ptr {at}, i64 {i * stride}")
            text = f"load {part}, ptr {p}, align {self.align}"
            rows.append(self.load_text(text, p, at, key=("group", size, i)))
        rows += ["zeroinitializer"] * (self.count - len(rows))
        parts = [self._joined(rows[i::size], size) for i in range(size)]
        width, runs = 1, size
        while runs > 1:  # elements of each group, of `width` lanes side by side
            runs //= 2
            which = range(wanted // runs % 2 * runs, (wanted // runs % 2 + 1) * runs)
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self._pairs(x, y, which, width, size) for x, y in pairs]
            width *= 2
        return parts[0]

    def _joined(self, rows: list[str], size: int) -> str:
        """Vectors of `size` elements, a power of two of them, one after the other."""
        while len(rows) > 1:
            kind, order = vector(self.element, size), shuffle_mask(list(range(2 * size)))
            pairs = zip(rows[::2], rows[1::2], strict=True)
            rows = [
                self.b.pure(f"shufflevector {kind} {x}, {kind} {y}, {order}", x, y)
                for x, y in pairs
            ]
            size *= 2
        return rows[0]

    def _pairs(self, x: str, y: str, which: range, width: int, size: int) -> str:
        """In every group of `size`: elements of x and y in turns, `width` at a time, those in
        `which`.
        """
        order = []
        for start in range(0, self.count, size):
            for w in which:
                for side in (0, self.count):
                    order += [side + start + w * width + i for i in range(width)]
        text = f"shufflevector {self.type} {x}, {self.type} {y}, {shuffle_mask(order)}"
        return self.b.pure(text, x, y)

    def strided(self, stride: int) -> str:
        assert self.lanes is not None
        if (self.features.gather and self.dtype.bits >= 32) or self.guard is not None:
            return self.gather_from(self.addresses(stride))
        at = self.pointer()
        total = "poison" if self.lanes.full else "zeroinitializer"
        for i in range(self.lanes.active):
            p = self.b.local(f"getelementptr {self.element}, ptr {at}, i64 {i * stride}")
            text = f"load {self.element}, ptr {p}, align {self.align}"
            part = self.load_text(text, p, at, key=i)
            text = f"insertelement {self.type} {total}, {self.element} {part}, i64 {i}"
            total = self.b.pure(text, total, part)
        return total

    def gather_from(self, at: str) -> str:
        pointers, test = f"<{self.count} x ptr>", f"<{self.count} x i1>"
        name = f"llvm.masked.gather.{mangled(self.type)}.v{self.count}p0"
        fn = self.m.declare(name, self.type, [pointers, test, self.type])
        mask = self.mask()
        args = f"{pointers} align {self.align} {at}, {test} {mask}, {self.type} zeroinitializer"
        return self.load_text(f"call {self.type} {fn}({args})", at, mask, key=at)
