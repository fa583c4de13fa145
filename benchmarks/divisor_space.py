"""The space whose tiles divide the axes that they cut, as in Ansor and AutoTVM.

    tune(task, rules=divisors(target))

The rules are the target's own, but take from every decision on tiles those that run over the end of
an axis, and leave nothing for the usual ones behind them. An axis of a prime length cannot be cut.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.space.decisions import TileFactors
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.rules import rules_of
from tilewright.target import Target


def divisors(target: Target) -> tuple[Rule, ...]:
    """The rules for a target."""
    return (*map(_dividing, rules_of(target)), Rule("nothing else", lambda _: Verdict.ONLY, _none))


def _dividing(rule: Rule) -> Rule:
    def apply(d: Derivation) -> list[Derivation]:
        found = rule.apply(d)
        for successor in found:
            for name, decision in successor.decisions.items():
                if isinstance(decision, TileFactors):
                    successor.decisions[name] = replace(decision, slack=0)
        return found

    return replace(rule, apply=apply)


def _none(d: Derivation) -> list[Derivation]:
    return []
