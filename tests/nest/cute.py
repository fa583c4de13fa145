"""What CuTe's headers say of a layout, evaluated on the host by g++.

    layouts(folder, ("cute/atom/mma_traits_sm80.hpp",), ["MMA_Traits<SM80_…>::ALayout{}"])

For each layout the numbers of its elements, those of its second index after each other.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from tilewright.headers import folders


def layouts(folder: Path, headers: Iterable[str], expressions: Iterable[str]) -> list[list[int]]:
    """The layouts that C++ expressions are, compiled in a folder of their own."""
    includes = "".join(f"#include <{name}>\n" for name in ("cstdio", "cute/tensor.hpp", *headers))
    calls = "\n".join(f"    show({e});" for e in expressions)
    (folder / "layouts.cpp").write_text(
        f"{includes}using namespace cute;\n"
        "template <class L> void show(L const& l) {\n"
        "    for (int i = 0; i < size<0>(l); ++i)\n"
        '        for (int j = 0; j < size<1>(l); ++j) printf("%d ", int(l(i, j)));\n'
        '    printf("\\n");\n}\n'
        f"int main() {{\n{calls}\n}}\n"
    )
    command = ["g++", "-std=c++17", "-w", *(f"-I{f}" for f in folders()), "layouts.cpp", "-o", "a"]
    subprocess.run(command, cwd=folder, check=True)
    text = subprocess.run([folder / "a"], check=True, capture_output=True, text=True).stdout
    return [list(map(int, line.split())) for line in text.splitlines()]
