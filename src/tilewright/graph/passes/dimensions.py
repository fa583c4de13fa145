"""Which dimensions of a reshape correspond.

matching_groups((1, 6, 4, 5), (2, 3, 20))  →  [([1], [0, 1]), ([2, 3], [2])]
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

Groups = list[tuple[list[int], list[int]]]


def matching_groups(source: Sequence[int], target: Sequence[int]) -> Groups:
    """Shortest runs of dimensions with equal products; those of extent 1 belong to none."""
    old = [d for d, e in enumerate(source) if e > 1]
    new = [d for d, e in enumerate(target) if e > 1]
    groups: Groups = []
    while old:
        left, right = [old.pop(0)], [new.pop(0)]
        while (a := prod(source[d] for d in left)) != (b := prod(target[d] for d in right)):
            if a < b:
                left.append(old.pop(0))
            else:
                right.append(new.pop(0))
        groups.append((left, right))
    return groups
