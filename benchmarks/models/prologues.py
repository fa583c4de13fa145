"""Arithmetic and the contraction that it feeds, as modules.

make("norm_conv", 256, 128, 1)         [n, 256, h, w] -> [n, 128, h, w]: normalised, ReLU, 1x1
make("excited", 96, 24)                [n, 96, h, w] and a scale of each channel -> [n, 24, h, w]
make("gelu", 384, 96)                  [m, 384] -> [m, 96]
make("gated", 1024, 256)               [m, 1024] and its gate -> [m, 256]
make("dequantised", 512, 128)          uint8 [m, 512] -> [m, 128]
make("channels_last", "norm_conv", 256, 128, 1)      the same of images [n, h, w, c]
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, float32, nn
from torch.nn import functional

from benchmarks.models.chains import ChannelsLast

ZERO_POINT, SCALE = 128, 0.02


class Excited(nn.Module):
    """Channels times their scales, then a 1x1 convolution."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.project = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x: Tensor, scale: Tensor) -> Tensor:
        y: Tensor = self.project(x * scale)
        return y


class Gated(nn.Module):
    """SiLU of the gate times the rows, then a product."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.project = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x: Tensor, gate: Tensor) -> Tensor:
        y: Tensor = self.project(functional.silu(gate) * x)
        return y


class Dequantised(nn.Module):
    """Bytes as numbers around a zero point, then a product."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.project = nn.Linear(inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.project((x.to(float32) - ZERO_POINT) * SCALE)
        return y


def norm_conv(inputs: int, outputs: int, kernel: int) -> nn.Module:
    """Batch norm, ReLU, convolution: a layer of DenseNet, and of ResNets with pre-activation."""
    conv = nn.Conv2d(inputs, outputs, kernel, 1, kernel // 2, bias=False)
    return nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU(), conv)


def gelu(inputs: int, outputs: int) -> nn.Module:
    """The second half of a transformer's MLP."""
    return nn.Sequential(nn.GELU(), nn.Linear(inputs, outputs))


def channels_last(kind: str, *sizes: int) -> nn.Module:
    """The module of a kind, of images whose channels come last."""
    return ChannelsLast(make(kind, *sizes))


KINDS: dict[str, Callable[..., nn.Module]] = {
    "norm_conv": norm_conv,
    "excited": Excited,
    "gelu": gelu,
    "gated": Gated,
    "dequantised": Dequantised,
    "channels_last": channels_last,
}


def make(kind: str, *arguments: str | int) -> nn.Module:
    """The module of a kind."""
    return KINDS[kind](*arguments)
