"""Tile both axes of what is turned: a stage that reads along one axis and stores along another.

    y[i, j] = x[j, i]    ->    for i.0, j.0: for i.1, j.1: for i.2 (unrolled): for j.2 (vector): …

In rows of the output, every element of x is in another line, which is gone from the caches when its
neighbour is wanted. A tile of a few lines of either side uses each to its end; in registers, loads
along x are turned by shuffles (`codegen.llvm.loads`). Lines a large power of two apart meet in few
sets of a cache: a copy of the tile, made row by row, has them side by side. Which axes these are
follows from the indices alone, so any permutation is one, with arithmetic on either side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.expr.index.simplify import affine
from tilewright.expr.nodes import Read, as_expr
from tilewright.expr.traversal import free_vars, reads
from tilewright.schedule.state import Stage
from tilewright.schedule.steps import (
    Annotate,
    CacheRead,
    Reorder,
    extent_int,
)
from tilewright.space.decisions import TILE, S, variables
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.predicates import element_expr, has_data_reuse, vector_axis
from tilewright.target.cpu import TURNED_BYTES

MOST_ROWS = 16
"""Elements that a register tile has along the axis that is read: a line of four-byte ones."""
STRUCTURE = (S, S, replace(TILE, most=MOST_ROWS))


@dataclass(frozen=True, slots=True)
class Turn:
    """The axis that a stage reads `along`, that it is `stored` along, and what it reads, of which
    `group` neighbours are loaded at once (`codegen.llvm.loads`).
    """

    along: str
    stored: str
    source: str
    group: int


def turn_of(d: Derivation, stage: Stage) -> Turn | None:
    """How a stage turns what it reads; None where it does not, or reuses elements."""
    if stage.compute.reduce_axes or stage.relations or has_data_reuse(stage):
        return None
    stored = vector_axis(d.state, stage, d.target)
    for read in reads(element_expr(stage)) if stored is not None else ():
        assert stored is not None
        along = _read_along(stage, read, stored)
        if along is not None:
            group = max(TURNED_BYTES // read.tensor.dtype.bytes, 1)
            return Turn(along, stored, read.tensor.name, group)
    return None


def _read_along(stage: Stage, read: Read, stored: str) -> str | None:
    """The axis along which a read's elements are neighbours, while those along `stored` are not."""
    if not read.indices or stored not in free_vars(read) or stored in free_vars(read.indices[-1]):
        return None
    names = [a.name for a in stage.axes if extent_int(a.extent) > 1]
    split = affine(read.indices[-1], tuple(names))
    steps = split[0] if split is not None else {}
    return next((n for n in reversed(names) if steps.get(n) == as_expr(1)), None)


def _can_turn(d: Derivation) -> Verdict:
    stage = d.working
    fixed = stage.name in d.tiled or stage.attach is not None or d.state.attached(stage.name)
    if fixed or turn_of(d, stage) is None:
        return Verdict.NO
    # what is between may be computed where it is read, too
    return Verdict.ONLY if d.state.is_output(stage.name) else Verdict.APPLY


def _turn(d: Derivation) -> list[Derivation]:
    """With the tile read where it is, and by a copy of it."""
    stage = d.working
    turn = turn_of(d, stage)
    assert turn is not None
    direct, copied = d.fork(), d.fork()
    _tile(direct, stage.name, turn)
    copied.apply(CacheRead(turn.source, (stage.name,)))
    _tile(copied, stage.name, turn)
    at = copied.choose(f"{stage.work}.copied", stage.name, "location", (0, 1))
    copied.variant = (*copied.variant, f"{turn.source}: copied")
    return [direct.advance(), copied.compute_next(stage.name, at)]


def _tile(d: Derivation, name: str, turn: Turn) -> None:
    stage = d.state[name]
    turned = (turn.along, turn.stored)
    tiles = d.tile(stage, turn.along, STRUCTURE)
    if (tiles.table[:, -1] % turn.group == 0).any():
        d.constraints.append((as_expr(variables(tiles)[-1]) % turn.group).eq(0))
    vectors = replace(TILE, most=d.target.lanes(stage.tensor.dtype))
    d.tile(stage, turn.stored, (S, S, vectors), vector=True)
    others = tuple(a.name for a in stage.axes if a.name not in turned)
    levels = [tuple(f"{axis}.{level}" for axis in turned) for level in range(len(STRUCTURE))]
    d.apply(Reorder(name, ((*others, *levels[0]), *levels[1:])))
    row, column = levels[-1]
    d.apply(Annotate(name, row, "unrolled"), Annotate(name, column, "vector"))
    d.tiled[name] = STRUCTURE


TURNED_TILES = Rule("turned_tiles", _can_turn, _turn)
