"""RepVGG as the benchmarks build it: the published sizes, and batch norms that are folded away."""

from __future__ import annotations

from functools import partial
from math import inf

import numpy as np
import pytest
import torch
from benchmarks.models.repvgg import ACTIVATIONS, make
from benchmarks.models.weights import folded, initialised

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(("size", "millions"), [("A0", 8.31), ("A1", 12.79), ("B0", 14.34)])
def test_sizes_are_the_published_ones(size: str, millions: float) -> None:
    with torch.device("meta"):
        network = folded(make(size).eval())
        deeper = folded(make(size, "relu", inf).eval())
        few = folded(make(size, "relu", 3).eval())
    counted = sum(p.numel() for p in network.parameters()) / 1e6
    assert counted == pytest.approx(millions, abs=0.005)
    kinds = [type(layer).__name__ for layer in network]
    assert kinds.count("Conv2d") == kinds.count("ReLU") and "BatchNorm2d" not in kinds
    kernels = [layer.kernel_size for layer in deeper if isinstance(layer, torch.nn.Conv2d)]
    assert kernels[:4] == [(3, 3), (1, 1)] * 2 and kernels[-1] == (3, 3)
    assert len(kernels) == 2 * kinds.count("Conv2d") - 1
    assert len(few) == len(network) + 2 * 3


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_what_is_folded_computes_the_same(activation: str) -> None:
    images = np.random.default_rng(0).standard_normal((2, 3, 32, 32), np.float32)
    made = initialised(partial(make, "A0", activation, 1), (images,))
    wanted, found = made(torch.from_numpy(images)), folded(made)(torch.from_numpy(images))
    assert wanted.std() > 1e-3
    assert (wanted - found).abs().max() <= 1e-4 * wanted.abs().max()
