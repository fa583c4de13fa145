"""ONNX's backend test-suite: all cases that count, and a subset that covers every type."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from onnx_cases import Case, collect, difference, run

from tilewright.graph.onnx.ops import TRANSLATORS, UNSUPPORTED

PARTS, OTHER_PARTS = 24, 8
# Cases of the suite that ask for what an operator's limits exclude.
BEYOND = frozenset({"LabelEncoder", "TreeEnsemble"})
KNOWN = frozenset(
    f"test_{name}"
    for name in (
        "ai_onnx_ml_tree_ensemble_set_membership",
        "ai_onnx_ml_tree_ensemble_single_tree",
        *(f"bitcast_{of}" for of in ("2d_float32_to_int32", "scalar_float32_to_int32")),
        *("bitcast_float32_to_int32", "bitcast_int32_to_float32"),
        *("bitcast_float64_to_int64", "bitcast_int64_to_float64"),
        # They expect what rounding made of nothing.
        *("dft_inverse", "dft_inverse_opset19"),
        # As said in onnx_cases.
        "resize_downsample_scales_cubic_align_corners",
        "resize_downsample_scales_linear_align_corners",
    )
)
"""Counted cases that do not pass."""


@functools.cache
def suite() -> tuple[Case, ...]:
    """All cases, whose data take seconds to make."""
    return tuple(collect())


@functools.cache
def counted() -> list[Case]:
    """The goal's: those of nodes that it does not exclude."""
    return [c for c in suite() if c.kind == "node" and not c.excluded]


@functools.cache
def chosen() -> list[Case]:
    """The first case of every other type of an operator's first input, unexpanded."""
    found: dict[str, dict[int, Case]] = {}
    for case in counted():
        if "_expanded" in case.name or case.name in KNOWN:
            continue
        model, _ = case.load()
        inputs = model.graph.input
        kind = inputs[0].type.tensor_type.elem_type if inputs else 0
        found.setdefault(case.operator, {}).setdefault(kind, case)
    return [c for cases in found.values() for c in list(cases.values())[1:]]


@pytest.mark.thorough
@pytest.mark.cpu
@pytest.mark.no_cover
@pytest.mark.parametrize("part", range(PARTS))
def test_all_of_the_suite(part: int) -> None:
    check_passed(counted()[part::PARTS])


@pytest.mark.cpu
@pytest.mark.no_cover
@pytest.mark.parametrize(
    "part",
    [pytest.param(p, marks=pytest.mark.thorough if p % 2 else ()) for p in range(OTHER_PARTS)],
)
def test_every_other_type(part: int) -> None:
    check_passed(chosen()[part::OTHER_PARTS])


def check_passed(cases: list[Case]) -> None:
    assert len(cases) > 10
    outcomes = {c.name: run(c) for c in cases}
    wrong = {name: o.reason for name, o in outcomes.items() if o.status != "passed"}
    assert wrong.keys() == KNOWN & outcomes.keys(), wrong


def test_ninety_nine_of_a_hundred_pass() -> None:
    names = {c.name for c in counted()}
    assert names >= KNOWN
    assert len(KNOWN) <= len(names) // 100


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
    assert {c.operator for c in refused} >= {"ImageDecoder", "TreeEnsemble"}
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
