"""The compiled-artifact cache: what was built once is read back, also by other processes.

    cache = ArtifactCache(Path("~/.cache/tilewright"))
    key = cache.key(workload_hash, trace, target, name)
    artifact = cache.get(key)          None where it has to be built; then
    cache.put(key, artifact bytes)

A key covers everything an artifact depends on, the compiler's own source included, so an edited
compiler never meets its old output. A folder that cannot be written only costs the caching.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tilewright.errors import TilewrightError
from tilewright.runtime.artifact import Artifact

COMPILER_FOLDERS = ("expr", "nest", "schedule", "space", "codegen", "build", "runtime")


@functools.cache
def compiler_fingerprint() -> str:
    """A hash of the source of everything between an expression and object code."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for folder in COMPILER_FOLDERS:
        for file in sorted((root / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class ArtifactCache:
    """Artifacts as files in `folder`, one a key."""

    folder: Path

    def key(self, workload: str, trace: str | None, target: str, name: str) -> str:
        """Name of an artifact; a trace of None is the default program."""
        parts = (compiler_fingerprint(), workload, trace or "default", target, name)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def get(self, key: str) -> Artifact | None:
        """The cached artifact; None where there is none that can be read."""
        with contextlib.suppress(OSError, TilewrightError, ValueError):
            return Artifact.from_bytes(self._file(key).read_bytes())
        return None

    def put(self, key: str, artifact: bytes) -> None:
        """Keep `Artifact.to_bytes()`."""
        with contextlib.suppress(OSError):
            _write(self._file(key), artifact)

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.artifact"


def _write(file: Path, data: bytes) -> None:
    """Write so that a reader sees all of it or nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
    Path(name).replace(file)
