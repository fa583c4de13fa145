"""Computations made otherwise: what counts as an activation, and that variants compute the rest."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.expr import operators as ops
from tilewright.expr import tensors as te
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.intrinsics import erf
from tilewright.expr.nodes import Tensor
from tilewright.expr.rewrites.what_if import (
    BYTES_SCALE,
    activations,
    aligned,
    deepened,
    narrower,
    without,
)
from tilewright.expr.tensors import placeholder
from workloads import given


def biased(rows: int = 6, channels: int = 5) -> Tensor:
    w = placeholder((7, channels), name="w", constant=True)
    b = placeholder((channels,), name="b", constant=True)
    y = ops.matmul(given(rows, 7, name="a"), w)
    return te.compute((rows, channels), lambda i, j: y[i, j] + b[j], name="biased")


def gelu(x: Tensor) -> Tensor:
    """In three stages, the last of which reads two of them."""
    scaled = te.compute(x.shape, lambda *i: x[i] / 2.0**0.5, name="scaled")
    cdf = te.compute(x.shape, lambda *i: (erf(scaled[i]) + 1.0) * 0.5, name="cdf")
    return te.compute(x.shape, lambda *i: x[i] * cdf[i], name="gelu")


def random(dag: ComputeDAG) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        t.name: rng.standard_normal(t.shape).astype(np.float32)
        for t in (*dag.inputs, *dag.constants)
    }


def names(dag: ComputeDAG) -> list[tuple[str, str]]:
    return [(stage.name, source.name) for stage, source in activations(dag)]


def test_an_activation_is_what_depends_on_one_element() -> None:
    x = biased()
    assert names(ComputeDAG([x])) == [], "a bias is another tensor's"
    assert (
        names(ComputeDAG([ops.relu(x)])) == [("biased_relu", "biased")]
        or names(ComputeDAG([ops.relu(x)]))[0][1] == "biased"
    )
    assert names(ComputeDAG([gelu(x)])) == [("gelu", "biased")]
    added = te.compute(x.shape, lambda *i: gelu(x)[i] + x[i], name="added")
    assert names(ComputeDAG([added])) == [("added", "biased")], "a shortcut is part of it"
    assert names(ComputeDAG([ops.relu(given(4, 4))])) == [], "nothing would be left"
    assert names(ComputeDAG([ops.softmax(x)])) == []
    assert names(convolution(4, 6)) == [("relu", "conv2d")], "a batch of one has one place"


def test_without_its_activation_a_task_computes_what_is_before_it() -> None:
    whole = ComputeDAG([gelu(biased())])
    ((stage, source),) = activations(whole)
    rest = without(whole, stage, source)
    assert [t.name for t in rest.outputs] == ["biased"]
    arrays = random(rest)
    wanted = arrays["a"] @ arrays["w"] + arrays["b"]
    np.testing.assert_allclose(rest.evaluate(arrays)["biased"], wanted, rtol=1e-5, atol=1e-5)


def test_an_activation_in_the_middle_gives_way_to_its_source() -> None:
    last = ops.matmul(gelu(biased()), placeholder((5, 3), name="v", constant=True))
    whole = ComputeDAG([last])
    ((stage, source),) = activations(whole)
    rest = without(whole, stage, source)
    arrays = random(rest)
    wanted = (arrays["a"] @ arrays["w"] + arrays["b"]) @ arrays["v"]
    (found,) = rest.evaluate(arrays).values()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def convolution(channels: int, outputs: int) -> ComputeDAG:
    w = placeholder((3, 3, channels, outputs), name="w", constant=True)
    return ComputeDAG([ops.relu(ops.conv2d(given(1, 8, 8, channels, name="x"), w, padding=1))])


def test_a_deeper_task_ends_in_a_1x1_convolution() -> None:
    deeper = deepened(convolution(4, 6))
    assert deeper is not None and deeper.outputs[0].shape == (1, 8, 8, 6)
    arrays = random(deeper)
    before = convolution(4, 6).evaluate(arrays)
    (made,) = before.values()
    (found,) = deeper.evaluate(arrays).values()
    np.testing.assert_allclose(found, made @ arrays["deeper_weights"], rtol=1e-4, atol=1e-4)
    assert deepened(ComputeDAG([biased()])) is None, "no image"
    assert deepened(ComputeDAG([ops.relu(given(1, 8, 8, 4))])) is None, "no contraction"


def test_channels_are_rounded_up_to_whole_vectors() -> None:
    pair = aligned(convolution(46, 174), 16)
    assert pair is not None
    alone, whole = pair
    assert alone.outputs[0].shape == (1, 8, 8, 174) and whole.outputs[0].shape == (1, 8, 8, 176)
    assert whole.useful_flops / alone.useful_flops == (48 * 176) / (46 * 174)
    assert aligned(convolution(48, 176), 16) is None
    assert aligned(ComputeDAG([ops.relu(given(3, 5))]), 16) is None


BITS = [("bfloat16", "bfloat16"), ("uint8", "int8")]


@pytest.mark.parametrize("types", BITS)
@pytest.mark.parametrize("end", [False, True])
def test_contractions_of_fewer_bits(types: tuple[str, str], end: bool) -> None:
    whole = ComputeDAG([biased()]) if end else convolution(4, 6)
    narrow = narrower(whole, *types)
    assert narrow is not None
    rng = np.random.default_rng(0)
    given = {
        t.name: rng.integers(0, 100, t.shape).astype(t.dtype.numpy)
        for t in (*narrow.inputs, *narrow.constants)
    }
    assert [str(t.dtype) for t in narrow.inputs] == [types[0]]
    assert types[1] in {str(t.dtype) for t in narrow.constants}
    scale = 1.0 if types[0] == "bfloat16" else BYTES_SCALE
    floats = {name.split(".")[0]: x.astype(np.float32) for name, x in given.items()}
    for t in narrow.constants:
        if t.dtype.name in types:
            floats[t.name.split(".")[0]] *= scale
    (found,), (wanted,) = narrow.evaluate(given).values(), whole.evaluate(floats).values()
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_what_has_no_known_factor_or_fewer_bits_already_stays() -> None:
    a, b = placeholder((4, 8), name="a"), placeholder((8, 4), name="b")
    assert narrower(ComputeDAG([ops.matmul(a, b)]), *BITS[0]) is None
    assert narrower(ComputeDAG([ops.softmax(a)]), *BITS[0]) is None
    narrow = narrower(ComputeDAG([biased()]), *BITS[0])
    assert narrow is not None and narrower(narrow, *BITS[0]) is None
