"""ONNX's backend test-suite: a subset that covers every operator and type."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from onnx_cases import Case, collect, difference, run

from tilewright.graph.onnx.ops import TRANSLATORS, UNSUPPORTED

PARTS, OTHER_PARTS = 6, 8
# Cases of the suite that ask for what an operator's limits exclude.
BEYOND = frozenset({"ArrayFeatureExtractor", "Binarizer", "LabelEncoder", "TreeEnsemble"})


@functools.cache
def suite() -> tuple[Case, ...]:
    """All cases, whose data take seconds to make."""
    return tuple(collect())


@functools.cache
def chosen() -> tuple[list[Case], list[Case]]:
    """The first counted case of every operator, unexpanded; those of other types of its first
    input.
    """
    found: dict[str, dict[int, Case]] = {}
    for case in suite():
        if case.excluded or case.kind != "node" or "_expanded" in case.name:
            continue
        model, _ = case.load()
        inputs = model.graph.input
        kind = inputs[0].type.tensor_type.elem_type if inputs else 0
        if case.operator not in BEYOND | set(UNSUPPORTED):
            found.setdefault(case.operator, {}).setdefault(kind, case)
    types = [list(cases.values()) for cases in found.values()]
    return [first for first, *_ in types], [c for _, *others in types for c in others]


@pytest.mark.thorough
@pytest.mark.cpu
@pytest.mark.parametrize("part", range(PARTS))
def test_every_operator(part: int) -> None:
    check_passed(chosen()[0][part::PARTS])


@pytest.mark.cpu
@pytest.mark.no_cover
@pytest.mark.parametrize(
    "part",
    [pytest.param(p, marks=pytest.mark.thorough if p % 2 else ()) for p in range(OTHER_PARTS)],
)
def test_every_other_type(part: int) -> None:
    check_passed(chosen()[1][part::OTHER_PARTS])


def check_passed(cases: list[Case]) -> None:
    assert len(cases) > 10
    outcomes = {c.name: run(c) for c in cases}
    wrong = {name: o.reason for name, o in outcomes.items() if o.status != "passed"}
    assert not wrong


def test_every_translator_has_a_case() -> None:
    """Here, or beside onnxruntime or the reference in tests/graph."""
    folder = Path(__file__).parent
    sources = [folder / f"test_{n}.py" for n in ("onnx_operators", "onnx_control", "old_files")]
    elsewhere = {name for s in sources for name in re.findall(r'"(\w+)"', s.read_text())}
    missing = set(TRANSLATORS) - {c.operator for c in suite()} - elsewhere
    assert not missing


@pytest.mark.cpu
def test_unsupported_operators_are_refused_with_their_reason() -> None:
    reasons = {**dict.fromkeys(BEYOND, "unknown operator"), **UNSUPPORTED}
    refused = [c for c in suite() if c.kind == "node" and c.operator in reasons]
    assert {c.operator for c in refused} >= {"BitCast", "TreeEnsemble"}
    for case in {c.operator: c for c in refused if not c.excluded}.values():
        outcome = run(case)
        assert outcome.status == "unsupported"
        assert reasons[case.operator] in outcome.reason


def test_the_goal_counts_what_it_says() -> None:
    cases = {c.name: c for c in suite()}
    assert cases["test_add"].excluded == ""
    assert cases["test_add"].operator == "Add"
    assert cases["test_celu_expanded"].operator == "Celu"
    assert cases["test_bernoulli"].excluded == "random operator"
    assert cases["test_if"].excluded == "control flow operator"
    assert cases["test_training_dropout_default"].excluded == "training operator"
    assert cases["test_sequence_insert_at_back"].excluded == "sequence operator"
    assert cases["test_cast_FLOAT_to_BFLOAT16"].excluded == "type BFLOAT16"
    assert cases["test_identity_sequence"].excluded == "sequence input or output"
    assert sum(c.kind == "light" for c in cases.values()) == 9


def test_difference() -> None:
    one = np.ones(3, np.float32)
    assert difference([one], [one * np.float32(1.0005)], 1e-3, 0) == ""
    wrong = difference([np.array([1.0, 3.0])], [np.array([1.0, 2.0])], 1e-3, 0)
    assert wrong == "output 0: 1 of 2 values are wrong; at [1] 3.0 instead of 2.0"
    assert difference([], [one], 0, 0) == "0 outputs instead of 1"
    assert "float64[3] instead of float32[3]" in difference([one.astype(np.float64)], [one], 0, 0)
    assert "float32[3, 1] instead of" in difference([one[:, None]], [one], 0, 0)
    nan = np.array([np.nan, np.inf], np.float16)
    assert difference([nan], [nan], 0, 0) == ""
    assert difference([-nan], [nan], 0, 0) != ""
    narrow = np.array([1.0], ml_dtypes.bfloat16)
    assert difference([narrow], [np.array([1.0078125], ml_dtypes.bfloat16)], 1e-3, 0) == ""
