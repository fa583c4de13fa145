"""Settings: the only reader of the environment.

Settings.from_environment() -> Settings(show=frozenset({"ir"}), cache=…/tilewright, threads=2)

TILEWRIGHT_SHOW     layers to print, comma-separated: sketch, nest, ir, trace
TILEWRIGHT_CACHE    folder for compiled artifacts (default: tilewright in the user's cache
                    folder, $XDG_CACHE_HOME or ~/.cache)
TILEWRIGHT_CACHE_LIMIT   the most that folder may hold, such as 500 MB (default: 2 GB); what was
                    used longest ago goes first
TILEWRIGHT_DB       records that torch.compile(backend="tilewright") takes programs from: a SQLite
                    file or a postgresql:// URL (default: none, untuned programs)
TILEWRIGHT_THREADS  threads of a parallel region (default: every core this process may use)
CC                  C compiler that links saved libraries for this architecture (default: cc, gcc or
                    clang)
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tilewright.ground.errors import InputError
from tilewright.ground.text import parse_size

DEFAULT_CACHE_LIMIT = 2 * 10**9  # bytes
THREADS = re.compile(r"0*[1-9]\d{0,5}", re.ASCII)
LAYERS = ("sketch", "nest", "ir", "trace")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user asked for through the environment. `threads` is None for "every core"."""

    show: frozenset[str] = frozenset()
    cache: Path = Path(".cache")
    threads: int | None = None
    db: str | None = None
    cache_limit: int = DEFAULT_CACHE_LIMIT  # bytes
    compiler: str | None = None

    def shows(self, layer: str) -> bool:
        """Whether `layer` is to be printed."""
        return layer in self.show

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read `environ` (the process's own by default).

        Raises InputError for an unknown layer, a thread count that is not a positive integer, or
        a limit that is no size.
        """
        env = os.environ if environ is None else environ
        return cls(
            show=_layers(env),
            cache=_cache(env),
            threads=_threads(env),
            db=env.get("TILEWRIGHT_DB") or None,
            cache_limit=_cache_limit(env),
            compiler=env.get("CC", "").strip() or None,
        )


def _layers(env: Mapping[str, str]) -> frozenset[str]:
    words = [w.strip() for w in env.get("TILEWRIGHT_SHOW", "").split(",") if w.strip()]
    unknown = sorted(set(words) - set(LAYERS))
    if unknown:
        raise InputError(f"TILEWRIGHT_SHOW names {unknown}; known layers: {', '.join(LAYERS)}")
    return frozenset(words)


def _cache(env: Mapping[str, str]) -> Path:
    if env.get("TILEWRIGHT_CACHE"):
        try:
            return Path(env["TILEWRIGHT_CACHE"]).expanduser()
        except RuntimeError as error:
            raise InputError(f"TILEWRIGHT_CACHE: {error}") from None
    # The XDG specification says to ignore a relative path.
    xdg = Path(env.get("XDG_CACHE_HOME", ""))
    if xdg.is_absolute():
        return xdg / "tilewright"
    try:
        home = Path(env["HOME"]) if env.get("HOME") else Path.home()
    except RuntimeError:  # a user whom the system does not know keeps nothing
        home = Path(os.devnull)
    return home / ".cache" / "tilewright"


def _cache_limit(env: Mapping[str, str]) -> int:
    text = env.get("TILEWRIGHT_CACHE_LIMIT", "").strip()
    try:
        return parse_size(text) if text else DEFAULT_CACHE_LIMIT
    except ValueError as error:
        raise InputError(f"TILEWRIGHT_CACHE_LIMIT: {error}") from None


def _threads(env: Mapping[str, str]) -> int | None:
    text = env.get("TILEWRIGHT_THREADS", "").strip()
    if not text:
        return None
    if not THREADS.fullmatch(text):
        raise InputError(
            f"TILEWRIGHT_THREADS must be a positive integer, not {text!r:.80}; at most 999999"
        )
    return int(text)
