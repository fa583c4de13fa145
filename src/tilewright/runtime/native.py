"""The few native functions that call, parallelise and time a kernel, loaded into this process.

    call(entry, buffers, params, scratch, threads)
    find_sizes(sizes, given, values, shapes)     what comes before a call with sizes
    write_shapes(sizes, values, shapes)          what comes after one that computed some
    linked["tw_parallel"]                        the address of what kernels reach by that name
    bench(entry, buffers, params, scratch, threads, regions, readers, count, budget_ns, seconds)
    invoke(self, inputs, count)                  a method of Python's: see `runtime.invoke`

Their source is the C of the folder `c`: the pool of threads (`pool.h`), calls (`call.c`), timed
calls (`bench.c`), functions whose results are as large as data say (`select.c`). Saved libraries
compile it; here, where there may be no C compiler, LLVM reads what a compiler made of it,
`c/native.<architecture>.ll`. A test compiles the source again and compares; `pytest
--update-golden` writes the files anew.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tilewright.contract.cache import ArtifactCache, hash_of
from tilewright.ground.errors import RunError
from tilewright.ground.lazy import llvm
from tilewright.runtime.invoke import PYTHON, QUICK, invoke_ir, method, python_symbol
from tilewright.runtime.symbols import find_symbol
from tilewright.target import available_cores

SOURCE = Path(__file__).parent / "c"
ARCHITECTURES = ("x86_64", "aarch64")
PARALLEL = "tw_parallel"
SELECT = ("tw_nonzero", "tw_suppress", "tw_unique", "tw_top_k", "tw_scatter", "tw_number")
"""Library functions that networks call: see `c/select.h`."""
CALLS = ("tw_call", "tw_find_sizes", "tw_write_shapes", "tw_bench")
EXPORTED = (*CALLS, PARALLEL, *SELECT, "tw_limit_cores")
OPTIMISED = 2  # LLVM's usual level of code generation
ALL_THREADS = 2**31 - 1  # as many as a kernel was compiled for
Pointer = ctypes.c_void_p
CALL = ctypes.CFUNCTYPE(None, Pointer, Pointer, Pointer, Pointer, ctypes.c_int32)
FIND_SIZES = ctypes.CFUNCTYPE(ctypes.c_int64, Pointer, Pointer, Pointer, Pointer)
WRITE_SHAPES = ctypes.CFUNCTYPE(None, Pointer, Pointer, Pointer)
BENCH = ctypes.CFUNCTYPE(
    ctypes.c_int64,
    *(Pointer, Pointer, Pointer, Pointer, ctypes.c_int32),
    *(Pointer, ctypes.c_int32, ctypes.c_int64, ctypes.c_int64),
    Pointer,
)
DECLARED = re.compile(r"^declare .*?@(?!llvm\.)(\w+)\(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NativeFunctions:
    """The functions of this module, compiled for this process. `invoke` is there if this
    interpreter can be given it; `linked` are addresses of those that compiled code calls, by name.
    """

    call: Callable[..., None]
    find_sizes: Callable[..., int]
    write_shapes: Callable[..., None]
    bench: Callable[..., int]
    invoke: ctypes.Structure | None
    linked: Mapping[str, int]

    @property
    def parallel(self) -> int:
        """The address of what kernels reach as `tw_parallel`."""
        return self.linked[PARALLEL]


def native_ir(architecture: str) -> str:
    """All functions as LLVM IR. Raises RunError for an architecture that there is none for."""
    if architecture not in ARCHITECTURES:
        raise RunError(
            f"compiled functions run on {', '.join(ARCHITECTURES)}; this machine is {architecture}"
        )
    text = (SOURCE / f"native.{architecture}.ll").read_text(encoding="utf-8")
    return text + (invoke_ir() if QUICK else "")


def _object_code(ir: str) -> bytes:
    """`ir` compiled for this machine; from the user's cache, which takes a fortieth of the time."""
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    cache = ArtifactCache.of_user()
    key = hash_of("native", llvm.llvm_version_info, cpu, features, ir)
    known = cache.read(key)
    if known is None:
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=cpu, features=features, opt=OPTIMISED, reloc="pic", codemodel="small"
        )
        known = bytes(machine.emit_object(llvm.parse_assembly(ir)))
        cache.write(key, known)
    return known


@functools.cache
def native(architecture: str) -> NativeFunctions:
    """Compile and load the functions once per process."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    jit = llvm.create_lljit_compiler(use_jit_link=True)
    ir = native_ir(architecture)
    builder = llvm.JITLibraryBuilder().add_object_img(_object_code(ir))
    for name in DECLARED.findall(ir):
        builder.import_symbol(name, python_symbol(name) if name in PYTHON else find_symbol(name))
    for name in (*EXPORTED, *(["tw_invoke"] * QUICK)):
        builder.export_symbol(name)
    library = builder.link(jit, "tilewright-runtime")
    for owner in (library, jit):
        # Threads of the pool are in this code until the process has ended, which the interpreter's
        # own end does not wait for.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
    ctypes.CFUNCTYPE(None, ctypes.c_int32)(library["tw_limit_cores"])(available_cores())
    return NativeFunctions(
        call=CALL(library["tw_call"]),
        find_sizes=FIND_SIZES(library["tw_find_sizes"]),
        write_shapes=WRITE_SHAPES(library["tw_write_shapes"]),
        bench=BENCH(library["tw_bench"]),
        invoke=method(library["tw_invoke"]) if QUICK else None,
        linked={name: library[name] for name in (PARALLEL, *SELECT)},
    )
