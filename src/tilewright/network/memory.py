"""Where every intermediate value lives: one arena, offsets by liveness.

    plan = plan_memory(partition)        plan.offsets[value]   plan.arena_bytes
    print(plan)                          arena 3.20 MB for 57 values (38.1 MB without reuse)

A value lives from the call that writes it to the last call that reads it or a view of it; a loop
is one call to the values that it reads from outside. Values
are placed largest first, each into the smallest gap that its lifetime leaves free (greedy best
fit by size). Every offset is a multiple of 64 bytes, or of what a device asks for. Inputs,
constants and outputs are the caller's; an output's kernel writes it directly. Values with sizes
take what the most of these makes; a caller's array whose rows vary in length is copied.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tilewright.contract.artifact import ALIGNMENT, aligned
from tilewright.contract.sizes import Sizes
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Tensor
from tilewright.expr.sizes import is_contiguous, stored_shape
from tilewright.graph.ir import Value
from tilewright.graph.partition import (
    AppendCall,
    Call,
    ChoiceCall,
    LoopCall,
    Partition,
    RefusalCall,
    Region,
    SelectionCall,
    Subgraph,
)
from tilewright.network.memory_use import Arena


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

    @property
    def arena(self) -> Arena:
        """Its size, and what it saves."""
        return Arena(self.arena_bytes, len(self.lifetimes), sum(x.size for x in self.lifetimes))

    def __str__(self) -> str:
        return str(self.arena)


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
    clock, sizes = _CallNumbers(partition), partition.graph.sizes
    for value in partition.graph.given:
        if not is_contiguous(tensor_of(value), sizes):
            clock.made(value)
    clock.walk(partition.whole)
    clock.used(partition.graph.outputs)  # results that are not written directly are copied last
    outside = set(direct_results(partition, partition.whole))
    return [
        Lifetime(value, aligned(stored_bytes(value, sizes), alignment), first, clock.last[value])
        for value, first in clock.first.items()
        if value not in outside and value not in clock.within
    ]


class _CallNumbers:
    """Numbers all calls in order, those of loops and branches, too: `first` and `last` uses.

    What a loop reads from outside is needed until it ends, and so are the values that it carries;
    what is made within one step is free again within that step. `within` are values that lie in
    the memory of a loop's or a choice's result.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.now = 0
        self.first: dict[Value, int] = {}
        self.last: dict[Value, int] = {}
        self.within: set[Value] = set()

    def made(self, value: Value) -> None:
        self.first[value] = self.last[value] = self.now

    def used(self, values: Iterable[Value]) -> None:
        for value in values:
            root = self.partition.root(value)
            if root in self.first:
                self.last[root] = self.now

    def walk(self, region: Region) -> None:
        for call in region.calls:
            match call:
                case Subgraph():
                    self.used(call.inputs)
                    self.made(call.output)
                case AppendCall():
                    self.used(call.node.inputs)
                case LoopCall() | ChoiceCall():
                    self.control(call)
                case SelectionCall() | RefusalCall():
                    self.used(call.node.inputs)
                    for value in call.node.outputs:
                        self.made(value)
            self.now += 1

    def control(self, call: LoopCall | ChoiceCall) -> None:
        self.used(call.node.inputs)
        for value in call.node.outputs:
            self.made(value)
        if isinstance(call, LoopCall):
            for value in (call.body.graph.inputs[0], *call.spares.values()):
                self.made(value)
        self.now += 1
        for region in call.regions:
            self.walk(region)
            self.used(region.graph.outputs)
            self.within |= set(direct_results(self.partition, region, call))
            self.now += 1
        self.used(call.node.outputs)
        if isinstance(call, LoopCall):
            self.used(call.node.inputs)
            self.used((call.body.graph.inputs[0], *call.spares.values()))


def direct_results(
    partition: Partition, region: Region, call: Call | None = None
) -> dict[Value, int]:
    """Values that `region` computes where they are wanted: value → the first output it is.

    That is the caller's buffer, the result of the choice `call`, or a row of a stacked result of
    the loop `call`. Values that the loop carries are needed while the next are computed; those
    whose rows vary in length lie apart, and are no caller's array.
    """
    made: set[Value] = set()
    for each in region.calls:
        made.update((each.output,) if isinstance(each, Subgraph) else each.node.outputs)
    start = call.loop.carried if isinstance(call, LoopCall) else 0
    found: dict[Value, int] = {}
    for i, value in enumerate(region.graph.outputs[start:], start):
        root = partition.root(value)
        outside = call is not None or is_contiguous(tensor_of(value), partition.graph.sizes)
        if root in made and outside:
            found.setdefault(root, i)
    return found


def tensor_of(value: Value) -> Tensor:
    """A tensor that lies in memory as a value does."""
    return Tensor(value.name, value.extents, DTYPES[value.dtype])


def stored_shape_of(value: Value, sizes: Sizes) -> tuple[int, ...]:
    """The shape of a value's memory in the arena."""
    return stored_shape(tensor_of(value), sizes)


def stored_bytes(value: Value, sizes: Sizes) -> int:
    """The bytes of it."""
    return math.prod(stored_shape_of(value, sizes)) * DTYPES[value.dtype].bytes


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
