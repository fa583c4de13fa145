"""The least time a case could take on this machine.

    bound = bound_of(case, ceilings, target)         bound.total_s, bound.limit == "flops"
    side = least_side(case, target)                  side.call() takes as long, side.mode == "flops"

    total_s = max(flops_s, loads_s, bytes_s) + call_s

    flops_s   useful FLOPs / multiply-add ceiling
    loads_s   vector loads of the best register tile x vector bytes / what the load ports deliver.
              A tile of a x b sums takes a + b loads for a·b multiply-adds; a and b are at most the
              extents along which only one operand moves, and a·b + min(a, b) + 1 registers exist.
              0 where an operand moves along every axis, as then only bytes_s limits.
    bytes_s   reading all inputs and weights and writing all outputs once, in that mix, from the
              caches that hold as many bytes (benchmarks/ceilings.py)
    call_s    a call from Python of an empty parallel region

A measured time may still come out slightly below: ceilings are measured, and the clock varies.

The bound comes from ceilings measured beforehand; the side is a program that does just the limiting
one of the three, in a parallel region called from Python. In turns with what it bounds, it meets
the same clock, and the same share of caches that other machines' work uses, too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, prod
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.ceilings import lines
from benchmarks.peers.sides import ROOFLINE
from benchmarks.peers.subjects import Side
from tilewright.expr.access import accesses
from tilewright.expr.dag import ComputeDAG, stage_flops
from tilewright.expr.nodes import Tensor
from tilewright.expr.reference import compute_of, sizes, static_shape
from tilewright.measure.ceilings import (
    Ceilings,
    Traffic,
    buffers_of,
    fma_ir,
    fma_work,
    hints,
    load_kernel,
    measure,
    near_traffic,
    traffic_ir,
)
from tilewright.runtime.cpu import LoadedKernel, pointer_array
from tilewright.target import CpuTarget, Target

FLOAT_BYTES = 4
TRIES = 10_000  # calls of each program, of which the quickest says which one limits,
TRY_S = 0.05  # within so many seconds: a time slice of something else spoils the calls of 4 ms


@dataclass(frozen=True, slots=True)
class Bound:
    """Seconds; see the module's docstring."""

    flops_s: float
    loads_s: float
    bytes_s: float
    call_s: float

    @property
    def total_s(self) -> float:
        """The roofline."""
        return max(self.flops_s, self.loads_s, self.bytes_s) + self.call_s

    @property
    def limit(self) -> str:
        """Which of the three is the largest: "flops", "loads" or "bytes"."""
        return max(("flops", "loads", "bytes"), key=lambda name: getattr(self, f"{name}_s"))


@dataclass(frozen=True, slots=True)
class CpuBounds:
    """A CPU's ceilings, measured for some cases."""

    target: CpuTarget
    ceilings: Ceilings
    sides: tuple[str, ...] = (ROOFLINE,)

    @staticmethod
    def measured(target: CpuTarget, cases: Sequence[Case]) -> CpuBounds:
        return CpuBounds(target, measure(target, [traffic_of(c) for c in cases]))

    def bound_of(self, case: Case) -> Bound:
        """The roofline of a case."""
        return bound_of(case, self.ceilings, self.target)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return self.ceilings.to_json()

    def lines(self) -> list[str]:
        """The figures for people."""
        return lines(self.ceilings)


def bound_of(case: Case, ceilings: Ceilings, target: Target) -> Bound:
    """The roofline of a case."""
    dag = case.dag()
    flops = dag.useful_flops
    vectors = flops / 2 / (target.vector_bits // (8 * FLOAT_BYTES))
    loads = vectors * loads_per_fma(dag, target)
    return Bound(
        flops_s=flops / ceilings.fma_flops,
        loads_s=loads * target.vector_bits / 8 / ceilings.load_bytes,
        bytes_s=ceilings.seconds(traffic_of(case)),
        call_s=ceilings.call_s,
    )


def least_side(case: Case, target: CpuTarget) -> Side:
    """The slowest of the programs that do the case's multiply-adds, loads and traffic alone."""
    dag = case.dag()
    vectors = dag.useful_flops / 2 / (target.vector_bits // (8 * FLOAT_BYTES))
    near = near_traffic(target)
    loaded = vectors * loads_per_fma(dag, target) * target.vector_bits / 8
    traffic = traffic_of(case)
    wanted = {
        "flops": (fma_ir(ceil(dag.useful_flops / fma_work(target)), target),),
        "bytes": tuple(traffic_ir(traffic, 1, hint, target) for hint in hints(traffic)),
    }
    if loaded:
        wanted["loads"] = (traffic_ir(near, ceil(loaded / near.total), False, target),)
    return _slowest(wanted, (near, traffic), target)


def copy_side(moved: int, target: CpuTarget) -> Side:
    """The quicker of the programs that copy an array so that `moved` bytes are read and written."""
    traffic = Traffic(moved // 2, moved // 2)
    programs = tuple(traffic_ir(traffic, 1, hint, target) for hint in hints(traffic))
    return _slowest({"bytes": programs}, (traffic,), target)


def _slowest(
    wanted: Mapping[str, Sequence[str]], traffic: Sequence[Traffic], target: CpuTarget
) -> Side:
    """Of each limit's quickest program the slowest, in memory for all the traffic."""
    buffers = buffers_of(traffic, target)
    pointers = pointer_array([b.ctypes.data for b in buffers])
    address = ctypes.addressof(pointers)
    found: dict[str, tuple[float, LoadedKernel]] = {}
    for limit, programs in wanted.items():
        kernels = [load_kernel(ir, target) for ir in programs]
        times = [float(kernel.bench(address, 0, TRIES, budget_s=TRY_S).min()) for kernel in kernels]
        found[limit] = min(zip(times, kernels, strict=True), key=lambda pair: pair[0])
    limit, (_, kernel) = max(found.items(), key=lambda item: item[1][0])
    memory = pointers, buffers  # an address keeps neither

    def call() -> None:
        assert memory
        kernel(address, 0)

    return Side(call, lambda: np.empty(0), limit)


def traffic_of(case: Case) -> Traffic:
    """What a case reads and writes at least."""
    dag = case.dag()
    read = sum(_bytes(t) for t in (*dag.inputs, *dag.constants))
    return Traffic(read, sum(_bytes(t) for t in dag.outputs))


def loads_per_fma(dag: ComputeDAG, target: Target) -> float:
    """Vector loads a vector multiply-add, at best, in the stage with the most operations."""
    stage = max(dag.stages, key=stage_flops)
    compute = compute_of(stage)
    read = accesses(compute)
    if not compute.reduce_axes or len(read) != 2:
        return 0.0
    left, right = (
        prod(sizes([x for x in compute.axes if x.name in a.axes and x.name not in b.axes]))
        for a, b in (read, read[::-1])
    )
    if min(left, right) == 1:
        return 0.0
    return min((a + b) / (a * b) for a, b in _tiles(left, right, target))


def _tiles(left: int, right: int, target: Target) -> Iterator[tuple[int, int]]:
    """Register tiles in vectors: one of the two axes is divided into vectors."""
    lanes = target.vector_bits // (8 * FLOAT_BYTES)
    for rows, columns in ((left, ceil(right / lanes)), (ceil(left / lanes), right)):
        room = target.vector_registers
        for a, b in product(range(1, min(rows, room) + 1), range(1, min(columns, room) + 1)):
            if a * b + min(a, b) + 1 <= room:
                yield a, b


def _bytes(tensor: Tensor) -> int:
    return FLOAT_BYTES * prod(static_shape(tensor))
