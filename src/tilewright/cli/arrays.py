"""Arrays in and out of files, for the commands that run a model.

read_inputs(["x=image.npy"], specs, seed, limits)    {"x": array}; inputs not named are random
write_outputs(Path("out.npz"), names, arrays)
"""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tilewright.contract.artifact import Array, BufferSpec
from tilewright.ground.errors import InputError
from tilewright.ground.files import replacing
from tilewright.ground.text import size

LEAST_ROOM, ROOM = 1 << 30, 16  # bytes of a file, or times those of all inputs, for other shapes

# What NumPy and zipfile raise over the files that they are given.
UNREADABLE = (
    OSError,
    ValueError,
    OverflowError,
    EOFError,
    RuntimeError,  # NotImplementedError, of a kind of compression, is one
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


def read_inputs(
    texts: Sequence[str], specs: Sequence[BufferSpec], seed: int, limits: Mapping[str, int]
) -> tuple[dict[str, Array], list[str]]:
    """All inputs by name, and the names of those that were made up.

    `texts` are `NAME=FILE.npy` or `FILE.npz`; `limits` say how many values random integers may
    have, by name. Extents that vary are those of the arrays that are given, else the most. Raises
    InputError for a file that cannot be read or an unknown name; shapes and dtypes are checked when
    the model runs.
    """
    given: dict[str, Array] = {}
    room = max(LEAST_ROOM, ROOM * sum(s.bytes for s in specs))
    for text in texts:
        found = _read(text, room)
        if twice := sorted(set(given) & set(found)):
            raise InputError(f"input {', '.join(twice)} is given twice: leave one --input out")
        given |= found
    names = [s.name for s in specs]
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise InputError(f"no input called {', '.join(unknown)}; the model has {', '.join(names)}")
    rng = np.random.default_rng(seed)
    pairs = [zip(s.varying, given[s.name].shape, strict=False) for s in specs if s.name in given]
    known = {name: extent for each in pairs for name, extent in each if name}
    random = [s.at(known) for s in specs if s.name not in given]
    made = {s.name: s.random(rng, _values(s, limits)) for s in random}
    return given | made, [s.name for s in random]


def random_words(
    specs: Sequence[BufferSpec], names: Sequence[str], limits: Mapping[str, int]
) -> str:
    """What random inputs are, in words: `x (normal), ids (0 to 30521)`."""
    return ", ".join(
        f"{s.name} (normal)" if s.is_float else f"{s.name} (0 to {_values(s, limits) - 1})"
        for s in specs
        if s.name in names
    )


def _values(spec: BufferSpec, limits: Mapping[str, int]) -> int:
    """How many values a random integer of an input may have; 0 and 1 index anything."""
    return 2 if spec.dtype == "bool" else limits.get(spec.name, 2)


def input_file(text: str) -> tuple[str | None, Path]:
    """The input that `NAME=FILE` names and the file; None for a plain `FILE`."""
    name, equals, file = text.partition("=")
    return (name, Path(file)) if equals else (None, Path(text))


def _read(text: str, room: int) -> dict[str, Array]:
    name, path = input_file(text)
    try:
        if path.exists() and not path.is_file():  # a pipe, or a device without end
            raise InputError(f"{path} is no regular file: name a .npy or .npz file")
        with np.errstate(over="ignore"):  # of a product of extents, which is no size then
            loaded = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            _check_room(path, loaded.nbytes, room)
            loaded = np.array(loaded)
        else:
            with loaded:
                _check_room(path, sum(part.file_size for part in loaded.zip.infolist()), room)
                loaded = {key: loaded[key] for key in loaded.files}
                if odd := [key for key, value in loaded.items() if type(value) is not np.ndarray]:
                    raise ValueError(f"{odd[0]} in it is no array")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except MemoryError as error:
        raise InputError(f"{path} is too large for this machine's memory: {error}") from error
    except UNREADABLE as error:
        text = f"{error}"
        reason = "it holds Python objects or something else" if "pickle" in text else text
        raise InputError(f"{path} is no .npy or .npz file of numbers: {reason}") from error
    if isinstance(loaded, dict):
        return _of_archive(name, path, loaded)
    if name is None:
        raise InputError(f"name the input that {path} is for: --input NAME={path}")
    return {name: loaded}


def _check_room(path: Path, wanted: int, room: int) -> None:
    """Refuse what is far larger than all inputs: some kilobytes can be an archive of terabytes."""
    if wanted > room:
        raise InputError(f"{path} holds {size(wanted)}, far more than this model's inputs take")


def _of_archive(name: str | None, path: Path, arrays: dict[str, Array]) -> dict[str, Array]:
    """The arrays of an archive by name, or its only one as `name`."""
    if name is None:
        return arrays
    if len(arrays) != 1:
        raise InputError(
            f"{path} holds {', '.join(arrays)}; give it without a name: --input {path}"
        )
    return {name: next(iter(arrays.values()))}


def write_outputs(file: Path, names: Sequence[str], arrays: Sequence[Array]) -> None:
    """Save to .npz by name, or to .npy if there is one array. Raises InputError."""
    if file.suffix not in (".npy", ".npz"):
        raise InputError(f"{file}: name a .npz file (or .npy for a single output)")
    if file.suffix == ".npy" and len(arrays) != 1:
        raise InputError(f"the model has {len(arrays)} outputs: name a .npz file, not {file}")
    try:
        with replacing(file) as part:
            if file.suffix == ".npy":
                np.save(part, arrays[0])
            else:
                _write_archive(part, names, arrays)
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror or error}") from error


def _write_archive(file: Path, names: Sequence[str], arrays: Sequence[Array]) -> None:
    """What `np.savez` writes, which takes names as keywords and so not every name."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in zip(names, arrays, strict=True):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asarray(array))
