"""Numbers that follow from the sizes of a call, as data: what an artifact says and a call computes.

    ("floordiv", ("add", ("size", 0), 31), 32)      for (37,): 2

A formula is an int, a size by its number, or an operation of two formulas.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Formula: TypeAlias = int | tuple[Any, ...]
SIZE = "size"
OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv,
    "mod": operator.mod, "min": min, "max": max,
}  # fmt: skip


def computed(formula: Formula, sizes: Sequence[int]) -> int:
    """Its value. Raises KeyError, IndexError, TypeError for what is no formula."""
    match formula:
        case int():
            return formula
        case (str(name), int(number)) if name == SIZE:
            return sizes[number]
    op, a, b = formula
    return OPERATIONS[op](computed(a, sizes), computed(b, sizes))
