"""Rules 1 and 2 of paper table 1: skip, and always inline."""

from __future__ import annotations

from tilewright.schedule.steps import ComputeInline
from tilewright.space.derivation import Derivation, Rule, Verdict, previous
from tilewright.space.predicates import is_inlinable, is_strictly_inlinable


def _can_inline(d: Derivation) -> Verdict:
    if d.working.name in d.factors:
        return Verdict.NO
    return Verdict.ONLY if is_strictly_inlinable(d.state, d.working, d.target) else Verdict.NO


def _inline(d: Derivation) -> list[Derivation]:
    before = previous(d.state, d.stage)
    d.apply(ComputeInline(d.working.name))
    d.stage = before
    return [d]


def _always(_: Derivation) -> Verdict:
    return Verdict.APPLY


def _can_inline_anything(d: Derivation) -> Verdict:
    return Verdict.ONLY if is_inlinable(d.state, d.working) else Verdict.NO


ALWAYS_INLINE = Rule("always_inline", _can_inline, _inline)
INLINE_ALL = Rule("always_inline", _can_inline_anything, _inline)
"""For GPUs: arithmetic is cheaper than a trip through device memory."""
SKIP = Rule("skip", _always, lambda d: [d.advance()])
