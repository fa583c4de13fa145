"""The nine light models of the onnx package: their cut, and their results.

The cut and two of the models are checked with NumPy; all nine are compiled (untuned) in tests
marked `cpu`, with their own weights and with random ones.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_reference import Array, run_onnx, run_partition
from light_models import NAMES, bundled_case, path_of, randomised

import tilewright as tw
from tilewright.graph.onnx.importing import load
from tilewright.graph.partition import partition
from tilewright.graph.passes import simplify

pytestmark = pytest.mark.no_cover

# Operators after simplification, kernel calls, tasks, views.
CUTS = {
    "bvlc_alexnet": (31, 14, 14, 1),
    "densenet121": (491, 241, 187, 1),
    "inception_v1": (201, 84, 73, 1),
    "inception_v2": (235, 93, 59, 1),
    "resnet50": (178, 57, 28, 1),
    "shufflenet": (205, 75, 31, 33),
    "squeezenet": (93, 39, 27, 1),
    "vgg19": (64, 25, 18, 1),
    "zfnet512": (31, 14, 13, 1),
}


SMALL = ("densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet")


def models(*quick: str) -> list[Any]:
    """All of them, of which the others run where every case does: most have large weights."""
    return [pytest.param(n, marks=() if n in quick else pytest.mark.thorough) for n in NAMES]


@dataclass(frozen=True)
class Facts:
    """What the tests ask about one model's cut."""

    counts: tuple[int, int, int, int]
    weights: int
    ops: Counter[str]


@functools.cache
def cut(name: str) -> Facts:
    p = partition(simplify(load(path_of(name))))
    counts = (len(p.graph.nodes), len(p.subgraphs), len(p.tasks), len(p.views))
    weights = sum(t.weight for t in p.tasks)
    return Facts(counts, weights, Counter(n.op for n in p.graph.nodes))


def image(seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((1, 3, 224, 224)).astype(np.float32)


def close(ours: Array, theirs: Array) -> None:
    """Within 1e-3 of the output's scale, and not all the same."""
    assert ours.shape == theirs.shape
    scale = float(np.abs(theirs).max())
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3 * scale)


@pytest.mark.parametrize("name", models(*SMALL))
def test_cut(name: str) -> None:
    assert cut(name).counts == CUTS[name]
    assert cut(name).weights == CUTS[name][1]


@pytest.mark.parametrize("name", models(*SMALL))
def test_one_transpose_of_the_image_and_none_beside_the_shuffles(name: str) -> None:
    assert cut(name).ops["transpose"] == (17 if name == "shufflenet" else 1)


@pytest.mark.parametrize("name", models(*SMALL))
def test_batch_norms_vanish_except_before_activations(name: str) -> None:
    """DenseNet normalises before it convolves, 62 times; every other factor is in weights."""
    assert cut(name).ops["multiply"] == (62 if name == "densenet121" else 0)


def test_results_with_random_weights_by_numpy() -> None:
    model = randomised("shufflenet")
    p = partition(simplify(load(model)))
    x = {p.graph.inputs[0].name: image()}
    close(run_partition(p, x)[0], run_onnx(model, x)[0])


@pytest.mark.cpu
@pytest.mark.parametrize("name", models("shufflenet", "squeezenet"))
def test_compiled_results(name: str) -> None:
    """Untuned, against the bundled output, and with random weights against onnxruntime."""
    x, expected = bundled_case(name)
    close(tw.compile(tw.load(path_of(name)))(x)[0], expected)
    model = randomised(name)
    net = tw.compile(tw.load(model))
    theirs = run_onnx(model, {net.artifact.inputs[0].name: image()})
    close(net(image())[0], theirs[0])


@pytest.mark.cpu
def test_nothing_runs_the_reference_evaluator(monkeypatch: pytest.MonkeyPatch) -> None:
    net = tw.compile(tw.load(path_of("squeezenet")))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the reference evaluator was called at run time")

    monkeypatch.setattr("onnx.reference.ReferenceEvaluator.__init__", refuse)
    monkeypatch.setattr("onnx.reference.ReferenceEvaluator.run", refuse)
    monkeypatch.setattr("onnx.reference.op_run.OpRun.run", refuse)
    x, expected = bundled_case("squeezenet")
    close(net(x)[0], expected)


@pytest.mark.cpu
def test_a_saved_model_gives_the_same_network(tmp_path: Path) -> None:
    model = randomised("squeezenet")
    path = tmp_path / "net.onnx"
    path.write_bytes(model.SerializeToString())
    (first,) = tw.compile(tw.load(model))(image())
    (second,) = tw.compile(tw.load(path))(image())
    np.testing.assert_array_equal(first, second)
