"""The examples run as they are printed."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from tilewright.space.rules import CPU_RULES
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.testing import SpaceSuite, StrategySuite

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.cpu


def run_example(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, *arguments: str) -> None:
    """Run a script of examples/ in `folder`."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")


RULE = runpy.run_path(str(ROOT / "examples" / "custom_rule.py"))
STRATEGY = runpy.run_path(str(ROOT / "examples" / "custom_strategy.py"))


class TestCustomRule(SpaceSuite):
    rows = 4

    def space(self) -> Space:
        rules = (RULE["LEVELS_RULE"], *CPU_RULES)
        return Space(
            RULE["hinted_matmul"](8).dag, Target.parse("cpu:icelake-server cores=2"), rules
        )


class TestCustomStrategy(StrategySuite):
    make = staticmethod(STRATEGY["Annealing"])


def test_matmul_task(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_example(monkeypatch, tmp_path, "matmul_task.py", "--trials", "4")
    printed = capsys.readouterr().out
    assert "GFLOP/s after 4 trials" in printed
    assert "equal to NumPy" in printed


def test_custom_rule(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_example(monkeypatch, tmp_path, "custom_rule.py", "--trials", "4")
    printed = capsys.readouterr().out
    assert "program hinted_matmul" in printed
    assert "equal to NumPy" in printed


def test_custom_strategy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_example(monkeypatch, tmp_path, "custom_strategy.py", "--trials", "4")
    printed = capsys.readouterr().out
    assert "TuneResult(1 task, 4 trials in " in printed
    assert "equal to NumPy" in printed


def test_hand_schedule(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_example(monkeypatch, tmp_path, "hand_schedule.py")
    printed = capsys.readouterr().out
    assert "for D.i.0 in range(32):  # parallel" in printed
    assert "equal to NumPy" in printed
