"""Where every intermediate value lives: one arena, offsets by liveness.

    plan = plan_memory(partition)        plan.offsets[value]   plan.arena_bytes
    print(plan)                          arena 3.20 MB for 57 values (38.1 MB without reuse)
    print(Memory.of(artifact, plan.arena_bytes))      peak memory 106 MB (constants 102 MB, …)

A value lives from the call that writes it to the last call that reads it or a view of it. Values
are placed largest first, each into the smallest gap that its lifetime leaves free (greedy best
fit by size). Every offset is a multiple of 64 bytes, or of what a device asks for. Inputs,
constants and outputs are the caller's; an output's kernel writes it directly.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.graph.ir import Value
from tilewright.graph.partition import Partition
from tilewright.runtime.artifact import ALIGNMENT, Artifact, aligned
from tilewright.text import size


@dataclass(frozen=True, slots=True)
class Lifetime:
    """`value` is written by call `first` and last read by call `last`; `size` is padded."""

    value: Value
    size: int
    first: int
    last: int

    def overlaps(self, other: Lifetime) -> bool:
        """Whether both are alive at some call."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Byte offsets of intermediate values in an arena of `arena_bytes`."""

    offsets: dict[Value, int]
    arena_bytes: int
    lifetimes: tuple[Lifetime, ...]

    def __str__(self) -> str:
        total = sum(x.size for x in self.lifetimes)
        return (
            f"arena {size(self.arena_bytes)} for {len(self.lifetimes)} values "
            f"({size(total)} without reuse)"
        )


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: packed constants (once a process), the arena of intermediate values and the kernels'
    own scratch (for each run at a time), inputs and outputs.
    """

    constants: int
    arena: int
    scratch: int
    arguments: int

    @staticmethod
    def of(artifact: Artifact, arena_bytes: int = 0) -> Memory:
        """Of a network with an arena, or of a kernel without."""
        return Memory(
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


def plan_memory(partition: Partition, alignment: int = ALIGNMENT) -> MemoryPlan:
    """Place the intermediate values of `partition` at multiples of `alignment` bytes."""
    lifetimes = liveness(partition, alignment)
    placed: list[tuple[Lifetime, int]] = []
    for life in sorted(lifetimes, key=lambda x: (-x.size, x.first)):
        rivals = sorted((o, x.size) for x, o in placed if x.overlaps(life))
        placed.append((life, _best_gap(rivals, life.size)))
    arena = max((offset + life.size for life, offset in placed), default=0)
    return MemoryPlan({x.value: o for x, o in placed}, arena, tuple(lifetimes))


def liveness(partition: Partition, alignment: int = ALIGNMENT) -> list[Lifetime]:
    """Lifetimes of the values that need memory of their own, in the order they are written."""
    outside = {partition.root(v) for v in partition.graph.outputs}
    last: dict[Value, int] = {}
    for call, subgraph in enumerate(partition.subgraphs):
        for value in subgraph.inputs:
            last[partition.root(value)] = call
    return [
        Lifetime(
            s.output,
            aligned(s.output.bytes, alignment),
            call,
            max(call, last.get(s.output, call)),
        )
        for call, s in enumerate(partition.subgraphs)
        if s.output not in outside
    ]


def _best_gap(rivals: list[tuple[int, int]], size: int) -> int:
    """The offset of the smallest gap between `rivals` (offset, size) that holds `size`."""
    best, best_room = None, None
    end = 0
    for offset, length in rivals:
        room = offset - end
        if room >= size and (best_room is None or room < best_room):
            best, best_room = end, room
        end = max(end, offset + length)
    return end if best is None else best
