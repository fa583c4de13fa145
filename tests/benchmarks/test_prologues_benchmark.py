"""The benchmark of arithmetic before contractions: its cases, and its section of the page."""

from __future__ import annotations

from pathlib import Path

from benchmarks.chains import ChainResults, entry_of
from benchmarks.models.table import CASES
from benchmarks.page import page
from benchmarks.peers.chain_subject import ours
from benchmarks.prologues import NAMES, QUICK
from benchmarks.turns import chosen

SECONDS = {"tilewright": 1e-3, "unchained": 2e-3, "untuned": 2e-3, "untuned, unchained": 3e-3}


def test_cases_have_an_input_of_each_kind() -> None:
    assert set(NAMES) <= set(CASES) and len(chosen(QUICK, NAMES)) == 2
    scaled = ours(CASES["excited-56-96-24-b16"])
    assert scaled.input_shapes() == {"x": (16, 56, 56, 96), "scale": (16, 1, 1, 96)}
    (rows,) = CASES["dequantised-512-128-b16384"].inputs()
    assert rows.dtype == "uint8" and rows.shape == (16384, 512)
    assert len(CASES["gated-1024-256-b8192"].inputs()) == 2


def test_the_page_has_a_section(tmp_path: Path) -> None:
    results = ChainResults(tmp_path / "prologues.json")
    origin = {"machine": "some CPU", "commit": "abc", "date": "2026-01-02T03:04:05+00:00"}
    results.head = {"machine": {}, "provenance": origin}
    results.put(entry_of("gelu-384-96-b25088", True, SECONDS))
    results.write()
    text = page(tmp_path)
    assert "## Arithmetic before contractions" in text
    assert "Of 1 cases 1 are cut so that both share a kernel." in text
