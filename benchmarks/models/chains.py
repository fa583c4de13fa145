"""Contractions back to back, as modules: what may share a kernel (Bolt, MLSys 2022, section 3.1.1).

make("gemms", 256, 64, 16)             [m, 256] -> [m, 16]
make("conv_pointwise", 48, 48, 1)      [n, 48, h, w] -> [n, 48, h, w]
make("block", 24, 24, 1)               the same through 6 x 24 channels
make("attention")                      q, k, v [n, heads, length, size] -> the same shape
make("mlp", 768)                       [m, 768] -> [m, 768] through 3,072
make("norm_conv", 256, 128, 1)         [n, 256, h, w] -> [n, 128, h, w]: normalised, ReLU, 1x1
make("channels_last", "block", 24, 24, 1)      the same of images [n, h, w, c]
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional

from benchmarks.models.mobilenet_v2 import InvertedResidual

EXPANSION = 6  # of a block
WIDER = 4  # the middle of an MLP


class Attention(nn.Module):
    """Softmax of the scaled scores, times the values."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return functional.scaled_dot_product_attention(q, k, v)


class ChannelsLast(nn.Module):
    """A module of images for images whose channels come last."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *images: Tensor) -> Tensor:
        y: Tensor = self.module(*(x.permute(0, 3, 1, 2) for x in images))
        return y.permute(0, 2, 3, 1)


def gemms(inputs: int, middle: int, outputs: int) -> nn.Module:
    """Two products, each with ReLU (table 1)."""
    layers = [nn.Linear(inputs, middle, bias=False), nn.Linear(middle, outputs, bias=False)]
    return nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU())


def conv_pointwise(inputs: int, channels: int, stride: int) -> nn.Module:
    """A padded 3x3 and a 1x1 convolution, each with bias and ReLU (table 2)."""
    first = nn.Conv2d(inputs, channels, 3, stride, 1)
    return nn.Sequential(first, nn.ReLU(), nn.Conv2d(channels, channels, 1), nn.ReLU())


def block(inputs: int, outputs: int, stride: int) -> nn.Module:
    """An inverted bottleneck of MobileNet-V2."""
    return InvertedResidual(inputs, outputs, stride, EXPANSION)


def mlp(size: int) -> nn.Module:
    """What follows the attention in a transformer's layer."""
    wide = WIDER * size
    return nn.Sequential(nn.Linear(size, wide), nn.GELU(), nn.Linear(wide, size))


def norm_conv(inputs: int, outputs: int, kernel: int) -> nn.Module:
    """Batch norm, ReLU, convolution: a layer of DenseNet, and of ResNets with pre-activation."""
    conv = nn.Conv2d(inputs, outputs, kernel, 1, kernel // 2, bias=False)
    return nn.Sequential(nn.BatchNorm2d(inputs), nn.ReLU(), conv)


def channels_last(kind: str, *sizes: int) -> nn.Module:
    """The module of a kind, of images whose channels come last."""
    return ChannelsLast(make(kind, *sizes))


KINDS: dict[str, Callable[..., nn.Module]] = {
    "gemms": gemms,
    "conv_pointwise": conv_pointwise,
    "block": block,
    "attention": Attention,
    "mlp": mlp,
    "norm_conv": norm_conv,
    "channels_last": channels_last,
}


def make(kind: str, *arguments: str | int) -> nn.Module:
    """The module of a kind."""
    return KINDS[kind](*arguments)
