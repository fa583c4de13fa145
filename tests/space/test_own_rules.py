"""Mistakes in a sketch rule of one's own name the rule, the stage and what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tilewright as tw
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import InputError, ScheduleError
from tilewright.space.derivation import Derivation, Rule, Verdict
from tilewright.space.rules import CPU_RULES
from tilewright.space.rules.ansor import multi_level_tile, structure_of
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import given

TARGET = Target.parse("cpu:icelake-server cores=2")
GEMM = ComputeDAG([ops.matmul(given(16, 16, name="a"), given(16, 16), name="c")])
SUM = ComputeDAG([ops.add(given(16, 16, name="a"), given(16, 16, name="b"), name="c")])


def once(d: Derivation) -> Verdict:
    return Verdict.NO if d.working.name in d.tiled else Verdict.ONLY


def fails(error: Exception) -> Callable[[Any], Any]:
    def raising(_: Any) -> Any:
        raise error

    return raising


def tiles(levels: str) -> Callable[[Derivation], list[Derivation]]:
    def apply(d: Derivation) -> list[Derivation]:
        multi_level_tile(d, structure_of(levels))
        return [d.advance()]

    return apply


def always(_: Derivation) -> Verdict:
    return Verdict.ONLY


@pytest.mark.parametrize(
    ("condition", "apply", "message"),
    [
        (once, tiles("XY"), "a letter for each tile level, S .spatial. or R .reduction.*got 'XY'"),
        (once, tiles(""), "a letter for each tile level.*got ''"),
        (once, tiles("S"), "the structure 'S' has no level R for the reduction axes k of c"),
        (once, tiles("RR"), "the structure 'RR' has no level S for the spatial axes i, j of c"),
        (once, lambda _: [], "the rules give no sketch: rule mine at stage c gives an empty list"),
        (once, lambda d: d, "its apply gives a list of derivations, not Derivation"),
        (once, lambda _: None, "its apply gives a list of derivations, not None"),
        (once, lambda _: ["c"], r"its apply gives a list of derivations, not \['c'\]"),
        (once, fails(KeyError("X")), "rule mine at stage c fails with KeyError: 'X'"),
        (once, fails(ScheduleError("no loop i")), "rule mine at stage c: no loop i"),
        (fails(AttributeError("hint")), tiles("SRS"), "mine at stage c fails with Attribute.*hint"),
        (lambda _: True, tiles("SRS"), "mine at stage c: its condition gives a Verdict, not True"),
        (always, lambda d: [d], "rule mine is applied to stage c without end"),
    ],
)
def test_a_mistake_names_the_rule(condition: Any, apply: Any, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        Space(GEMM, TARGET, rules=[Rule("mine", condition, apply), *CPU_RULES])


def test_a_structure_is_for_the_axes_that_a_stage_has() -> None:
    with pytest.raises(ScheduleError, match="'SRS' has levels R, but c has no reduction axes"):
        Space(SUM, TARGET, rules=[Rule("mine", once, tiles("SRS")), *CPU_RULES])
    rule = Rule("mine", once, tiles("SS"))
    assert {s.name for s in Space(SUM, TARGET, rules=[rule, *CPU_RULES]).sketches} == {"mine"}
    no_sum = ComputeDAG([ops.matmul(given(8, 1, name="a"), given(1, 8), name="c")])
    assert Space(no_sum, TARGET, rules=[Rule("mine", once, tiles("SSRS")), *CPU_RULES]).sketches


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (["x"], r"a rule is a Rule\(name, condition, apply\) of .*, not str"),
        ([None], "a rule is a Rule.*, not None"),
        ([Rule], "a rule is a Rule.*, not type"),
        ("x", r"rules is a sequence of rules, rules=\[MY_RULE\], not str"),
        (CPU_RULES[0], "rules is a sequence of rules.*, not tilewright.Rule"),
    ],
)
def test_what_is_no_rule_is_refused_before_any_work(
    rules: Any, message: str, tmp_path: Path
) -> None:
    a = tw.placeholder((8, 8), name="a")
    task = tw.Task([a, tw.operators.relu(a)])
    with pytest.raises(InputError, match=message):
        tw.tune(task, trials=1, db=tmp_path / "t.db", rules=rules)
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match=message):
        Space(GEMM, TARGET, rules=rules)


def test_rules_that_are_for_no_stage_say_so() -> None:
    with pytest.raises(ScheduleError, match="the rules give no sketch: no rule is for stage c"):
        Space(GEMM, TARGET, rules=[Rule("mine", lambda _: Verdict.NO, tiles("SRS"))])
