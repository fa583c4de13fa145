"""Take the keys of attention in chunks where rows are long (`expr/rewrites/online_softmax.py`).

    o = Σ_k softmax(x)[i, k]·v[k, j],   x[i, k] = Σ_d q[i, d]·k[k, d]

    i.0:                    a panel of rows, as in a chain
      i.0 | k.c:            in each chunk of keys scores, their maximum, exponentials, products
      all chunks of the rows together

A panel of a chain holds whole rows of scores; here it holds what the chunks made of these, and
chunks one at a time, both of which stay in the nearest caches however long rows are. The choice is
one of sketches, as of Winograd's form, so that measuring decides.
"""

from __future__ import annotations

from tilewright.expr.nodes import Axis
from tilewright.expr.rewrites.online_softmax import lengths, rewrite
from tilewright.schedule.online_softmax_step import softmax_product
from tilewright.schedule.state import At, Role
from tilewright.schedule.steps import OnlineSoftmax, extent_int
from tilewright.space.chains import Chain, chains
from tilewright.space.derivation import Chunks, Derivation, Rule, Verdict
from tilewright.space.predicates import has_data_reuse
from tilewright.space.rules.chain import PANEL, tile_panels
from tilewright.target import CpuTarget

ROWS = 16  # of a panel, fewer of which reuse keys and values too little
NEAR = 1.5  # of the first-level cache: more than that, and every pass over scores moves them


def _can_rewrite(d: Derivation) -> Verdict:
    stage = d.working
    if not has_data_reuse(stage) or stage.name in d.tiled or stage.name in d.within:
        return Verdict.NO
    if stage.role is Role.CACHE or d.periods.get(stage.name):
        return Verdict.NO
    return Verdict.APPLY if _chain(d) is not None and _lengths(d) else Verdict.NO


def _chain(d: Derivation) -> Chain | None:
    """The contraction whose results' softmax the working stage sums products with, and what is
    between; None where there is none, or where a chunk of keys is no chunk of its results.
    """
    found = softmax_product(d.state, d.working)
    if found is None:
        return None
    chain = next(iter(chains(d.state, d.working)), None)
    if chain is None or not chain.stages.issuperset(found.replaced):
        return None
    return chain if chain.moves_alone(_keys(d).name) else None


def _keys(d: Derivation) -> Axis:
    (axis,) = d.working.compute.reduce_axes
    return axis


def _lengths(d: Derivation) -> list[int]:
    """Of chunks; none where some rows of scores stay in the first-level cache as they are."""
    extent = extent_int(_keys(d).extent)
    assert isinstance(d.target, CpuTarget)
    panel_bytes = ROWS * extent * d.working.tensor.dtype.bytes
    return lengths(extent) if panel_bytes > NEAR * d.target.l1_bytes else []


def _rewrite(d: Derivation) -> list[Derivation]:
    return [_in_chunks(d.fork(), length) for length in _lengths(d)]


def _in_chunks(d: Derivation, length: int) -> Derivation:
    stage, chain = d.working, _chain(d)
    found = softmax_product(d.state, stage)
    assert found is not None and chain is not None
    form = rewrite(stage.tensor, found, length)
    d.apply(OnlineSoftmax(stage.name, length))
    still = frozenset(a.name for a in stage.compute.axes if not chain.moves(a.name))
    d.chunks[stage.name] = Chunks(still, len(PANEL))
    d.chunks[form.products.name] = Chunks(still, 1, form.chunk.name)
    panel = tile_panels(d, chain)
    chunk = At(form.partial.name, 0)
    inside = {*(t.name for t in form.of_chunks), *chain.stages} - {*found.replaced}
    d.within |= dict.fromkeys(sorted(inside), chunk)
    d.within |= {t.name: panel for t in (form.products, form.partial, *form.of_rows)}
    d.stored |= {t.name: panel for t in form.kept}
    sources = ", ".join(chain.sources)
    d.variant = (*d.variant, f"{stage.name}: {sources} in chunks of {length}")
    return d.advance()


ONLINE_SOFTMAX = Rule("online_softmax", _can_rewrite, _rewrite)
