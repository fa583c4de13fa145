"""A network as one shared library with its weights, and a C header.

    save(Path("resnet50.so"), "resnet50", [LibraryNetwork(artifact, kernels, constants)])

    resnet50.so     the network's code and its kernels', the weights in read-only data, a C
                    interface (`library.c`), and a description for `tilewright.load_library`
    resnet50.h      that interface (`model.h`), every name beginning with `resnet50_`

Several programs make one library for several input shapes. A C compiler for the target compiles the
interface and the pool of threads (`runtime/c`), and links. Weights go through the assembler as they
are (`.incbin`). The library needs libc, libm, and libmvec where kernels call vector math; of a CPU
the instruction sets that its code uses (`instructions.py`), or those of a fallback.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tilewright.build.library.instructions import needed, tool
from tilewright.build.library.source import (
    HERE,
    Description,
    header_text,
    refuse_unlike,
    source_text,
)
from tilewright.contract.artifact import Artifact, derive_entry, timed_entry
from tilewright.ground import __version__
from tilewright.ground.errors import BuildError, InputError, TargetError
from tilewright.ground.files import replacing
from tilewright.ground.settings import Settings
from tilewright.ground.text import plain
from tilewright.runtime.constants import (
    ConstantPool,
    Constants,
    placed_arrays,
    shared_offsets,
    write_arrays,
)
from tilewright.runtime.host import host_architecture
from tilewright.runtime.library import FORMAT, SEAL, SECTION, UNSEALED, refuse_library, seal
from tilewright.runtime.native import SOURCE
from tilewright.runtime.symbols import VECTOR_PREFIX, undefined_symbols
from tilewright.target import CpuTarget, Target

__all__ = ["LibraryNetwork", "linker_for", "save"]


NATIVE_COMPILERS = ("cc", "gcc", "clang")
# By architecture: the compiler's name, and the Debian packages that have it.
CROSS_COMPILERS = {
    "x86_64": ("x86_64-linux-gnu-gcc", "gcc-x86-64-linux-gnu"),
    "aarch64": ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
}
SHOWN_ERROR = 2000
# x86's large sections come last, so that nothing else is moved out of an instruction's reach.
CONSTANT_SECTIONS = {"x86_64": '.lrodata, "al"', "aarch64": '.rodata, "a"'}
DATA_S = """
    .section {section}, %progbits
    .balign 64
    .globl tilewright_constants
    .hidden tilewright_constants
tilewright_constants:
    .incbin "constants.bin"
    .byte 0
    .section {description}, "a", %progbits
    .incbin "description.json"
    .section .note.GNU-stack, "", %progbits
"""
EXPORTS = "{{ global: {name}_*; tilewright_code; tilewright_share_threads; local: *; }};\n"


@dataclass(frozen=True, slots=True)
class LibraryNetwork:
    """A network for one set of input shapes: its own artifact, those of the kernels that it calls,
    and its packed constants.
    """

    artifact: Artifact
    parts: tuple[Artifact, ...]
    constants: Constants


@dataclass(frozen=True, slots=True)
class Alternative:
    """The same networks for CPUs that have the instruction sets `needs`, LLVM's words; `parts` are
    all artifacts by the names of the files that have their code.
    """

    programs: tuple[LibraryNetwork, ...]
    parts: Mapping[str, Artifact]
    needs: frozenset[str]


def save(
    path: Path,
    title: str,
    programs: Sequence[LibraryNetwork],
    compiler: str | None = None,
    fallbacks: Sequence[Sequence[LibraryNetwork]] = (),
) -> Path:
    """Write the library `path` and its header beside it; returns the header's path.

    Each of `programs` serves other input shapes. What they share, kernels and constants, is in the
    library once. `compiler` is the C compiler's command (None: the usual one for the target).
    Each of `fallbacks` is the same for other CPUs of that architecture: the first that this one
    has the instructions for runs. One that no CPU would run is left out. Raises BuildError when the
    path cannot be written or is no library's, when there is no compiler, when a fallback is for
    another architecture or of another interface, or with the compiler's message.
    """
    try:
        header = refuse_library(path)
    except InputError as error:
        raise BuildError(str(error)) from error
    groups = [tuple(programs), *map(tuple, fallbacks)]
    command = linker_for(Target.parse(programs[0].artifact.target), compiler)
    refuse_unlike(title, [[p.artifact for p in group] for group in groups])
    target = CpuTarget.of(programs[0].artifact.target)
    name = header.stem
    try:
        with replacing(path) as part:
            folder = part.parent
            made = _alternatives(command, folder, title, groups)
            every = [p for one in made for p in one.programs]
            pool = ConstantPool()
            constants = [p.constants if len(made) == 1 else p.constants.pooled(pool) for p in every]
            starts, size = shared_offsets(constants)
            artifacts, needs = tuple(p.artifact for p in every), tuple(one.needs for one in made)
            words = plain(path.name), title, __version__
            description = Description(name, *words, artifacts, starts, size, needs)
            _write_sources(folder, description, target)
            write_arrays(folder / "constants.bin", placed_arrays(constants, starts), size)
            _link(command, folder, path.name, {n: a for one in made for n, a in one.parts.items()})
            seal(part)
            with replacing(header) as text:
                (folder / header.name).replace(text)
    except OSError as error:
        raise BuildError(f"cannot write {path}: {error.strerror or error}") from error
    return header


def _linked(title: str, programs: Sequence[LibraryNetwork]) -> list[Artifact]:
    """All artifacts, each once."""
    known: dict[str, Artifact] = {}
    for artifact in (a for p in programs for a in (p.artifact, *p.parts)):
        if known.setdefault(artifact.entry, artifact).object_code != artifact.object_code:
            raise BuildError(
                f"{title}: two kernels are called {artifact.entry}; compile the networks of a "
                f"library together, as one ModelSet"
            )
    return list(known.values())


def linker_for(target: Target, given: str | None = None) -> list[str]:
    """The command of the C compiler that links for `target`, `given` or the usual one. Raises
    TargetError for what is no CPU, BuildError where there is none.
    """
    if not isinstance(target, CpuTarget):
        raise TargetError(
            f"{target.kind}:{target.name} is no CPU: libraries are saved for CPUs only"
        )
    if target.architecture not in CROSS_COMPILERS or "linux" not in target.triple:
        raise BuildError(
            f"libraries are saved for Linux on {' or '.join(CROSS_COMPILERS)}, not {target.triple}"
        )
    cross, package = CROSS_COMPILERS[target.architecture]
    native = target.architecture == host_architecture()
    names = (*NATIVE_COMPILERS, cross) if native else (cross,)
    wanted = given or (Settings.from_environment().compiler if native else None)
    names = names if wanted is None else (wanted,)
    found = next((words for n in names if shutil.which((words := shlex.split(n))[0])), None)
    if found is None:
        advice = "gcc" if native else f"{package} (and libc6-dev for that architecture)"
        raise BuildError(
            f"saving a library for {target.architecture} needs a C compiler; not found: "
            f"{', '.join(names)}. On Debian: apt-get install {advice}"
        )
    return found


def _write_sources(folder: Path, d: Description, target: CpuTarget) -> None:
    about = {
        "format": FORMAT,
        SEAL: UNSEALED,
        "name": d.title,
        "version": d.version,
        "artifacts": [a.header() for a in d.artifacts],
        "constants": d.starts,
        "needs": [sorted(words) for words in d.needs],
    }
    section = CONSTANT_SECTIONS[target.architecture]
    (folder / f"{d.name}.h").write_text(header_text(d), encoding="utf-8")
    (folder / "model.c").write_text(source_text(d), encoding="utf-8")
    (folder / "data.s").write_text(DATA_S.format(section=section, description=SECTION))
    (folder / "exports").write_text(EXPORTS.format(name=d.name))
    (folder / "description.json").write_text(json.dumps(about))


def _alternatives(
    command: Sequence[str], folder: Path, title: str, groups: Sequence[tuple[LibraryNetwork, ...]]
) -> list[Alternative]:
    """The groups whose code some CPU runs that has not enough for an earlier one, their code
    written to `folder`.
    """
    found: list[Alternative] = []
    for number, group in enumerate(groups):
        parts = {f"code{number}_{i}.o": a for i, a in enumerate(_linked(title, group))}
        for name, artifact in parts.items():
            (folder / name).write_bytes(artifact.object_code)
        target = CpuTarget.of(group[0].artifact.target)
        needs = needed(command, [folder / name for name in parts], target)
        if any(earlier.needs <= needs for earlier in found):
            continue
        if number:
            ends = f"_fallback{number}"
            _rename(command, folder, parts, ends)
            group = tuple(
                replace(p, artifact=replace(p.artifact, entry=p.artifact.entry + ends))
                for p in group
            )
        found.append(Alternative(group, parts, needs))
    return found


def _rename(command: Sequence[str], folder: Path, parts: Mapping[str, Artifact], ends: str) -> None:
    """Let the names that object files have for others end differently."""
    objcopy = tool(command, "objcopy")
    if objcopy is None:
        raise BuildError(
            f"a library with a fallback needs objcopy, which {command[0]} does not find. "
            f"On Debian: apt-get install binutils"
        )
    pairs = [(a.entry, a.entry + ends) for a in parts.values()]
    lines = [f"{f(old)} {f(new)}\n" for old, new in pairs for f in (str, timed_entry, derive_entry)]
    (folder / "names").write_text("".join(lines))
    for file in parts:
        words = [objcopy, "--redefine-syms=names", file]
        subprocess.run(words, cwd=folder, capture_output=True, check=True)


def _link(
    command: Sequence[str], folder: Path, library: str, parts: Mapping[str, Artifact]
) -> None:
    undefined = {n for a in parts.values() for n in undefined_symbols(a.object_code)}
    libraries = ["-lm"]
    if any(n.startswith(VECTOR_PREFIX) for n in undefined):
        libraries.insert(0, "-lmvec")
    # Threads sleep in the library's code, so it stays loaded.
    linker = ["--version-script=exports", f"-soname={library}", "-zdefs", "-znodelete"]
    done = subprocess.run(
        [
            *(
                *command,
                "-std=gnu11",
                "-D_GNU_SOURCE",
                "-O2",
                "-fPIC",
                "-ffp-contract=off",
                "-shared",
                "-fvisibility=hidden",
            ),
            *(f"-I{folder}" for folder in (HERE, SOURCE)),
            *(f"-Wl,{word}" for word in (*linker, "--as-needed", "-znoexecstack")),
            *("-pthread", "-o", library, "model.c", "data.s", *parts, *libraries),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        message = done.stderr.strip() or f"exit status {done.returncode}"
        raise BuildError(f"{command[0]} cannot link the library: {message[-SHOWN_ERROR:]}")
