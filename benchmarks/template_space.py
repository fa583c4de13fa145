"""A space as a manual template spans it: the "limited space" of the paper's figure 7.

    tune(task, rules=TEMPLATE_RULES)

The rules stand in front of the usual ones and leave those nothing to decide:

- one structure, SRS: one tiling level for threads and caches, one for registers (SSRSRS else);
- register tiles are divisors of at most 16 elements an axis, without padding;
- no write cache, no fusion, no factored reduction;
- a stage that can be computed inside its consumers always is: no location is searched.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.schedule.steps import ComputeInline
from tilewright.space.decisions import TILE, R, S, TileFactors
from tilewright.space.derivation import Derivation, Rule, Verdict, previous
from tilewright.space.predicates import has_data_reuse, is_inlinable, vector_axis
from tilewright.space.rules.ansor import multi_level_tile

STRUCTURE = (S, R, replace(TILE, most=16))


def _can_inline(d: Derivation) -> Verdict:
    return Verdict.ONLY if is_inlinable(d.state, d.working) else Verdict.NO


def _inline(d: Derivation) -> list[Derivation]:
    before = previous(d.state, d.stage)
    d.apply(ComputeInline(d.working.name))
    d.stage = before
    return [d]


def _can_tile(d: Derivation) -> Verdict:
    return Verdict.ONLY if has_data_reuse(d.working) else Verdict.NO


def _tile(d: Derivation) -> list[Derivation]:
    multi_level_tile(d, STRUCTURE, vector_axis(d.state, d.working, d.target))
    for name, decision in d.decisions.items():
        if isinstance(decision, TileFactors):
            d.decisions[name] = replace(decision, slack=0)
    return [d.advance()]


TEMPLATE_RULES = (
    Rule("template_inline", _can_inline, _inline),
    Rule("template_tiling", _can_tile, _tile),
)
