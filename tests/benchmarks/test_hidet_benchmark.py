"""The figures of the Hidet paper: cases, slices, resuming, tables and pictures, at tiny sizes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.cases import ALL, CASES, SMALL, Case, conv2d, matmul
from benchmarks.divisor_space import divisors
from benchmarks.hidet import (
    FIGURES,
    FULL,
    QUICK,
    SUITE,
    TABLES,
    TOLD,
    HidetBench,
    HidetResults,
    main,
)
from benchmarks.hidet_cases import CASES as BEYOND
from benchmarks.hidet_cases import LAYERS, SIZES, SMALL_LAYER, parts_of
from benchmarks.models.table import CASES as NETWORKS
from benchmarks.page import page
from benchmarks.peers.problems import random_arrays
from simulated_device import simulate

from benchmarks import hidet
from tilewright.front.machine import host_target
from tilewright.ground.text import NONE
from tilewright.records.database import Database
from tilewright.records.rows import DEFAULT
from tilewright.space.decisions import TileFactors
from tilewright.space.rules import rules_of
from tilewright.space.space import Space

ORIGIN = {"machine": "some CPU", "commit": "abc", "date": "2026-01-02T03:04:05+00:00"}
CALLS = {"tilewright": 2e-3, "untuned": 4e-3, "onnxruntime": 3e-3}
TINY_PRODUCT = Case("GEMM-13", "GMM", (13, 13, 13), 1, matmul)
TINY_CONVOLUTION = Case("C2D-tiny", "C2D", (6, 6, 16, 16, 3, 2, 1), 1, conv2d)
ROWS: dict[str, Any] = {
    "17": {
        "GMM-0-b1": {
            "ways": {
                "search": {"trials": 128, "seconds": 30.4, "best_s": 2e-3},
            },
            "seconds": CALLS,
        }
    },
    "18": {
        "C2D": {
            "spaces": {
                "templates": {"latencies_s": [1e-3, 1.05e-3, 3e-3, 4e-3], "failed": 1},
                "sketches": {"latencies_s": [], "failed": 2},
            }
        }
    },
    "19": {
        "GEMM-2048": {"flops": 4 * 10**9, "seconds": CALLS},
        "GEMM-127": {"flops": 2 * 10**9, "seconds": {**CALLS, "divisors": 8e-3}},
    },
    "20": {"resnet50-b4": {"batch": 4, "trials": 500, "seconds": CALLS}},
    "21": {
        "CONV-1": {
            "kind": "after",
            "is_fused": True,
            "seconds": {**CALLS, "apart": 5e-3, "untuned, apart": 3e-3},
        },
        "norm": {"kind": "before", "is_fused": False, "seconds": {"tilewright": 1e-3}},
    },
}


def test_every_figure_has_cases_that_there_are() -> None:
    known = {"17": CASES, "18": BEYOND, "19": BEYOND, "20": NETWORKS}
    known["21"] = {**BEYOND, **ALL, **NETWORKS}
    assert set(FULL) == set(QUICK) == set(FIGURES) == set(TABLES) == set(TOLD) == set(known)
    for cases in (FULL, QUICK):
        assert all(set(names) <= set(known[number]) for number, names in cases.items())
    assert {2048 + i for i in range(9)} | {2039} <= set(SIZES)
    assert [NETWORKS[name].batch for name in FULL["20"]] == [1, 4, 8]
    assert not any(NETWORKS[name].network.published for name in FULL["20"][1:])


@pytest.mark.parametrize("case", [SMALL_LAYER, *LAYERS[::7]], ids=lambda case: case.name)
def test_parts_of_a_layer_compute_the_layer(case: Case) -> None:
    shape = (5, 7, 3, 4, *case.shape[4:])  # its windows and strides, fewer elements
    case = Case(case.name, "CONV", shape, 1, case.make)
    dag = case.dag()
    arrays = random_arrays(dag)
    whole = _computed(case, arrays)
    for part in parts_of(case):
        arrays["y"] = _computed(part, arrays)
    np.testing.assert_allclose(arrays["y"], whole, rtol=1e-5, atol=1e-5)


def _computed(case: Case, arrays: dict[str, Any]) -> Any:
    dag = case.dag()
    values = dag.evaluate({t.name: arrays[t.name] for t in (*dag.inputs, *dag.constants)})
    (found,) = values.values()
    return found


@pytest.mark.parametrize("name", ["GMM-small", "C2D-small", "CONV-small", "TBS-small"])
def test_tiles_of_the_divisors_space_divide(name: str) -> None:
    target, dag = host_target(), SMALL[name].dag()
    usual, dividing = Space(dag, target), Space(dag, target, [*divisors(target), *rules_of(target)])
    assert [s.name for s in dividing.sketches] == [s.name for s in usual.sketches]
    for sketch in dividing.sketches:
        for tiles in (d for d in sketch.decisions if isinstance(d, TileFactors)):
            assert all(tiles.extent % row.prod() == 0 for row in tiles.table)
    assert any(
        tiles.slack
        for sketch in usual.sketches
        for tiles in sketch.decisions
        if isinstance(tiles, TileFactors)
    )


@pytest.mark.thorough
def test_cases_are_kept_one_by_one_and_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BEYOND, TINY_PRODUCT.name, TINY_PRODUCT)
    monkeypatch.setitem(BEYOND, TINY_CONVOLUTION.name, TINY_CONVOLUTION)
    names = ("17:GMM-small", "18:C2D-tiny", "19:GEMM-13", "21:CONV-small")
    tiny = replace(SUITE, names=names, quick=",".join(names))
    turns: list[tuple[str, hidet.Sides]] = []

    def take_turns(
        bench: HidetBench, subject: str, db: Path, others: hidet.Sides
    ) -> dict[str, float]:
        assert db.exists() and all(r is None or r.exists() for _, _, r in others.values())
        if "divisors" in others:
            alone = others["divisors"][2]
            assert alone is not None
            with Database.open(alone, create=False, readonly=True) as database:
                origins = {trial.origin for trial in database.trials()}
            assert origins and DEFAULT not in origins
        turns.append((subject, others))
        return CALLS | dict.fromkeys(others, 3e-3)

    monkeypatch.setattr(HidetBench, "_turns", take_turns)
    batches = simulate(monkeypatch)
    file = tmp_path / "h.json"
    words = ["--quick", "--db", str(tmp_path / "h.db"), "--json", str(file), "--peers", ""]
    words += ["--seconds", "60", "--trials", "4"]
    assert main([*words, "--minutes", "0"], tiny) == 0 and not batches and not file.exists()
    assert main(words, tiny) == 0
    found = json.loads(file.read_text())
    rows = {entry["case"]: entry for entry in found["cases"]}
    assert set(rows) == set(names) and all(entry["commit"] for entry in rows.values())
    ways = rows["17:GMM-small"]["ways"]
    assert ways["search"]["trials"] == 4 and 0 < ways["profile"]["trials"] <= 24
    spaces = rows["18:C2D-tiny"]["spaces"]
    assert all(space["latencies_s"] == sorted(space["latencies_s"]) for space in spaces.values())
    assert spaces["templates"]["latencies_s"] and spaces["sketches"]["latencies_s"]
    asked = {(subject, label) for subject, others in turns for label in others}
    assert asked == {
        ("operator:GMM-small", "profile"),
        ("operator:GEMM-13", "divisors"),
        ("operator:CONV-small", "apart"),
        ("operator:CONV-small", "untuned, apart"),
    }
    batches.clear()
    assert main(words, tiny) == 0 and not batches and json.loads(file.read_text()) == found


@pytest.mark.parametrize(
    "number, line",
    [
        ("17", ["GMM-0-b1", "128", "30", "2 ms", NONE, NONE, NONE, "2 ms"]),
        ("18", ["C2D, templates", "4", "1", "1 ms", "1.01 ms", "2.02 ms", "3.70 ms", "50%"]),
        ("18", ["C2D, sketches", "0", "2", NONE, NONE, NONE, NONE, "0%"]),
        ("19", ["GEMM-127", "1000", "250", "500", NONE, "667", NONE]),
        ("20", ["resnet50-b4", "500", "2 ms", "4 ms", NONE, "3 ms", NONE, "1.50"]),
        ("21", ["CONV-1", "after", "2 ms", "4 ms", "5 ms", "3 ms", NONE, "3 ms", NONE, "1.50"]),
        ("21", ["norm", "before, not fused", "1 ms", *[NONE] * 8]),
    ],
)
def test_tables_say_what_was_measured(number: str, line: list[str]) -> None:
    head, lines = TABLES[number](ROWS[number])
    (found,) = (one for one in lines if one[0] == line[0])
    assert found[: len(line)] == line and len(found) == len(head)


def test_the_page_has_every_figure() -> None:
    results = HidetResults()
    results.head = {"provenance": ORIGIN}
    for number, rows in ROWS.items():
        for name, one in rows.items():
            results.put({"case": f"{number}:{name}", **one})
    text = page("hidet", {"hidet": results.to_json()})
    assert all(f"Figure {number}: " in text for number in ROWS)
    assert text.index("| GEMM-127 | 1000 ") < text.index("| GEMM-2048 | 2000 ")
