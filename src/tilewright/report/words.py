"""What the records name by a word of the program, as a reader says it.

origin_words("parallel")                        "another number of shared loops"
sketch_words("pack_read · multi_level_tiling")  "an input packed, tiled"
"""

from __future__ import annotations

import re

ORIGINS = {
    "": "a schedule by hand",
    "default": "the untuned program",
    "sample": "a program drawn at random",
    "parent": "a good program of earlier records",
    "tile": "a good program with other tiles",
    "parallel": "a good program with other loops shared among the threads",
    "pragma": "a good program with other loops unrolled",
    "location": "a good program with a stage computed elsewhere",
    "sketch": "a good program in another structure",
    "thread": "a good program with other threads",
    "crossover": "two good programs combined",
    "choice": "the best program with one choice made otherwise",
    "profile": "a program that guidelines for the machine suggest",
    "parts": "good programs of the task's parts together",
    "template": "a row of a template",
    "carried": "a program of another task as it is",
    "ranked": "a program near those of another task, by what was learnt",
}

RULES = {
    "winograd": "Winograd's form",
    "form": "each term visited once",
    "unroll_constant_tensor": "products with tables written out",
    "skip_zeros": "inserted zeros left out",
    "reduction_factorisation": "sums split into partial sums",
    "pack_read": "an input packed",
    "widen_factor": "a factor of bytes widened once",
    "pack_dots": "a factor copied for dots",
    "turned_tiles": "both axes tiled",
    "online_softmax": "attention's keys in chunks",
    "chain": "one contraction inside the next",
    "add_cache_write": "results gathered before they are written",
    "multi_level_tiling": "tiled",
    "multi_level_tiling_with_fusion": "tiled together with what reads the result",
    "gpu_tiling": "tiled for blocks and threads",
    "cross_thread_reduction": "threads share a sum",
    "by_rows": "rows and their sums together",
}
VARIANTS = (
    (re.compile(r"rfactor (\S+)"), r"partial sums, \1 part of"),
    (re.compile(r"(\S+): root$"), r"\1 by itself"),
    (re.compile(r"(\S+): inline$"), r"\1 where it is read"),
    (re.compile(r"(\S+): at (\S+)$"), r"\1 in the loops of \2"),
)


def origin_words(origin: str) -> str:
    """How a program was found; of a rule that is not known here, its own words."""
    return ORIGINS.get(origin, _plain(origin))


def sketch_words(name: str) -> str:
    """The structure of a program: what was done, in order; of programs by size, that of each."""
    programs = (program.partition(" where ") for program in name.split("; "))
    return "; ".join(
        ", ".join(map(_part, one.split(" · "))) + said + where for one, said, where in programs
    )


def _part(part: str) -> str:
    words = RULES.get(part) or _plain(part)
    for pattern, said in VARIANTS:
        words = pattern.sub(said, words)
    return words


def _plain(name: str) -> str:
    return name.replace("_", " ") if " " not in name else name
