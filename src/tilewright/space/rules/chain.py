"""Contractions back to back: one is computed inside another, so that what is between them never
leaves the near caches (Bolt's persistent kernels, MLSys 2022, section 3.1.1, on CPUs, with any
epilogue between).

    D[i, j] = Σ_f E[i, f]·W[f, j],   E = relu(C),   C[i, f] = Σ_k A[i, k]·V[k, f]

    panel    i.0: E of these rows, all f            then D of them
    chunk    i.0 i.1 | f.0: E of these rows, f.1    then D += E·W

    prologue the same with C a given tensor: E is the operand as it is packed

Where a contraction reads through other stages what another one made, `CHAIN` says of all of these
where they are to be computed; when the derivation comes to them, `CHAINED` puts them there. What
links two contractions is stored, never inlined (`LINKED`): inside, or at the root. How far
inside is a decision, and so is the tile, whose rows a panel has. What a window slides over is
computed with the rows around the tile, its halo. The other rules go on without a chain: loops one
after another are sketches of the same task, so measuring decides.

Nothing of a prologue is computed twice but halos, and its rows lie one after another in memory, so
that they are read as one stream, and those of the next panel meanwhile (`codegen/llvm/prefetch`).

Loops along which a source stands still (of `j` above) would compute it anew: those outside of it
have one iteration.
"""

from __future__ import annotations

from functools import reduce
from operator import mul

from tilewright.expr.access import branches_on_position
from tilewright.expr.nodes import Axis, Expr, as_expr
from tilewright.schedule.state import At, Stage
from tilewright.schedule.steps import CacheWrite, ComputeAt, ComputeInline, StoreAt
from tilewright.space.chains import Chain, chains, is_prologue, links_contractions
from tilewright.space.decisions import TileFactors, variables
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.predicates import (
    fusible_consumer,
    has_data_reuse,
    is_inlinable,
    table_axes,
    vector_axis,
)
from tilewright.space.rules.ansor import fusion_target, structure_of, tile

INNER, INNER_DOT = structure_of("SSRS"), structure_of("SSRSR")  # vectors run along the reduction
PANEL = (0, 1)  # tile levels of STRUCTURE: outer spatial loops, which a fused consumer has, too
CHUNK = 2  # its outer reduction loops


# ---- the end of a chain ---------------------------------------------------------------------


def _can_chain(d: Derivation) -> Verdict:
    stage = d.working
    if not has_data_reuse(stage) or stage.name in d.tiled or stage.name in d.within:
        return Verdict.NO
    if d.periods.get(stage.work) or table_axes(stage):
        return Verdict.NO
    return Verdict.APPLY if chains(d.state, stage) else Verdict.NO


def _chain(d: Derivation) -> list[Derivation]:
    return [
        one
        for chain in chains(d.state, d.working)
        for one in (_panel(d.fork(), chain), _chunk(d.fork(), chain))
        if one is not None
    ]


def _panel(d: Derivation, chain: Chain) -> Derivation | None:
    """Everything in the panels of the working stage."""
    if not any(chain.moves(a.name) and a.extent != 1 for a in d.working.compute.axes):
        return None
    return _begin(d, chain, tile_panels(d, chain), "panels")


def tile_panels(d: Derivation, chain: Chain) -> At:
    """Tile the working stage; in its outer spatial loops, or those of its fused consumer, what it
    takes of a chain may be computed. Returns where, which is a decision.
    """
    stage = d.working
    tile(d, fusion_target(d))
    attach = d.state[stage.name].attach
    level = d.choose(f"{stage.work}.panel", stage.work, "location", PANEL)
    for axis in stage.compute.axes:
        if not chain.moves(axis.name) and axis.extent != 1:
            d.constraints += [(level < at) | _once(d, axis, at) for at in PANEL]
    d.constraints += [(level < at) | one for at in PANEL for one in _in_one_piece(d, chain, at)]
    if attach is None:
        return At(stage.name, level)
    d.constraints.append(level <= as_expr(attach.level))
    return At(attach.target, level)


def _chunk(d: Derivation, chain: Chain) -> Derivation | None:
    """Everything in the outer reduction loops of the working stage. Not what is reduced between the
    contractions: that takes all of the chunks.
    """
    stage = d.working
    between = (d.state[name] for name in chain.stages if name not in chain.sources)
    if any(s.compute.reduce_axes for s in between):
        return None
    if not any(chain.moves_alone(a.name) and a.extent != 1 for a in stage.compute.reduce_axes):
        return None
    tile(d, fusion_target(d))
    attach = d.state[stage.name].attach
    if attach is not None:
        d.constraints.append(as_expr(attach.level) < CHUNK)
    for axis in stage.axes:
        moves = chain.moves_alone if axis.reduce else chain.moves
        if not moves(axis.name) and axis.extent != 1:
            d.constraints.append(_once(d, axis, PANEL[-1]))
    d.constraints += _in_one_piece(d, chain, PANEL[-1])
    return _begin(d, chain, At(stage.name, CHUNK), "chunks")


def _once(d: Derivation, axis: Axis, level: int) -> Expr:
    """The condition that the loops of an axis of the working stage up to a tile level, of a
    reduction the outer one, have one iteration.
    """
    tiles = d.decisions[f"{d.working.work}.{axis.name}"]
    assert isinstance(tiles, TileFactors)
    lengths = variables(tiles)
    return reduce(mul, lengths if axis.reduce else lengths[level:]) >= tiles.extent


def _in_one_piece(d: Derivation, chain: Chain, level: int) -> list[Expr]:
    """The conditions that rows of a prologue's operand lie one after another in memory: tiles
    inside of a level have one iteration of an axis, or all of those further in.
    """
    node = d.working.work

    def tile_of(axis: Axis) -> Expr:
        return reduce(mul, variables(d.decisions[f"{node}.{axis.name}"])[level:])

    pairs = chain.neighbours(d.working.compute.axes)
    return [(tile_of(a) <= 1) | (tile_of(b) >= b.extent) for a, b in pairs]


def _begin(d: Derivation, chain: Chain, at: At, how: str) -> Derivation:
    d.within |= dict.fromkeys(chain.stages, at)
    d.variant = (*d.variant, f"{d.stage}: {how} of {', '.join(chain.sources)}")
    return d.advance()


# ---- what is computed inside ----------------------------------------------------------------


def _links(d: Derivation) -> Verdict:
    stored = links_contractions(d.state, d.working) or is_prologue(d.state, d.working)
    return Verdict.ONLY if stored else Verdict.NO


def _is_placed(d: Derivation) -> Verdict:
    return Verdict.ONLY if d.stage in d.within else Verdict.NO


def _place(d: Derivation) -> list[Derivation]:
    stage = d.working
    at = d.within.setdefault(stage.name, None)
    if at is None:
        return [d.advance()]
    if has_data_reuse(stage):
        return _place_contraction(d, stage, at)
    found = []
    moves = branches_on_position(stage.compute) and not is_prologue(d.state, stage)
    if moves and is_inlinable(d.state, stage):
        inlined = d.fork().advance()
        inlined.apply(ComputeInline(stage.name))
        inlined.variant = (*d.variant, f"{stage.name}: inline")
        found.append(inlined)
    if stage.name in d.stored:
        store = d.stored[stage.name]
        d.apply(StoreAt(stage.name, store.target, store.level))
    d.apply(ComputeAt(stage.name, at.target, at.level))
    return [d.advance(), *found]


def _place_contraction(d: Derivation, stage: Stage, at: At) -> list[Derivation]:
    fusion = fusible_consumer(d.state, stage)
    if fusion is None:
        d.apply(CacheWrite(stage.name), ComputeAt(stage.name, at.target, at.level))
        d.advance()
        fusion = fusible_consumer(d.state, d.working)
    vector = vector_axis(d.state, d.working, d.target)
    along = any(a.name == vector for a in d.working.compute.reduce_axes)
    tile(d, fusion, INNER_DOT if along else INNER)
    return [d.advance()]


CHAIN = Rule("chain", _can_chain, _chain)
LINKED = Rule("linked", _links, _place)
"""Must come before inlining."""
CHAINED = Rule("chained", _is_placed, _place)
"""Must come before all rules that decide about a stage but inlining."""
