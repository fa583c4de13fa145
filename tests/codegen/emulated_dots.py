"""Instructions that this machine may lack, by their definition: dots in LLVM IR, tiles in C.

    with emulated(tmp_path, monkeypatch):
        run(program, arrays, AMX)

Code is generated for the target that has them; its intrinsics are called by other names and the
object is made for this machine, which takes registers of any width apart.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

from tilewright.codegen.llvm.machine import compile_ir
from tilewright.runtime import cpu
from tilewright.target import CpuTarget, Target

AMX = CpuTarget.of(
    "cpu:x86-64-v4 cores=1 vector_bits=512 vector_registers=32 "
    "features=+avx512f,+avx512bw,+avx512vl,+avx512vnni,+amx-tile,+amx-int8,-prefer-256-bit"
)
INTRINSIC = re.compile(r"llvm\.x86\.(?:avx512\.|avx2\.|sse2\.)?([a-z0-9.]+)")
DOTS = ("vpdpbusd", "pmaddw", "pmadd")


def renamed(match: re.Match[str]) -> str:
    return "emulated_" + match[1].replace(".", "_")


def definition(name: str, lanes: int) -> str:
    """A dot of so many lanes as arithmetic."""
    bits, length = (8, 4) if "vpdpbusd" in name else (16, 2)
    many = f"<{lanes * length} x i{bits}>"
    wide, sums = f"<{lanes * length} x i32>", f"<{lanes} x i32>"
    given = f"{sums} %c, " if length == 4 else ""
    lines = [f"define internal {sums} @{name}({given}{many} %a, {many} %b) {{"]
    lines.append(f"  %x = {'zext' if length == 4 else 'sext'} {many} %a to {wide}")
    lines.append(f"  %y = sext {many} %b to {wide}")
    lines.append(f"  %p = mul {wide} %x, %y")
    total = "%c" if length == 4 else "zeroinitializer"
    for q in range(length):
        order = ", ".join(f"i32 {length * i + q}" for i in range(lanes))
        lines.append(f"  %s{q} = shufflevector {wide} %p, {wide} poison, <{lanes} x i32> <{order}>")
        lines.append(f"  %t{q} = add {sums} {total}, %s{q}")
        total = f"%t{q}"
    return "\n".join([*lines, f"  ret {sums} {total}", "}"])


def rewritten(ir: str) -> str:
    """The module with its own definitions of dots, and calls of C for tiles."""
    text = INTRINSIC.sub(renamed, ir)
    declared = re.findall(r"^declare <(\d+) x i32> @(emulated_\S+?)\(.*$", text, re.MULTILINE)
    for lanes, name in declared:
        text = re.sub(rf"^declare .*@{name}\(.*$", "", text, flags=re.MULTILINE)
        text += definition(name, int(lanes))
    return text


def emulate(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """From now on programs for `AMX` run here."""
    library = folder / "tiles.so"
    source = Path(__file__).with_name("emulated_tiles.c")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    functions = ctypes.CDLL(str(library))
    known = cpu.find_symbol

    def found(name: str) -> int:
        if not name.startswith("emulated_"):
            return known(name)
        address = ctypes.cast(getattr(functions, name), ctypes.c_void_p).value
        assert address is not None
        return address

    def compiled(ir: str, target: Target) -> bytes:
        return compile_ir(rewritten(ir), CpuTarget.of("cpu"))

    patch.setattr(cpu, "find_symbol", found)
    patch.setattr(cpu, "check_host", lambda artifact: None)
    patch.setattr("tilewright.codegen.llvm.emitter.compile_ir", compiled)
