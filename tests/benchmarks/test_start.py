"""What the benchmark of starting counts, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.start import HEAD, SUITE, Taken, row, taken

from benchmarks import slices, start


def test_a_process_is_measured_from_its_start_to_its_end(tmp_path: Path) -> None:
    words = (
        "import sys, os; assert os.environ['TILEWRIGHT_CACHE'] == sys.argv[1]; b = b'x' * (1 << 25)"
    )
    found = taken(words, [str(tmp_path)], tmp_path)
    assert found.cpu_s > 0 and found.wall_s > 0 and 1 << 25 < found.memory_bytes < 1 << 27
    with pytest.raises(RuntimeError, match="exit status 3"):
        taken("raise SystemExit(3)", ["x"], tmp_path)


def test_every_figure_is_a_median() -> None:
    several = [Taken(1.0, 5.0, 7), Taken(3.0, 4.0, 9), Taken(2.0, 6.0, 8)]
    assert Taken.median(several) == Taken(2.0, 5.0, 8)


def test_the_figures_of_a_network_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def pretend(code: str, words: list[str], cache: Path) -> Taken:
        asked.append((code, words))
        return Taken(1.0 + len(asked), 2.0, 3)

    monkeypatch.setattr(start, "taken", pretend)
    monkeypatch.setattr(start, "onnx_file", lambda case, folder: folder / f"{case.name}.onnx")
    file = tmp_path / "start.json"
    words = ["--rounds", "2", "--json", str(file), "--cases", "resnet50-b1", "--peers", ""]
    assert slices.main(words, SUITE) == 0
    found = json.loads(file.read_text())
    (entry,) = found["cases"]
    assert set(entry["taken"]) == set(start.WHAT) and entry["commit"]
    assert entry["ratio_warm"] == pytest.approx(5 / 4)
    assert len(row(entry)) == len(HEAD)
    assert {tuple(given) for _, given in asked} == {("networks/resnet50-b1.onnx",)}
