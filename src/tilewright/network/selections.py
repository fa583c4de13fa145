"""What a network knows of the library functions that it calls (`runtime/c/select.c`).

selection_entry("nonzero")                        "tw_nonzero"
selection_scratch("top_k", shapes, cores)         bytes of scratch, for arrays of these shapes
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

Shapes: TypeAlias = Sequence[tuple[int, ...]]

WORD, ITEM, BOX, INDEX = 8, 16, 20, 4
"""Bytes of an int64, and of C's `item`, `box` and int32."""


def _suppress(shapes: Shapes, cores: int) -> int:
    batches, classes, boxes = shapes[1]
    own = -(-boxes * (ITEM + BOX) // ITEM) * ITEM
    return cores * own + batches * classes * (WORD + boxes * INDEX)


SCRATCH: Mapping[str, Callable[[Shapes, int], int]] = {
    "suppress": _suppress,
    "unique": lambda shapes, _: 2 * ITEM * shapes[0][0],
    "top_k": lambda shapes, cores: cores * ITEM * shapes[1][1],
}


def selection_entry(kind: str) -> str:
    """The name of a function in C."""
    return f"tw_{kind}"


def selection_scratch(kind: str, shapes: Shapes, cores: int) -> int:
    """Its scratch, for the most that arrays of these shapes may have."""
    return SCRATCH[kind](shapes, cores) if kind in SCRATCH else 0
