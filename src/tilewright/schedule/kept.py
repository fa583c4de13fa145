"""Stages whose storage is further out than where they are computed: what was computed in earlier
iterations must be all that is read afterwards.

    for i.0:
      alloc m: [4, 32] at [i.0 * 4, 0]
      for c in range(32):
        m[i.0 * 4 + .., c] = …        each iteration computes a window, a part of what is kept
      use all of m                    read later: covered by the windows of all iterations together
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.expr.index.extents import plain
from tilewright.expr.index.simplify import affine, simplify
from tilewright.expr.nodes import Axis, Const, Expr, as_expr
from tilewright.schedule.state import Stage, State
from tilewright.schedule.windows import Window


def nest_in(state: State, stage: Stage, target: str) -> Stage | None:
    """The stage directly in the loops of `target` in whose nest `stage` runs (or is it); `target`
    itself for that; None for a stage that runs elsewhere.
    """
    while stage.name != target:
        if stage.attach is None:
            return None
        if stage.attach.target == target:
            break
        stage = state[stage.attach.target]
    return stage


def covers(
    computed: Sequence[Window],
    between: Mapping[str, int],
    read: Sequence[Window],
    axes: Sequence[Axis],
) -> bool:
    """Whether windows computed in all iterations of the loops `between` (variable -> extent) make
    up windows read later. Only where it is sure: each loop moves one dimension, by no more than
    what is computed then.
    """
    moved: set[str] = set()
    for mine, theirs, axis in zip(computed, read, axes, strict=True):
        split = affine(mine.base, between)
        if split is None:
            return False
        steps = {name: _number(k) for name, k in split[0].items() if between[name] != 1}
        if moved & steps.keys():
            return False
        moved |= steps.keys()
        reach = _number(mine.span)
        for name, step in sorted(steps.items(), key=lambda item: item[1]):
            if not 0 <= step <= reach:
                return False
            reach += step * (between[name] - 1)
        if not _holds(split[1], reach, theirs, axis):
            return False
    return True


def _holds(base: Expr, reach: int, read: Window, axis: Axis) -> bool:
    """Whether `reach` elements from `base` on hold a window, or the whole axis."""
    if base == as_expr(0) and reach >= _number(axis.extent):
        return True
    ahead = _number(simplify(read.base - base))
    return 0 <= ahead <= reach - _number(read.span)


def _number(e: int | Expr) -> int:
    """The value of a constant; for others one that no condition above holds for."""
    found = e if isinstance(e, int) else plain(simplify(e))
    if isinstance(found, Const):
        found = int(found.value)
    return found if isinstance(found, int) else -1
