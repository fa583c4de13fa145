"""Pack an operand in the order in which the register tile reads it, as BLAS does.

    C[i, j] = Σ_k A[i, k]·B[k, j]    ->    B.C = B (a window);  C[i, j] = Σ_k A[i, k]·B.C[k, j]

Constants are packed before anything runs (`LayoutRewrite`); this is for the other operands.
A register tile that runs over k reads a few vectors of every row of B: strided, a page each in a
large matrix, and the same cache sets again and again. The copy is as wide as the tiles that use
it, so that they read it from end to end. It is made inside the stage's loops (each thread packs
what it uses); how far inside is a decision.

A factor of a dot that is no constant is copied in the order of its terms (`PackRead`), as a stage
of its own, which other rules place. So is the factor that all lanes share, as numbers of 16 bits,
where an instruction multiplies those: a register tile would widen it anew for each of its vectors.
"""

from __future__ import annotations

from tilewright.expr.access import MIN_REUSE, uses
from tilewright.expr.dtypes import INT16
from tilewright.expr.nodes import Read, Var
from tilewright.expr.tensors import Placeholder
from tilewright.expr.traversal import free_vars, reads
from tilewright.schedule.state import Role, Stage
from tilewright.schedule.steps import CacheRead, PackRead, WidenRead, extent_int
from tilewright.space.decisions import INNERMOST_LIMIT
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.predicates import (
    dot_copy,
    dot_loop,
    element_expr,
    has_data_reuse,
    vector_axis,
)
from tilewright.space.rules.ansor import fusion_target, tile

LEVELS = 3  # tile levels S, S, R of the stage itself
FUSED_LEVELS = 2  # spatial levels of a consumer that the stage is computed in


def _strided(d: Derivation) -> Read | None:
    """The read to pack: rows along the vector axis, longer than a register tile, walked by a
    reduction and used again by other spatial axes.
    """
    stage = d.working
    vector = vector_axis(d.state, stage, d.target)
    found = reads(element_expr(stage))
    names = [r.tensor.name for r in found]
    for read in found:
        if names.count(read.tensor.name) == 1 and _pays(stage, read, vector):
            return read
    return None


def _pays(stage: Stage, read: Read, vector: str | None) -> bool:
    source = read.tensor.source
    if not isinstance(source, Placeholder) or source.constant or not read.indices:
        return False
    if not all(isinstance(i, Var) for i in read.indices):
        return False
    moving = {name for i in read.indices for name in free_vars(i)}
    row = next((a for a in stage.compute.axes if free_vars(read.indices[-1]) == {a.name}), None)
    if row is None or row.name != vector or extent_int(row.extent) <= INNERMOST_LIMIT:
        return False
    reduced = any(a.name in moving and a.extent != 1 for a in stage.compute.reduce_axes)
    return reduced and uses(stage.tensor, read) >= MIN_REUSE


def _can_pack(d: Derivation) -> Verdict:
    stage = d.working
    if not has_data_reuse(stage) or stage.name in d.tiled or stage.role is Role.CACHE:
        return Verdict.NO
    return Verdict.APPLY if _strided(d) is not None else Verdict.NO


def _pack(d: Derivation) -> list[Derivation]:
    name, read = d.working.name, _strided(d)
    assert read is not None
    fusion = fusion_target(d)
    d.apply(CacheRead(read.tensor.name, (name,)))
    tile(d, fusion)
    stage = d.working
    levels = tuple(range(LEVELS if fusion is None else FUSED_LEVELS))
    at = d.choose(f"{stage.work}.pack", stage.work, "location", levels)
    if stage.attach is not None:
        d.constraints.append(at <= stage.attach.level)
    return [d.compute_next(stage.attach.target if stage.attach else name, at)]


def _can_pack_dots(d: Derivation) -> Verdict:
    if d.working.relations or dot_copy(d.state, d.working, d.target) is None:
        return Verdict.NO
    return Verdict.ONLY


def _pack_dots(d: Derivation) -> list[Derivation]:
    found = dot_copy(d.state, d.working, d.target)
    assert found is not None
    (dot, lanes), name = found, d.working.name
    copied = dot.packed.tensor.name
    d.apply(PackRead(name, copied, dot.axis, lanes, dot.length))
    d.factors.add(f"{copied}.{name}")
    return [d]


def _bytes_of_words(d: Derivation) -> Read | None:
    """The factor in bytes that all lanes of a dot share, which multiplies words."""
    found = dot_loop(d.state, d.working, d.target)
    if found is None or not found.words or found.fixed.tensor.dtype.bits >= INT16.bits:
        return None
    return found.fixed if uses(d.working.tensor, found.fixed) >= MIN_REUSE else None


def _can_widen(d: Derivation) -> Verdict:
    if d.working.relations or _bytes_of_words(d) is None:
        return Verdict.NO
    return Verdict.ONLY


def _widen(d: Derivation) -> list[Derivation]:
    read = _bytes_of_words(d)
    assert read is not None
    d.apply(WidenRead(d.working.name, read.tensor.name))
    return [d]


WIDEN_FACTOR = Rule("widen_factor", _can_widen, _widen)
"""Must come after `PACK_DOTS` and before all rules that tile."""
PACK_DOTS = Rule("pack_dots", _can_pack_dots, _pack_dots)
"""Must come before all rules that tile: the others go on with the copy."""
PACK_READ = Rule("pack_read", _can_pack, _pack)
"""Must come before the tiling rules: what is tiled is not packed any more."""
