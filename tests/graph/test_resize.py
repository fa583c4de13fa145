"""Resizing by factors that do not divide, against onnxruntime."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import onnx
import pytest
from graph_reference import make_model, run_graph, run_onnx
from onnx import helper
from test_sized_models import agrees, ints, node

from tilewright.graph.onnx.importing import load
from tilewright.ground.errors import UnsupportedModel

COORDINATES = ("align_corners", "half_pixel", "pytorch_half_pixel", "asymmetric")
EXTENTS = ((5, 5), (3, 7), (4, 1))
FACTORS = ((1.5, 1.5), (0.7, 2.3), (1.25, 0.6), (3.0, 2.0), (0.3, 1.9))


def resized(
    opset: int, extents: tuple[int, int], by: dict[str, object], **how: object
) -> onnx.ModelProto:
    weights = {"r": np.zeros(0, np.float32), "s": np.zeros(0, np.float32)}
    weights |= {k: np.asarray(v, np.float32 if k == "s" else np.int64) for k, v in by.items()}
    if opset > 12 and "n" in by:
        weights.pop("s")
    inputs = ["x", "r", "s" if "s" in weights else "", *by.keys() - {"s"}]
    nodes = [helper.make_node("Resize", inputs, ["y"], **how)]
    return make_model(nodes, {"x": (1, 2, *extents)}, weights, opset=opset)


OPSETS = {"half_pixel_symmetric": (19,), "tf_half_pixel_for_nn": (11,)}
CASES = [c for c in product(EXTENTS, FACTORS) if all(int(n * f) for n, f in zip(*c, strict=True))]


@pytest.mark.parametrize("mode", ["linear", "cubic", "nearest"])
@pytest.mark.parametrize("where", [*COORDINATES, *OPSETS])
def test_factors_that_do_not_divide(mode: str, where: str) -> None:
    """By scales and by sizes, in turn; opsets, too."""
    rng = np.random.default_rng(0)
    opsets = OPSETS.get(where, (11, 13, 18, 19))
    for i, (extents, factors) in enumerate(CASES):
        x = {"x": rng.standard_normal((1, 2, *extents)).astype(np.float32)}
        sizes = [int(np.float32(f) * n) for f, n in zip(factors, extents, strict=True)]
        by = {"n": [1, 2, *sizes]} if i // len(opsets) % 2 else {"s": [1, 1, *factors]}
        how = {"mode": mode, "coordinate_transformation_mode": where}
        if where == "half_pixel_symmetric":  # "floor" meets ties that onnxruntime rounds by chance
            how |= {"nearest_mode": "ceil"}
        model = resized(opsets[i % len(opsets)], extents, by, **how)
        ours, theirs = run_graph(load(model), x)[0], run_onnx(model, x)[0]
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=str(by))


@pytest.mark.parametrize("nearest", ["floor", "ceil", "round_prefer_floor"])
def test_the_nearest_element_is_that_of_float32(nearest: str) -> None:
    """3 / 0.6 is 5, though 0.6 is no float32."""
    how = {"nearest_mode": nearest, "coordinate_transformation_mode": "asymmetric"}
    for extents, factors in CASES:
        x = {"x": np.arange(2.0 * np.prod(extents), dtype=np.float32).reshape(1, 2, *extents)}
        model = resized(13, extents, {"s": [1, 1, *factors]}, **how)
        np.testing.assert_array_equal(run_graph(load(model), x)[0], run_onnx(model, x)[0])


@pytest.mark.filterwarnings("ignore:.*declared")  # ONNX's shape inference multiplies otherwise
@pytest.mark.parametrize("factor", [0.6, 0.7, 0.9, 1.3, 1.4, 2.3])
def test_there_are_as_many_outputs_as_float32_says(factor: float) -> None:
    for extent in (5, 7, 10, 20):
        model = resized(13, (extent, 4), {"s": [1, 1, factor, 1]}, mode="linear")
        x = {"x": np.arange(8.0 * extent, dtype=np.float32).reshape(1, 2, extent, 4)}
        ours, theirs = run_graph(load(model), x)[0], run_onnx(model, x)[0]
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=1e-4)


SIDES = {"H": (1, 20), "W": (2, 16)}
POINTS = [{"H": h, "W": w} for h, w in ((1, 2), (3, 3), (5, 8), (20, 16))]


@pytest.mark.parametrize(
    ("mode", "where"),
    [
        *product(("nearest", "linear"), COORDINATES),
        ("cubic", "half_pixel"),
        ("linear", "half_pixel_symmetric"),
    ],
)
def test_sides_that_vary(mode: str, where: str) -> None:
    """By whole factors, by fractions, and to the extents of something else."""
    how = {"mode": mode, "coordinate_transformation_mode": where}
    image = {"x": (1, 2, "H", "W")}
    for factor in (2.0, 1.5, 0.5):
        scales = np.array([1, 1, factor, factor], np.float32)
        model = make_model([node("Resize", "x  s", "y", **how)], image, {"s": scales})
        agrees(model, SIDES, [p for p in POINTS if min(p.values()) * factor >= 1])
    nodes = [
        node("MaxPool", "x", "p", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
        node("Shape", "x", "all"), node("Slice", "all two four", "sides"),
        node("Shape", "p", "pooled"), node("Slice", "pooled zero two", "lead"),
        node("Concat", "lead sides", "n", axis=0),
        node("Resize", "p   n", "r", **how), node("Add", "r x", "y"),
    ]  # fmt: skip
    known = {"zero": ints(0), "two": ints(2), "four": ints(4)}
    agrees(make_model(nodes, image, known), SIDES, POINTS)


@pytest.mark.parametrize(
    "how",
    [
        {"mode": "linear", "antialias": 1},
        {"mode": "cubic", "antialias": 1},
        {"mode": "cubic", "antialias": 1, "exclude_outside": 1},
        {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5},
    ],
    ids=str,
)
def test_sides_that_vary_are_filtered(how: dict[str, Any]) -> None:
    """By scales, and to a fixed image."""
    for factor in (0.5, 0.4, 1.5):
        scales = np.array([1, 1, factor, factor], np.float32)
        nodes = [node("Resize", "x  s", "y", **how)]
        model = make_model(nodes, {"x": (1, 2, "H", "W")}, {"s": scales}, opset=18)
        agrees(model, SIDES, [p for p in POINTS if min(p.values()) * factor >= 1])
    nodes = [node("Resize", "x   n", "y", axes=[2, 3], **how)]
    model = make_model(nodes, {"x": (1, 2, "H", "W")}, {"n": ints(6, 7)}, opset=18)
    agrees(model, SIDES, POINTS)


def test_a_table_of_positions_is_resized_to_the_image() -> None:
    """As vision transformers have it."""
    nodes = [
        node("Shape", "x", "all"), node("Slice", "all two four", "sides"),
        node("Concat", "lead sides", "n", axis=0),
        node("Resize", "table   n", "r", mode="cubic", cubic_coeff_a=-0.5), node("Add", "r x", "y"),
    ]  # fmt: skip
    known = {"two": ints(2), "four": ints(4), "lead": ints(1, 2)}
    table = np.random.default_rng(0).standard_normal((1, 2, 5, 7)).astype(np.float32)
    model = make_model(nodes, {"x": (1, 2, "H", "W")}, {**known, "table": table})
    agrees(model, SIDES, POINTS)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"coordinate_transformation_mode": "tf_crop_and_resize"}, "resize need a number"),
    ],
)
def test_what_sides_that_vary_cannot_have(how: dict[str, Any], words: str) -> None:
    scales = np.array([1, 1, 1.5, 1.5], np.float32)
    nodes = [node("Resize", "x  s", "y", **how)]
    model = make_model(nodes, {"x": (1, 2, "H", "W")}, {"s": scales}, opset=18)
    with pytest.raises(UnsupportedModel, match=words):
        load(model, SIDES)


def test_a_scale_that_is_no_fraction() -> None:
    scales = np.array([1, 1, 1.01234567, 1], np.float32)
    model = make_model([node("Resize", "x  s", "y")], {"x": (1, 2, "H", "W")}, {"s": scales})
    with pytest.raises(UnsupportedModel, match=r"its scale 1.01235 of H is no simple fraction"):
        load(model, SIDES)
