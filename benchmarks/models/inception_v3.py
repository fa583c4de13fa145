"""Inception-V3 (Szegedy et al. 2015, arXiv 1512.00567) without its auxiliary classifier.

image float32[n, 3, 299, 299] -> logits float32[n, 1000], 23.8 M parameters
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

Kernel = int | tuple[int, int]


class Conv(nn.Sequential):
    """A convolution, its batch norm and ReLU."""

    def __init__(
        self, inputs: int, outputs: int, kernel: Kernel, stride: int = 1, padding: Kernel = 0
    ) -> None:
        conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False)
        super().__init__(conv, nn.BatchNorm2d(outputs, eps=1e-3), nn.ReLU())


def wide(inputs: int, outputs: int, length: int = 7) -> Conv:
    """A convolution along rows."""
    return Conv(inputs, outputs, (1, length), padding=(0, length // 2))


def high(inputs: int, outputs: int, length: int = 7) -> Conv:
    """A convolution along columns."""
    return Conv(inputs, outputs, (length, 1), padding=(length // 2, 0))


class Branches(nn.Module):
    """Several parts beside each other, their channels joined."""

    def __init__(self, *parts: nn.Module) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([part(x) for part in self.parts], dim=1)


def average() -> nn.Module:
    """The mean of a 3x3 window, zeros outside counted."""
    return nn.AvgPool2d(3, 1, 1)


def block_a(inputs: int, pooled: int) -> nn.Module:
    return Branches(
        Conv(inputs, 64, 1),
        nn.Sequential(Conv(inputs, 48, 1), Conv(48, 64, 5, padding=2)),
        nn.Sequential(Conv(inputs, 64, 1), Conv(64, 96, 3, padding=1), Conv(96, 96, 3, padding=1)),
        nn.Sequential(average(), Conv(inputs, pooled, 1)),
    )


def block_b(inputs: int) -> nn.Module:
    return Branches(
        Conv(inputs, 384, 3, 2),
        nn.Sequential(Conv(inputs, 64, 1), Conv(64, 96, 3, padding=1), Conv(96, 96, 3, 2)),
        nn.MaxPool2d(3, 2),
    )


def block_c(inputs: int, inner: int) -> nn.Module:
    twice = [high(inner, inner), wide(inner, inner), high(inner, inner), wide(inner, 192)]
    return Branches(
        Conv(inputs, 192, 1),
        nn.Sequential(Conv(inputs, inner, 1), wide(inner, inner), high(inner, 192)),
        nn.Sequential(Conv(inputs, inner, 1), *twice),
        nn.Sequential(average(), Conv(inputs, 192, 1)),
    )


def block_d(inputs: int) -> nn.Module:
    return Branches(
        nn.Sequential(Conv(inputs, 192, 1), Conv(192, 320, 3, 2)),
        nn.Sequential(Conv(inputs, 192, 1), wide(192, 192), high(192, 192), Conv(192, 192, 3, 2)),
        nn.MaxPool2d(3, 2),
    )


def block_e(inputs: int) -> nn.Module:
    def both() -> nn.Module:
        return Branches(wide(384, 384, 3), high(384, 384, 3))

    return Branches(
        Conv(inputs, 320, 1),
        nn.Sequential(Conv(inputs, 384, 1), both()),
        nn.Sequential(Conv(inputs, 448, 1), Conv(448, 384, 3, padding=1), both()),
        nn.Sequential(average(), Conv(inputs, 192, 1)),
    )


def make() -> nn.Module:
    """The network."""
    return nn.Sequential(
        Conv(3, 32, 3, 2), Conv(32, 32, 3), Conv(32, 64, 3, padding=1), nn.MaxPool2d(3, 2),
        Conv(64, 80, 1), Conv(80, 192, 3), nn.MaxPool2d(3, 2),
        block_a(192, 32), block_a(256, 64), block_a(288, 64), block_b(288),
        block_c(768, 128), block_c(768, 160), block_c(768, 160), block_c(768, 192), block_d(768),
        block_e(1280), block_e(2048),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000),
    )  # fmt: skip
