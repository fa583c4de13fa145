"""Library functions whose results are as large as data say: what they mean, in NumPy.

    count, (positions,) = SELECTIONS["nonzero"]([condition])        positions int64 [rank, count]

A `select` node of a graph names one of them. Compiled, they are C (`runtime/c/select.c`), called
between kernels. They take arrays, then numbers, and give how many there are of what was looked for,
and arrays of as many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tilewright.graph.ir import Array

Found: TypeAlias = tuple[int, list[Array]]

ITEMS = ("int64", "float64", "float32")
"""What is sorted, by the number that functions are told."""


def nonzero(condition: Array) -> Found:
    """Where a bool array [...] holds, in the order of memory: int64 [rank, count]."""
    found = np.stack(np.nonzero(condition)).astype(np.int64)
    return found.shape[1], [found]


def suppress(
    boxes: Array, scores: Array, most: Array, overlap: Array, threshold: Array, centred: int
) -> Found:
    """The boxes [batch, n, 4] that are left for each class when from the one with the greatest
    score on (scores [batch, class, n] above `threshold`, which is NaN for all; of equal ones the
    first) those go that share more than `overlap` of both areas with one that stays, `most` at
    most: (batch, class, box), int64 [count, 3].

    A box is two corners, y before x, or `centred`, its middle, width and height.
    """
    rows = [
        (batch, cls, i)
        for batch, cls in np.ndindex(*scores.shape[:2])
        for i in _left(boxes[batch], scores[batch, cls], int(most), overlap, threshold, centred)
    ]
    return len(rows), [np.array(rows, np.int64).reshape(-1, 3)]


def _left(
    boxes: Array, scores: Array, most: int, overlap: Array, threshold: Array, centred: int
) -> list[int]:
    good = np.ones(len(scores), bool) if np.isnan(threshold) else scores > threshold
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    for i in order[good[order]]:
        if len(kept) >= most:
            break
        if not any(_overlap(boxes[i], boxes[k], centred) > overlap for k in kept):
            kept.append(int(i))
    return kept


def _overlap(a: Array, b: Array, centred: int) -> np.float32:
    """The area that two boxes share, of that of both; 0 where one has none."""
    half = np.float32(2)
    if centred:
        a, b = (np.concatenate((x[:2] - x[2:] / half, x[:2] + x[2:] / half)) for x in (a, b))
    low = [np.minimum(x[:2], x[2:]) if not centred else x[:2] for x in (a, b)]
    high = [np.maximum(x[:2], x[2:]) if not centred else x[2:] for x in (a, b)]
    sides = np.minimum(*high) - np.maximum(*low)
    areas = [np.prod(h - w) for h, w in zip(high, low, strict=True)]
    common = np.prod(sides)
    if min(sides) <= 0 or min(areas) <= 0 or common <= 0:
        return np.float32(0)
    return np.float32(common / (areas[0] + areas[1] - common))


def unique(rows: Array, items: int, is_sorted: int) -> Found:
    """Of each different row of one of ITEMS [n, width], in their order or that in which they
    come first: where it is first [count], the number of the one that each row is [n], how often it
    is there [count]. NaN is equal to itself, and above all others.
    """
    del items
    numbers: dict[Any, int] = {}
    keys = [tuple((np.isnan(v), 0 if np.isnan(v) else v) for v in row) for row in rows]
    for key in sorted(set(keys)) if is_sorted else dict.fromkeys(keys):
        numbers[key] = len(numbers)
    inverse = np.array([numbers[key] for key in keys], np.int64)
    first = np.array([keys.index(key) for key in numbers], np.int64)
    return len(numbers), [first, inverse, np.bincount(inverse, minlength=len(numbers))]


def top_k(rows: Array, items: int, largest: int, count: int) -> Found:
    """Where the `count` greatest, or least, of each row [r, n] are, int64 [r, count], the first of
    equal ones first. NaN is above all others.
    """
    del items
    order = np.argsort(rows[:, ::-1] if largest else rows, 1, kind="stable")
    if largest:
        order = rows.shape[1] - 1 - order[:, ::-1]
    return count, [order[:, :count].astype(np.int64)]


def scatter(x: Array, places: Array, updates: Array, bytes_of_element: int) -> Found:
    """`x` [rows, width], where row `places[k]` is row k of `updates` [n, width]; of several for one
    the last. Others than rows of x are left out.
    """
    del bytes_of_element
    y, inside = x.copy(), (places >= 0) & (places < len(x))
    for place, row in zip(places[inside], updates[inside], strict=True):
        y[place] = row
    return len(places), [y]


def number(value: Array) -> Found:
    """A whole number, int64 []: as many."""
    return int(value), [value.astype(np.int64)]


SELECTIONS: Mapping[str, Callable[..., Found]] = {
    f.__name__: f for f in (nonzero, suppress, unique, top_k, scatter, number)
}


def selected(kind: str, arrays: Sequence[Array], numbers: Sequence[int]) -> Found:
    """What a function finds in these arrays."""
    return SELECTIONS[kind](*arrays, *numbers)
