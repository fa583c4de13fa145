"""The user's cache: what was built once is read back, also by other processes.

    cache = ArtifactCache.of_user()
    key = cache.key(workload_hash, gene, target, name)
    artifact = cache.get(key)          None where it has to be built; then
    cache.put(key, artifact bytes)
    cache.trim()                       once all are put: back to the limit

    cache.read(key), cache.write(key, data)        bytes of any other kind
    cache.read_block(key, stamp), cache.write_block(key, write)      many bytes beside them

A key covers everything an entry depends on, the package's own source included, so an edited
compiler never meets its old output. A file is the SHA-256 of its content, then the content; one
that does not match is thrown away, and one that another user may have written is not read. A block
is too large to be read twice: it is what was written as long as its *stamp* is, by which the system
tells of every write to a file. The time of an entry is when it was last used. A folder that cannot
be written only costs the caching.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tilewright.contract.artifact import Array, Artifact
from tilewright.ground.errors import TilewrightError
from tilewright.ground.files import own_bytes, own_file, replacing
from tilewright.ground.settings import DEFAULT_CACHE_LIMIT, Settings

SUFFIX, BLOCK_SUFFIX = ".artifact", ".block"
DIGEST_BYTES = hashlib.sha256().digest_size
COMPILER_PARTS = (
    "contract/artifact.py", "expr", "nest", "cost", "schedule", "space", "codegen", "cutlass",
    "build", "runtime",
)  # fmt: skip
SOURCES = (".py", ".h", ".c", ".ll")
LARGEST_SHARE = 2  # of the limit: no entry has more than this part of it
SETTLED_S = 2.0  # a file written so lately may be written again within one tick of its clock
WHOLE_PACKAGE = ("",)

Stamp: TypeAlias = tuple[int, ...]


@functools.cache
def compiler_fingerprint(parts: Sequence[str] = COMPILER_PARTS) -> str:
    """A hash of the source of everything between an expression and object code, or of `parts`."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for part in parts:
        path = root / part
        files = [f for f in path.rglob("*") if f.suffix in SOURCES] if path.is_dir() else [path]
        for file in sorted(files):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def stamp_of(status: os.stat_result) -> Stamp:
    """What changes with every write to a file, and with every other file of its name."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def hash_of(*parts: object) -> str:
    """A key of several parts, whose texts are told apart."""
    return hashlib.sha256(json.dumps([str(p) for p in parts]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CacheUsage:
    """How many entries there are, and their bytes."""

    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ArtifactCache:
    """Entries as files in `folder`, one a key, some with a block; about `limit` bytes of them."""

    folder: Path
    limit: int = DEFAULT_CACHE_LIMIT

    @staticmethod
    def of_user() -> ArtifactCache:
        """The one that the settings name."""
        settings = Settings.from_environment()
        return ArtifactCache(settings.cache, settings.cache_limit)

    def key(self, workload: str, gene: str | None, target: str, name: str) -> str:
        """Name of an artifact; a gene of None is the default program."""
        parts = (compiler_fingerprint(), workload, gene or "default", target, name)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    # ---- artifacts --------------------------------------------------------------------------

    def get(self, key: str) -> Artifact | None:
        """The cached artifact; None where there is none that is whole."""
        data = self.read(key)
        if data is None:
            return None
        try:
            return Artifact.from_bytes(data)
        except (TilewrightError, ValueError):
            self.drop(key)
            return None

    def put(self, key: str, artifact: bytes) -> None:
        """Keep `Artifact.to_bytes()`."""
        self.write(key, artifact)

    # ---- bytes --------------------------------------------------------------------------------

    def read(self, key: str) -> bytes | None:
        """What was written; None where there is nothing that is whole."""
        file = self._file(key)
        try:
            data = own_bytes(file)
        except OSError:
            return None
        content = data[DIGEST_BYTES:]
        if hashlib.sha256(content).digest() != data[:DIGEST_BYTES]:
            self.drop(key)
            return None
        with contextlib.suppress(OSError):
            os.utime(file)
        return content

    def write(self, key: str, content: bytes) -> None:
        """Keep `content`."""
        self._put(self._file(key), lambda part: _write(part, content))

    def drop(self, key: str) -> None:
        """Remove an entry."""
        for file in (self._file(key), self._file(key).with_suffix(BLOCK_SUFFIX)):
            with contextlib.suppress(OSError):
                file.unlink()

    # ---- blocks -------------------------------------------------------------------------------

    def write_block(self, key: str, size: int, write: Callable[[Path], None]) -> Stamp | None:
        """Keep the file that `write` makes, of `size` bytes, beside the entry of this key, which is
        to hold the stamp that is returned; None where it cannot be kept.
        """
        file = self._file(key).with_suffix(BLOCK_SUFFIX)
        if size * LARGEST_SHARE > self.limit or not self._put(file, write):
            return None
        with contextlib.suppress(OSError):
            return stamp_of(file.lstat())
        return None

    def read_block(self, key: str, stamp: Stamp, into: Array) -> bool:
        """Fill `into`, an array of bytes, with a block; whether it is the one of that stamp, and
        whole.
        """
        with (
            contextlib.suppress(OSError),
            own_file(self._file(key).with_suffix(BLOCK_SUFFIX)) as opened,
        ):
            left = into.data
            while left and stamp_of(os.fstat(opened.fileno())) == stamp:
                count = opened.readinto(left)
                if not count:
                    break
                left = left[count:]
            return not left
        return False

    # ---- files of others --------------------------------------------------------------------

    def digest(self, file: Path, status: os.stat_result, compute: Callable[[], str]) -> str:
        """What `compute` gives for a file of anybody's, known by the file's stamp already where it
        was asked for before.
        """
        key = hash_of("digest", os.path.realpath(file), *stamp_of(status))
        known = self.read(key)
        if known is not None:
            return known.decode()
        found = compute()
        if is_settled(status):
            self.write(key, found.encode())
        return found

    # ---- all of it --------------------------------------------------------------------------

    def usage(self) -> CacheUsage:
        """What it holds now."""
        sizes = [size for _, size, _ in self._entries()]
        return CacheUsage(len(sizes), sum(sizes))

    def trim(self, limit: int | None = None) -> CacheUsage:
        """Remove what was used longest ago until no more than `limit` bytes (None: the cache's
        own) are left; returns what was removed.
        """
        limit = self.limit if limit is None else limit
        total = removed = files = 0
        for _, size, file in sorted(self._entries(), reverse=True):
            total += size
            if total <= limit:
                continue
            with contextlib.suppress(OSError):
                file.with_suffix(BLOCK_SUFFIX).unlink(missing_ok=True)
                file.unlink(missing_ok=True)
                removed, files = removed + size, files + 1
        return CacheUsage(files, removed)

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """When each entry was last used, its bytes with its block's, and its file."""
        found: dict[Path, tuple[float, int]] = {}
        with contextlib.suppress(OSError):  # of a folder that cannot be
            for file in self.folder.glob("??/*"):
                if file.suffix not in (SUFFIX, BLOCK_SUFFIX):
                    continue
                with contextlib.suppress(OSError):  # another process removed it
                    status = file.lstat()
                    used, size = found.get(file.with_suffix(SUFFIX), (0.0, 0))
                    found[file.with_suffix(SUFFIX)] = (
                        max(used, status.st_mtime),
                        size + status.st_size,
                    )
        yield from ((used, size, file) for file, (used, size) in found.items())

    def _put(self, file: Path, write: Callable[[Path], None]) -> bool:
        """Write a file that only this user can; whether it could be."""
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)  # whatever is there is not written through
            with replacing(file) as part:
                write(part)
                part.chmod(0o600)
            return True
        return False

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}{SUFFIX}"


def is_settled(status: os.stat_result) -> bool:
    """Whether a later write to a file would surely show in its stamp."""
    return time.time() - max(status.st_mtime, status.st_ctime) > SETTLED_S


def _write(part: Path, content: bytes) -> None:
    with part.open("wb") as opened:
        opened.write(hashlib.sha256(content).digest())
        opened.write(content)
