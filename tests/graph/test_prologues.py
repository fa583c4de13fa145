"""Networks whose contractions read what arithmetic makes: as ONNX has them, in fewer kernels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from onnx_files import saved

import tilewright as tw
from tilewright.contract.artifact import Array
from tilewright.front.machine import host_target

pytestmark = pytest.mark.cpu

RNG = np.random.default_rng(0)
# Values of a few kilobytes travel between kernels on it.
SMALL = replace(host_target(), l1_bytes=2048, l2_bytes=4096, l3_bytes=1 << 16)


def floats(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def check(file: Path, x: Array, kernels: int, apart: int) -> None:
    """Compile with and without prologues; compare both with ONNX's reference."""
    (expected,) = ReferenceEvaluator(str(file)).run(None, {"x": x})
    for chains, count in ((True, kernels), (False, apart)):
        model = tw.load(file, chains=chains).for_target(SMALL)
        assert len(model.partition.subgraphs) == count
        (y,) = tw.compile(model, target=SMALL)(x)
        np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)


def test_a_dense_block(tmp_path: Path) -> None:
    """Parts are put together, scaled and activated in the kernel of the convolution."""
    weights = {"w": floats(16, 8, 1, 1)}
    nodes = [helper.make_node("Conv", ["x", "w"], ["0.out"])]
    for i, kernel in enumerate((1, 3), 1):
        width, joined = 4 + 12 * i, "0.out"
        if i > 1:
            joined = f"{i}.in"
            nodes.append(helper.make_node("Concat", ["0.out", "1.out"], [joined], axis=1))
        names = [f"{i}.{k}" for k in ("scale", "shift", "mean", "variance")]
        weights |= {name: np.abs(floats(width)) + 0.5 for name in names}
        weights[f"{i}.w"] = floats(12, width, kernel, kernel) / width
        pads = [kernel // 2] * 4
        nodes += [
            helper.make_node("BatchNormalization", [joined, *names], [f"{i}.norm"]),
            helper.make_node("Relu", [f"{i}.norm"], [f"{i}.relu"]),
            helper.make_node("Conv", [f"{i}.relu", f"{i}.w"], [f"{i}.out"], pads=pads),
        ]
    nodes.append(helper.make_node("GlobalAveragePool", ["2.out"], ["y"]))
    check(saved(tmp_path, nodes, weights, (1, 8, 13, 11)), floats(1, 8, 13, 11), 4, 6)


def test_a_product_of_quantised_rows(tmp_path: Path) -> None:
    weights = {
        "scale": np.float32(0.02), "zero": np.uint8(120),
        "w": floats(40, 24) / 6, "b": floats(24),
    }  # fmt: skip
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "scale", "zero"], ["wide"]),
        helper.make_node("MatMul", ["wide", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["y"]),
    ]
    rows = RNG.integers(0, 256, (77, 40), np.uint8)
    check(saved(tmp_path, nodes, weights, rows.shape, TensorProto.UINT8), rows, 1, 2)
