"""Compute convolutions with 3 x 3 windows in Winograd's form (`expr/rewrites/winograd.py`).

    y[h, w, o] = Σ_{r,s,c} x[h + r, w + s, c] * k[r, s, c, o]      ->      a quarter of the products

The choice is one of sketches: the direct ones stay, and measurements decide. Constant weights are
transformed once, before anything runs; the stages for data and results are table products, which
`UNROLL_CONSTANT_TENSOR` takes.
"""

from __future__ import annotations

from math import prod

from tilewright.expr.reference import sizes, static_shape
from tilewright.expr.rewrites.winograd import (
    Convolution,
    Rewritten,
    all_axes,
    find,
    multiply_adds,
    rewrite,
)
from tilewright.schedule.state import Role, Stage
from tilewright.schedule.steps import Winograd, WinogradGrid
from tilewright.space.derivation import Derivation, Rule, Verdict

TILE = 4  # outputs a window: of 2, the transforms cost what the products save
GREATEST_SHARE = 0.5  # of the direct form's multiply-adds: moving tiles about is not free
LEAST_USES = 12  # of a transformed weight: there are four times as many, and each is read once
LEAST_BITS = 32  # narrower floats lose too many digits


def _can_transform(d: Derivation) -> Verdict:
    found = _found(d)
    if found is None:
        return Verdict.NO
    new = rewrite(d.working.tensor, found, TILE, d.sized is not None)
    pays = _share(d.working, found, new) <= GREATEST_SHARE and _uses(new) >= LEAST_USES
    return Verdict.APPLY if pays else Verdict.NO


def _found(d: Derivation) -> Convolution | None:
    """The convolution that the working stage is, with the windows to transform: the last two."""
    stage = d.working
    is_cache = stage.role is Role.CACHE  # of one that has this form without a cache, too
    found = None if stage.relations or is_cache else find(stage.compute)
    if found is None or len(found.windows) < 2:
        return None
    tensors = (stage.tensor, found.data.tensor, found.weights.tensor)
    if any(t.dtype != stage.tensor.dtype or t.dtype.bits < LEAST_BITS for t in tensors):
        return None
    if len(d.state.consumers(found.weights.tensor.name)) > 1:
        return None
    return Convolution(found.data, found.weights, found.windows[-2:])


def _share(stage: Stage, found: Convolution, new: Rewritten) -> float:
    """Multiply-adds in Winograd's form, the transforms' included, over those of the direct form."""
    return multiply_adds(new, len(found.windows), TILE) / prod(sizes(stage.axes))


def _uses(new: Rewritten) -> int:
    """How many products each transformed weight is part of."""
    return prod(sizes(all_axes(new.products))) // prod(static_shape(new.weights))


def _transform(d: Derivation) -> list[Derivation]:
    found = _found(d)
    assert found is not None
    name = d.working.name
    step = WinogradGrid if d.sized is not None else Winograd
    d.apply(step(name, tuple(w.axis for w in found.windows), TILE))
    d.variant = (*d.variant, f"{name}: tiles of {TILE} x {TILE}")
    return [d]


WINOGRAD = Rule("winograd", _can_transform, _transform)
