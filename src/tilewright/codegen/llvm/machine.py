"""What LLVM knows of a target: its machine, its features, and IR text to object code.

    compile_ir("define ...", Target.parse("cpu")) -> bytes of an object file

IR arrives in SSA form and needs no optimisation passes: code generation at level 1 with
loop-strength reduction off. LSR took most of code generation's time and caused spills.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tilewright.ground.errors import BuildError
from tilewright.ground.lazy import llvm
from tilewright.target import CpuTarget
from tilewright.target.dots import Dot, dots_of

CODEGEN_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Features:
    """What instruction selection can use. `half` and `bfloat`: conversions of these; `rounding`:
    floor, ceil, ... are instructions; `mask_bits`: element widths with masked memory access;
    `scales`: x * 2**n is an instruction, and so are m and n; `bytes`: what multiplies unsigned
    bytes and signed ones.
    """

    x86: bool
    fma: bool
    half: bool
    bfloat: bool
    gather: bool
    rounding: bool
    mask_bits: tuple[int, ...]
    scales: bool
    libmvec: str
    """The libmvec variant letter ("e", "d", "b"), or "" where there is none."""
    bytes: Dot | None = None

    def libmvec_lanes(self, bits: int) -> int:
        """Lanes of a libmvec call on elements of `bits`."""
        return {"e": 512, "d": 256, "b": 128}[self.libmvec] // bits


@lru_cache(maxsize=64)
def features(target: CpuTarget) -> Features:
    """Facts of a target: its feature words decide, else what its vector width implies."""
    words = set(target.features.split(","))

    def has(name: str, implied: bool) -> bool:
        return f"+{name}" in words or (implied and f"-{name}" not in words)

    found = next((dot for dot in dots_of(target) if dot.multiplies("uint8", "int8")), None)
    if not target.architecture.startswith(("x86_64", "amd64")):
        return Features(False, True, True, False, False, True, (), False, "", found)
    wide = has("avx512bw", target.vector_bits >= 512) and target.vector_bits >= 512
    avx2 = has("avx2", target.vector_bits >= 256)
    masks = (8, 16, 32, 64) if wide else (32, 64) if avx2 else ()
    glibc = "linux" in target.triple and "musl" not in target.triple
    variant = "e" if wide else "d" if avx2 else "b"
    return Features(
        x86=True,
        fma=has("fma", target.vector_bits >= 256),
        half=has("f16c", target.vector_bits >= 256),
        bfloat=wide and has("avx512bf16", False) and has("avx512vl", True),
        gather=avx2,
        rounding=has("sse4.1", target.cpu != "x86-64"),
        mask_bits=masks,
        scales=wide and has("avx512vl", True),
        libmvec=variant if glibc else "",
        bytes=found,
    )


@lru_cache(maxsize=1)
def _prepare() -> None:
    """Once a process: all targets of the wheel, and two passes off (options of the whole process):
    LSR, and the machine combiner, which adds integer products to each other before their sums and
    so needs more registers than a tile leaves.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.set_option("tilewright", "-disable-lsr")
    llvm.set_option("tilewright", "-x86-machine-combiner=false")


@lru_cache(maxsize=16)
def _machine(triple: str, cpu: str, feature_words: str) -> llvm.TargetMachine:
    _prepare()
    try:
        found = llvm.Target.from_triple(triple)
    except RuntimeError as e:
        raise BuildError(f"LLVM has no code generator for {triple!r}: {e}") from e
    return found.create_target_machine(
        cpu=cpu, features=feature_words, opt=CODEGEN_LEVEL, reloc="pic", codemodel="small"
    )


def machine(target: CpuTarget) -> llvm.TargetMachine:
    """LLVM's target machine. Raises BuildError for a triple that this LLVM cannot build for."""
    return _machine(target.triple, target.cpu, target.features)


def compile_ir(ir: str, target: CpuTarget) -> bytes:
    """Object code of an LLVM module given as text. Raises BuildError with LLVM's message."""
    return bytes(machine(target).emit_object(parse(ir, target)))


def compiler() -> str:
    """Name and version of what makes machine code."""
    return f"LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def parse(ir: str, target: CpuTarget) -> llvm.ModuleRef:
    """The parsed module, every value of which is there where it is used, with the target's data
    layout.
    """
    tm = machine(target)
    try:
        module = llvm.parse_assembly(ir)
        module.verify()
    except RuntimeError as e:
        raise BuildError(f"LLVM rejects the generated IR: {e}") from e
    module.triple = target.triple
    module.data_layout = str(tm.target_data)
    return module
