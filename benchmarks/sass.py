"""Machine code of NVIDIA's devices as text: what instructions a kernel has, in all and in its loop.

    code = Sass.of(binary)
    code.opcodes["HMMA"], code.main_loop["LDGSTS"]       how many
    faults(code, artifact.report, products=4)            what keeps it from being fast, or right

Needs the package nvidia-cuda-nvdisasm, and neither a GPU nor a driver.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tilewright.contract.artifact import CodeReport
from tilewright.ground.errors import TargetError
from tilewright.schedule.templates.warpgroups import K

PRODUCTS = ("HMMA", "HGMMA", "FFMA", "IMMA")
"""Multiply-adds: the main loop is the innermost that has the first of these that there is."""
LABEL = re.compile(r"(\.L_x_\d+):")
INSTRUCTION = re.compile(r"/\*[0-9a-f]+\*/\s+(?:@!?\w+\s+)?([A-Z][A-Z0-9_]*)([^;]*);")


@dataclass(frozen=True)
class Sass:
    """Opcodes without their modifiers, in order, each with what else its line says; and the numbers
    of the instructions that labels stand before.
    """

    lines: tuple[tuple[str, str], ...]
    labels: dict[str, int]

    @staticmethod
    def of(binary: bytes) -> Sass:
        """Of a cubin. Raises TargetError where there is no disassembler."""
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            Path(file.name).write_bytes(binary)
            command = [disassembler(), "-c", file.name]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        return Sass.parsed(done.stdout)

    @staticmethod
    def parsed(text: str) -> Sass:
        lines: list[tuple[str, str]] = []
        labels: dict[str, int] = {}
        for line in text.splitlines():
            if label := LABEL.match(line):
                labels[label[1]] = len(lines)
            elif found := INSTRUCTION.search(line):
                lines.append((found[1], found[2]))
        return Sass(tuple(lines), labels)

    @property
    def opcodes(self) -> Counter[str]:
        return Counter(name for name, _ in self.lines)

    @property
    def main_loop(self) -> Counter[str]:
        """Of the innermost loop that multiplies; of nothing, where there is none."""
        return Counter(name for name, _ in self.lines[self.main_lines])

    @property
    def main_lines(self) -> slice:
        """Where that loop is."""
        product = next((p for p in PRODUCTS if self.opcodes[p]), "")
        loops = []
        for end, (name, rest) in enumerate(self.lines):
            target = re.search(r"\.L_x_\d+", rest)
            start = self.labels.get(target[0], end) if name == "BRA" and target else end
            if any(opcode == product for opcode, _ in self.lines[start:end]):
                loops.append(slice(start, end + 1))
        return min(loops, key=lambda lines: lines.stop - lines.start, default=slice(0))


GROUP_PRODUCT, GROUP_SYNC = "HGMMA", "WARPGROUP"
GROUP_END, GROUP_WAITS = "gsb0", ".DEPBAR"  # of the last product of a group; what waits for groups
SERIAL = re.compile(r"C75\d\d")  # of what the assembler says of products of warpgroups
REGISTER = re.compile(r"\bR(\d+)(?:\.64)?\b")


def faults(code: Sass, report: CodeReport, products: int) -> list[str]:
    """What a program of a template must not have: spills, and where groups of warps multiply, a
    wait for each product, other than one wait for a step, or sums that are touched before the last
    wait. A step has `products` for each tile of sums; the assembler leaves out tiles which nobody
    stores.
    """
    found = [said for said in report.warnings if SERIAL.match(said)]
    if report.spill_bytes:
        found.append(f"{report.spill_bytes} bytes of a thread are spilled")
    multiplying = [i for i, (name, _) in enumerate(code.lines) if name == GROUP_PRODUCT]
    if not multiplying:
        return found
    ends = [i for i in multiplying if GROUP_END in code.lines[i][1]]
    waits = [i for i, line in enumerate(code.lines) if _waits(line)]
    if not ends or len(multiplying) % (products * len(ends)):
        said = f"{len(multiplying)} products in {len(ends)} groups"
        found.append(f"{said}, not a multiple of {products} in each")
    if len(waits) != len(ends) + 1:
        found.append(f"{len(waits)} waits for {len(ends)} groups")
    return found + _touched(code, multiplying, waits)


def products_of(numbers: Mapping[str, int]) -> int:
    """How many products of a warpgroup add to one sum in a step of a template."""
    return numbers["block_k"] // K


def _waits(line: tuple[str, str]) -> bool:
    return line[0] == GROUP_SYNC and line[1].startswith(GROUP_WAITS)


def _touched(code: Sass, multiplying: Sequence[int], waits: Sequence[int]) -> list[str]:
    """The first instruction that has to do with sums which are not complete."""
    sums: set[int] = set()
    for i in multiplying:
        shape = re.match(r"\.64x(\d+)x", code.lines[i][1])
        first = REGISTER.search(code.lines[i][1])
        assert shape and first
        sums.update(range(int(first[1]), int(first[1]) + int(shape[1]) // 2))
    start = min(multiplying[0], code.main_lines.start or multiplying[0])
    for i in range(start, max(waits, default=start)):
        name, rest = code.lines[i]
        if name != GROUP_PRODUCT and sums.intersection(map(int, REGISTER.findall(rest))):
            return [f"{name}{rest.rstrip()} touches sums before the last wait"]
    return []


@cache
def disassembler() -> str:
    """The path of nvdisasm. Raises TargetError, which says how to get it."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec is not None else ():
        for found in sorted(Path(root).glob("*/bin/nvdisasm")):
            return str(found)
    if installed := shutil.which("nvdisasm"):  # with the rest of CUDA
        return installed
    raise TargetError("no disassembler: pip install nvidia-cuda-nvdisasm")
