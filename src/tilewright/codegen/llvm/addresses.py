"""Where an access lies, and which of its lanes exist.

    access = MemoryAccess(emitter, buffer, at, lanes, guard)
    access.pointer()        the address of lane 0
    access.mask()           the lanes that are not switched off

`at` is the element's number over loop variables and LANE. `guard` is an i1 or a mask.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.codegen.lanes import VectorLanes
from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.indices import LANE, Indexer
from tilewright.codegen.llvm.machine import Features
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.types import SsaValue, mangled, mask_literal, storage_type, vector
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.nodes import Expr, Extent, Tensor, as_expr
from tilewright.target import CpuTarget

GREATEST_GATHER_OFFSET = 1 << 30


@dataclass(slots=True)
class Buffer:
    """Storage of a tensor: base pointer, strides in elements, where its window starts. Where sizes
    say how far elements are apart, `pitches` are their strides, and `strides` number them only.

    `version` changes with every store: equal loads of one version are one load. Whole vectors that
    are written to a `nontemporal` one pass the caches by, unless the program reads it, too.
    What is not `is_given` may have unset elements: an allocation, and what sizes leave room in.
    """

    tensor: Tensor
    base: str
    strides: tuple[int, ...]
    offset: tuple[Affine, ...]
    elements: int
    version: int = 0
    nontemporal: bool = False
    is_given: bool = True
    pitches: tuple[Extent, ...] = ()

    def flat(self, forms: AffineForms, indices: tuple[Expr, ...]) -> Affine:
        """How many elements from the base logical indices are, over loop variables."""
        if not self.pitches:
            return self.number(forms, indices)
        total = Affine(0)
        for e, pitch in zip(indices, self.pitches, strict=True):
            total = total.plus(forms.product(forms.of(e), forms.of(as_expr(pitch))))
        return total

    def number(self, forms: AffineForms, indices: tuple[Expr, ...]) -> Affine:
        """A number that no other element has, of logical indices, over loop variables."""
        total = Affine(0)
        for e, start, stride in zip(indices, self.offset, self.strides, strict=True):
            total = total.plus(forms.of(e), stride).plus(start, -stride)
        return total


@dataclass(frozen=True, slots=True)
class Emitter:
    """What accesses are written with, and for which machine."""

    b: Builder
    ix: Indexer
    m: Module
    features: Features
    target: CpuTarget

    def in_bounds(self, buffer: Buffer, at: Affine) -> bool:
        """Whether the element exists whatever the loops do."""
        return at.bounds(self.ix.ranges).within(0, buffer.elements - 1)


class MemoryAccess:
    """One access being written: the element type, its address, what switches lanes off."""

    def __init__(
        self,
        emitter: Emitter,
        buffer: Buffer,
        at: Affine,
        lanes: VectorLanes | None,
        guard: SsaValue | None,
    ) -> None:
        self.emitter = emitter
        self.b, self.ix, self.m = emitter.b, emitter.ix, emitter.m
        self.features, self.target = emitter.features, emitter.target
        self.buffer, self.lanes, self.guard = buffer, lanes, guard
        self.at = at
        self.dtype = buffer.tensor.dtype
        self.element = storage_type(self.dtype)
        self.align = self.dtype.bytes
        self.count = lanes.count if lanes else 1
        self.type = vector(self.element, self.count)

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

    def bits_type(self) -> str:
        """The type that masked accesses of narrow elements have: integers of as many bits."""
        bits = f"i{max(8, self.dtype.bits)}" if self.dtype.bits < 32 else self.element
        return vector(bits, self.count)


def splat(b: Builder, value: SsaValue, lanes: int) -> str:
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
