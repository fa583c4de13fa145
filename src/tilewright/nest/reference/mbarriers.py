"""Barriers with phases, and boxes that are copied into tiles, in the interpreter.

    mbarrier.init(full[i], 1)                       a phase is over after one arrival
    mbarrier.arrive.expect_tx(full[i], 16384)       and when so many bytes have been copied
    cp.async.bulk.tensor.3d(tile[i, 0, 0], a[b, r, c], full[i])
    mbarrier.try_wait.parity(full[i], k // 3 % 2)   the phase of that parity is over

Warps that wait for phases, not for each other, may be anywhere in their programs. The interpreter
runs these in one order, in which every wait must find its phase over; that no other order gives
anything else follows from what each warp knows of the others (Lamport's clocks: an arrival tells
what the warp did before it, a wait learns what all arrivals of the phase told). A tile is read by
warps that know that it is filled, filled again by one that knows who has read it, and a phase ends
after all have seen the one before, of which a wait could not tell it by its parity. Blocks are in
step and share one state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from tilewright.expr.nodes import Read
from tilewright.expr.tensors import View, memory_of
from tilewright.nest import instructions
from tilewright.nest.instructions import WARP
from tilewright.nest.nodes import Instruction
from tilewright.nest.reference.lanes import Array, Lanes
from tilewright.nest.reference.memory import BLOCK, CheckedBuffer, along_x
from tilewright.nest.reference.place import StatementPlace

Place: TypeAlias = tuple[str, int]
"""An mbarrier: the tensor and the number of the element."""
Clock: TypeAlias = dict[int | Place, int]
"""What is known: how far each warp was, and which phase of each mbarrier is over."""


@dataclass(slots=True)
class _MBarrier:
    """`left` arrivals of `count` and `bytes` are missing until phase `phase + 1` is over, of which
    `told` is known so far, as `known` is of the last; who has seen that is in `seen`.
    """

    count: int
    left: int
    phase: int = 0
    bytes: int = 0
    told: Clock = field(default_factory=dict)
    known: Clock = field(default_factory=dict)
    seen: Clock = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Filled:
    """Of every element of a tile: the number of the copy that filled it, and how far warps were
    when they had read it.
    """

    copy: Array
    readers: dict[int, Array] = field(default_factory=dict)


class Phases:
    """The mbarriers of the blocks that run, and what their warps know."""

    def __init__(self) -> None:
        self._mbarriers: dict[Place, _MBarrier] = {}
        self._clocks: dict[int, Clock] = {}
        self._common: Clock = {}  # what all warps know since the last barrier of the block
        self._tiles: dict[str, _Filled] = {}
        self._copies: list[tuple[Place, int]] = []  # the phase that each counts for
        self._blocks = 0

    def barrier(self) -> None:
        """All warps wait for each other."""
        for clock in self._clocks.values():
            _learn(self._common, clock)
        self._clocks.clear()

    def instruct(self, where: StatementPlace, node: Instruction, lanes: Lanes) -> None:
        """Do what an instruction of mbarriers or a copy of a box says."""
        threads = self._threads(where, lanes)
        warps = list(dict.fromkeys((threads // WARP).tolist()))
        if node.name == instructions.BULK_COPY:
            self._copy(where, node, lanes, warps, len(threads))
            return
        assert node.result is not None
        place = self._place(where, node.result, lanes)
        number = self._same(where, where.value(node.operands[0], lanes)) if node.operands else 0
        match node.name:
            case instructions.INIT:
                self._init(where, place, number, warps, len(threads))
            case instructions.PHASE_WAIT:
                self._wait(where, place, number, warps)
            case _:
                self._arrive(where, place, number, warps, threads)

    def _clock(self, warp: int) -> Clock:
        if warp not in self._clocks:
            clock = self._clocks[warp] = dict(self._common)
            clock[warp] = clock.get(warp, 0) + 1
        return self._clocks[warp]

    def _init(
        self, where: StatementPlace, place: Place, count: int, warps: list[int], threads: int
    ) -> None:
        if threads > 1:
            where.fail("more than one thread does it")
        if place in self._mbarriers:
            where.fail("it has begun already")
        clock = self._clock(warps[0])
        self._mbarriers[place] = _MBarrier(count, count, known={warps[0]: clock[warps[0]]})
        buffer = where.buffers[place[0]]
        buffer.written[place[1] :: _size(buffer)] = True
        if buffer.unfenced is not None:
            buffer.unfenced[place[1] :: _size(buffer)] = True

    def _found(self, where: StatementPlace, place: Place, warps: Iterable[int]) -> _MBarrier:
        """An mbarrier that has begun, as these warps know."""
        found = self._mbarriers.get(place)
        if found is None or (
            not found.phase
            and any(self._clock(w).get(k, 0) < e for w in warps for k, e in found.known.items())
        ):
            where.fail("it has not begun: the initialisation and a barrier come before")
        return found

    def _arrive(
        self, where: StatementPlace, place: Place, size: int, warps: list[int], threads: Array
    ) -> None:
        found = self._found(where, place, warps)
        found.left -= len(threads)
        found.bytes += size
        if found.left < 0:
            where.fail(f"more arrivals than the {found.count} that it counts")
        for warp in warps:
            clock = self._clock(warp)
            _learn(found.told, clock)
            clock[warp] += 1
        self._finish(where, place, found)

    def _finish(self, where: StatementPlace, place: Place, found: _MBarrier) -> None:
        """The phase is over, if nothing is missing."""
        if found.left or found.bytes:
            return
        if any(found.told.get(k, 0) < e for k, e in found.seen.items()):
            where.fail("its next phase can be over before all have seen this one")
        found.phase += 1
        found.known = {**found.told, place: found.phase}
        found.left, found.told, found.seen = found.count, {}, {}

    def _wait(self, where: StatementPlace, place: Place, parity: int, warps: list[int]) -> None:
        found = self._found(where, place, warps)
        if (found.phase - 1) % 2 != parity:
            where.fail(f"nobody ends the phase that it waits for; {found.phase} are over")
        for warp in warps:
            clock = self._clock(warp)
            if found.phase and clock.get(place, 0) < found.phase - 1:
                where.fail("a phase passes unseen: the one after it has the same parity")
            if found.phase:
                _learn(clock, found.known)
            found.seen[warp] = clock[warp]

    # ---- boxes ------------------------------------------------------------------------------

    def _copy(
        self, where: StatementPlace, node: Instruction, lanes: Lanes, warps: list[int], threads: int
    ) -> None:
        """Copy the box: who waits for the phase finds it there."""
        box, by = node.operands
        assert node.result is not None and isinstance(box, Read) and isinstance(by, Read)
        if threads > 1:
            where.fail("more than one thread does it")
        place, (warp,) = self._place(where, by, lanes), warps
        found = self._found(where, place, warps)
        unfenced = where.buffers[place[0]].unfenced
        if unfenced is not None and unfenced.any():
            where.fail(f"a fence is missing after a thread initialised {place[0]}")
        buffer, first = where.element(node.result.tensor, node.result.indices, lanes)
        rows, columns = buffer.shape[-2:]
        at = first[:, None] + np.arange(rows * columns)
        where.arrived(buffer, at)
        if buffer.lent is not None and buffer.lent[at].any():
            where.fail(f"{buffer.tensor.name} is filled while an instruction reads it")
        self._fill(where, buffer, at, warp, (place, found.phase + 1))
        buffer.data[at] = _boxed(where, box, rows, columns, lanes)
        buffer.written[at] = True
        found.bytes -= rows * columns * buffer.tensor.dtype.bytes
        self._finish(where, place, found)

    def _fill(
        self,
        where: StatementPlace,
        buffer: CheckedBuffer,
        at: Array,
        warp: int,
        phase: tuple[Place, int],
    ) -> None:
        """Note a copy, which a warp began that knows who used the elements before."""
        name, clock = buffer.tensor.name, self._clock(warp)
        tile = self._tiles.setdefault(name, _Filled(np.full(_size(buffer), -1)))
        mine = self._of_one(where, buffer, at)
        for reader, until in tile.readers.items():
            if (until[mine] > clock.get(reader, 0)).any():
                where.fail(f"{name} is filled again, and warp {reader} may still read it")
        self._known(where, name, tile.copy[mine], [warp])
        tile.copy[mine] = len(self._copies)
        self._copies.append(phase)

    def _known(self, where: StatementPlace, name: str, copies: Array, warps: Iterable[int]) -> None:
        """That these warps have waited for copies."""
        for number in np.unique(copies[copies >= 0]).tolist():
            place, phase = self._copies[number]
            for warp in warps:
                if self._clock(warp).get(place, 0) < phase:
                    where.fail(f"{name} is used by warp {warp}, which has not waited for its phase")

    def is_filled(self, tensor: str) -> bool:
        """Whether a tile is filled by copies of boxes."""
        return tensor in self._tiles

    def reading(
        self, where: StatementPlace, buffer: CheckedBuffer, at: Array, warps: Iterable[int]
    ) -> None:
        """Warps begin to read elements of a tile."""
        copies = self._tiles[buffer.tensor.name].copy[at.reshape(-1) % _size(buffer)]
        self._known(where, buffer.tensor.name, copies, warps)

    def have_read(self, buffer: CheckedBuffer, at: Array, warps: Iterable[int]) -> None:
        """What they read is theirs no more once they have told so."""
        tile = self._tiles[buffer.tensor.name]
        for warp in warps:
            until = tile.readers.setdefault(warp, np.zeros(len(tile.copy), np.int64))
            until[at.reshape(-1) % _size(buffer)] = self._clock(warp)[warp]

    # ---- blocks in step ---------------------------------------------------------------------

    def _threads(self, where: StatementPlace, lanes: Lanes) -> Array:
        """The numbers of the threads of every block that come here."""
        blocks = len(np.unique(lanes.get(BLOCK))) if lanes.has(BLOCK) else 1
        numbers = along_x(lanes)
        self._blocks = self._blocks or blocks
        by_block = numbers.reshape(self._blocks, -1) if lanes.count % self._blocks == 0 else None
        if blocks != self._blocks or by_block is None or (by_block != by_block[0]).any():
            where.fail("blocks are not in step")
        found: Array = by_block[0]
        return found

    def _same(self, where: StatementPlace, values: Array) -> int:
        if (values != values.reshape(-1)[0]).any():
            where.fail("it is another one for each thread or block")
        return int(values.reshape(-1)[0])

    def _place(self, where: StatementPlace, read: Read, lanes: Lanes) -> Place:
        buffer, at = where.element(read.tensor, read.indices, lanes)
        return read.tensor.name, self._same(where, at % _size(buffer))

    def _of_one(self, where: StatementPlace, buffer: CheckedBuffer, at: Array) -> Array:
        """Elements that are the same of the tile of every block."""
        local = at.reshape(self._blocks, -1) % _size(buffer)
        if (local != local[0]).any():
            where.fail("blocks are not in step")
        found: Array = local[0]
        return found


def _learn(clock: Clock, other: Clock) -> None:
    """Know what another one knows, too."""
    for key, value in other.items():
        clock[key] = max(clock.get(key, 0), value)


def _size(buffer: CheckedBuffer) -> int:
    """Elements of the window of one block."""
    return int(np.prod(buffer.shape))


def _boxed(where: StatementPlace, box: Read, rows: int, columns: int, lanes: Lanes) -> Array:
    """The elements of a box of a view, `[lanes, rows * columns]`, 0 outside of it."""
    view = box.tensor.source
    assert isinstance(view, View)
    data = where.buffers[memory_of(box.tensor).name].data
    row, column = np.indices((rows, columns)).reshape(2, -1)
    at: Array = np.full((lanes.count, rows * columns), view.offset)
    inside = np.ones(at.shape, np.bool_)
    for index, moved, extent, stride in zip(
        box.indices, (np.zeros_like(row), row, column), box.tensor.shape, view.strides, strict=True
    ):
        first = np.broadcast_to(where.value(index, lanes), (lanes.count,))
        here = first[:, None] + moved
        assert isinstance(extent, int)
        inside &= (here >= 0) & (here < extent)
        at = at + here * stride
    found: Array = np.where(inside, data[np.where(inside, at, 0)], data.dtype.type(0))
    return found
