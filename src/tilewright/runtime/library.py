"""Load a saved network: `Network.save` wrote it, perhaps elsewhere.

    net = load_library("resnet50.so")       a CompiledFunction, ready to run
    (y,) = net(x)                           of several input shapes: a FunctionSet of them

The file is read before any of its code runs: what it is, whether it is whole, its format, whether
this machine has the instructions, and whether every byte is as it was saved (SHA-256). The weights
stay in the library, so processes that load the same one share them.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.contract import arguments
from tilewright.contract.artifact import Artifact, numpy_dtype
from tilewright.ground.errors import InputError, RunError
from tilewright.ground.files import refuse_output
from tilewright.runtime.constants import Constants
from tilewright.runtime.cpu import NativeCode
from tilewright.runtime.function import CompiledFunction
from tilewright.runtime.host import check_targets, host_architecture
from tilewright.runtime.native import native
from tilewright.runtime.shapes import FunctionSet
from tilewright.runtime.symbols import elf_machine

FORMAT = 8
"""Of the description and of `tilewright_code`; a loader reads its own only."""
SECTION = ".tilewright"
SEAL = "sha256"
"""The key of the digest of the whole file with UNSEALED in its place; second in the description."""
UNSEALED = "0" * 64
HEADER_MARK = b"compiled by Tilewright"  # in the first lines of every header of ours

# ELF64, little-endian: the file's header, and an entry of the section table.
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION_ENTRY = struct.Struct("<IIQQQQIIQQ")
SHARED_OBJECT = 3
NO_BITS = 8  # a section without bytes in the file
CHUNK_BYTES = 1 << 20


class LibraryCode(NativeCode):
    """The entry points of one network of a loaded library."""

    def __init__(
        self, artifact: Artifact, library: ctypes.CDLL, number: int, place: tuple[Path, int]
    ) -> None:
        self._library = library
        self._place = place
        words = (ctypes.c_size_t * (4 + 3 * number)).in_dll(library, "tilewright_code")
        self._constants = words[0]
        entry, timed, derive = words[1 + 3 * number :]
        super().__init__(artifact, entry, timed, derive or None)

    @property
    def source(self) -> Callable[[], CompiledFunction]:
        """The library has everything."""
        return partial(function_of, *self._place)

    def constants(self, starts: Sequence[int]) -> Constants:
        """The weights where they lie."""
        specs = self.artifact.constants
        arrays = []
        for spec, start in zip(specs, starts, strict=True):
            memory = (ctypes.c_uint8 * spec.bytes).from_address(self._constants + start)
            bytes_there = np.ctypeslib.as_array(memory)
            arrays.append(bytes_there.view(numpy_dtype(spec.dtype)).reshape(spec.shape))
        return Constants(specs, tuple(arrays))


def load_library(path: str | Path) -> CompiledFunction | FunctionSet[CompiledFunction]:
    """The network that `Network.save` or `NetworkSet.save` wrote to `path`, loaded.

    Raises RunError when the file cannot be read, is no saved network, is cut off or changed, has
    another format, or was compiled for another machine.
    """
    functions = _functions(arguments.file("path", path))
    return functions[0] if len(functions) == 1 else FunctionSet(functions, functions[0].name)


def function_of(path: Path, number: int) -> CompiledFunction:
    """One of the networks of a library that this machine runs."""
    return _functions(path)[number]


def _functions(path: Path) -> list[CompiledFunction]:
    """The networks of a library, those that this machine has the instructions for."""
    file = Path(os.path.realpath(path))
    if file.exists() and not file.is_file():
        raise RunError(f"cannot read {path}: it is no regular file")
    description = _description(file)
    if description.get("format") != FORMAT:
        raise RunError(
            f"{path} has format {description.get('format')}, this version of Tilewright reads "
            f"{FORMAT}: save the network again with this version"
        )
    artifacts, starts = _networks(file, description)
    needs = _needs(file, description, len(artifacts))
    shapes = len(artifacts) // len(needs)
    with file.open("rb") as opened:
        pairs = [(a.target, words) for a, words in zip(artifacts[::shapes], needs, strict=True)]
        first = shapes * check_targets(str(path), pairs, elf_machine(opened.read(HEADER.size)))
    if description.get(SEAL) != _digest(file):
        raise RunError(f"{path} is damaged: its bytes are not those that were saved; save it again")
    try:
        library = ctypes.CDLL(str(file))
    except OSError as error:
        raise RunError(f"cannot load {path}: {error}") from error
    library.tilewright_share_threads(ctypes.c_void_p(native(host_architecture()).parallel))
    functions = []
    for place, artifact in enumerate(artifacts[first : first + shapes]):
        number = first + place
        code = LibraryCode(artifact, library, number, (file, place))
        constants = code.constants(starts[number])
        name = str(description.get("name", artifact.entry))
        functions.append(CompiledFunction(artifact, code=code, constants=constants, name=name))
    return functions


def seal(file: Path) -> None:
    """Write the digest of a new library into it. Raises RunError, OSError."""
    digest = _digest(file)
    with file.open("r+b") as opened:
        opened.seek(_place_of_digest(file))
        opened.write(digest.encode())


def _digest(file: Path) -> str:
    """SHA-256 of the library with UNSEALED where its digest stands, in hexadecimal."""
    place, digest = _place_of_digest(file), hashlib.sha256()
    with file.open("rb") as opened:
        for size in (place, len(UNSEALED), file.stat().st_size):
            is_digest = opened.tell() == place
            while size and (part := opened.read(min(size, CHUNK_BYTES))):
                digest.update(UNSEALED.encode() if is_digest else part)
                size -= len(part)
    return digest.hexdigest()


def _place_of_digest(file: Path) -> int:
    start, text = _text(file)
    before = f'"{SEAL}": "'.encode()
    if before not in text:
        raise RunError(f"{file}: its description has no {SEAL}")
    return start + text.index(before) + len(before)


def refuse_library(path: Path) -> Path:
    """Raise InputError when no library can be saved to `path`; returns its header's path.

    Beside what `refuse_output` refuses, that is when the header would replace a file that is
    no header of a library.
    """
    refuse_output(path, (".so",))
    header = path.with_name(f"{_prefix(path)}.h")
    refuse_output(header, ())
    if header.is_file() and HEADER_MARK not in header.read_bytes():
        raise InputError(
            f"cannot write {path}: its header would replace {header}, which Tilewright did not "
            "write; name another file"
        )
    return header


def _prefix(path: Path) -> str:
    """What C names begin with: the file's name without "lib" and suffixes, as an identifier."""
    stem = path.name.split(".")[0].removeprefix("lib")
    name = re.sub(r"[^A-Za-z0-9_]", "_", stem)
    if not name or name[0].isdigit():
        name = f"net_{name}"
    return name


def _networks(file: Path, description: Mapping[str, Any]) -> tuple[list[Artifact], list[list[int]]]:
    """The artifacts that a description lists, and where the constants of each begin."""
    headers, starts = description.get("artifacts"), description.get("constants")
    if not headers or not isinstance(headers, list) or not isinstance(starts, list):
        raise RunError(f"{file}: its description lists no networks")
    artifacts = [Artifact.of_header(header, b"") for header in headers]
    counts = [len(a.constants) for a in artifacts]
    if [len(s) if isinstance(s, list) else None for s in starts] != counts:
        raise RunError(f"{file}: its description places other constants than its networks have")
    return artifacts, starts


def _needs(file: Path, description: Mapping[str, Any], networks: int) -> list[frozenset[str]]:
    """The instruction sets of each alternative that a description lists."""
    found = description.get("needs")
    if not isinstance(found, list) or not found or networks % len(found):
        raise RunError(f"{file}: its description says of no CPU that it can run the networks")
    return [frozenset(words) for words in found]


def _description(file: Path) -> dict[str, Any]:
    """What the library says of itself."""
    _, text = _text(file)
    try:
        found: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{file}: its description is damaged: {error}") from error
    return found


def _text(file: Path) -> tuple[int, bytes]:
    """The description as it stands in the file, and where."""
    try:
        with file.open("rb") as opened:
            data = opened.read(HEADER.size)
            if data[:6] != b"\x7fELF\x02\x01" or len(data) < HEADER.size:
                raise RunError(f"{file} is no shared library: it starts with {data[:6]!r}")
            sections = _sections(file, opened, data)
            if SECTION.encode() not in sections:
                raise RunError(f"{file} is a library, but none that Tilewright saved")
            offset, size = sections[SECTION.encode()]
            opened.seek(offset)
            return offset, opened.read(size)
    except OSError as error:
        raise RunError(f"cannot read {file}: {error.strerror}") from error


def _sections(file: Path, opened: Any, data: bytes) -> dict[bytes, tuple[int, int]]:
    """Offset and size of sections by name. Raises RunError unless all are in the file."""
    fields = HEADER.unpack(data)
    kind, table, entry_size, count, names = fields[1], fields[6], fields[11], fields[12], fields[13]
    size = file.stat().st_size
    if kind != SHARED_OBJECT or entry_size != SECTION_ENTRY.size or names >= count:
        raise RunError(f"{file} is no shared library that Tilewright saved")
    if table + count * entry_size > size:
        raise RunError(f"{file} is cut off: it has {size} bytes, its section table lies beyond")
    opened.seek(table)
    rows = list(SECTION_ENTRY.iter_unpack(opened.read(count * entry_size)))
    end = max(row[4] + row[5] for row in rows if row[1] != NO_BITS)
    if end > size:
        raise RunError(f"{file} is cut off: {size} bytes of at least {end}")
    opened.seek(rows[names][4])
    strings = opened.read(rows[names][5])
    return {strings[r[0] :].partition(b"\0")[0]: (r[4], r[5]) for r in rows}
