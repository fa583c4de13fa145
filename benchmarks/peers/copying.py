"""The quickest copy of so many bytes, called as sides are: what moving data takes at least."""

from __future__ import annotations

import ctypes

import numpy as np

from benchmarks.peers.subjects import Side
from tilewright.measure.ceilings import Traffic, buffers_of, hints, load_kernel, traffic_ir
from tilewright.runtime.cpu import pointer_array
from tilewright.target import CpuTarget

TRIES = 10_000  # calls of each program, of which the quickest counts,
TRY_S = 0.05  # within so many seconds: a time slice of something else spoils the calls of 4 ms


def copy_side(moved: int, target: CpuTarget) -> Side:
    """The quicker of the programs that copy an array so that `moved` bytes are read and written."""
    traffic = Traffic(moved // 2, moved // 2)
    buffers = buffers_of((traffic,), target)
    pointers = pointer_array([b.ctypes.data for b in buffers])
    address = ctypes.addressof(pointers)
    kernels = [load_kernel(traffic_ir(traffic, 1, hint, target), target) for hint in hints(traffic)]
    times = [float(kernel.bench(address, 0, TRIES, budget_s=TRY_S).min()) for kernel in kernels]
    kernel = kernels[int(np.argmin(times))]
    memory = pointers, buffers  # an address keeps neither

    def call() -> None:
        assert memory
        kernel(address, 0)

    return Side(call, lambda: np.empty(0), "bytes")
