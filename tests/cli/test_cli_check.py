"""`run --check`: outputs against onnxruntime's, and where they part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright as tw
from cli_models import cli, save_tokens
from tilewright.cli import check
from tilewright.cli.peers import Peer, onnxruntime_peer


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tokens(tmp_path_factory.mktemp("check") / "tokens.onnx")


def disturb(monkeypatch: pytest.MonkeyPatch, by: float) -> None:
    """Let onnxruntime run the model with other ones in the one-hot vectors: a node is wrong."""

    def peer(model: Path | bytes, threads: int) -> Peer | None:
        proto = onnx.load_model_from_string(
            model if isinstance(model, bytes) else Path(model).read_bytes()
        )
        (values,) = (t for t in proto.graph.initializer if t.name == "off_on")
        values.CopyFrom(numpy_helper.from_array(np.array([0, 1 + by], np.float32), "off_on"))
        return onnxruntime_peer(proto.SerializeToString(), threads)

    monkeypatch.setattr(check, "onnxruntime_peer", peer)


def test_random_integers_follow_what_reads_them(tokens: Path) -> None:
    assert tw.load(tokens).facts.index_limits == {"ids": 50, "kinds": 8}


@pytest.mark.cpu
def test_outputs_that_agree(tokens: Path) -> None:
    result = cli("run", tokens, "--check")
    assert result.exit_code == 0, result.output
    assert "Random values (seed 0) for ids (0 to 49), kinds (0 to 7)." in result.output
    assert "Largest difference from onnxruntime on random inputs: y 0" in result.output
    assert "not what onnxruntime computes" not in result.output


@pytest.mark.cpu
def test_the_first_node_that_differs_is_named(
    tokens: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturb(monkeypatch, 0.5)
    result = cli("run", tokens, "--check")
    assert result.exit_code == 1, result.output
    assert "y: not what onnxruntime computes" in result.output
    assert "The first of 4 values that differs is hot, of OneHot (node hot): by 0.5" in (
        result.output
    )


@pytest.mark.cpu
def test_a_wider_tolerance_lets_it_pass(tokens: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disturb(monkeypatch, 0.01)
    told = cli("run", tokens, "--check", "--json")
    assert told.exit_code == 1
    found = json.loads(told.stdout)["check"]
    assert not found["agrees"]
    assert found["first_difference"]["node"] == "hot"
    assert found["first_difference"]["deviation"]["worst"] == pytest.approx(0.01, rel=1e-3)
    assert cli("run", tokens, "--check", "--atol", 0.02).exit_code == 0
    assert cli("run", tokens, "--check", "--rtol", 0.1).exit_code == 0


@pytest.mark.cpu
def test_run_tells_its_outputs_as_json(model: Path) -> None:
    result = cli("run", model, "--json")
    told: Mapping[str, object] = json.loads(result.stdout)
    assert told["random_inputs"] == ["x"]
    (output,) = told["outputs"]  # type: ignore[misc]
    assert (output["name"], output["shape"], output["dtype"]) == ("y", [2, 40], "float32")
    assert output["least"] == 0.0


@pytest.mark.cpu
def test_a_quiet_run_prints_nothing(model: Path, tmp_path: Path) -> None:
    result = cli("run", model, "--quiet", "--output", tmp_path / "y.npz")
    assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / "y.npz").exists()


@pytest.mark.cpu
def test_rounded_factors_are_allowed_for(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    weights = numpy_helper.from_array(rng.standard_normal((64, 32)).astype(np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (4, 64))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (4, 32))],
        [weights],
    )
    file = tmp_path / "product.onnx"
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), file)
    exact = json.loads(cli("run", file, "--check", "--json").stdout)
    near = cli("run", file, "--check", "--json", "--math", "bfloat16")
    assert near.exit_code == 0, near.output
    worst = [run["check"]["outputs"][0]["worst"] for run in (exact, json.loads(near.stdout))]
    assert worst[0] < 1e-4 < worst[1]
    refused = cli("run", file, "--math", "half")
    assert refused.exit_code == 1 and "'int8' or 'auto', not 'half'" in refused.output
