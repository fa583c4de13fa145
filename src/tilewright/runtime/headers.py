"""Where the headers are that templates of CUTLASS are compiled with, and that they are the right
ones.

    folders()      our own kernels' bodies, CUTLASS's headers, CUDA's
    missing()      why there are none, or None

They come from packages (`pip install 'tilewright[cutlass]'`); nothing of them is part of this one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from tilewright.ground.errors import BuildError

TEMPLATES = Path(__file__).parent / "templates"
INSTALL = "templates of CUTLASS need its headers: pip install 'tilewright[cutlass]'"

Version = tuple[int, ...]
# The least version, and the first that is too new: CUTLASS 4.2's headers do not go with later ones
# of CCCL.
VERSIONS: Mapping[str, tuple[Version, Version]] = {
    "nvidia-cutlass": ((4, 2, 0, 0), (4, 2, 0, 1)),
    "nvidia-cuda-cccl": ((13, 0), (13, 2)),
    "nvidia-cuda-crt": ((13, 0), (14,)),
    "nvidia-cuda-runtime": ((13, 0), (14,)),
}
# A header of each package, from the folder that is searched for it.
PLACES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "nvidia-cutlass": (
        ("cutlass_library/source/include", "cutlass/cutlass.h"),
        ("cutlass_library/source/examples/13_two_tensor_op_fusion", "kernel/b2b_gemm.h"),
    ),
    "nvidia-cuda-cccl": (("nvidia/cu13/include/cccl", "cuda/std/cstdint"),),
    "nvidia-cuda-crt": (("nvidia/cu13/include", "crt/host_defines.h"),),
    "nvidia-cuda-runtime": (("nvidia/cu13/include", "cuda_runtime.h"),),
}


@functools.cache
def folders() -> tuple[Path, ...]:
    """The folders to be searched, in order. Raises BuildError for a package that is missing or of
    another version, with what to install.
    """
    return (TEMPLATES, *dict.fromkeys(f for package in PLACES for f in _folders_of(package)))


@functools.cache
def missing() -> str | None:
    """Why templates cannot be compiled here; None where they can."""
    try:
        folders()
    except BuildError as error:
        return str(error)
    return None


def _folders_of(package: str) -> list[Path]:
    try:
        found = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        raise BuildError(f"{package} is not installed; {INSTALL}") from None
    least, beyond = VERSIONS[package]
    if not least <= version(found.version) < beyond:
        raise BuildError(
            f"{package} is {found.version}; it must be {dotted(least)} or later, and before "
            f"{dotted(beyond)}; {INSTALL}"
        )
    places = [(Path(str(found.locate_file(folder))), file) for folder, file in PLACES[package]]
    for folder, file in places:
        if not (folder / file).is_file():
            raise BuildError(f"{package} {found.version} has no {folder / file}; {INSTALL}")
    return [folder for folder, _ in places]


def version(text: str) -> Version:
    """The leading numbers of a version: (13, 1, 115) of "13.1.115rc1"."""
    found = re.match(r"\d+(\.\d+)*", text)
    return tuple(int(n) for n in found[0].split(".")) if found else ()


def dotted(numbers: Version) -> str:
    """13.1 of (13, 1)."""
    return ".".join(map(str, numbers))


INCLUDE = "#include"


def separated(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Several sources as one: the lines that include, without repetitions, and the rest of each in
    a namespace of its own (p0, p1, …), since helpers and tables may have equal names.
    """
    lines = [text.splitlines() for text in texts]
    includes = dict.fromkeys(x for text in lines for x in text if x.startswith(INCLUDE))
    spaces = [
        "\n".join([f"namespace p{i} {{", *(x for x in text if x not in includes), "}"])
        for i, text in enumerate(lines)
    ]
    return list(includes), spaces
