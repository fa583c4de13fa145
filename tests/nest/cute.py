"""What CuTe's headers say, evaluated on the host by g++.

    layouts(folder, ("cute/atom/mma_traits_sm80.hpp",), ["MMA_Traits<SM80_…>::ALayout{}"])
    printed(folder, headers, "uint64_t theirs() { … }", ['printf("%lu\\n", theirs());'])

For each layout the numbers of its elements, those of its second index after each other; of code,
the numbers in every line that its statements print (headers tell on a host that shared memory has
no addresses there, and take 0).
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from tilewright.runtime.headers import folders

SHOW = """
template <class L> void show(L const& l) {
    for (int i = 0; i < size<0>(l); ++i)
        for (int j = 0; j < size<1>(l); ++j) printf("%d ", int(l(i, j)));
    printf("\\n");
}
"""


def layouts(folder: Path, headers: Iterable[str], expressions: Iterable[str]) -> list[list[int]]:
    """The layouts that C++ expressions are, compiled in a folder of their own."""
    return printed(folder, headers, SHOW, (f"show({e});" for e in expressions))


def printed(
    folder: Path, headers: Iterable[str], code: str, statements: Iterable[str]
) -> list[list[int]]:
    """What statements print that use some code."""
    includes = "".join(f"#include <{name}>\n" for name in ("cstdio", "cute/tensor.hpp", *headers))
    calls = "\n".join(f"    {s}" for s in statements)
    (folder / "printed.cpp").write_text(
        f"{includes}using namespace cute;\n{code}\nint main() {{\n{calls}\n}}\n"
    )
    command = ["g++", "-std=c++17", "-w", *(f"-I{f}" for f in folders()), "printed.cpp", "-o", "a"]
    subprocess.run(command, cwd=folder, check=True)
    text = subprocess.run([folder / "a"], check=True, capture_output=True, text=True).stdout
    lines = (line for line in text.splitlines() if not line.startswith("ERROR: cast_smem_ptr"))
    return [list(map(int, line.split())) for line in lines]
