"""Leave out the terms of a sum that are zero, as in a transposed convolution.

    z[j] = select(j % 2 == 0, x[j // 2], 0)      y[h] = Σ_q x[q + (h + h % 2) // 2] * w[..]
    y[h] = Σ_r z[h + r] * w[r]              ->   and h is tiled as (h // 2) * 2 + phase

The stage that inserts the zeros is inlined; the reduction then runs over the terms between them
(`expr/rewrites/zero_terms.py`). Which these are repeats with a short period along spatial axes, so
tiling makes the position in the period, the phase, a loop outside of all reductions: inside, every
register tile is dense.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from tilewright.expr.dag import inline_reads
from tilewright.expr.nodes import Reduce
from tilewright.expr.rewrites.zero_terms import is_solvable, periods
from tilewright.expr.tensors import Compute
from tilewright.schedule.state import Stage
from tilewright.schedule.steps import ComputeInline, SkipZeros
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.predicates import is_inlinable

GREATEST_PHASES = 64
"""Combinations of phases that become loops; beyond it tiles do not keep to one phase."""


def _can_skip(d: Derivation) -> Verdict:
    stage = d.working
    if stage.relations or not all(isinstance(a.extent, int) for a in stage.axes):
        return Verdict.NO
    if not isinstance(stage.compute.body, Reduce):
        return Verdict.NO
    return Verdict.ONLY if is_solvable(_inlined(stage, _inserting(d))) else Verdict.NO


def _inserting(d: Derivation) -> list[Stage]:
    """Producers of the working stage alone that may be inlined and put zeros where it reads."""
    return [
        p
        for p in d.state.producers(d.working.name)
        if len(d.state.consumers(p.name)) == 1
        and is_inlinable(d.state, p)
        and is_solvable(_inlined(d.working, [p]))
    ]


def _inlined(stage: Stage, producers: list[Stage]) -> Compute:
    bodies = {p.name: p.tensor for p in producers}
    return replace(stage.compute, body=inline_reads(stage.compute.body, bodies))


def _skip(d: Derivation) -> list[Derivation]:
    name = d.working.name
    d.apply(*(ComputeInline(p.name) for p in _inserting(d)))
    found = periods(d.working.compute)
    d.apply(SkipZeros(name))
    if prod(found.values()) <= GREATEST_PHASES:
        d.periods[d.working.work] = found
    return [d]


SKIP_ZEROS = Rule("skip_zeros", _can_skip, _skip)
