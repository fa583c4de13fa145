"""What a template is, and how an instance of one becomes a program.

    match = GEMM.match(dag, architecture)         raises NoMatchError, which says why
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

from tilewright.artifact import Packing
from tilewright.codegen.clike.cuda import NUMBERS
from tilewright.cutlass.architectures import Architecture, Shape
from tilewright.cutlass.contraction import Contraction, Factor, Follows
from tilewright.cutlass.epilogue import ELEMENTS, Epilogue
from tilewright.cutlass.matrices import PACKED_THREADS, Packed
from tilewright.cutlass.parameters import Condition, Number, Parameters, check, valid
from tilewright.errors import ScheduleError
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.tensors import is_constant

INT32_MAX = 2**31 - 1
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
class Operand:
    """A pointer that a body takes: to a placeholder as it lies, or packed."""

    factor: Factor
    packed: Packed | None = None


@dataclass(frozen=True)
class Match(ABC):
    """A computation that a template has a kernel for, on one architecture."""

    template: ClassVar[str]
    header: ClassVar[str]
    sizes: ClassVar[str]

    dag: ComputeDAG
    architecture: Architecture
    last: Contraction
    follows: Follows

    @property
    def dtype(self) -> str:
        return self.last.dtype

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
    def operands(self, p: Parameters) -> list[Operand]:
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
        before, helpers = self.before(name)
        element = ELEMENTS[self.dtype]
        operands = self.operands(p)
        bytes_ = int(self.dynamic_bytes(p))
        pointers = [f"{element} const* o{i}" for i in range(len(operands))]
        given = [f"{ELEMENTS[t.dtype.name]} const* p{i}" for i, t in enumerate(epilogue.arguments)]
        given[-1] = f"{ELEMENTS[epilogue.arguments[-1].dtype.name]}* out"
        members = ", ".join([*(f"p{i}" for i in range(len(given) - 1)), "out", "sizes.v"])
        taken = ", ".join(f"o{i}" for i in range(len(operands)))
        packs = [o for o in operands if o.packed is not None and _on_device(o)]
        pack = f"{name}_pack" if packs else ""
        lines = [
            f'#include "{self.header}"',
            *(['#include "tw_pack.h"'] if packs else []),
            NUMBERS,
            *dict(sorted({**epilogue.helpers, **helpers}.items())).values(),
            epilogue.text,
            before,
            f"struct {name}_sizes {{ {self.sizes} problem; int v[{len(epilogue.values) or 1}]; }};",
            *([_pack_kernel(pack, element)] if packs else []),
            f'extern "C" __global__ void __launch_bounds__({p.threads}) {name}(',
            f"    {', '.join([*pointers, *given])}, __grid_constant__ {name}_sizes const sizes) {{",
            "    TW_SHARED(shared);",
            f"    using Body = {self.body(p, name)};",
            f"    Body::template run<{bytes_}>(",
            f"        {taken}, sizes.problem, {name}_result{{{members}}}, shared);",
            "}",
            "",
        ]
        calls: list[KernelCall] = []
        arguments: list[Argument] = []
        packings: dict[str, Packing] = {}
        scratch = 0
        for operand in operands:
            tensor = operand.factor.tensor
            if operand.packed is None:
                arguments.append(tensor.name)
            elif not _on_device(operand):
                packings[tensor.name] = operand.packed.packing
                arguments.append(tensor.name)
            else:
                packed = operand.packed
                where: tuple[Argument, ...] = (tensor.name, scratch)
                grid = (packed.blocks, 1, 1)
                calls.append(KernelCall(pack, grid, PACKED_THREADS, where, packed.values))
                arguments.append(scratch)
                scratch += packed.bytes
        values = (*self.problem(p), *(epilogue.values or (0,)))
        most = max(abs(v) for listed in (values, *(c.values for c in calls)) for v in listed)
        if most > INT32_MAX:
            raise ScheduleError(f"{self.template}: kernels count in int32, which {most} exceeds")
        arguments += [t.name for t in epilogue.arguments]
        threads = int(p.threads)
        calls.append(KernelCall(name, self.grid(p), threads, tuple(arguments), values, bytes_))
        return Program("\n".join(lines), tuple(calls), packings, scratch)


def _on_device(operand: Operand) -> bool:
    """Whether a kernel packs it: an input's values are not known before."""
    return not is_constant(operand.factor.tensor)


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
