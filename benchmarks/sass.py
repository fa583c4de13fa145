"""Machine code of NVIDIA's devices as text: what instructions a kernel has, in all and in its loop.

    code = Sass.of(binary)
    code.opcodes["HMMA"], code.main_loop["LDGSTS"]       how many

Needs the package nvidia-cuda-nvdisasm, and neither a GPU nor a driver.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tilewright.errors import TargetError

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
        product = next((p for p in PRODUCTS if self.opcodes[p]), "")
        loops = []
        for end, (name, rest) in enumerate(self.lines):
            target = re.search(r"\.L_x_\d+", rest)
            start = self.labels.get(target[0], end) if name == "BRA" and target else end
            found = Counter(opcode for opcode, _ in self.lines[start : end + 1])
            if start < end and found[product]:
                loops.append(found)
        return min(loops, key=Counter.total, default=Counter())


@cache
def disassembler() -> str:
    """The path of nvdisasm. Raises TargetError, which says how to get it."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec is not None else ():
        for found in sorted(Path(root).glob("*/bin/nvdisasm")):
            return str(found)
    raise TargetError("no disassembler: pip install nvidia-cuda-nvdisasm")
