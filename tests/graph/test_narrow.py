"""Contractions of bfloat16: which are, and that only factors are rounded."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from graph_reference import Array, make_model, run_graph
from onnx import helper, save

import tilewright as tw
from cli_models import cli
from tilewright.front.machine import as_target, math_of
from tilewright.graph.onnx.importing import load
from tilewright.graph.passes import simplify
from tilewright.graph.passes.narrow import narrowed
from tilewright.ground.errors import InputError
from tilewright.target import CpuTarget, Target
from tilewright.target.dots import fastest

node = helper.make_node


def rounded(x: Array) -> Array:
    return x.astype(ml_dtypes.bfloat16).astype(np.float32)


def block() -> tuple[object, dict[str, Array]]:
    """Two products of one input, one of which is added to the other's activation."""
    rng = np.random.default_rng(0)
    weights = {n: rng.standard_normal((32, 32)).astype(np.float32) for n in ("v", "w")}
    nodes = [
        node("MatMul", ["x", "v"], ["p"]),
        node("MatMul", ["x", "w"], ["q"]),
        node("Relu", ["q"], ["r"]),
        node("Add", ["p", "r"], ["y"]),
    ]
    return make_model(nodes, {"x": (8, 32)}, weights), weights


def test_factors_are_rounded_and_nothing_else() -> None:
    model, weights = block()
    graph = narrowed(simplify(load(model)))
    x = np.random.default_rng(1).standard_normal((8, 32)).astype(np.float32)
    ops = Counter(n.op for n in graph.nodes)
    assert ops["cast_to"] == 1, "one narrow copy serves both"
    assert all(n.output.dtype == "float32" for n in graph.nodes if n.op == "matmul")
    (y,) = run_graph(graph, {"x": x})
    v, w = rounded(weights["v"]), rounded(weights["w"])
    wanted = rounded(x) @ v + np.maximum(rounded(x) @ w, 0)
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("rows", "narrow"), [(32, True), (4, False)])
def test_two_activations_where_a_copy_of_one_pays(rows: int, narrow: bool) -> None:
    nodes = [node("MatMul", ["x", "w"], ["y"])]
    graph = narrowed(simplify(load(make_model(nodes, {"x": (2, rows, 32), "w": (2, 32, 16)}, {}))))
    rng = np.random.default_rng(1)
    x, w = (rng.standard_normal(shape).astype(np.float32) for shape in ((2, rows, 32), (2, 32, 16)))
    (y,) = run_graph(graph, {"x": x, "w": w})
    wanted = rounded(x) @ rounded(w) if narrow else x @ w
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.cpu
def test_a_user_asks_for_it() -> None:
    model, _ = block()
    x = np.random.default_rng(1).standard_normal((8, 32)).astype(np.float32)
    (exact,), (near,) = (tw.compile(tw.load(model, math=m))(x) for m in ("float32", "bfloat16"))
    error = np.abs(near - exact).max() / np.abs(exact).max()
    assert 1e-5 < error < 1e-2


def test_short_sums_and_unknown_factors_stay_as_they_are() -> None:
    rng = np.random.default_rng(0)
    short = {"w": rng.standard_normal((8, 32)).astype(np.float32)}
    graph = load(make_model([node("MatMul", ["x", "w"], ["y"])], {"x": (8, 8)}, short))
    assert [n.op for n in narrowed(graph).nodes] == ["matmul"]
    both = make_model([node("MatMul", ["a", "b"], ["y"])], {"a": (8, 64), "b": (64, 8)})
    assert [n.op for n in narrowed(load(both)).nodes] == ["matmul"]


def test_another_word_is_refused_with_those_that_are_known() -> None:
    model, _ = block()
    with pytest.raises(InputError, match="'bfloat16' or 'int8' or 'auto', not 'half'"):
        tw.load(model, math="half")


TILES = "+avx512f,+amx-tile,+amx-bf16"
RATES = {"tdpbf16ps": 15.5, "vdpbf16ps": 0.5}
WORDS = "+avx512f,+avx512vl,+avx512bf16"


@pytest.mark.parametrize(
    ("spec", "rates", "wanted", "why"),
    [
        (
            f"cpu:graniterapids features={TILES}",
            RATES,
            "bfloat16",
            "tdpbf16ps does 15.5",
        ),
        (
            f"cpu:graniterapids features={TILES}",
            {},
            "bfloat16",
            "16 .*by its table",
        ),
        (f"cpu:cooperlake features={WORDS}", RATES, "float32", "vdpbf16ps does 0.5 .*measured"),
        (f"cpu:znver4 features={WORDS}", {"vdpbf16ps": 2.0}, "bfloat16", "vdpbf16ps does 2 times"),
        (f"cpu:cooperlake features={WORDS}", {}, "float32", "vdpbf16ps does 0.5 .*by its table"),
        ("cpu:haswell", {}, "float32", "haswell has no instruction"),
        ("cuda:h100", {}, "float32", "not of cuda"),
    ],
)
def test_auto_goes_by_rates(spec: str, rates: dict[str, float], wanted: str, why: str) -> None:
    target = Target.parse(spec)
    if rates:
        assert isinstance(target, CpuTarget)
        found = (("float32", 1e11), *((n, 1e11 * gain) for n, gain in rates.items()))
        target = replace(target, measured=replace(target.speeds, rates=found))
    math, reason = math_of(target)
    assert math == wanted and re.search(why, reason)


@pytest.mark.cpu
@pytest.mark.parametrize("gain", [0.5, 2.0])
def test_load_and_the_command_line_take_auto(
    gain: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: Any
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path))
    here = replace(CpuTarget.of("cpu"), features=f"{WORDS},-prefer-256-bit", vector_bits=512)
    rates = (("float32", 1e11), ("vdpbf16ps", 1e11 * gain))
    here = replace(here, measured=replace(here.speeds, rates=rates))
    monkeypatch.setattr("tilewright.front.models.host_target", lambda: here)
    monkeypatch.setattr("tilewright.cli.plan.as_target", lambda _: here)
    model, _ = block()
    with caplog.at_level("INFO", logger="tilewright"):
        ops = {n.op for n in tw.load(model, math="auto").graph.nodes}
    wanted = "bfloat16" if gain > 1 else "float32"
    assert ("cast_to" in ops) == (gain > 1) and f"math is {wanted}: vdpbf16ps does" in caplog.text
    save(model, tmp_path / "m.onnx")
    told = cli("plan", tmp_path / "m.onnx", "--db", tmp_path / "m.db", "--math", "auto")
    assert f"--math auto is {wanted}: vdpbf16ps does {gain:g} times" in told.stderr


@pytest.mark.cpu
def test_rates_are_measured_where_they_are_not_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path))
    here = as_target(None)
    assert isinstance(here, CpuTarget) and here.measured is None
    math, why = math_of(here)
    found = fastest(here, "bfloat16", "bfloat16")
    assert ("measured" in why) == (found is not None) and math in ("float32", "bfloat16")
    again = as_target(None)
    assert isinstance(again, CpuTarget) and (again.measured is not None) == (found is not None)
    assert math_of(again)[0] == math
