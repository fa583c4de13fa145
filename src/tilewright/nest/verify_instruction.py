"""Whether an instruction is what the table says: its operands, their dtypes and places."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod

from tilewright.expr.dtypes import INT64
from tilewright.expr.nodes import Const, Expr, Read, Select, Tensor, as_expr
from tilewright.expr.reference import static_shape
from tilewright.expr.tensors import View, memory_of
from tilewright.expr.text import expr_text
from tilewright.expr.traversal import reads
from tilewright.nest.gpu.swizzle import PIECE_BYTES
from tilewright.nest.instructions import (
    BOX_RANK,
    COPY,
    INSTRUCTIONS,
    MBARRIER,
    MOST_BOX,
    PHASE_WAIT,
    WINDOW_ROW,
    Box,
    InstructionRule,
    Window,
)
from tilewright.nest.nodes import (
    Instruction,
    accessed,
)
from tilewright.nest.print import nest_text
from tilewright.nest.verified import (
    Head,
    VerifiedScope,
    check_access,
    check_condition,
    check_index,
)


def check_instruction(node: Instruction, scope: VerifiedScope) -> None:
    """Runs of elements inside of tensors where the instruction takes them, of its dtypes."""
    head = partial(nest_text, node)
    rule = INSTRUCTIONS.get(node.name)
    if rule is None:
        scope.fail(head, f"no such instruction; known: {', '.join(INSTRUCTIONS)}")
    if len(node.operands) != len(rule.operands) or (node.result is None) != (not rule.result):
        scope.fail(head, f"it has {len(rule.operands)} operands and {bool(rule.result):d} results")
    if node.result is not None:
        if isinstance(rule.result, Box):
            _tile(node.result, scope, head)
        else:
            _run(node.result, rule.result, scope, head)
        if not scope.storage[node.result.tensor.name].writable:
            scope.fail(head, f"{node.result.tensor.name} is an input, a constant or a table")
    for operand, size in zip(node.operands, rule.operands, strict=True):
        match operand:
            case Read() if isinstance(size, Window):
                _window(operand, size, scope, head)
            case Read() if isinstance(size, Box):
                _view(operand, scope, head)
            case Read() if isinstance(size, int) and size:
                _run(operand, size, scope, head)
            case Select(cond, Read() as read, Const(0 | 0.0)) if rule.group == COPY:
                check_condition(cond, scope, head)
                assert isinstance(size, int)
                _run(read, size, replace(scope, facts=scope.facts.assume(cond)), head)
            case Const(value) if not size or (value == 0 and rule.group == COPY):
                continue
            case _ if not size and node.name == PHASE_WAIT:
                check_index(operand, scope, head)
            case _ if not size and scope.symbolic:
                continue
            case _:
                scope.fail(head, f"{expr_text(operand)} is no operand of it")
    _tensors(node, rule, scope, head)


def _tensors(node: Instruction, rule: InstructionRule, scope: VerifiedScope, head: Head) -> None:
    """Where an instruction's tensors lie, and their dtypes."""
    runs = [memory_of(_moved(e)) for e in accessed(node) if reads(e)]
    for tensor, where in zip(runs, rule.scopes, strict=False):
        if scope.storage[tensor.name].scope is not where:
            place = "an input or an output" if where is None else f"{where.value} storage"
            scope.fail(head, f"{tensor.name} is not {place}")
    if node.result is None or node.name.startswith(MBARRIER):
        return
    result, *operands = (t.dtype.name for t in runs if t.dtype != INT64)
    if rule.dtypes and not set(operands) <= set(rule.dtypes):
        scope.fail(head, f"operands are {' or '.join(rule.dtypes)}, not {', '.join(operands)}")
    wanted = rule.sums or (operands[0] if operands else result)
    if len(set(operands)) > 1 or result != wanted:
        of = ", ".join(operands)
        scope.fail(head, f"it makes {wanted} of operands of one dtype, not {result} of {of}")


def _moved(e: Expr) -> Tensor:
    """The tensor that a result or an operand is of."""
    read = e.a if isinstance(e, Select) else e
    assert isinstance(read, Read)
    return read.tensor


def _run(read: Read, size: int, scope: VerifiedScope, head: Head) -> None:
    """The first and the last of so many bytes from an element on."""
    last = read.indices[-1] + (size // read.tensor.dtype.bytes - 1)
    check_access(read.tensor, read.indices, scope, head)
    check_access(read.tensor, (*read.indices[:-1], last), scope, head)


def _window(read: Read, window: Window, scope: VerifiedScope, head: Head) -> None:
    """The first and the last element of a window."""
    steps = [0] * read.tensor.rank
    last = window.offsets()[-1, -1].tolist()
    if len(last) > len(steps):
        scope.fail(head, f"{read.tensor.name} is no tile that it takes")
    steps[-len(last) :] = last
    check_access(read.tensor, read.indices, scope, head)
    moved = tuple(i + step for i, step in zip(read.indices, steps, strict=True))
    check_access(read.tensor, moved, scope, head)


def _tile(read: Read, scope: VerifiedScope, head: Head) -> None:
    """The place of a box: from the first element of its rows on, which have 128 bytes, swizzled."""
    *_, rows, columns = read.tensor.shape
    last = (as_expr(rows) - 1, as_expr(columns) - 1)
    check_access(read.tensor, read.indices, scope, head)
    moved = (i + step for i, step in zip(read.indices[-2:], last, strict=True))
    check_access(read.tensor, (*read.indices[:-2], *moved), scope, head)
    if scope.symbolic:
        return
    if not isinstance(rows, int) or rows > MOST_BOX or columns != WINDOW_ROW:
        scope.fail(
            head, f"a box has up to {MOST_BOX} rows of {WINDOW_ROW}, not {rows} of {columns}"
        )


def _view(read: Read, scope: VerifiedScope, head: Head) -> None:
    """A view of a tensor's memory, all of it inside of that; a box may reach beyond the view."""
    view, shape = read.tensor.source, static_shape(read.tensor)
    if not isinstance(view, View) or len(shape) != BOX_RANK:
        scope.fail(head, f"{read.tensor.name} is no view of {BOX_RANK} dimensions")
    for index in read.indices:
        check_index(index, scope, head)
    storage = scope.storage.get(view.of.name)
    if storage is None or storage.tensor != view.of or storage.offset is not None:
        scope.fail(head, f"{view.of.name} is no input or output")
    last = view.offset + sum((n - 1) * s for n, s in zip(shape, view.strides, strict=True))
    steps = (view.offset, *view.strides[:-1])
    piece = PIECE_BYTES // read.tensor.dtype.bytes
    if view.strides[-1] != 1 or min(steps) < 0 or any(s % piece for s in steps):
        scope.fail(
            head, f"rows of {read.tensor.name} do not begin at multiples of {PIECE_BYTES} bytes"
        )
    if last >= prod(static_shape(view.of)):
        scope.fail(head, f"{read.tensor.name} reaches beyond {view.of.name}")
