"""Stores: which instructions write the lanes of an access.

Contiguous lanes are one store, past the caches where the buffer is nontemporal; where lanes are
missing it is masked or in pieces. Others are scattered, or written one by one.
"""

from __future__ import annotations

from math import gcd

from tilewright.codegen.llvm.addresses import MemoryAccess, powers
from tilewright.codegen.llvm.indices import LANE
from tilewright.codegen.llvm.types import mangled, vector
from tilewright.contract.artifact import ALIGNMENT


class MemoryStore(MemoryAccess):
    """A store being written."""

    def write(self, raw: str) -> None:
        """Write `raw`, of the storage type, by the shortest way."""
        stride = self.at.coefficient(LANE)
        if self.lanes is None:
            self.scalar(raw)
        elif stride == 1:
            self.contiguous(raw)
        else:
            self.strided(raw, stride)

    def vector_aligned(self) -> bool:
        """Whether this is a whole register, and lane 0 a whole number of them from the beginning of
        an array, which is aligned for any.
        """
        at = self.at.without(LANE)
        whole = self.count * self.dtype.bytes == self.target.vector_bits // 8 <= ALIGNMENT
        return whole and gcd(at.const, at.stride()) % self.count == 0

    def scalar(self, raw: str) -> None:
        at = self.ix.pointer(self.buffer.base, self.at, self.dtype.bytes)
        self.b.do(f"store {self.element} {raw}, ptr {at}, align {self.align}")

    def contiguous(self, raw: str) -> None:
        assert self.lanes is not None
        at = self.ix.pointer(self.buffer.base, self.at.without(LANE), self.dtype.bytes)
        if self.lanes.full and self.guard is None:
            align, hint = self.align, ""
            if self.buffer.nontemporal and self.vector_aligned():
                align = self.count * self.dtype.bytes
                hint = self.m.streaming(self.buffer.tensor.name)
            self.b.do(f"store {self.type} {raw}, ptr {at}, align {align}{hint}")
        elif self.guard is not None or self.dtype.bits in self.features.mask_bits:
            self.masked_store(at, raw)
        else:
            self.pieces(at, raw)

    def masked_store(self, at: str, raw: str) -> None:
        kind = self.bits_type()
        if kind != self.type:
            raw = self.b.pure(f"bitcast {self.type} {raw} to {kind}", raw)
        test = f"<{self.count} x i1>"
        name = f"llvm.masked.store.{mangled(kind)}.p0"
        fn = self.m.declare(name, "void", [kind, "ptr", test])
        args = f"{kind} {raw}, ptr align {self.align} {at}, {test} {self.mask()}"
        self.b.do(f"call void {fn}({args})")

    def pieces(self, at: str, raw: str) -> None:
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

    def strided(self, raw: str, stride: int) -> None:
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
