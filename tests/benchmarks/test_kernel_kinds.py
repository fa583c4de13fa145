"""Kinds of kernels by their math, and the table of a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.cases import CASES
from benchmarks.kernel_kinds import kind_of, main, types_line
from tiny_network import save_tiny

import tilewright as tw
from tilewright import operators as ops
from tilewright.expr.dag import ComputeDAG


def test_kinds() -> None:
    x = tw.placeholder((8, 12), name="x")
    dags = {
        "contraction": CASES["CONV-3-b1"].dag(),
        "reduction": ComputeDAG([ops.softmax(x)]),
        "elementwise": ComputeDAG([ops.relu(ops.add(x, x))]),
        "movement": ComputeDAG([ops.transpose(x, (1, 0))]),
    }
    assert {name: kind_of(dag) for name, dag in dags.items()} == {name: name for name in dags}
    assert kind_of(CASES["NRM-0-b1"].dag()) == "reduction"
    assert kind_of(CASES["DEP-2-b1"].dag()) == "contraction"


@pytest.mark.cpu
def test_a_network_is_timed_by_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    save_tiny(tmp_path)
    words = ["--models", "tiny-b1", "--folder", str(tmp_path), "--peers", "onnxruntime", "--calls"]
    assert main(words) == 0
    text = capsys.readouterr().out
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    assert rows["contraction"][1] == "2" and rows["reduction"][1] == "1"
    assert rows["all"][1] == "3"
    assert text.count("contraction") == 1 + 2
    assert "Conv 1 x" in text


def test_the_costliest_types_come_first() -> None:
    line = types_line("peer", {"Relu": (2, 1e-3), "Conv": (3, 4e-3)})
    assert line == "peer: 5.00 ms in 5 nodes: Conv 3 x = 4.00 ms, Relu 2 x = 1.00 ms"
