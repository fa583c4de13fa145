"""Instructions in the interpreter: what warps do together, and what goes on while they do other
things.

    under_way = UnderWay()
    instruct(where, node, lanes, team, under_way)

The threads of a block run in step, and so do its warps. A copy is made when it is waited for: until
then nobody may use its elements, and after it, a barrier must come before others do. What `wgmma`
reads is lent to it until then; others' parts of it may read until a barrier after that. Tiles that
copies of boxes fill are those of `mbarriers`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tilewright.expr.nodes import Const, Expr, Read, Select
from tilewright.nest import instructions
from tilewright.nest.instructions import (
    COPY,
    GROUP,
    NUMBER,
    WARP,
    WGMMA,
    Box,
    InstructionRule,
    Window,
    rule_of,
)
from tilewright.nest.nodes import Instruction
from tilewright.nest.reference.lanes import Array, Lanes
from tilewright.nest.reference.mbarriers import Phases
from tilewright.nest.reference.memory import SEVERAL, CheckedBuffer, along_x, threads
from tilewright.nest.reference.place import StatementPlace


@dataclass(frozen=True, slots=True)
class Begun:
    """What goes on until it is waited for: elements that it makes, those that it reads, and who
    began it. Its `values` are stored when it is waited for; None: they are there, hidden. What is
    `lent` has the elements of each group of threads, which has these `warps`.
    """

    buffer: CheckedBuffer
    at: Array
    warps: list[range]
    thread: Array
    values: Array | None
    lent: tuple[tuple[CheckedBuffer, Array], ...] = ()

    def mark(self, by: int) -> None:
        """It begins (1), or is over (-1)."""
        assert self.buffer.copying is not None
        self.buffer.copying[self.at] += by
        for buffer, at in self.lent:
            if buffer.lent is not None:
                np.add.at(buffer.lent, at, by)


@dataclass(slots=True)
class CopyGroups:
    """What the blocks that run have begun: since the last group, and by groups, oldest first."""

    open: list[Begun] = field(default_factory=list)
    groups: list[list[Begun]] = field(default_factory=list)
    lanes: int = 0  # those that come here, always together

    def commit(self) -> None:
        self.groups.append(self.open)
        self.open = []

    def wait(self, where: StatementPlace, left: int, phases: Phases) -> None:
        """All groups but the last `left` are over."""
        done = max(0, len(self.groups) - left)
        over, self.groups = self.groups[:done], self.groups[done:]
        for one in (one for group in over for one in group):
            one.mark(-1)
            for buffer, at in one.lent:
                if phases.is_filled(buffer.tensor.name):
                    for warps, part in zip(one.warps, at, strict=True):
                        phases.have_read(buffer, part, warps)
                elif buffer.since is not None:
                    # each warp waits for its part: others may still read
                    buffer.since.reader[at] = SEVERAL
            if one.values is not None:
                _write(where, one.buffer, one.at, one.values, one.thread)


@dataclass(slots=True)
class UnderWay:
    """What goes on in the blocks that run: `groups` by what they are waited for by
    (`InstructionRule.group`), and what has phases.
    """

    groups: dict[str, CopyGroups] = field(default_factory=dict)
    phases: Phases = field(default_factory=Phases)

    def group(self, name: str) -> CopyGroups:
        return self.groups.setdefault(name, CopyGroups())


def instruct(
    where: StatementPlace, node: Instruction, lanes: Lanes, team: int, under_way: UnderWay
) -> None:
    """Do what an instruction says. `team` lanes are all threads. Raises VerifyError where it breaks
    a rule.
    """
    rule = rule_of(node)
    if node.result is None:
        _ordered(where, node, lanes, team, under_way)
        return
    if rule.semantics is None:
        under_way.phases.instruct(where, node, lanes)
        return
    assert isinstance(rule.result, int)
    operands = [
        _operand(where, e, size, lanes)
        for e, size in zip(node.operands, rule.operands, strict=True)
        if size != NUMBER and not isinstance(e, Const)
    ]
    given = [_by_group(where, o.values, rule, lanes) for o in operands]
    for buffer, at in (o.lent for o in operands):
        if under_way.phases.is_filled(buffer.tensor.name):
            for warps, part in zip(_warps(lanes), at, strict=True):
                under_way.phases.reading(where, buffer, part, warps)
    buffer, at = _elements(where, node.result, rule.result, lanes)
    thread = threads(lanes)[:, None]
    if isinstance(node.operands[0], Const):
        given = [_by_group(where, np.zeros(at.shape, buffer.data.dtype), rule, lanes)]
    if rule.accumulates:
        if not rule.is_deferred:
            where.reading(buffer, at, thread)
        where.check_written(buffer, at)
        given.insert(0, _by_group(where, buffer.data[at], rule, lanes))
    values = rule.semantics(given).reshape(at.shape)
    if not rule.is_deferred:
        _write(where, buffer, at, values, thread)
    elif rule.accumulates:
        # instructions that add to the same sums follow each other
        buffer.data[at] = values
        lent = tuple(o.lent for o in operands)
        _begin(under_way, rule, Begun(buffer, at, _warps(lanes), thread, None, lent), lanes)
    else:
        where.writing(buffer, at, thread)
        _begin(under_way, rule, Begun(buffer, at, [], thread, values), lanes)


def _ordered(
    where: StatementPlace, node: Instruction, lanes: Lanes, team: int, under_way: UnderWay
) -> None:
    """What threads do together only for its effect on others: all of them, or those that have
    begun what it is about.
    """
    rule = rule_of(node)
    together = under_way.group(WGMMA if rule.threads == GROUP else COPY)
    if rule.threads == GROUP:
        _by_group(where, np.zeros((lanes.count, 1)), rule, lanes)
        team = together.lanes or lanes.count
    if lanes.count != team:
        where.fail("not every thread comes here")
    match node.name:
        case instructions.COMMIT | instructions.GROUP_COMMIT:
            together.commit()
        case instructions.WAIT | instructions.GROUP_WAIT:
            left = int(where.value(node.operands[0], lanes))
            together.wait(where, left, under_way.phases)
        case instructions.PROXY_FENCE:
            for buffer in where.buffers.values():
                if buffer.unfenced is not None:
                    buffer.unfenced.fill(False)


def _begin(under_way: UnderWay, rule: InstructionRule, begun: Begun, lanes: Lanes) -> None:
    begun.mark(1)
    together = under_way.group(rule.group)
    together.lanes = max(together.lanes, lanes.count)
    together.open.append(begun)


def _warps(lanes: Lanes) -> list[range]:
    """The warps of each group of threads."""
    first = along_x(lanes)[::GROUP].tolist()
    return [range(n // WARP, (n + GROUP) // WARP) for n in first]


def _write(
    where: StatementPlace, buffer: CheckedBuffer, at: Array, values: Array, thread: Array
) -> None:
    where.writing(buffer, at, thread)
    buffer.data[at] = values.astype(buffer.data.dtype)
    buffer.written[at] = True


@dataclass(frozen=True, slots=True)
class _Operand:
    """Its elements in each lane, `[lanes, …]`, and where they are."""

    values: Array
    lent: tuple[CheckedBuffer, Array]


def _operand(where: StatementPlace, e: Expr, size: int | Window | Box, lanes: Lanes) -> _Operand:
    """An operand, 0 where its condition does not hold."""
    match e:
        case Select(cond, Read() as read, Const()) if isinstance(size, int):
            test = np.broadcast_to(where.value(cond, lanes), (lanes.count,))
            shape = lanes.count, size // read.tensor.dtype.bytes
            found = np.zeros(shape, read.dtype.numpy)
            if test.any():
                found[test] = _operand(where, read, size, lanes.where(test)).values
            return _Operand(found, (where.buffers[read.tensor.name], np.zeros(0, np.int64)))
        case Read():
            if isinstance(size, Window):
                buffer, at = _window(where, e, size, lanes)
            else:
                assert isinstance(size, int)
                buffer, at = _elements(where, e, size, lanes)
            thread = threads(lanes).reshape(-1, *(1 for _ in at.shape[1:]))
            where.reading(buffer, at, thread[:: lanes.count // len(at)])
            return _Operand(buffer.data[at].astype(e.dtype.numpy), (buffer, at))
    return where.fail("an operand is a read, a select between a read and 0, or a number")


def _window(
    where: StatementPlace, read: Read, window: Window, lanes: Lanes
) -> tuple[CheckedBuffer, Array]:
    """The buffer and the flat places of a window, `[groups, outer, depth]`."""
    buffer, first = where.element(read.tensor, read.indices, lanes)
    firsts = np.broadcast_to(first, (lanes.count,)).reshape(-1, GROUP)
    if (firsts != firsts[:, :1]).any():
        where.fail(f"the threads of a group name different windows of {read.tensor.name}")
    offsets = window.offsets()
    rank = offsets.shape[-1]
    last = offsets[-1, -1].tolist()
    kept = read.indices[: read.tensor.rank - rank]
    moved = (i + step for i, step in zip(read.indices[-rank:], last, strict=True))
    where.element(read.tensor, (*kept, *moved), lanes)
    steps = np.cumprod([1, *buffer.shape[:0:-1]])[::-1][-rank:]
    at = firsts[:, :1, None] + (offsets @ steps)[None]
    if buffer.unfenced is not None and buffer.unfenced[at].any():
        where.fail(f"a fence is missing after threads wrote {read.tensor.name}")
    return buffer, at


def _elements(
    where: StatementPlace, read: Read, size: int, lanes: Lanes
) -> tuple[CheckedBuffer, Array]:
    """The buffer and the flat places of a run of elements, `[lanes, elements]`."""
    count = size // read.tensor.dtype.bytes
    buffer, first = where.element(read.tensor, read.indices, lanes)
    last = (*read.indices[:-1], read.indices[-1] + (count - 1))
    where.element(read.tensor, last, lanes)
    if (first % count).any():
        where.fail(f"{size} bytes of {read.tensor.name} are not aligned to their size")
    return buffer, np.broadcast_to(first, (lanes.count,))[:, None] + np.arange(count)


def _by_group(where: StatementPlace, values: Array, rule: InstructionRule, lanes: Lanes) -> Array:
    """`[lanes, elements]` as `[groups, threads, elements]`, of those who do it together; what they
    have in common stays as it is.
    """
    if rule.threads == 1:
        return values[:, None]
    numbers, count = along_x(lanes), rule.threads
    if lanes.count % count or (numbers.reshape(-1, count) % count != np.arange(count)).any():
        where.fail(f"not every thread of {count} comes here")
    return values if values.ndim > 2 else values.reshape(-1, count, values.shape[-1])
