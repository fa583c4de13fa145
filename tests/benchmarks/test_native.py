"""Narrow cases: their files, which peers count, the summary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from benchmarks.models.narrow import BFLOAT16, BYTES, INT32, NARROW, NarrowCase
from benchmarks.native import HEAD, LIMITS, QUICK, NativeResults, entry_of, instructions, row
from benchmarks.peers.sides import OURS, UNTUNED
from benchmarks.turns import chosen

import tilewright as tw

PRODUCT, LAYER = (5, 24, 16), (6, 6, 8, 16, 3, 2, 1)


def test_names_and_limits() -> None:
    assert {case.kind for case in NARROW.values()} == LIMITS.keys()
    assert {NARROW[name].kind for name in chosen(QUICK, NARROW)} == {BFLOAT16, INT32, BYTES}
    assert NARROW["GMM-512-512-512:int32"].shape == (512, 512, 512)


@pytest.mark.cpu
@pytest.mark.parametrize(
    ("kind", "shape"),
    [(BFLOAT16, PRODUCT), (INT32, PRODUCT), (BYTES, PRODUCT), (BFLOAT16, LAYER), (BYTES, LAYER)],
)
def test_files_are_computed_as_by_onnxruntime(
    tmp_path: Path, kind: str, shape: tuple[int, ...]
) -> None:
    case = NarrowCase("small", kind, shape)
    file, (x,) = case.file(tmp_path), case.inputs()
    assert case.file(tmp_path) == file == case.path(tmp_path)
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {"x": x})
    (found,) = tw.compile(tw.load(file, math=case.math))(x)
    apart = np.abs(found.astype(np.float64) - wanted).max() / np.abs(wanted.astype(float)).max()
    assert apart <= LIMITS[kind]


@pytest.mark.cpu
def test_instructions_are_read_off_the_code(tmp_path: Path) -> None:
    file = NarrowCase("small", BFLOAT16, PRODUCT).file(tmp_path)
    assert instructions(tw.compile(tw.load(file))).keys() in ({"vfmadd"}, {"fmla"})


def test_wrong_peers_are_shown_and_do_not_count() -> None:
    case = NARROW["GMM-512-512-512:bytes"]
    seconds = {OURS: 2.0, UNTUNED: 4.0, "onnxruntime": 3.0, "openvino": 1.0}
    entry = entry_of(case, seconds, ["openvino"])
    assert (entry["ratio_best_peer"], entry["ratio_untuned"]) == (1.5, 0.75)
    assert dict(zip(HEAD, row(entry), strict=True))["openvino"] == "(1 s)"
    assert entry["ratio_float32"] is None


def test_summary_keeps_kinds_and_networks_apart() -> None:
    results = NativeResults()
    product = {OURS: 2.0, UNTUNED: 2.0, "onnxruntime": 3.0}
    network = {OURS: 1.0, UNTUNED: 2.0, "onnxruntime": 4.0, "float32": 6.0}
    results.put(entry_of(NARROW["resnet50-b1:qdq"], network, []))
    results.put(entry_of(NARROW["GMM-512-512-512:bytes"], product, []))
    summary = results.summary()
    assert list(summary["kinds"]) == ["bytes, operators", "qdq, networks"]
    assert summary["worst"] == {"case": "GMM-512-512-512:bytes", "ratio": 1.5}
    assert summary["worst_float32"] == {"case": "resnet50-b1:qdq", "ratio": 3.0}
    assert summary["geomean_best_peer"] == pytest.approx(6**0.5)
