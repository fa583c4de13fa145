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
    "features=+avx512f,+avx512bw,+avx512vl,+avx512vnni,+avx512bf16,+amx-tile,+amx-int8,+amx-bf16,-prefer-256-bit"
)
INTRINSIC = re.compile(r"llvm\.x86\.(?:avx512\.|avx512bf16\.|avx2\.|sse2\.)?([a-z0-9.]+)")


# Type and number of the terms, of the sum, what widens the factors, multiplies, adds.
DEFINITIONS = {
    "vpdpbusd": ("i8", 4, "i32", "zext", "sext", "mul", "add"),
    "pmadd": ("i16", 2, "i32", "sext", "sext", "mul", "add"),
    "dpbf16ps": ("bfloat", 2, "float", "fpext", "fpext", "fmul", "fadd"),
}


def renamed(match: re.Match[str]) -> str:
    return "emulated_" + match[1].replace(".", "_")


def definition(name: str, lanes: int) -> str:
    """A dot of so many lanes as arithmetic."""
    kind, length, element, of_a, of_b, times, plus = next(
        rest for key, rest in DEFINITIONS.items() if key in name
    )
    many, wide, sums = (
        f"<{n} x {t}>"
        for n, t in ((lanes * length, kind), (lanes * length, element), (lanes, element))
    )
    adds = "pmadd" not in name
    lines = [
        f"define internal {sums} @{name}({f'{sums} %c, ' if adds else ''}{many} %a, {many} %b) {{"
    ]
    lines.append(f"  %x = {of_a} {many} %a to {wide}")
    lines.append(f"  %y = {of_b} {many} %b to {wide}")
    lines.append(f"  %p = {times} {wide} %x, %y")
    total = "%c" if adds else "zeroinitializer"
    for q in range(length):
        order = ", ".join(f"i32 {length * i + q}" for i in range(lanes))
        lines.append(f"  %s{q} = shufflevector {wide} %p, {wide} poison, <{lanes} x i32> <{order}>")
        lines.append(f"  %t{q} = {plus} {sums} {total}, %s{q}")
        total = f"%t{q}"
    return "\n".join([*lines, f"  ret {sums} {total}", "}"])


def rewritten(ir: str) -> str:
    """The module with its own definitions of dots, and calls of C for tiles."""
    text = INTRINSIC.sub(renamed, ir)
    declared = re.findall(r"^declare <(\d+) x \w+> @(emulated_\S+?)\(.*$", text, re.MULTILINE)
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
    patch.setattr("tilewright.codegen.llvm.functions.compile_ir", compiled)
