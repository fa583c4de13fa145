"""Settings: the only reader of the environment.

Settings.from_environment() -> Settings(show=frozenset({"ir"}), cache=…/tilewright, threads=2)

TILEWRIGHT_SHOW     layers to print, comma-separated: sketch, nest, ir, trace
TILEWRIGHT_CACHE    folder for compiled artifacts (default: tilewright in the user's cache
                    folder, $XDG_CACHE_HOME or ~/.cache)
TILEWRIGHT_DB       records that torch.compile(backend="tilewright") takes programs from: a SQLite
                    file or a postgresql:// URL (default: none, untuned programs)
TILEWRIGHT_THREADS  threads of a parallel region (default: every core this process may use)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tilewright.errors import InputError

LAYERS = ("sketch", "nest", "ir", "trace")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user asked for through the environment. `threads` is None for "every core"."""

    show: frozenset[str] = frozenset()
    cache: Path = Path(".cache")
    threads: int | None = None
    db: str | None = None

    def shows(self, layer: str) -> bool:
        """Whether `layer` is to be printed."""
        return layer in self.show

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read `environ` (the process's own by default).

        Raises InputError for an unknown layer or a thread count that is not a positive integer.
        """
        env = os.environ if environ is None else environ
        return cls(
            show=_layers(env),
            cache=_cache(env),
            threads=_threads(env),
            db=env.get("TILEWRIGHT_DB") or None,
        )


def _layers(env: Mapping[str, str]) -> frozenset[str]:
    words = [w.strip() for w in env.get("TILEWRIGHT_SHOW", "").split(",") if w.strip()]
    unknown = sorted(set(words) - set(LAYERS))
    if unknown:
        raise InputError(f"TILEWRIGHT_SHOW names {unknown}; known layers: {', '.join(LAYERS)}")
    return frozenset(words)


def _cache(env: Mapping[str, str]) -> Path:
    if env.get("TILEWRIGHT_CACHE"):
        return Path(env["TILEWRIGHT_CACHE"]).expanduser()
    # The XDG specification says to ignore a relative path.
    xdg = Path(env.get("XDG_CACHE_HOME", ""))
    home = Path(env["HOME"]) if env.get("HOME") else Path.home()
    return (xdg if xdg.is_absolute() else home / ".cache") / "tilewright"


def _threads(env: Mapping[str, str]) -> int | None:
    text = env.get("TILEWRIGHT_THREADS", "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"TILEWRIGHT_THREADS must be a positive integer, not {text!r}")
    return int(text)
