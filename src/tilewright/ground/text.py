"""Numbers as people read them.

duration(0.0377) -> "37.7 ms"      size(2_621_440) -> "2.62 MB"      clock(83) -> "1:23"
sentence("arena 2 MB") -> "Arena 2 MB"      shortened("conv_relu_64x64", 9) -> "conv…4x64"
trials(8, 5) -> "13 trials (8 searched, 5 default)"
parse_size("2 GB") -> 2_000_000_000

And text from elsewhere, so that it can be shown: `harmless`, `plain`, `one_line`; and of ours, in a
notebook: `preformatted`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

NONE = "–"
LOG_WIDTH = 132  # columns where the output is no terminal

DURATIONS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
SIZE = re.compile(r"(?P<number>\d+(\.\d+)?) ?(?P<unit>[kmgt]?)b?", re.IGNORECASE)
MOST_BYTES = 1e24
POWERS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def duration(seconds: float | None) -> str:
    """Seconds with three digits and a fitting unit; a dash for None."""
    return NONE if seconds is None else _scaled(seconds, DURATIONS)


def points_line(points_s: Sequence[tuple[str, float]]) -> str:
    """Seconds at values of sizes: `3.1 µs at S = 64, 1.2 µs at S = 8`."""
    return ", ".join(f"{duration(seconds)} at {point}" for point, seconds in points_s)


def size(count: float) -> str:
    """Bytes with three digits and a fitting unit (powers of 1000)."""
    return _scaled(count, SIZES)


def parse_size(text: str) -> int:
    """Bytes from a number with or without a unit, as `size` writes them. Raises ValueError."""
    found = SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r:.80} is no size; for example 500 MB or 2 GB")
    count = float(found["number"]) * POWERS[found["unit"].upper()]
    if count >= MOST_BYTES:
        raise ValueError(f"{text!r:.80} is more than any disk has")
    return round(count)


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    scale, unit = next((u for u in units if value >= u[0]), units[-1])
    shown = value / scale
    digits = 0 if shown >= 100 or shown == int(shown) else 1 if shown >= 10 else 2
    return f"{shown:.{digits}f} {unit}"


def clock(seconds: float) -> str:
    """A length of time as minutes:seconds or hours:minutes:seconds."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def rate(flops: float, seconds: float | None) -> str:
    """GFLOP/s; a dash where nothing is computed or nothing ran."""
    return NONE if not seconds or not flops else f"{flops / seconds / 1e9:.1f}"


def factor(before: float | None, after: float | None) -> str:
    """How many times faster `after` is than `before`."""
    return NONE if not before or not after else f"{before / after:.2f}x"


def count(number: int, noun: str) -> str:
    """`1 trial`, `2 trials`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def some(names: Sequence[str], most: int = 4) -> str:
    """`a, b, c, d and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def shortened(name: str, most: int) -> str:
    """A name in so many characters: its beginning and its end, which often tell it from others."""
    if len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{name[: most - 1 - end]}…{name[len(name) - end :]}"


def trials(searched: int, defaults: int) -> str:
    """`13 trials (8 searched, 5 default)`: the programs of a search, and untuned ones."""
    return f"{count(searched + defaults, 'trial')} ({searched} searched, {defaults} default)"


def natural(name: str) -> list[str | int]:
    """A key by which `t2` comes before `t10`; compares with keys of other names only."""
    parts = re.split(r"([0-9]+)", name)
    return [int(part) if i % 2 else part for i, part in enumerate(parts)]


def preformatted(text: str) -> str:
    """The text for a notebook, as it is."""
    return f"<pre>{escape(text)}</pre>"


def sentence(text: str) -> str:
    """The text with a capital at its start; units and names in it stay as they are."""
    return text[:1].upper() + text[1:]


def one_line(text: object, longest: int = 400) -> str:
    """The text without line breaks and control characters, cut at `longest` characters."""
    shown = "".join(c if c.isprintable() else " " for c in str(text))
    words = " ".join(shown.split())
    return words if len(words) <= longest else f"{words[: longest - 1]}…"


def harmless(text: str) -> str:
    """Control characters, which a terminal may obey, as escapes; line ends and tabs stay."""
    return CONTROL.sub(lambda found: ascii(found.group())[1:-1], text)


def plain(text: str) -> str:
    """`text` as valid Unicode: what a file's name has of other bytes becomes a question mark."""
    return text.encode(errors="replace").decode()
