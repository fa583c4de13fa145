"""The benchmark of what moves data: its graphs, a slice on a tiny network, its figures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from benchmarks.edges import COPIED, HEAD, KIND_OF, QUICK, EdgeResults, entry_of, main, row
from benchmarks.models.export import export
from benchmarks.models.table import CASES, EDGES
from benchmarks.page import page
from benchmarks.peers.copying import copy_side
from benchmarks.peers.network_subject import ServedNetwork
from benchmarks.turns import chosen
from simulated_device import simulate
from tiny_network import save_tiny

import tilewright as tw
from benchmarks import edges
from tilewright.front.machine import host_target
from tilewright.ground.text import NONE

SECONDS = {"tilewright": 1e-3, "untuned": 2e-3, "torch": 5e-3, "onnxruntime": 4e-3}


def test_cases_have_kinds_and_shapes_of_known_networks() -> None:
    assert len(KIND_OF) == sum(map(len, EDGES.values())) and set(KIND_OF) <= set(CASES)
    assert [KIND_OF[name] for name in chosen(QUICK, KIND_OF)] == list(EDGES)
    assert set(COPIED) < set(EDGES)
    assert CASES["softmax-50257-b8"].input_shapes() == {"x": (8, 50257)}
    assert len(CASES["concat-128x40x40-b1"].inputs()) == 2


SHAPES = {
    "transposed_sum-512-b4096": (512, 4096),
    "permuted-0-2-3-1-3x224x224-b1": (1, 224, 224, 3),
    "depth_to_space-2-64x112x112-b1": (1, 16, 224, 224),
    "space_to_depth-2-16x224x224-b1": (1, 64, 112, 112),
    "windows-7-56x56x96-b1": (64, 49, 96),
    "depthwise-3-2-144x56x56-b1": (1, 144, 28, 28),
    "conv_transpose-32-2-2-64x28x28-b1": (1, 32, 56, 56),
    "conv1d-64-5-64x1000-b1": (1, 64, 1000),
    "resize-bilinear-64x56x56-b1": (1, 64, 112, 112),
    "norm-3000000-b1": (1,),
    "slices-3x640x640-b1": (1, 12, 320, 320),
    "rotary-384-64-12x384x64-b1": (1, 12, 384, 64),
}


@pytest.mark.thorough
@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_every_graph_is_imported_with_the_modules_shape(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    for name in KIND_OF:
        case = CASES[name]
        file = export(case, tmp_path)
        with torch.device("meta"):
            arrays = [torch.empty(shape) for shape in case.input_shapes().values()]
        with torch.inference_mode():
            wanted = case.module().to("meta")(*arrays)
        assert wanted.is_contiguous()
        (found,) = tw.load(file).partition.graph.outputs
        assert tuple(found.shape) == tuple(wanted.shape), name
        assert SHAPES.get(name, tuple(found.shape)) == tuple(found.shape)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_a_graph_computes_what_the_module_does(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    name = "channel_shuffle-2-116x28x28-b1"
    file = export(CASES[name], tmp_path)
    subject = ServedNetwork(name, tmp_path)
    (x,) = subject.inputs
    assert subject.file == file and subject.moved_bytes() == 2 * x.nbytes
    wanted = subject.module()(torch.from_numpy(x)).numpy()
    side = subject.tilewright(replace(host_target(), cores=2), None)
    assert side.mode == "untuned" and np.array_equal(side.output(), wanted)


@pytest.mark.thorough
def test_a_case_is_tuned_and_all_sides_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "onnx"
    save_tiny(folder)
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(KIND_OF, "tiny-b1", "transposes")
    tiny = replace(edges.SUITE, names=("tiny-b1",))
    batches = simulate(monkeypatch)
    file = tmp_path / "edges.json"
    words = ["--folder", str(folder), "--db", str(tmp_path / "e.db"), "--json", str(file)]
    words += ["--peers", "onnxruntime", "--rounds", "1", "--trials", "4"]
    assert main([*words, "--minutes", "0"], tiny) == 0 and not batches

    assert main(words, tiny) == 0
    found = json.loads(file.read_text())
    (entry,) = found["cases"]
    assert entry["case"] == "tiny-b1" and not found["failed"] and entry["trials"] == 4
    assert entry["max_rel_error"] < 1e-3
    assert entry["copy_share"] == entry["copy_s"] / entry["median_s"] > 0
    assert list(entry["peers"]) == ["onnxruntime"]
    batches.clear()
    assert main(words, tiny) == 0 and not batches
    assert json.loads(file.read_text()) == found


def test_a_graph_that_is_not_imported_is_a_failed_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = save_tiny(tmp_path)
    model = onnx.load(file)
    model.graph.node[0].op_type = "Unheard"
    onnx.save(model, file)
    results = tmp_path / "edges.json"
    words = ["--folder", str(tmp_path), "--db", str(tmp_path / "e.db"), "--json", str(results)]
    assert main([*words, "--peers", ""], replace(edges.SUITE, names=("tiny-b1",))) == 1
    assert "Unheard" in json.loads(results.read_text())["failed"]["tiny-b1"]


def test_a_copy_is_called_as_sides_are() -> None:
    side = copy_side(2**16, replace(host_target(), cores=2))
    side.call()
    assert side.mode == "bytes"


def test_figures_of_a_case_and_of_all() -> None:
    results = EdgeResults()
    results.put(entry_of("softmax-4096-b64", SECONDS))
    results.put(entry_of("gelu-3072-b384", {**SECONDS, "copy": 5e-4}))
    results.put(entry_of("permuted-0-2-3-1-64x56x56-b1", {**SECONDS, "copy": 9e-4}))
    moved, rows, function = results.sorted()
    assert [e["kind"] for e in (moved, rows, function)] == ["transposes", "rows", "functions"]
    assert rows["ratio_best_peer"] == 4 and rows["ratio_untuned"] == 2
    assert len(row(moved)) == len(HEAD) and row(moved)[-1] == "90" and row(rows)[-1] == NONE
    summary = results.summary()
    assert summary["copy_share"] == {"case": "gelu-3072-b384", "ratio": 0.5}
    assert summary["geomean_best_peer"] == pytest.approx(4)
    assert summary["kinds"]["rows"] == pytest.approx(4) and "strides" not in summary["kinds"]
    assert summary["at_least_par"] == summary["compared"] == 3
    alone = entry_of("softmax-4096-b64", {"tilewright": 1e-3, "untuned": 2e-3})
    assert alone["ratio_best_peer"] is None and row(alone)[-3:] == [NONE] * 3


def test_the_page_has_a_summary_and_a_table() -> None:
    results = EdgeResults()
    origin = {"machine": "some CPU", "commit": "abc", "date": "2026-01-02T03:04:05+00:00"}
    results.head = {"machine": {}, "provenance": origin}
    results.put(entry_of("exp-1000000-b1", {**SECONDS, "copy": 8e-4}))
    text = page("edges", {"orders": results.to_json()})
    assert "# What moves data" in text and "| exp-1000000-b1 | 1 ms | 2 ms |" in text
    assert "- copy share: 0.80 (exp-1000000-b1)" in text and "## orders" in text
