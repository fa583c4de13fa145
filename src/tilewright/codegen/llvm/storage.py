"""Memory of allocations: a small one on the stack, a large one in the scratch block.

Allocations nest, so offsets are handed out like a stack: what follows an allocation that has ended
takes its place. `peak` is what the function needs in all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

from tilewright.codegen.llvm.addresses import Buffer
from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.values import Evaluator
from tilewright.contract.artifact import ALIGNMENT, aligned
from tilewright.expr.index.affine import Affine
from tilewright.expr.nodes import Extent, Tensor
from tilewright.ground.errors import BuildError
from tilewright.nest.nodes import Alloc

STACK_BYTES = 32 * 1024
"""The largest allocation on the stack."""
STACK_TOTAL_BYTES = 256 * 1024


def concrete_shape(tensor: Tensor) -> tuple[int, ...]:
    """The shape as ints. Raises BuildError for a symbolic one."""
    if not all(isinstance(d, int) for d in tensor.shape):
        raise BuildError(f"{tensor.name} has the symbolic shape {tensor.shape}")
    return tuple(int(d) for d in tensor.shape if isinstance(d, int))


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements.

    (2, 3, 4)  ->  (12, 4, 1)
    """
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


class Frame:
    """Where one function's allocations live. `scratch` is the pointer to its part of the block.

    `outermost`: parallel loops met here start threads (inside one of them they run in order).
    """

    def __init__(self, scratch: str, outermost: bool, offset: int = 0) -> None:
        self.scratch = scratch
        self.outermost = outermost
        self.offset = offset
        self.peak = offset
        self.stack = 0

    @contextmanager
    def reserved(self, ev: Evaluator, node: Alloc) -> Iterator[Buffer]:
        """The buffer of an allocation, known while its body is written; memory comes on demand."""
        tensor = node.tensor
        shape = concrete_shape(tensor)
        offset = tuple(ev.forms.of(e) for e in node.offset)
        buffer = Buffer(tensor, "", row_major(shape), offset, prod(shape), is_given=False)
        hidden, start = ev.buffers.get(tensor.name), self.offset
        ev.buffers[tensor.name] = buffer
        ev.memory.touch(buffer)
        yield buffer
        self.offset = start
        if hidden is None:
            del ev.buffers[tensor.name]
        else:
            ev.buffers[tensor.name] = hidden

    def materialise(self, b: Builder, buffer: Buffer) -> None:
        """Give a buffer memory."""
        size = aligned(buffer.elements * buffer.tensor.dtype.bytes)
        if size <= STACK_BYTES and self.stack + size <= STACK_TOTAL_BYTES:
            self.stack += size
            buffer.base = b.fresh("a")
            b.entry.append(f"  {buffer.base} = alloca [{size} x i8], align {ALIGNMENT}")
            return
        at, self.offset = self.offset, self.offset + size
        self.peak = max(self.peak, self.offset)
        if at == 0:
            buffer.base = self.scratch
        else:
            buffer.base = b.fresh("a")
            b.entry.append(f"  {buffer.base} = getelementptr i8, ptr {self.scratch}, i64 {at}")


def interface_buffer(
    tensor: Tensor, base: str, sure: int | None = None, pitches: tuple[Extent, ...] = ()
) -> Buffer:
    """The buffer of an input, constant, table or output; `sure` elements of it are there (None: all
    that the shape says). `pitches`: see `Buffer`.
    """
    shape = concrete_shape(tensor)
    every = prod(shape)
    elements = every if sure is None else sure
    start, is_given = (Affine(0),) * len(shape), elements == every
    strides = row_major(shape)
    return Buffer(tensor, base, strides, start, elements, is_given=is_given, pitches=pitches)
