"""Which instruction sets object code needs, read off the names of its instructions.

    needed(["cc"], [Path("code0.o")], target)    frozenset({"avx2", "fma", "avx512f", "avx512vnni"})

A target may have many more than its code uses. Sets that come together, the levels of the x86-64
ABI, are needed together; on AArch64 those that compilers use anywhere are, too. What the C
compiler's `objdump` says decides; without one, all that the target has is needed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from tilewright.target import CpuTarget
from tilewright.target.cpu import X86_V3, X86_V4

OLD = ("sse3", "ssse3", "sse4.1", "sse4.2", "avx")  # with X86_V3 wherever the target has them
NAME = re.compile(r"\t((?:\{\w+\} )?[a-z][\w.]*)")
ONLY_WIDE = re.compile(r"%zmm|%[xy]mm(?:1[6-9]|[23]\d)|%k[0-7]\b")
# The instructions of each other set that code generation may use, whole names.
X86 = {
    "amx-tile": r"tile\w+|ldtilecfg|sttilecfg",
    "amx-int8": r"tdpb[su][su]d",
    "amx-bf16": r"tdpbf16ps",
    "avx512bf16": r"vdpbf16ps|vcvtne\w*bf16",
    "avx512vnni": r"vpdp(busd|wssd)s?",
    "avxvnni": r"\{vex\} vpdp(busd|wssd)s?",
    "avxvnniint8": r"vpdpb(ss|su|uu)ds?",
    "avx512vbmi": r"vperm(b|[it]2b)|vpmultishiftqb",
    "avx512vbmi2": r"vpsh[lr]d\w+|vp(compress|expand)[bw]",
    "avx512ifma": r"vpmadd52\w+",
    "avx512bitalg": r"vpopcnt[bw]|vpshufbitqmb",
    "avx512vpopcntdq": r"vpopcnt[dq]",
    "avx512fp16": r"v(?!cvtps2ph)\w+[ps]h",
    "gfni": r"v?gf2p8\w+",
    "vpclmulqdq": r"vpclmul\w+",
    "sse4a": r"(extr|insert)q|movnts[sd]",
}
ARM = {
    "i8mm": r"usdot|sudot|us?mmla|smmla",
    "bf16": r"bf(cvt|dot|mlal|mmla)\w*",
    "dotprod": r"[su]dot",
    "lse": r"(ld|st)(add|clr|set|eor|[su]max|[su]min)\w*|swp\w*|cas\w*",
    "rcpc": r"ldapu?r\w*",
    "rdm": r"sqrdml[as]h",
}


def needed(command: Sequence[str], objects: Iterable[Path], target: CpuTarget) -> frozenset[str]:
    """LLVM's words for what the code in these files, made for `target`, needs of a CPU."""
    objdump = tool(command, "objdump")
    if objdump is None:
        return target.instructions
    names, is_wide = set[str](), False
    for file in objects:
        words = [objdump, "-d", "--no-show-raw-insn", str(file)]
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        names.update(NAME.findall(text))
        is_wide = is_wide or ONLY_WIDE.search(text) is not None
    sets = X86 if target.architecture == "x86_64" else ARM
    patterns = {word: re.compile(names_of) for word, names_of in sets.items()}
    found = {word for word, pattern in patterns.items() if any(map(pattern.fullmatch, names))}
    if target.architecture != "x86_64":
        return frozenset(target.instructions - sets.keys() | found)
    levels = (*OLD, *X86_V3, *(X86_V4 if is_wide else ()))
    return frozenset(target.instructions.intersection(levels) | found)


def tool(command: Sequence[str], name: str) -> str | None:
    """The path of one of the binutils that go with a C compiler; None where it has none."""
    words = [*command, f"-print-prog-name={name}"]
    said = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return shutil.which(said) if said else None
