"""Transpositions at a model's edges: in one kernel with what is between, where that is quicker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, helper
from onnx.reference import ReferenceEvaluator
from onnx_files import saved

import tilewright as tw
from tilewright.contract.artifact import Array
from tilewright.contract.surroundings import ALONE
from tilewright.front.tuning_tasks import tasks_of
from tilewright.target import Target

HOST = Target.parse("cpu")
RNG = np.random.default_rng(0)


def floats(*shape: int) -> Array:
    return RNG.integers(-3, 4, shape).astype(np.float32)


def conv(channels: int, kernel: int, x: str = "x", y: str = "y", **options: Any) -> NodeProto:
    pads = [kernel // 2] * 4
    return helper.make_node("Conv", [x, "w"], [y], group=channels, pads=pads, **options)


def check(file: Path, shape: Sequence[int], kernels: int) -> tw.Model:
    """The kernels that the model becomes here, and its results."""
    model = tw.load(file).for_target(HOST)
    assert len(model.partition.subgraphs) == kernels, str(model)
    x = floats(*shape)
    (expected,) = ReferenceEvaluator(str(file)).run(None, {"x": x})
    (y,) = tw.compile(model, target=HOST)(x)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)
    return model


@pytest.mark.cpu
@pytest.mark.parametrize("stride", [1, 2])
def test_a_depthwise_convolution_is_one_kernel(tmp_path: Path, stride: int) -> None:
    nodes = [
        conv(24, 3, y="t", strides=[stride, stride]),
        helper.make_node("Relu", ["t"], ["y"]),
    ]
    file = saved(tmp_path, nodes, {"w": floats(24, 1, 3, 3)}, (1, 24, 28, 28))
    model = check(file, (1, 24, 28, 28), 1)
    (task,) = tasks_of(model)
    assert task.setting == ALONE, "it runs on a caller's arrays, with nothing beside it"
    shapes = [t.shape for t in task.dag.stages if t.rank == 4]
    assert all(s[1] == 24 for s in shapes), "every stage has its channels first"


@pytest.mark.cpu
@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool"])
def test_so_is_a_pool(tmp_path: Path, kind: str) -> None:
    pool = helper.make_node(kind, ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    check(saved(tmp_path, [pool], {}, (1, 12, 20, 20)), (1, 12, 20, 20), 1)


@pytest.mark.cpu
def test_so_is_a_product_of_few_channels(tmp_path: Path) -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    check(saved(tmp_path, [node], {"w": floats(16, 8, 1, 1)}, (1, 8, 32, 32)), (1, 8, 32, 32), 1)


@pytest.mark.cpu
def test_so_is_a_normalisation(tmp_path: Path) -> None:
    node = helper.make_node("InstanceNormalization", ["x", "g", "b"], ["y"])
    file = saved(tmp_path, [node], {"g": floats(6), "b": floats(6)}, (1, 6, 16, 16))
    check(file, (1, 6, 16, 16), 1)


def test_what_multiplies_a_lot_stays_as_it_is(tmp_path: Path) -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    file = saved(tmp_path, [node], {"w": floats(64, 64, 3, 3)}, (1, 64, 28, 28))
    assert len(tw.load(file).for_target(HOST).partition.subgraphs) == 2


def test_what_takes_neighbouring_channels_stays_as_it_is(tmp_path: Path) -> None:
    """A product of few channels, where an instruction multiplies pairs of them in bfloat16."""
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    file = saved(tmp_path, [node], {"w": floats(256, 64, 1, 1)}, (1, 64, 56, 56))
    target = Target.parse("cpu:znver4 cores=2")
    for math, kernels in (("float32", 1), ("bfloat16", 2)):
        model = tw.load(file, math=math).for_target(target)
        assert len(model.partition.subgraphs) == kernels, str(model)


def test_two_kernels_meet_channels_last(tmp_path: Path) -> None:
    """Between them nothing is given or returned: both transpositions are made."""
    nodes = [
        conv(24, 3, y="t"),
        helper.make_node("Conv", ["t", "v"], ["u"]),
        helper.make_node("Relu", ["u"], ["y"]),
    ]
    file = saved(
        tmp_path, nodes, {"w": floats(24, 1, 3, 3), "v": floats(24, 24, 1, 1)}, (1, 24, 28, 28)
    )
    model = tw.load(file).for_target(HOST)
    assert all(len(t.dag.outputs) == 1 for t in model.partition.tasks)
    assert len(model.partition.subgraphs) == 4, str(model)


def test_a_gpu_makes_them(tmp_path: Path) -> None:
    file = saved(tmp_path, [conv(24, 3)], {"w": floats(24, 1, 3, 3)}, (1, 24, 28, 28))
    assert len(tw.load(file).for_target(Target.parse("cuda:a100")).partition.subgraphs) > 1
