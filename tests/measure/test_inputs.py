"""Inputs are the same everywhere and have the distribution that their kind promises."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ground.errors import InputError
from tilewright.measure.inputs import InputKind, default_kind, make_input, make_inputs
from tilewright.runtime import BufferSpec


def spec(dtype: str, *shape: int) -> BufferSpec:
    return BufferSpec("x", shape or (10_000,), dtype)


def test_values_never_change() -> None:
    x = make_input(spec("float32", 2, 2), InputKind(), seed=7, index=1)
    golden = np.array(
        [[1.6632297039031982, -1.0936847925186157], [-0.03197908774018288, -0.44020137190818787]],
        np.float32,
    )
    np.testing.assert_array_equal(x, golden)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_signed_floats(dtype: str) -> None:
    kind = default_kind(dtype)
    x = make_input(spec(dtype), kind, 0, 0).astype(np.float64)
    assert abs(x.mean()) < 0.03 * kind.scale * 3
    assert abs(x.std() - kind.scale) < 0.02
    assert 0.45 < (x > 0).mean() < 0.55


def test_positive_floats_have_a_floor() -> None:
    x = make_input(spec("float32"), InputKind("positive", scale=2.0), 0, 0)
    assert x.min() >= 0.2
    assert x.max() > 4


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("int8", -128, 127), ("uint8", 0, 255), ("bool", 0, 1), ("int32", -100, 99)],
)
def test_integers_take_their_whole_range(dtype: str, low: int, high: int) -> None:
    x = make_input(spec(dtype), default_kind(dtype), 0, 0)
    assert x.dtype == np.dtype(dtype)
    assert (x.min(), x.max()) == (low, high)


def test_each_input_and_seed_differs() -> None:
    specs = [BufferSpec(name, (64,), "float32") for name in "abc"]
    first = make_inputs(specs, [InputKind()] * 3, seed=0)
    second = make_inputs(specs, [InputKind()] * 3, seed=1)
    values = [v.tobytes() for v in (*first.values(), *second.values())]
    assert len(set(values)) == 6
    assert list(first) == ["a", "b", "c"]


def test_bad_kinds_are_named() -> None:
    with pytest.raises(InputError, match=r"x: no integer in \[5, 5\)"):
        make_input(spec("int32"), InputKind("integers", low=5, high=5), 0, 0)
    with pytest.raises(InputError, match="unknown distribution 'cauchy'"):
        make_input(spec("float32"), InputKind("cauchy"), 0, 0)
