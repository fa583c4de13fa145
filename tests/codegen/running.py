"""Loads a compiled kernel into this process and calls it on NumPy arrays."""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import binding as llvm

from tilewright.codegen.llvm.functions import Emitted
from tilewright.codegen.llvm.machine import compile_ir, machine
from tilewright.target import Target

LIBRARIES = ("libgomp.so.1", "libmvec.so.1", "libm.so.6", "libc.so.6")
_loaded = [ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL) for name in LIBRARIES]
_engines: list[object] = []
_names = itertools.count()


def provide(externals: Sequence[str]) -> None:
    """Make library symbols known to the linker."""
    for name in externals:
        address = next(
            ctypes.cast(getattr(lib, name), ctypes.c_void_p).value
            for lib in _loaded
            if hasattr(lib, name)
        )
        llvm.add_symbol(name, address)


def load(object_code: bytes, entry: str, externals: Sequence[str]) -> Callable[..., None]:
    """The entry point as a ctypes function of (buffers, params, scratch)."""
    provide(externals)
    host = Target.parse("cpu")
    machine(host)
    native = llvm.Target.from_triple(host.triple).create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), native)
    engine.add_object_file(llvm.ObjectFileRef.from_data(object_code))
    engine.finalize_object()
    _engines.append(engine)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return kind(engine.get_function_address(entry))


class Runner:
    """A kernel bound to buffers: call it to run once."""

    def __init__(self, emitted: Emitted, target: Target, arrays: Sequence[np.ndarray]) -> None:
        self.fn = load(compile_ir(emitted.ir, target), emitted.entry, emitted.externals)
        self.arrays = list(arrays)
        pointers = [a.ctypes.data for a in self.arrays]
        self.buffers = (ctypes.c_void_p * len(pointers))(*pointers)
        self.scratch = np.zeros(emitted.scratch_bytes + 64, np.uint8)
        self.at = self.scratch.ctypes.data + (-self.scratch.ctypes.data) % 64

    def __call__(self) -> None:
        self.fn(self.buffers, None, self.at)
