"""Where a model is from, by its content: what names it in the user's cache.

origin = Origin.of(Path("net.onnx"), {"x": (1, 64)}, {})
facts = origin.known()               of a model that was imported before; else, once it is,
origin.keep(facts)
origin.identity(facts)               equal for equal content, weights and shapes
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import stat
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import cache
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.contract.arguments import Given
from tilewright.contract.artifact import BufferSpec, spec_json, spec_of
from tilewright.contract.cache import (
    WHOLE_PACKAGE,
    ArtifactCache,
    compiler_fingerprint,
    hash_of,
    stamp_of,
)
from tilewright.ground.errors import UnsupportedModel
from tilewright.ground.text import size

LARGEST_MODEL = 2**31 - 1
"""Bytes of one protobuf message."""
LIBRARIES = ("numpy", "onnx", "llvmlite")


@dataclass(frozen=True)
class ModelFacts:
    """What is known of a model without importing it: its interface, whether values of 16 bits are
    computed or read, how many values inputs of integers may have, what its import warns of, and
    the files beside it that have its weights, with their SHA-256 (None: not known).
    """

    name: str
    inputs: tuple[BufferSpec, ...]
    outputs: tuple[BufferSpec, ...]
    is_narrow: bool
    index_limits: Mapping[str, int]
    warnings: tuple[str, ...] = ()
    beside: Mapping[str, str] | None = None


@dataclass(frozen=True, eq=False)
class Origin:
    """The bytes of a model, or an open file of them, and what it is loaded with. `key` is None
    where it has no name by content: then it is imported anew each time.
    """

    content: bytes | OpenFile | None
    path: Path | None = None
    key: str | None = None
    since: float = 0.0

    @staticmethod
    def of(
        source: Any,
        shapes: Mapping[str, Given],
        constants: Mapping[str, Any],
        *more: str,
    ) -> Origin:
        """Of a path, of bytes, or of a message that can be written as such; `more` is what else
        makes it another model. Raises UnsupportedModel for a file that cannot be read.
        """
        path = None if isinstance(source, bytes) else _path_of(source)
        content = _content(source, path)
        given = _digest_of(constants)
        since = time.time()
        if content is None or given is None:
            return Origin(content, path, None, since)
        if isinstance(content, OpenFile):
            own = _known_digest(content)
        else:
            own = hashlib.sha256(content).hexdigest()
        dims = sorted((name, list(shape)) for name, shape in shapes.items())
        stem = "" if path is None else path.stem
        parts = (compiler_fingerprint(WHOLE_PACKAGE), _libraries(), own, stem, dims, given, *more)
        return Origin(content, path, hash_of("model", *parts), since)

    @property
    def opened(self) -> Callable[[], AbstractContextManager[BufferedIOBase]] | None:
        """What opens the file again, also where it is gone; None where there was none."""
        return self.content.unchanged if isinstance(self.content, OpenFile) else None

    def known(self) -> ModelFacts | None:
        """What was kept of it; None where it was never imported, or its weights were others."""
        data = None if self.key is None else ArtifactCache.of_user().read(self.key)
        if data is None:
            return None
        with contextlib.suppress(ValueError, KeyError, TypeError):
            found = json.loads(data)
            for side in ("inputs", "outputs"):
                found[side] = tuple(map(spec_of, found[side]))
            facts = ModelFacts(**{**found, "warnings": tuple(found["warnings"])})
            if self.has(facts):
                return facts
        return None

    def has(self, facts: ModelFacts) -> bool:
        """Whether the weights beside the model are those that facts tell of."""
        return facts.beside == self._digests(facts.beside or ())

    def keep(self, facts: ModelFacts, files: Sequence[str]) -> ModelFacts:
        """Keep what the import found, with the content of the `files` that it read beside the
        model; nothing where one of these was written meanwhile.
        """
        beside = self._digests(files, before=self.since)
        if self.key is None or beside is None:
            return facts
        facts = replace(facts, beside=beside)
        told = asdict(facts)
        for side in ("inputs", "outputs"):
            told[side] = list(map(spec_json, getattr(facts, side)))
        ArtifactCache.of_user().write(self.key, json.dumps(told).encode())
        return facts

    def identity(self, facts: ModelFacts) -> str | None:
        """What names the model; None where nothing does."""
        if self.key is None or facts.beside is None:
            return None
        return hash_of(self.key, sorted(facts.beside.items()))

    def _digests(self, files: Iterable[str], before: float = float("inf")) -> dict[str, str] | None:
        """SHA-256 of files beside the model; None where one is not there, or newer."""
        found = {}
        for name in files:
            try:
                opened = OpenFile.of((self.path or Path()).resolve().parent / name)
            except UnsupportedModel:
                return None
            if max(opened.status.st_mtime, opened.status.st_ctime) > before:
                return None
            found[name] = _known_digest(opened)
        return found


@dataclass(frozen=True, eq=False)
class OpenFile:
    """A regular file as it is now, also when another one gets its name."""

    path: Path
    status: os.stat_result
    descriptor: int

    @staticmethod
    def of(file: Path) -> OpenFile:
        """Raises UnsupportedModel for what is no regular file: a device or a pipe may have no
        end.
        """
        try:
            if not stat.S_ISREG(file.stat().st_mode):
                raise UnsupportedModel(f"cannot read {file}: it is no regular file")
            descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
            reason = error.strerror if isinstance(error, OSError) else error
            raise UnsupportedModel(f"cannot read {file}: {reason}") from error
        found = OpenFile(file, os.fstat(descriptor), descriptor)
        weakref.finalize(found, os.close, descriptor)
        return found

    @property
    def digest(self) -> str:
        """SHA-256 of all of it. Raises UnsupportedModel where it was written since then."""
        with self.unchanged() as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[BufferedIOBase]:
        """Its content, from the beginning. Raises UnsupportedModel where it was written since it
        was opened, or cannot be read.
        """
        try:
            with os.fdopen(self.descriptor, "rb", closefd=False) as opened:
                opened.seek(0)
                yield opened
        except OSError as error:
            raise UnsupportedModel(f"cannot read {self.path}: {error.strerror}") from error
        finally:  # whatever is wrong with it then
            # Not by the whole stamp, which tells of a file that is removed or renamed, too.
            now, then = os.fstat(self.descriptor), self.status
            if (now.st_size, now.st_mtime_ns) != (then.st_size, then.st_mtime_ns):
                raise UnsupportedModel(f"{self.path} was changed while it was used: load it again")


def _known_digest(file: OpenFile) -> str:
    """The file's digest, from the cache where its stamp is known."""
    return ArtifactCache.of_user().digest(file.path, file.status, lambda: file.digest)


def _path_of(source: Any) -> Path | None:
    return Path(source) if isinstance(source, (str, os.PathLike)) else None


def open_model(path: Path) -> OpenFile:
    """The file of a model. Raises UnsupportedModel for one that cannot be read, or is too large."""
    found = OpenFile.of(path)
    if found.status.st_size > LARGEST_MODEL:
        raise UnsupportedModel(
            f"{path} has {size(found.status.st_size)}, and an ONNX file holds 2 GiB at most; "
            f"export the model with its weights in files beside it (external data)"
        )
    return found


def _content(source: Any, path: Path | None) -> bytes | OpenFile | None:
    if path is not None:
        return open_model(path)
    if isinstance(source, bytes):
        return source
    with contextlib.suppress(Exception):  # protobuf's, for one that is too large or half filled
        data: bytes = source.SerializeToString(deterministic=True)
        return data
    return None


def _digest_of(constants: Mapping[str, Any]) -> str | None:
    """Of arrays by name; None for what are no arrays of numbers."""
    parts: list[object] = []
    for name, value in sorted(constants.items(), key=lambda item: str(item[0])):
        try:
            array = np.asarray(value)
        except (ValueError, TypeError):
            return None
        if array.dtype.hasobject:
            return None
        data = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        parts += [name, array.dtype.str, array.shape, data]
    return hash_of(*parts)


@cache
def _libraries() -> str:
    """Which builds of the libraries are here that models go through, without importing them."""
    origins = (getattr(importlib.util.find_spec(name), "origin", None) for name in LIBRARIES)
    return hash_of(*(stamp_of(Path(o).stat()) if o else "" for o in origins))
