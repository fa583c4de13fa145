"""Quantised programs as PyTorch 2's export writes them, against PyTorch itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.ao.quantization.fx._decomposed
from torch.nn import functional

import tilewright as tw
from tilewright.front.models import Model

Q: Any = torch.ops.quantized_decomposed
KINDS = {torch.uint8: (0, 255), torch.int8: (-128, 127)}


def between(x: Any, kind: Any, scale: float = 0.02, low: int | None = None) -> Any:
    """`x` through bytes of one scale, at least `low`."""
    least, most = KINDS[kind]
    given = (scale, least + 120, least if low is None else low, most, kind)
    return Q.dequantize_per_tensor(Q.quantize_per_tensor(x, *given), *given)


class Layers(torch.nn.Module):
    """A convolution, a residual sum and a linear layer whose operands and results are bytes."""

    def __init__(self, kind: Any, per_channel: bool) -> None:
        super().__init__()
        self.kind, self.per_channel = kind, per_channel
        self.kernel = self.weights(16, 16, 3, 3)
        self.matrix = self.weights(10, 16)
        self.register_buffer("scales", torch.rand(16) * 0.01 + 0.002)
        self.register_buffer("zeros", torch.zeros(16, dtype=torch.int64))
        self.bias = torch.nn.Parameter(torch.randn(10))

    def weights(self, *shape: int) -> torch.nn.Parameter:
        values = torch.randint(-127, 128, shape, dtype=torch.int8)
        return torch.nn.Parameter(values, requires_grad=False)

    def real(self, w: Any) -> Any:
        if self.per_channel:
            each = self.scales[: len(w)], self.zeros[: len(w)], 0
            return Q.dequantize_per_channel(w, *each, -127, 127, torch.int8)
        return Q.dequantize_per_tensor(w, 0.007, 0, -127, 127, torch.int8)

    def forward(self, x: Any) -> Any:
        x = between(x, self.kind)
        y = functional.relu(functional.conv2d(x, self.real(self.kernel), padding=1))
        y = between(between(y, self.kind, 0.05) + x, self.kind, 0.06, low=100)
        y = between(y.mean((2, 3)), self.kind, 0.04)
        return between(functional.linear(y, self.real(self.matrix), self.bias), self.kind, 0.03)


def steps(model: Model, module: Any, x: Any, scale: float) -> Any:
    """How far results lie apart, in steps of a scale."""
    found = tw.compile(model)(x.numpy())
    return np.abs(np.asarray(found) - module(x).detach().numpy()) / scale


@pytest.mark.cpu
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_layers(kind: Any, per_channel: bool) -> None:
    torch.manual_seed(0)
    module, x = Layers(kind, per_channel).eval(), torch.randn(2, 16, 6, 5)
    model = tw.load(module, (x,))
    assert steps(model, module, x, 0.03).max() < 1.5
    sums = [n for n in model.graph.nodes if n.op in ("conv", "matmul")]
    assert {(v.dtype) for n in sums for v in n.inputs} == {"uint8", "int8"}


class Dynamic(torch.nn.Module):
    """A linear layer whose operand is quantised by what it is."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.w = torch.nn.Parameter(
            torch.randint(-127, 128, (12, 32), dtype=torch.int8), requires_grad=False
        )

    def forward(self, x: Any) -> Any:
        w = Q.dequantize_per_tensor(self.w, 0.007, 0, -127, 127, torch.int8)
        limits = (-128, 127, torch.int8)
        if "token" in self.how:
            pair = getattr(Q, self.how)(x, torch.int8)
            q = Q.quantize_per_token(x, *pair, *limits)
            return functional.linear(Q.dequantize_per_token(q, *pair, *limits, torch.float32), w)
        pair = getattr(Q, self.how)(x, -128, 127, 1e-7, torch.int8)
        q = Q.quantize_per_tensor.tensor(x, *pair, *limits)
        return functional.linear(Q.dequantize_per_tensor.tensor(q, *pair, *limits), w)


@pytest.mark.cpu
@pytest.mark.parametrize(
    "how",
    [
        "choose_qparams", "choose_qparams_symmetric", "choose_qparams_per_token",
        "choose_qparams_per_token_asymmetric",
    ],
)  # fmt: skip
def test_scales_that_are_chosen_when_it_runs(how: str) -> None:
    torch.manual_seed(0)
    module, x = Dynamic(how).eval(), torch.randn(5, 32)
    with torch.no_grad():
        assert steps(tw.load(module, (x,)), module, x, 1.0).max() < 0.02


@pytest.mark.cpu
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_quantising_gives_the_same_bytes(kind: Any, axis: int | None) -> None:
    class Bytes(torch.nn.Module):
        def forward(self, x: Any, scales: Any) -> Any:
            if axis is None:
                return Q.quantize_per_tensor(x, 0.02, 5, 3, 100, kind)
            return Q.quantize_per_channel(x, scales, torch.arange(len(scales)), axis, 3, 100, kind)

    rng = np.random.default_rng(0)
    x = torch.tensor((rng.integers(-300, 300, (8, 40, 50)) / 100).astype("f4"))  # half of them ties
    scales = torch.tensor((rng.integers(1, 50, x.shape[axis or 0]) / 1000).astype("f4"))
    given = (x, scales)
    net = tw.compile(tw.load(Bytes(), given))
    found = net.run({i.name: t.numpy() for i, t in zip(net.inputs, given, strict=False)})
    np.testing.assert_array_equal(found[0], Bytes()(*given).numpy())
