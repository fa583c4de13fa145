"""What the benchmark of starting counts, and what it writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from benchmarks.start import COMMANDS, Taken, taken

from benchmarks import start


def test_a_process_is_measured_from_its_start_to_its_end(tmp_path: Path) -> None:
    words = (
        "import sys, os; assert os.environ['TILEWRIGHT_CACHE'] == sys.argv[1]; b = bytes(1 << 25)"
    )
    found = taken(words, [str(tmp_path)], tmp_path)
    assert found.cpu_s > 0 and found.wall_s > 0 and found.peak_bytes > 1 << 25
    with pytest.raises(RuntimeError, match="exit status 3"):
        taken("raise SystemExit(3)", ["x"], tmp_path)
    taken("raise SystemExit(3)", ["x"], tmp_path, refused=True)
    with pytest.raises(RuntimeError, match="exit status 0"):
        taken("", [], tmp_path, refused=True)


def test_every_figure_is_a_median() -> None:
    several = [Taken(1.0, 5.0, 7), Taken(3.0, 4.0, 9), Taken(2.0, 6.0, 8)]
    assert Taken.median(several) == Taken(2.0, 5.0, 8)


def test_the_figures_of_all_networks_and_commands_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def pretend(code: str, words: list[str], cache: Path, refused: bool = False) -> Taken:
        asked.append((code, words, refused))
        return Taken(1.0, 2.0, 3)

    monkeypatch.setattr(start, "taken", pretend)
    monkeypatch.setattr(start, "onnx_file", lambda case, folder: folder / f"{case.name}.onnx")
    file = tmp_path / "start.json"
    monkeypatch.setattr(sys, "argv", ["start", "--turns", "2", "--json", str(file), "resnet50-b1"])
    start.main()
    found = json.loads(file.read_text())
    rows = {"cold", "warm", "onnxruntime", "cold, run", "warm, run", "onnxruntime, run"}
    assert set(found["networks"]["resnet50-b1"]) == rows
    assert set(found["commands"]) == set(COMMANDS) and found["commit"]
    assert {tuple(words) for _, words, refused in asked if refused} == {
        tuple(w.format(file="networks/resnet50-b1.onnx") for w in words)
        for name, words in COMMANDS.items()
        if not name.startswith("--")
    }
