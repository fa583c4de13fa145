"""What moves data rather than multiplies, as modules: inputs and outputs are contiguous.

make("transposed_sum")                 x, y [m, n] -> (x + y).T
make("permuted", 0, 2, 3, 1)           axes in another order
make("depthwise", 144, 3, 2)           [n, 144, h, w] -> its 3x3 convolution of stride 2
make("softmax")                        over the last axis
make("slices")                         [n, c, h, w] -> [n, 4c, h/2, w/2], as YOLOv5 begins
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

EPSILON = 1e-6
ROTARY_BASE = 10_000.0


class Contiguous(nn.Module):
    """What a function or module makes, written as it is returned: PyTorch's views cost nothing."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.function(*inputs).contiguous()


class RMSNorm(nn.Module):
    """Rows over the root of their mean square, times a weight: in its parts."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size).uniform_(0.6, 1.2))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPSILON) * self.weight


class Rotary(nn.Module):
    """Even and odd elements of rows `[n, heads, length, size]`, turned by their position's angles:
    evens in the first half of the result, odds in the second.
    """

    def __init__(self, length: int, size: int) -> None:
        super().__init__()
        frequencies = ROTARY_BASE ** -(torch.arange(0, size, 2) / size)
        angles = torch.outer(torch.arange(length, dtype=torch.float32), frequencies)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, x: Tensor) -> Tensor:
        even, odd = x[..., ::2], x[..., 1::2]
        turned = (even * self.cos - odd * self.sin, even * self.sin + odd * self.cos)
        return torch.cat(turned, -1)


def windows(side: int) -> Callable[[Tensor], Tensor]:
    """Swin's partition: [n, h, w, c] -> [n * windows, side * side, c]."""

    def partition(x: Tensor) -> Tensor:
        n, height, width, channels = x.shape
        parts = x.reshape(n, height // side, side, width // side, side, channels)
        return parts.permute(0, 1, 3, 2, 4, 5).reshape(-1, side * side, channels)

    return partition


def shuffled(groups: int) -> Callable[[Tensor], Tensor]:
    """ShuffleNet's: channels of groups take turns."""

    def shuffle(x: Tensor) -> Tensor:
        n, channels, height, width = x.shape
        parts = x.reshape(n, groups, channels // groups, height, width)
        return parts.transpose(1, 2).reshape(n, channels, height, width)

    return shuffle


def slices(x: Tensor) -> Tensor:
    """Every second pixel of both axes, from each of four corners."""
    rows = x[..., ::2, :], x[..., 1::2, :]
    return torch.cat([y[..., start::2] for start in (0, 1) for y in rows], 1)


class Scattered(nn.Module):
    """Elements of `[1, updates, *]`, or whole rows, put at places of zeros `[1, elements, *]`."""

    def __init__(self, elements: int, updates: int, rows: str = "") -> None:
        super().__init__()
        self.elements, self.rows = elements, rows
        places = torch.from_numpy(np.random.default_rng(0).integers(0, elements, updates))
        self.register_buffer("places", places if rows else places[None])

    def forward(self, x: Tensor) -> Tensor:
        zeros = x.new_zeros(1, self.elements, *x.shape[2:])
        if self.rows:
            return zeros.squeeze(0).index_put((self.places,), x.squeeze(0))[None]
        return zeros.scatter(1, self.places, x)


def depthwise(channels: int, kernel: int, stride: int) -> nn.Module:
    """A window of each channel's own."""
    return nn.Conv2d(channels, channels, kernel, stride, kernel // 2, groups=channels)


def sequence(inputs: int, outputs: int, kernel: int) -> nn.Module:
    """A convolution of one spatial dimension."""
    return nn.Conv1d(inputs, outputs, kernel, padding=kernel // 2)


def resized(mode: str) -> Callable[[Tensor], Tensor]:
    """Images of twice the size."""
    return lambda x: functional.interpolate(x, scale_factor=2, mode=mode)


KINDS: dict[str, Callable[..., Callable[..., Tensor]]] = {
    "transposed_sum": lambda: lambda x, y: (x + y).T,
    "permuted": lambda *order: lambda x: x.permute(order),
    "permuted_gelu": lambda *order: lambda x: functional.gelu(x.permute(order)),
    "depth_to_space": nn.PixelShuffle,
    "space_to_depth": nn.PixelUnshuffle,
    "windows": windows,
    "depthwise": depthwise,
    "pointwise": lambda inputs, outputs: nn.Conv2d(inputs, outputs, 1),
    "max_pool": nn.MaxPool2d,
    "average_pool": nn.AvgPool2d,
    "global_pool": lambda: nn.AdaptiveAvgPool2d(1),
    "conv_transpose": nn.ConvTranspose2d,
    "conv1d": sequence,
    "resize": resized,
    "concat": lambda: lambda *parts: torch.cat(parts, 1),
    "channel_shuffle": shuffled,
    "softmax": lambda: nn.Softmax(-1),
    "log_softmax": lambda: nn.LogSoftmax(-1),
    "layer_norm": nn.LayerNorm,
    "rms_norm": RMSNorm,
    "instance_norm": nn.InstanceNorm2d,
    "norm": lambda: lambda x: torch.linalg.vector_norm(x, dim=-1),
    "sum": lambda: lambda x: x.sum(-1),
    "gelu": lambda approximation="none": nn.GELU(approximation),
    "silu": nn.SiLU,
    "sigmoid": nn.Sigmoid,
    "tanh": nn.Tanh,
    "exp": lambda: torch.exp,
    "hardswish": nn.Hardswish,
    "softplus": nn.Softplus,
    "mish": nn.Mish,
    "slices": lambda: slices,
    "every_second": lambda: lambda x: x[..., ::2],
    "rotary": Rotary,
    "prefix_sums": lambda: lambda x: x.cumsum(-1),
    "largest": lambda count: lambda x: x.topk(count).values,
    "sorted": lambda: lambda x: x.sort(-1).values,
    "scattered": Scattered,
    "spectrum": lambda: lambda x: torch.view_as_real(torch.fft.rfft(x)).flatten(1),
}


def make(kind: str, *arguments: str | int) -> nn.Module:
    """The module of a kind."""
    return Contiguous(KINDS[kind](*arguments))
