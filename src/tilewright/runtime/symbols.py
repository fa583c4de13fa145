"""Native symbols that object code asks for: vector math, libm, libc.

    object code ─► names it leaves undefined ─► {name: address}

    undefined_symbols(code)      ->  ("tw_parallel", "_ZGVeN16v_expf", "memcpy")
    find_symbol("memcpy")        ->  140241…

A name that no library offers is a RunError saying which library and package has it.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Iterable

from tilewright.ground.errors import RunError
from tilewright.ground.lazy import llvm

VECTOR_PREFIX = "_ZGV"
VECTOR_LIBRARY = "libmvec.so.1"
# Until version 2.34 of glibc, threads were a library of their own.
GENERAL_LIBRARIES = ("libm.so.6", "libc.so.6", "libpthread.so.0", "libgcc_s.so.1")

# ELF64: where e_machine stands, one symbol table entry, the section index of an undefined symbol.
MACHINE_OFFSET = 18
SYMBOL = struct.Struct("<IBBHQQ")
UNDEFINED = 0
# Names that a linker defines itself.
LINKER_NAMES = ("_GLOBAL_OFFSET_TABLE_",)


def undefined_symbols(object_code: bytes) -> tuple[str, ...]:
    """Names that `object_code` (ELF64, little-endian) expects from outside, in table order."""
    sections = {s.name(): s.data() for s in llvm.ObjectFileRef.from_data(object_code).sections()}
    strings = sections.get(b".strtab", b"")
    names: list[str] = []
    for name, _, _, section, _, _ in SYMBOL.iter_unpack(sections.get(b".symtab", b"")):
        if section == UNDEFINED and name:
            names.append(strings[name : strings.index(b"\0", name)].decode())
    return tuple(n for n in names if n not in LINKER_NAMES)


def elf_machine(object_code: bytes) -> int:
    """The ELF machine number of `object_code`. Raises RunError when it is not ELF64."""
    if object_code[:5] != b"\x7fELF\x02":
        raise RunError(f"not ELF64 object code: it starts with {object_code[:5]!r}")
    return int.from_bytes(object_code[MACHINE_OFFSET : MACHINE_OFFSET + 2], "little")


@functools.cache
def find_symbol(name: str) -> int:
    """The address of the native function `name`. Raises RunError when no library offers it."""
    if name.startswith(VECTOR_PREFIX):
        libraries = _opened((VECTOR_LIBRARY,))
        missing = f"it belongs to glibc's vector math library {VECTOR_LIBRARY} (Debian: libc6)"
    else:
        libraries = _opened(GENERAL_LIBRARIES)
        missing = f"none of {', '.join(GENERAL_LIBRARIES)} offers it"
    for library in libraries:
        if hasattr(library, name):
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
            assert address is not None, f"{name} resolved to a null pointer"
            return address
    raise RunError(f"compiled code needs the native function {name}: {missing}")


def _opened(names: Iterable[str]) -> list[ctypes.CDLL]:
    """Those of `names` that the dynamic linker finds."""
    libraries = []
    for name in names:
        try:
            libraries.append(ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL))
        except OSError:
            # Absent here; the caller tries the next and reports when none is left.
            continue
    return libraries
