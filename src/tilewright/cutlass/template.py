"""What a template is, and how an instance of one becomes a program.

    match = GEMM.match(dag, architecture)         or why there is none
    match.short_list()                            parameters worth trying, all of them valid
    match.program(parameters, "k")                CUDA C++ and its calls

A template says what it computes (`match`), what limits its parameters (`conditions`), and how its
kernel's body is called. Everything else is the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tilewright.codegen.clike.cuda import NUMBERS
from tilewright.contract.artifact import Packing, aligned
from tilewright.cutlass.architectures import Architecture, Shape
from tilewright.cutlass.epilogue import ELEMENTS, PARTIAL, Epilogue
from tilewright.cutlass.matrices import PACKED_THREADS, Packed
from tilewright.cutlass.parameters import (
    ACCESS_BYTES,
    FIELDS,
    Condition,
    Number,
    Parameters,
    check,
    element_bytes,
    valid,
)
from tilewright.expr.contraction.factors import AffineRead
from tilewright.expr.contraction.follows import Follows
from tilewright.expr.contraction.groups import Contraction
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import is_constant
from tilewright.ground.errors import ScheduleError

INT32_MAX = 2**31 - 1
FINISH_THREADS = 128  # of a block that makes the output of partial values (tw_epilogue.h)
Argument = str | int
"""A tensor by name, or an offset in scratch memory."""


@dataclass(frozen=True, slots=True)
class KernelCall:
    """One launch: `values` are the ints of its last argument, a structure."""

    kernel: str
    grid: Shape
    threads: int
    arguments: tuple[Argument, ...]
    values: tuple[int, ...]
    dynamic_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Program:
    """CUDA C++ and the calls of its kernels, in order. `packings` say how constants are to lie, by
    name.
    """

    text: str
    calls: tuple[KernelCall, ...]
    packings: Mapping[str, Packing]
    scratch_bytes: int


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer that a body takes: to a placeholder as it lies, or packed."""

    factor: AffineRead
    packed: Packed | None = None

    @property
    def on_device(self) -> bool:
        """Whether a kernel packs it: an input's values are not known before."""
        return self.packed is not None and not is_constant(self.factor.tensor)


@dataclass(frozen=True)
class Match(ABC):
    """A computation that a template has a kernel for, on one architecture."""

    template: ClassVar[str]
    header: ClassVar[str]
    sizes: ClassVar[str]
    needed: ClassVar[tuple[str, ...]] = FIELDS[: FIELDS.index("pad")]
    """Parameters that are never 0."""
    static_bytes: ClassVar[int] = 0
    """Shared memory besides what a launch asks for."""

    dag: ComputeDAG
    architecture: Architecture
    last: Contraction[AffineRead]
    follows: Follows

    @property
    def dtype(self) -> str:
        """Of all factors."""
        return self.last.right.dtype.name

    @property
    def full(self) -> int:
        """Elements of the widest access."""
        return ACCESS_BYTES // element_bytes(self.dtype)

    def filled(self, extent: int, p: Parameters) -> int:
        """An extent with its padding."""
        return -(-extent // self.full) * self.full if p.pad else extent

    @property
    @abstractmethod
    def paddable(self) -> bool:
        """Whether what accesses run along can be filled up: it is one dimension."""

    @abstractmethod
    def conditions(self, p: Parameters) -> list[Condition]:
        """All limits of the parameters, ints or columns."""

    @abstractmethod
    def candidates(self) -> list[Parameters]:
        """Parameters in the order of the guidelines, the most promising first; not all valid."""

    @abstractmethod
    def dynamic_bytes(self, p: Parameters) -> Number:
        """Shared memory that a launch asks for."""

    @abstractmethod
    def body(self, p: Parameters, name: str) -> str:
        """The C++ type of the kernel's body."""

    @abstractmethod
    def operands(self, p: Parameters) -> list[Pointer]:
        """What the body's `run` takes before the sizes."""

    @abstractmethod
    def problem(self, p: Parameters) -> tuple[int, ...]:
        """The values of the structure `sizes`."""

    @abstractmethod
    def grid(self, p: Parameters) -> Shape:
        """Blocks."""

    def before(self, name: str) -> tuple[str, Mapping[str, str]]:
        """Text that the body's type needs, and the helpers that this calls."""
        return "", {}

    def short_list(self, most: int) -> list[Parameters]:
        """At most so many valid candidates."""
        listed = self.candidates()
        if not listed:
            return []
        holds = valid(self.conditions(columns_of(listed)), len(listed))
        return [p for p, ok in zip(listed, holds, strict=True) if ok][:most]

    def program(self, p: Parameters, name: str) -> Program:
        """The program of one instance; its kernel is called `name`. Raises ScheduleError for a
        condition that does not hold.
        """
        check(self.conditions(p), self.template)
        epilogue = Epilogue.of(self.last, self.follows, name)
        operands = self.operands(p)
        calls: list[KernelCall] = []
        arguments: list[Argument] = []
        scratch = 0
        for operand in operands:
            if not operand.on_device:
                arguments.append(operand.factor.tensor.name)
                continue
            calls.append(_pack_call(operand, f"{name}_pack", scratch))
            arguments.append(scratch)
            scratch += operand.packed.bytes if operand.packed is not None else 0
        output = self.follows.output.tensor.name
        finish = epilogue.finish
        arguments += [*(t.name for t in epilogue.given), scratch if finish else output]
        calls.append(
            KernelCall(
                name,
                self.grid(p),
                int(p.threads),
                tuple(arguments),
                (*self.problem(p), *_passed(epilogue)),
                int(self.dynamic_bytes(p)),
            )
        )
        if finish is not None:
            tiles, rows = self._partial(p)
            kept: tuple[Argument, ...] = (scratch, *(t.name for t in finish.given), output)
            values = (tiles, rows, self.last.size(self.last.rows), *_passed(finish))
            blocks = -(-rows // FINISH_THREADS)
            calls.append(KernelCall(f"{name}_end", (blocks, 1, 1), FINISH_THREADS, kept, values))
            scratch += aligned(tiles * rows * PARTIAL.bytes)
        most = max(abs(value) for call in calls for value in call.values)
        if most > INT32_MAX:
            raise ScheduleError(f"{self.template}: kernels count in int32, which {most} exceeds")
        packings = {
            o.factor.tensor.name: o.packed.packing
            for o in operands
            if o.packed is not None and not o.on_device
        }
        text = self._text(p, name, epilogue, operands)
        return Program(text, tuple(calls), packings, scratch)

    def _partial(self, p: Parameters) -> tuple[int, int]:
        """Of columns that are reduced: tiles side by side, and rows of all of the batch."""
        c = self.last
        return -(-c.size(c.columns) // int(p.block_n)), c.size(c.batch) * c.size(c.rows)

    def _text(
        self, p: Parameters, name: str, epilogue: Epilogue, operands: Sequence[Pointer]
    ) -> str:
        """The source of all kernels."""
        before, helpers = self.before(name)
        element, packs = ELEMENTS[self.dtype], any(o.on_device for o in operands)
        finish = epilogue.finish
        pointers = [f"{element} const* o{i}" for i in range(len(operands))]
        taken = [f"o{i}" for i in range(len(operands))]
        lines = [
            f'#include "{self.header}"',
            *(['#include "tw_pack.h"'] if packs else []),
            NUMBERS,
            *dict(sorted({**epilogue.helpers, **helpers}.items())).values(),
            epilogue.text,
            before,
            _sizes(name, self.sizes, epilogue),
            *([_pack_kernel(f"{name}_pack", element)] if packs else []),
            f'extern "C" __global__ void __launch_bounds__({p.threads}) {name}(',
            f"    {', '.join([*pointers, *_pointers(epilogue)])},",
            f"    __grid_constant__ {name}_sizes const sizes) {{",
            "    TW_SHARED(shared);",
            f"    using Body = {self.body(p, name)};",
            f"    Body::template run<{self.dynamic_bytes(p)}>(",
            f"        {', '.join(taken)}, sizes.problem, {_functor(name, epilogue)},",
            "        shared);",
            "}",
            *([] if finish is None else [_finish_kernel(name, finish)]),
            "",
        ]
        return "\n".join(lines)


def _passed(epilogue: Epilogue) -> tuple[int, ...]:
    """The values of a functor, of which a structure has one at least."""
    return epilogue.values or (0,)


def _sizes(name: str, sizes: str, epilogue: Epilogue) -> str:
    return f"struct {name}_sizes {{ {sizes} problem; int v[{len(_passed(epilogue))}]; }};"


def _pointers(epilogue: Epilogue) -> list[str]:
    """Parameters of a kernel that a functor's pointers are."""
    given = [f"{ELEMENTS[t.dtype.name]} const* p{i}" for i, t in enumerate(epilogue.given)]
    return [*given, f"{epilogue.element}* out"]


def _functor(name: str, epilogue: Epilogue) -> str:
    """A functor made of them and of what the launch passes."""
    members = [*(f"p{i}" for i in range(len(epilogue.given))), "out", "sizes.v"]
    return f"{name}_result{{{', '.join(members)}}}"


def _finish_kernel(name: str, finish: Epilogue) -> str:
    """The kernel that puts partial values together and makes the output of them."""
    end = f"{name}_finish"
    return "\n".join(
        [
            finish.text,
            _sizes(end, "tw::PartialSizes", finish),
            f'extern "C" __global__ void __launch_bounds__({FINISH_THREADS}) {name}_end(',
            f"    {', '.join([f'{ELEMENTS[PARTIAL.name]} const* partial', *_pointers(finish)])},",
            f"    __grid_constant__ {end}_sizes const sizes) {{",
            f"    tw::finish<{name}_result>(partial, sizes.problem, {_functor(end, finish)});",
            "}",
        ]
    )


def _pack_call(operand: Pointer, kernel: str, scratch: int) -> KernelCall:
    """The launch that packs an input to an offset of scratch memory."""
    packed = operand.packed
    assert packed is not None
    where: tuple[Argument, ...] = (operand.factor.tensor.name, scratch)
    return KernelCall(kernel, (packed.blocks, 1, 1), PACKED_THREADS, where, packed.values)


def _pack_kernel(name: str, element: str) -> str:
    return (
        f'extern "C" __global__ void __launch_bounds__({PACKED_THREADS}) {name}(\n'
        f"    {element} const* from, {element}* to,\n"
        "    __grid_constant__ tw::PackSizes const sizes) {\n    tw::pack(from, to, sizes);\n}"
    )


def columns_of(listed: Sequence[Parameters]) -> Parameters:
    """Many parameters as columns of one."""
    rows = np.array([p.values for p in listed], np.int64)
    return Parameters(*rows.T)


def shape_text(m: Number, n: Number, k: Number) -> str:
    return f"cutlass::gemm::GemmShape<{m}, {n}, {k}>"


def swizzle_log(columns: int, swizzle: int) -> int:
    """How many columns of tiles, as a power of two, are walked together: CUTLASS's rule
    (`GemmIdentityThreadblockSwizzle::get_log_tile`).
    """
    for most, least, log in ((8, 6, 3), (4, 3, 2), (2, 2, 1)):
        if swizzle >= most and columns >= least:
            return log
    return 0


def swizzled_grid(rows: int, columns: int, batch: int, swizzle: int) -> Shape:
    """Blocks for so many tiles."""
    log = swizzle_log(columns, swizzle)
    tile = 1 << log
    return rows * tile, -(-columns // tile), batch
