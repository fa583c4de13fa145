"""Rule 6 of paper table 1: factor a reduction to gain parallelism.

    s = Σ_k …    ->    s.rf[f] = Σ_r …;  s = Σ_f s.rf[f]

Two sketches: the factor as the outer part (chunks for the threads) or the inner part (lanes of a
vector). Only exact factors, so that no iteration is padding.
"""

from __future__ import annotations

import math

from tilewright.expr.nodes import Axis
from tilewright.schedule.state import Role
from tilewright.schedule.steps import RFactor, extent_int
from tilewright.space.decisions import divisors
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.predicates import has_more_reduction_parallel

MIN_WORK = 2048  # iterations below which neither threads nor more accumulators pay


def _can_factor(d: Derivation) -> Verdict:
    stage = d.working
    if math.prod(extent_int(a.extent) for a in stage.axes) < MIN_WORK:
        return Verdict.NO
    if stage.role is not Role.RESULT or stage.relations or not _places(d):
        return Verdict.NO
    return Verdict.APPLY if has_more_reduction_parallel(stage, d.target.cores) else Verdict.NO


def _places(d: Derivation) -> list[tuple[Axis, bool]]:
    """(axis, outer part?) where a factor fits: chunks of the outermost axis suit threads,
    interleaved lanes of the innermost one vectors.
    """
    axes = [a for a in d.working.compute.reduce_axes if a.extent != 1]
    pairs = [(axes[0], True), (axes[-1], False)] if axes else []
    return [(axis, outer) for axis, outer in pairs if _factors(axis)]


def _factors(axis: Axis) -> tuple[int, ...]:
    """Proper divisors of the extent: by 1 or by all of it, nothing would be factored."""
    return divisors(extent_int(axis.extent))[1:-1]


def _factor(d: Derivation) -> list[Derivation]:
    return [_with_factor(d.fork(), axis, outer) for axis, outer in _places(d)]


def _with_factor(d: Derivation, axis: Axis, outer: bool) -> Derivation:
    name, part = d.working.name, "outer" if outer else "inner"
    label = f"{name}.{axis.name}.{part}"
    d.apply(RFactor(name, axis.name, d.choose(label, name, "tile", _factors(axis)), outer))
    d.variant = (*d.variant, f"{name}: rfactor {part} {axis.name}")
    return d.advance().advance()


REDUCTION_FACTORISATION = Rule("reduction_factorisation", _can_factor, _factor)
