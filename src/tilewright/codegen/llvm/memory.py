"""Loads and stores: which instruction an access becomes.

The coefficient of LANE in an address decides: 0 is a scalar, 1 a contiguous vector, 2 to 4 are
contiguous loads and shuffles, anything else a gather (or one access a lane), or, where they exist,
four elements from each lane's address on, transposed. A static tail of
`active` lanes uses masked accesses where the machine has them, otherwise pieces of 8, 4, 2, 1.
A read that a condition forbids is redirected to a block of zeros, or masked off.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from tilewright.artifact import ALIGNMENT
from tilewright.codegen.lanes import Lanes
from tilewright.codegen.linear import Linear, Linearizer
from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.conversions import from_storage, to_storage
from tilewright.codegen.llvm.indices import LANE, Indexer
from tilewright.codegen.llvm.machine import Features
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.resident import WAY_BYTES
from tilewright.codegen.llvm.types import (
    Value,
    mangled,
    mask_literal,
    shuffle_mask,
    storage_type,
    vector,
)
from tilewright.expr.nodes import Expr, Tensor
from tilewright.target import CpuTarget

GROUP = 4
"""Neighbouring elements that a transposed load takes from each lane's address on."""
GREATEST_SHUFFLED_STRIDE = 4
GREATEST_GATHER_OFFSET = 1 << 30


@dataclass(slots=True)
class Buffer:
    """Storage of a tensor: base pointer, strides in elements, where its window starts.

    `version` changes with every store: equal loads of one version are one load. Whole vectors that
    are written to a `streamed` one pass the caches by, unless the program reads it, too.
    """

    tensor: Tensor
    base: str
    strides: tuple[int, ...]
    offset: tuple[Linear, ...]
    elements: int
    version: int = 0
    streamed: bool = False

    def flat(self, forms: Linearizer, indices: tuple[Expr, ...]) -> Linear:
        """The element number of logical indices, over loop variables."""
        total = Linear(0)
        for e, start, stride in zip(indices, self.offset, self.strides, strict=True):
            total = total.plus(forms.of(e), stride).plus(start, -stride)
        return total


class Memory:
    """Emits accesses to buffers at resolved element numbers."""

    def __init__(
        self, b: Builder, ix: Indexer, m: Module, features: Features, target: CpuTarget
    ) -> None:
        self.b = b
        self.ix = ix
        self.m = m
        self.features = features
        self.line_bytes, self.vector_bytes = target.line_bytes, target.vector_bits // 8
        self.ways = target.l1_bytes // WAY_BYTES
        self.clock = 0

    def touch(self, buffer: Buffer) -> None:
        """The memory of a buffer changes: what was loaded before is out of date."""
        self.clock += 1
        buffer.version = self.clock

    # ---- loads ------------------------------------------------------------------------------

    def load(self, buffer: Buffer, at: Linear, lanes: Lanes | None, guard: Value | None) -> Value:
        """The element(s) at `at` in the compute dtype: one lane where LANE does not occur.

        `guard` is an i1 or a mask: where it is false nothing is read and the value is zero.
        """
        dtype = buffer.tensor.dtype
        self.m.read.add(buffer.tensor.name)
        stride = at.coefficient(LANE)
        if guard is not None and self.in_bounds(buffer, at):
            guard = None
        lanes = lanes if stride else None
        count = lanes.count if lanes else 1
        raw = self.b.loaded((load_key(buffer, at, lanes, guard), None))
        if raw is None:
            raw = self._load(_Access(self, buffer, at, lanes, guard), stride)
        return from_storage(self.b, raw, dtype, count, self.features.half)

    def _load(self, access: _Access, stride: int) -> str:
        if access.lanes is None:
            return access.scalar()
        if stride == 1:
            return access.contiguous()
        short = 2 <= stride <= GREATEST_SHUFFLED_STRIDE
        if short and access.guard is None and access.lanes.full:
            return access.shuffled(stride)
        group = access.at.const % GROUP
        if self._transposes(access, group):
            first = access.at.shifted(-group)
            return _Access(self, access.buffer, first, access.lanes, None).transposed(stride, group)
        return access.strided(stride)

    def _transposes(self, access: _Access, group: int) -> bool:
        """Whether to load the whole group of elements that number `group` of them belongs to.

        Its others are likely to be wanted next (then they are there), and even for one the loads
        take no longer than a gather.
        """
        assert access.lanes is not None
        return (
            access.guard is None
            and access.lanes.full
            and access.count % GROUP == 0
            and access.dtype.bits == 32
            and self.in_bounds(access.buffer, access.at.shifted(-group))
            and self.in_bounds(access.buffer, access.at.shifted(GROUP - 1 - group))
        )

    def gather(self, buffer: Buffer, at: Value, lanes: Lanes, guard: Value | None) -> Value:
        """Elements at a vector of element numbers (i64)."""
        self.m.read.add(buffer.tensor.name)
        access = _Access(self, buffer, Linear(0), lanes, guard)
        raw = access.gather_from(access.address(at.text))
        return from_storage(self.b, raw, buffer.tensor.dtype, lanes.count, self.features.half)

    def in_bounds(self, buffer: Buffer, at: Linear) -> bool:
        """Whether the element exists whatever the loops do."""
        reach = at.bounds(self.ix.ranges)
        return reach.within(0, buffer.elements - 1)

    # ---- stores -----------------------------------------------------------------------------

    def store(
        self, buffer: Buffer, at: Linear, value: Value, lanes: Lanes | None, mask: Value | None
    ) -> None:
        """Write `value` (as many lanes as the address has). `mask` switches lanes off."""
        self.touch(buffer)
        raw = to_storage(self.b, value, buffer.tensor.dtype, self.features.half)
        access = _Access(self, buffer, at, lanes if at.coefficient(LANE) else None, mask)
        if access.lanes is None:
            access.store_scalar(raw)
        elif at.coefficient(LANE) == 1:
            access.store_contiguous(raw)
        else:
            access.store_strided(raw, at.coefficient(LANE))

    def scatter(
        self, buffer: Buffer, at: Value, value: Value, lanes: Lanes, mask: Value | None
    ) -> None:
        """Write lanes at a vector of element numbers (i64)."""
        self.touch(buffer)
        raw = to_storage(self.b, value, buffer.tensor.dtype, self.features.half)
        access = _Access(self, buffer, Linear(0), lanes, mask)
        access.scatter_to(access.address(at.text), raw)


def load_key(buffer: Buffer, at: Linear, lanes: Lanes | None, guard: Value | None) -> object:
    """What makes two loads equal."""
    shape = (lanes.count, lanes.active) if lanes else None
    test = guard.text if guard else None
    return (buffer.tensor.name, buffer.version, at.const, at.terms, shape, test)


class _Access:
    """One access being written: the element type, its address, what switches lanes off."""

    def __init__(
        self, memory: Memory, buffer: Buffer, at: Linear, lanes: Lanes | None, guard: Value | None
    ) -> None:
        self.b, self.ix, self.m = memory.b, memory.ix, memory.m
        self.features = memory.features
        self.line_bytes, self.ways = memory.line_bytes, memory.ways
        self.vector_bytes = memory.vector_bytes
        self.buffer, self.lanes, self.guard = buffer, lanes, guard
        self.at = at
        self.dtype = buffer.tensor.dtype
        self.element = storage_type(self.dtype)
        self.align = self.dtype.bytes
        self.count = lanes.count if lanes else 1
        self.type = vector(self.element, self.count)
        name = buffer.tensor.name
        self.key = load_key(buffer, at, lanes, guard)
        self.outermost = self.b.written_depth(name)

    # ---- addresses and masks ----------------------------------------------------------------

    def vector_aligned(self) -> bool:
        """Whether this is a whole register, and lane 0 a whole number of them from the beginning of
        an array, which is aligned for any.
        """
        at = self.at.without(LANE)
        whole = self.count * self.dtype.bytes == self.vector_bytes <= ALIGNMENT
        return whole and gcd(at.const, at.stride()) % self.count == 0

    def pointer(self, shift: int = 0) -> str:
        """The address of lane 0, `shift` elements further; zeros where a scalar guard is off."""
        form = self.at.without(LANE).shifted(shift)
        at = self.ix.pointer(self.buffer.base, form, self.dtype.bytes)
        if self.guard is None or (self.lanes is not None and self.guard.lanes > 1):
            return at
        test = self.any_lane()
        zeros = self.m.zeros()
        return self.b.pure(f"select i1 {test}, ptr {at}, ptr {zeros}", test, at)

    def any_lane(self) -> str:
        """The guard as one i1."""
        assert self.guard is not None
        if self.guard.lanes == 1:
            return self.guard.text
        name = f"llvm.vector.reduce.or.{mangled(self.guard.type)}"
        fn = self.m.declare(name, "i1", [self.guard.type])
        return self.b.pure(f"call i1 {fn}({self.guard})", self.guard.text)

    def address(self, numbers: str) -> str:
        """A vector of addresses from a vector of element numbers."""
        text = (
            f"getelementptr {self.element}, ptr {self.buffer.base}, <{self.count} x i64> {numbers}"
        )
        return self.b.pure(text, numbers, self.buffer.base)

    def addresses(self, stride: int) -> str:
        """A vector of addresses, `stride` elements apart."""
        at = self.ix.pointer(self.buffer.base, self.at.without(LANE), self.dtype.bytes)
        reach = stride * self.count * self.dtype.bytes
        kind = "i32" if abs(reach) < GREATEST_GATHER_OFFSET else "i64"
        offsets = ", ".join(f"{kind} {i * stride}" for i in range(self.count))
        kinds = f"<{self.count} x {kind}>"
        return self.b.pure(f"getelementptr {self.element}, ptr {at}, {kinds} <{offsets}>", at)

    def mask(self) -> str:
        """The i1 vector of lanes that exist and are not switched off."""
        assert self.lanes is not None
        tail = mask_literal(self.lanes.active, self.count)
        guard = self.guard
        if guard is None:
            return tail
        kind = f"<{self.count} x i1>"
        test = guard.text if guard.lanes > 1 else splat(self.b, guard, self.count)
        return test if self.lanes.full else self.b.pure(f"and {kind} {test}, {tail}", test)

    def load_text(self, text: str, *operands: str, key: object = None) -> str:
        """A load, shared and hoisted as far as nothing writes the buffer."""
        again = key is None and text.startswith("load ")
        if again:
            at = self.at.without(LANE)
            base = (self.buffer.tensor.name, at.terms)
            offset = at.const * self.dtype.bytes
            self.b.scopes[-1].residents.place(base, offset, self.line_bytes, self.ways)
        return self.b.load(text, (self.key, key), self.outermost, *operands, again=again)

    # ---- loads ------------------------------------------------------------------------------

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
            return self.masked_load(at)
        return self.pieces(at)

    def masked_load(self, at: str) -> str:
        bits = f"i{max(8, self.dtype.bits)}" if self.dtype.bits < 32 else self.element
        kind = vector(bits, self.count)
        test = f"<{self.count} x i1>"
        fn = self.m.declare(f"llvm.masked.load.{mangled(kind)}.p0", kind, ["ptr", test, kind])
        mask = self.mask()
        args = f"ptr align {self.align} {at}, {test} {mask}, {kind} zeroinitializer"
        if kind == self.type:
            return self.load_text(f"call {kind} {fn}({args})", at, mask)
        raw = self.load_text(f"call {kind} {fn}({args})", at, mask, key="bits")
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

    def shuffled(self, stride: int) -> str:
        """Every stride-th element, from contiguous loads that stay within the span."""
        span = (self.count - 1) * stride + 1
        starts = [min(j * self.count, span - self.count) for j in range(stride)]
        at = self.pointer()
        total = ""
        for j, start in enumerate(starts):
            p = self.b.local(f"getelementptr {self.element}, ptr {at}, i64 {start}")
            text = f"load {self.type}, ptr {p}, align {self.align}"
            part = self.load_text(text, p, at, key=start)
            wanted = []
            for i in range(self.count):
                where = i * stride - start
                fresh = 0 <= where < self.count and i * stride >= j * self.count
                wanted.append(self.count * (j > 0) + where if fresh else i if j else -1)
            first, second = (total, part) if j else (part, "poison")
            text = (
                f"shufflevector {self.type} {first}, {self.type} {second}, {shuffle_mask(wanted)}"
            )
            total = self.b.pure(text, first, second)
        return total

    def transposed(self, stride: int, wanted: int) -> str:
        """Element number `wanted` from each lane's address on, of GROUP that are all loaded.

            lanes 0..3 load  a0 a1 a2 a3 | b0 b1 b2 b3 | c0 .. | d0 ..     ->    a0 b0 c0 d0

        Each register holds the groups of every fourth lane; two rounds of shuffles within its
        128-bit parts bring them together. The shuffles for the other elements are shared.
        """
        at = self.pointer()
        part = vector(self.element, GROUP)
        rows = []
        for i in range(self.count):
            p = self.b.local(f"getelementptr {self.element}, ptr {at}, i64 {i * stride}")
            text = f"load {part}, ptr {p}, align {self.align}"
            rows.append(self.load_text(text, p, at, key=("group", i)))
        a, b, c, d = (self._joined(rows[i::GROUP]) for i in range(GROUP))
        half = wanted // 2
        low = self._pairs(a, b, (2 * half, 2 * half + 1), 1)
        high = self._pairs(c, d, (2 * half, 2 * half + 1), 1)
        return self._pairs(low, high, (wanted % 2,), 2)

    def _joined(self, rows: list[str]) -> str:
        """Vectors of one type, a power of two of them, one after the other."""
        size = GROUP
        while len(rows) > 1:
            kind, order = vector(self.element, size), shuffle_mask(list(range(2 * size)))
            pairs = zip(rows[::2], rows[1::2], strict=True)
            rows = [
                self.b.pure(f"shufflevector {kind} {x}, {kind} {y}, {order}", x, y)
                for x, y in pairs
            ]
            size *= 2
        return rows[0]

    def _pairs(self, x: str, y: str, which: tuple[int, ...], width: int) -> str:
        """In every group: elements of x and y in turns, `width` at a time, those in `which`."""
        order = []
        for start in range(0, self.count, GROUP):
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

    # ---- stores -----------------------------------------------------------------------------

    def store_scalar(self, raw: str) -> None:
        at = self.ix.pointer(self.buffer.base, self.at, self.dtype.bytes)
        self.b.do(f"store {self.element} {raw}, ptr {at}, align {self.align}")

    def store_contiguous(self, raw: str) -> None:
        assert self.lanes is not None
        at = self.ix.pointer(self.buffer.base, self.at.without(LANE), self.dtype.bytes)
        if self.lanes.full and self.guard is None:
            align, hint = self.align, ""
            if self.buffer.streamed and self.vector_aligned():
                align = self.count * self.dtype.bytes
                hint = self.m.streaming(self.buffer.tensor.name)
            self.b.do(f"store {self.type} {raw}, ptr {at}, align {align}{hint}")
        elif self.guard is not None or self.dtype.bits in self.features.mask_bits:
            self.masked_store(at, raw)
        else:
            self.store_pieces(at, raw)

    def masked_store(self, at: str, raw: str) -> None:
        bits = f"i{max(8, self.dtype.bits)}" if self.dtype.bits < 32 else self.element
        kind = vector(bits, self.count)
        if kind != self.type:
            raw = self.b.pure(f"bitcast {self.type} {raw} to {kind}", raw)
        test = f"<{self.count} x i1>"
        name = f"llvm.masked.store.{mangled(kind)}.p0"
        fn = self.m.declare(name, "void", [kind, "ptr", test])
        args = f"{kind} {raw}, ptr align {self.align} {at}, {test} {self.mask()}"
        self.b.do(f"call void {fn}({args})")

    def store_pieces(self, at: str, raw: str) -> None:
        assert self.lanes is not None
        for start, size in powers(self.lanes.active):
            p = self.b.local(f"getelementptr {self.element}, ptr {at}, i64 {start}")
            kind = vector(self.element, size)
            if size == 1:
                part = self.b.pure(f"extractelement {self.type} {raw}, i64 {start}", raw)
            else:
                name = f"llvm.vector.extract.{mangled(kind)}.{mangled(self.type)}"
                fn = self.m.declare(name, kind, [self.type, "i64"])
                part = self.b.pure(f"call {kind} {fn}({self.type} {raw}, i64 {start})", raw)
            self.b.do(f"store {kind} {part}, ptr {p}, align {self.align}")

    def store_strided(self, raw: str, stride: int) -> None:
        assert self.lanes is not None
        if self.guard is not None:
            self.scatter_to(self.addresses(stride), raw)
            return
        at = self.ix.pointer(self.buffer.base, self.at.without(LANE), self.dtype.bytes)
        for i in range(self.lanes.active):
            p = self.b.local(f"getelementptr {self.element}, ptr {at}, i64 {i * stride}")
            part = self.b.pure(f"extractelement {self.type} {raw}, i64 {i}", raw)
            self.b.do(f"store {self.element} {part}, ptr {p}, align {self.align}")

    def scatter_to(self, at: str, raw: str) -> None:
        pointers, test = f"<{self.count} x ptr>", f"<{self.count} x i1>"
        name = f"llvm.masked.scatter.{mangled(self.type)}.v{self.count}p0"
        fn = self.m.declare(name, "void", [self.type, pointers, test])
        args = f"{self.type} {raw}, {pointers} align {self.align} {at}, {test} {self.mask()}"
        self.b.do(f"call void {fn}({args})")


def splat(b: Builder, value: Value, lanes: int) -> str:
    """A scalar in all lanes."""
    if not value.text.startswith("%"):
        return f"splat ({value})"
    kind = vector(value.type, lanes)
    first = b.pure(f"insertelement {kind} poison, {value}, i64 0", value.text)
    zeros = f"<{lanes} x i32> zeroinitializer"
    return b.pure(f"shufflevector {kind} {first}, {kind} poison, {zeros}", first)


def powers(n: int) -> list[tuple[int, int]]:
    """(start, size) of the power-of-two pieces of n, largest first.

    7  ->  [(0, 4), (4, 2), (6, 1)]
    """
    out = []
    start = 0
    for bit in reversed(range(n.bit_length())):
        if n >> bit & 1:
            out.append((start, 1 << bit))
            start += 1 << bit
    return out
