"""Shared arrays of a kernel: declared one by one, or parts of one array that the launch gives.

    __shared__ float a[128];          tw_dynamic_shared(shared);
    __shared__ float b[128];          float* const a = (float*)(shared + 0);
                                      float* const b = (float*)(shared + 65536);

CUDA has the first form for 48 KiB of a kernel, the second for all that a block can have.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tilewright.codegen.clike.dialect import SHARED, VECTOR_BYTES, Dialect
from tilewright.codegen.clike.expressions import element_count
from tilewright.codegen.clike.lines import Names
from tilewright.contract.artifact import aligned
from tilewright.expr.nodes import Tensor

WINDOW_BYTES = 1024  # eight swizzled rows, from which windows are counted


@dataclass(slots=True)
class SharedMemory:
    """The arrays of one kernel; those of a slot have the same bytes."""

    dialect: Dialect
    names: Names
    arrays: list[tuple[str, Tensor, int | None]] = field(default_factory=list)
    windows: set[str | int] = field(default_factory=set)

    def add(
        self, name: str, tensor: Tensor, slot: int | None = None, is_window: bool = False
    ) -> None:
        """An array that the kernel calls `name`; instructions take windows of some."""
        self.arrays.append((name, tensor, slot))
        if is_window:
            self.windows.add(name if slot is None else slot)

    def alignment(self, place: str | int) -> int:
        """To how many bytes the array of a name or a slot is aligned."""
        return WINDOW_BYTES if place in self.windows else VECTOR_BYTES

    @property
    def sizes(self) -> dict[str | int, int]:
        """Bytes by slot, or by the name of an array that has none."""
        found: dict[str | int, int] = {}
        for name, tensor, slot in self.arrays:
            size = element_count(tensor) * tensor.dtype.bytes
            place: str | int = name if slot is None else slot
            found[place] = max(size, found.get(place, 0))
        return found

    @property
    def dynamic_bytes(self) -> int:
        """What the launch gives; 0 where all arrays are declared with their sizes."""
        total = 0
        for place, size in self.sizes.items():
            total = aligned(total, self.alignment(place)) + size
        return total if self.dialect.dynamic_shared and total > self.dialect.static_bytes else 0

    @property
    def bytes(self) -> int:
        """What a block takes."""
        return self.dynamic_bytes or sum(self.sizes.values())

    def lines(self) -> Iterable[str]:
        """The declarations."""
        return self._parts() if self.dynamic_bytes else self._declared()

    def _declared(self) -> Iterable[str]:
        """An array for each name and for each slot."""
        shared, sizes = self.dialect.shared, self.sizes
        slots = {n: self.names.new("shared") for n in sizes if isinstance(n, int)}
        for number, array in slots.items():
            kind = self.dialect.types["uint8"]
            yield f"{shared.format(self.alignment(number))} {kind} {array}[{sizes[number]}];"
        for name, tensor, slot in self.arrays:
            if slot is None:
                kind = self.dialect.element(tensor.dtype)
                head = shared.format(self.alignment(name))
                yield f"{head} {kind} {name}[{element_count(tensor)}];"
            else:
                yield self._pointer(name, tensor, slots[slot])

    def _parts(self) -> Iterable[str]:
        """Parts of one array, each where vectors may be."""
        whole = self.names.new("shared")
        yield f"tw_dynamic_shared({whole});"
        starts: dict[str | int, int] = {}
        end = 0
        for place, size in self.sizes.items():
            starts[place] = aligned(end, self.alignment(place))
            end = starts[place] + size
        for name, tensor, slot in self.arrays:
            start = starts[name if slot is None else slot]
            yield self._pointer(name, tensor, f"({whole} + {start})")

    def _pointer(self, name: str, tensor: Tensor, to: str) -> str:
        kind = self.dialect.pointer(self.dialect.element(tensor.dtype), SHARED)
        return f"{kind} const {name} = ({kind}){to};"
