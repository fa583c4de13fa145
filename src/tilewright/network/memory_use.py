"""What a compiled network takes of memory.

print(Arena(3_200_000, 57, 38_100_000))      arena 3.20 MB for 57 values (38.1 MB without reuse)
print(MemoryUse.of(artifact, arena.bytes))   peak memory 106 MB (constants 102 MB, …)
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.contract.artifact import Artifact
from tilewright.ground.text import size


@dataclass(frozen=True, slots=True)
class Arena:
    """One block of `bytes` for so many intermediate values, which take `apart` bytes when each has
    its own memory.
    """

    bytes: int
    values: int
    apart: int

    def __str__(self) -> str:
        return (
            f"arena {size(self.bytes)} for {self.values} values ({size(self.apart)} without reuse)"
        )


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes: packed constants (once a process), the arena of intermediate values and the kernels'
    own scratch (for each run at a time), inputs and outputs.
    """

    constants: int
    arena: int
    scratch: int
    arguments: int

    @staticmethod
    def of(artifact: Artifact, arena_bytes: int = 0) -> MemoryUse:
        """Of a network with an arena, or of a kernel without."""
        return MemoryUse(
            constants=sum(s.bytes for s in artifact.constants),
            arena=arena_bytes,
            scratch=artifact.scratch_bytes - arena_bytes,
            arguments=sum(s.bytes for s in (*artifact.inputs, *artifact.outputs)),
        )

    @property
    def peak(self) -> int:
        """All of them."""
        return self.constants + self.arena + self.scratch + self.arguments

    def __str__(self) -> str:
        parts = {"constants": self.constants, "arena": self.arena, "kernel scratch": self.scratch}
        parts |= {"inputs and outputs": self.arguments}
        listed = ", ".join(f"{name} {size(count)}" for name, count in parts.items())
        return f"peak memory {size(self.peak)} ({listed})"
