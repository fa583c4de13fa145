"""Loads and stores: which instruction an access becomes.

The coefficient of LANE in an address decides: 0 is a scalar, 1 a contiguous vector, 2 to 4 are
contiguous loads and shuffles, anything else a gather (or one access a lane), or, where they exist,
four elements from each lane's address on, transposed. Where lanes have no coefficient but known
places, a few runs of these are loaded and shuffled. A static tail of
`active` lanes uses masked accesses where the machine has them, otherwise pieces of 8, 4, 2, 1.
A read that a condition forbids is redirected to a block of zeros, or masked off.
"""

from __future__ import annotations

from tilewright.codegen.lanes import VectorLanes
from tilewright.codegen.llvm.addresses import Buffer, Emitter
from tilewright.codegen.llvm.conversions import from_storage, to_storage
from tilewright.codegen.llvm.indices import LANE
from tilewright.codegen.llvm.loads import MemoryLoad
from tilewright.codegen.llvm.stores import MemoryStore
from tilewright.codegen.llvm.types import SsaValue
from tilewright.expr.dtypes import INT16
from tilewright.expr.index.affine import Affine


class Memory:
    """Emits accesses to buffers at resolved element numbers."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.b, self.features = emitter.b, emitter.features
        self.clock = 0

    def touch(self, buffer: Buffer) -> None:
        """The memory of a buffer changes: what was loaded before is out of date."""
        self.clock += 1
        buffer.version = self.clock

    def load(
        self, buffer: Buffer, at: Affine, lanes: VectorLanes | None, guard: SsaValue | None
    ) -> SsaValue:
        """The element(s) at `at` in the compute dtype: one lane where LANE does not occur.

        `guard` is an i1 or a mask: where it is false nothing is read and the value is zero.
        """
        self.emitter.m.read.add(buffer.tensor.name)
        if guard is not None and self.emitter.in_bounds(buffer, at):
            guard = None
        lanes = lanes if at.coefficient(LANE) else None
        access = MemoryLoad(self.emitter, buffer, at, lanes, guard)
        raw = self._loaded(access)
        return from_storage(self.b, raw, access.dtype, access.count, self.features)

    def bits(self, buffer: Buffer, at: Affine, lanes: VectorLanes) -> SsaValue:
        """Elements as they lie in memory, integers of as many bits."""
        self.emitter.m.read.add(buffer.tensor.name)
        access = MemoryLoad(self.emitter, buffer, at, lanes, None)
        dtype = INT16 if access.dtype.bits == 16 else access.dtype
        return SsaValue(self._loaded(access), dtype, access.count)

    def _loaded(self, access: MemoryLoad) -> str:
        """The loaded value, or that of an equal load before."""
        found: str | None = self.b.loaded((access.key, None))
        return access.value() if found is None else found

    def pick(
        self,
        buffer: Buffer,
        at: Affine,
        apart: list[int],
        lanes: VectorLanes,
        guard: SsaValue | None,
    ) -> SsaValue | None:
        """Elements so far behind the one at `at`, a lane each; None where contiguous loads do not
        bring them together. The guard of single lanes does not count where all elements exist.
        """
        there = all(self.emitter.in_bounds(buffer, at.shifted(n)) for n in apart)
        of_lanes = guard is not None and guard.lanes > 1
        access = MemoryLoad(self.emitter, buffer, at, lanes, None if of_lanes and there else guard)
        raw = access.picked(apart)
        if raw is None:
            return None
        self.emitter.m.read.add(buffer.tensor.name)
        return from_storage(self.b, raw, access.dtype, lanes.count, self.features)

    def gather(
        self, buffer: Buffer, at: SsaValue, lanes: VectorLanes, guard: SsaValue | None
    ) -> SsaValue:
        """Elements at a vector of element numbers (i64)."""
        self.emitter.m.read.add(buffer.tensor.name)
        access = MemoryLoad(self.emitter, buffer, Affine(0), lanes, guard)
        raw = access.gather_from(access.address(at.text))
        return from_storage(self.b, raw, access.dtype, lanes.count, self.features)

    def store(
        self,
        buffer: Buffer,
        at: Affine,
        value: SsaValue,
        lanes: VectorLanes | None,
        mask: SsaValue | None,
    ) -> None:
        """Write `value` (as many lanes as the address has). `mask` switches lanes off."""
        self.touch(buffer)
        raw = to_storage(self.b, value, buffer.tensor.dtype, self.features)
        lanes = lanes if at.coefficient(LANE) else None
        MemoryStore(self.emitter, buffer, at, lanes, mask).write(raw)

    def scatter(
        self,
        buffer: Buffer,
        at: SsaValue,
        value: SsaValue,
        lanes: VectorLanes,
        mask: SsaValue | None,
    ) -> None:
        """Write lanes at a vector of element numbers (i64)."""
        self.touch(buffer)
        raw = to_storage(self.b, value, buffer.tensor.dtype, self.features)
        access = MemoryStore(self.emitter, buffer, Affine(0), lanes, mask)
        access.scatter_to(access.address(at.text), raw)
