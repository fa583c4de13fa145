"""Instructions in the interpreter: what warps do together, and copies that arrive later.

    copies = Copies()
    instruct(where, node, lanes, team, copies)

The threads of a block run in step, and so do its warps. A copy is made when it is waited for: until
then nobody may use its elements, and after it, a barrier must come before others do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tilewright.expr.nodes import Const, Expr, Read, Select
from tilewright.nest.instructions import COMMIT, NUMBER, WAIT, WARP, InstructionRule, rule_of
from tilewright.nest.lanes import Array, Lanes
from tilewright.nest.memory import THREAD, CheckedBuffer, threads
from tilewright.nest.nodes import Instruction, Kind
from tilewright.nest.place import StatementPlace


@dataclass(frozen=True, slots=True)
class Copied:
    """Elements under way: where to, what, and who copies them."""

    buffer: CheckedBuffer
    at: Array
    values: Array
    thread: Array


@dataclass(slots=True)
class Copies:
    """The copies of the blocks that run: those since the last group, and groups, oldest first."""

    open: list[Copied] = field(default_factory=list)
    groups: list[list[Copied]] = field(default_factory=list)

    def commit(self) -> None:
        self.groups.append(self.open)
        self.open = []

    def wait(self, where: StatementPlace, left: int) -> None:
        """All groups but the last `left` arrive."""
        done = max(0, len(self.groups) - left)
        arrived, self.groups = self.groups[:done], self.groups[done:]
        for copy in (copy for group in arrived for copy in group):
            assert copy.buffer.copying is not None
            copy.buffer.copying[copy.at] = False
            _write(where, copy)


def instruct(
    where: StatementPlace, node: Instruction, lanes: Lanes, team: int, copies: Copies
) -> None:
    """Do what an instruction says. `team` lanes are all threads. Raises VerifyError where it breaks
    a rule.
    """
    rule = rule_of(node)
    if node.result is None and lanes.count != team:
        where.fail("not every thread comes here")
    if node.name == COMMIT:
        copies.commit()
        return
    if node.name == WAIT:
        copies.wait(where, int(where.value(node.operands[0], lanes)))
        return
    assert node.result is not None and rule.semantics is not None
    given = [
        _operand(where, e, size, lanes)
        for e, size in zip(node.operands, rule.operands, strict=True)
        if size != NUMBER
    ]
    buffer, at = _elements(where, node.result, rule.result, lanes)
    if rule.accumulates:
        where.reading(buffer, at, threads(lanes)[:, None])
        given.insert(0, buffer.data[at])
    values = rule.semantics([_by_group(where, g, rule, lanes) for g in given])
    copy = Copied(buffer, at, values.reshape(at.shape), threads(lanes)[:, None])
    if rule.is_deferred and buffer.copying is not None:
        where.writing(buffer, at, copy.thread)
        buffer.copying[at] = True
        copies.open.append(copy)
    else:
        _write(where, copy)


def _write(where: StatementPlace, copy: Copied) -> None:
    where.writing(copy.buffer, copy.at, copy.thread)
    copy.buffer.data[copy.at] = copy.values.astype(copy.buffer.data.dtype)
    copy.buffer.written[copy.at] = True


def _operand(where: StatementPlace, e: Expr, size: int, lanes: Lanes) -> Array:
    """Its elements in each lane, `[lanes, elements]`; zeros where its condition does not hold."""
    match e:
        case Select(cond, Read() as read, Const()):
            test = np.broadcast_to(where.value(cond, lanes), (lanes.count,))
            shape = lanes.count, size // read.tensor.dtype.bytes
            found = np.zeros(shape, read.dtype.numpy)
            if test.any():
                found[test] = _operand(where, read, size, lanes.where(test))
            return found
        case Read():
            buffer, at = _elements(where, e, size, lanes)
            where.reading(buffer, at, threads(lanes)[:, None])
            values: Array = buffer.data[at].astype(e.dtype.numpy)
            return values
    return where.fail("an operand is a read, a select between a read and 0, or a number")


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
    """`[lanes, elements]` as `[groups, threads, elements]`, of those who do it together."""
    if rule.threads == 1:
        return values[:, None]
    x = THREAD[Kind.THREAD_X]
    numbers = lanes.get(x) if lanes.has(x) else np.zeros(lanes.count, np.int64)
    if lanes.count % WARP or (numbers.reshape(-1, WARP) % WARP != np.arange(WARP)).any():
        where.fail("not every thread of a warp comes here")
    return values.reshape(-1, rule.threads, values.shape[-1])
