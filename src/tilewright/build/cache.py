"""The compiled-artifact cache: what was built once is read back, also by other processes.

    cache = ArtifactCache(Path("~/.cache/tilewright"), limit=2 * 10**9)
    key = cache.key(workload_hash, gene, target, name)
    artifact = cache.get(key)          None where it has to be built; then
    cache.put(key, artifact bytes)
    cache.trim()                       once all are put: back to the limit

A key covers everything an artifact depends on, the compiler's own source included, so an edited
compiler never meets its old output. A file is the SHA-256 of an artifact, then the artifact; one
that does not match is thrown away, and one that another user may have written is not read. The time
of a file is when it was last used. A folder that cannot be written only costs the caching.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tilewright.artifact import Artifact
from tilewright.errors import TilewrightError
from tilewright.files import own_bytes, replacing
from tilewright.settings import DEFAULT_CACHE_LIMIT

SUFFIX = ".artifact"
DIGEST_BYTES = hashlib.sha256().digest_size
COMPILER_PARTS = (
    "artifact.py", "expr", "nest", "cost", "schedule", "space", "codegen", "cutlass", "build",
    "runtime",
)  # fmt: skip
SOURCES = (".py", ".h")


@functools.cache
def compiler_fingerprint() -> str:
    """A hash of the source of everything between an expression and object code."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for part in COMPILER_PARTS:
        path = root / part
        files = [f for f in path.rglob("*") if f.suffix in SOURCES] if path.is_dir() else [path]
        for file in sorted(files):
            digest.update(file.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """How many artifacts there are, and their bytes."""

    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ArtifactCache:
    """Artifacts as files in `folder`, one a key; about `limit` bytes of them."""

    folder: Path
    limit: int = DEFAULT_CACHE_LIMIT

    def key(self, workload: str, gene: str | None, target: str, name: str) -> str:
        """Name of an artifact; a gene of None is the default program."""
        parts = (compiler_fingerprint(), workload, gene or "default", target, name)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def get(self, key: str) -> Artifact | None:
        """The cached artifact; None where there is none that is whole."""
        file = self._file(key)
        try:
            data = own_bytes(file)
        except OSError:
            return None
        with contextlib.suppress(TilewrightError, ValueError):
            if hashlib.sha256(data[DIGEST_BYTES:]).digest() == data[:DIGEST_BYTES]:
                artifact = Artifact.from_bytes(data[DIGEST_BYTES:])
                with contextlib.suppress(OSError):
                    os.utime(file)
                return artifact
        with contextlib.suppress(OSError):
            file.unlink()
        return None

    def put(self, key: str, artifact: bytes) -> None:
        """Keep `Artifact.to_bytes()`."""
        file = self._file(key)
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)  # whatever is there is not written through
            with replacing(file) as part:
                part.write_bytes(hashlib.sha256(artifact).digest() + artifact)
                part.chmod(0o600)

    def usage(self) -> Usage:
        """What it holds now."""
        sizes = [size for _, size, _ in self._entries()]
        return Usage(len(sizes), sum(sizes))

    def trim(self, limit: int | None = None) -> Usage:
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
                file.unlink()
                removed, files = removed + size, files + 1
        return Usage(files, removed)

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """When each artifact was last used, its bytes, and its file."""
        with contextlib.suppress(OSError):  # of a folder that cannot be
            for file in self.folder.glob(f"??/*{SUFFIX}"):
                with contextlib.suppress(OSError):  # another process removed it
                    found = file.lstat()
                    yield found.st_mtime, found.st_size, file

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}{SUFFIX}"
