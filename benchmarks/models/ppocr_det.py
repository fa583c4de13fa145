"""A text detector in the manner of PP-OCR's (Du et al. 2020, arXiv 2009.09941): many small kernels.

image float32[n, 3, 320, 320] -> probability of text float32[n, 1, 320, 320], 0.93 M parameters

A MobileNetV3 of half width (Howard et al. 2019, arXiv 1905.02244) with squeeze-and-excitation, a
feature pyramid, and the head of differentiable binarization (Liao et al. 2019, arXiv 1911.08947).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

# (kernel, channels inside, channels out, squeezes, activation, stride); a stage ends before every
# stride but the first one
BLOCKS = (
    (3, 8, 8, False, nn.ReLU, 1), (3, 32, 16, False, nn.ReLU, 2), (3, 40, 16, False, nn.ReLU, 1),
    (5, 40, 24, True, nn.ReLU, 2), (5, 64, 24, True, nn.ReLU, 1), (5, 64, 24, True, nn.ReLU, 1),
    (3, 120, 40, False, nn.Hardswish, 2), (3, 104, 40, False, nn.Hardswish, 1),
    (3, 96, 40, False, nn.Hardswish, 1), (3, 240, 56, True, nn.Hardswish, 1),
    (3, 336, 56, True, nn.Hardswish, 1), (5, 336, 80, True, nn.Hardswish, 2),
    (5, 480, 80, True, nn.Hardswish, 1), (5, 480, 80, True, nn.Hardswish, 1),
)  # fmt: skip
FIRST, LAST = 8, 480
WIDTH = 96  # of the pyramid


def conv(
    inputs: int, outputs: int, kernel: int, activation: type[nn.Module], stride: int = 1,
    groups: int = 1,
) -> nn.Module:  # fmt: skip
    """A padded convolution, its batch norm and activation."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        activation(),
    )


class Squeeze(nn.Module):
    """Squeeze-and-excitation: every channel times a factor that all channels' means decide."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.factor = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, channels // 4, 1),
            nn.ReLU(),
            nn.Conv2d(channels // 4, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = x * self.factor(x)
        return y


class Block(nn.Module):
    """Expansion, depthwise convolution, linear projection; a shortcut where shapes allow it."""

    def __init__(
        self, inputs: int, kernel: int, wide: int, outputs: int, squeezes: bool,
        activation: type[nn.Module], stride: int,
    ) -> None:  # fmt: skip
        super().__init__()
        self.adds = stride == 1 and inputs == outputs
        self.body = nn.Sequential(
            conv(inputs, wide, 1, activation),
            conv(wide, wide, kernel, activation, stride, groups=wide),
            *([Squeeze(wide)] if squeezes else []),
            conv(wide, outputs, 1, nn.Identity),
        )

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.body(x)
        return x + y if self.adds else y


class Backbone(nn.Module):
    """Features at a quarter, an eighth, a sixteenth and a thirty-second of the image's size."""

    def __init__(self) -> None:
        super().__init__()
        self.first = conv(3, FIRST, 3, nn.Hardswish, 2)
        stages: list[list[nn.Module]] = [[]]
        self.widths = []
        inputs = FIRST
        for kernel, wide, outputs, squeezes, activation, stride in BLOCKS:
            if stride == 2 and len(stages[-1]) > 1:
                stages.append([])
                self.widths.append(inputs)
            stages[-1].append(Block(inputs, kernel, wide, outputs, squeezes, activation, stride))
            inputs = outputs
        stages[-1].append(conv(inputs, LAST, 1, nn.Hardswish))
        self.widths.append(LAST)
        self.stages = nn.ModuleList(nn.Sequential(*stage) for stage in stages)

    def forward(self, image: Tensor) -> list[Tensor]:
        features = [self.first(image)]
        for stage in self.stages:
            features.append(stage(features[-1]))
        return features[1:]


class Pyramid(nn.Module):
    """All features, each with what the coarser ones say, at a quarter of the image's size."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.inner = nn.ModuleList(nn.Conv2d(n, WIDTH, 1, bias=False) for n in widths)
        self.outer = nn.ModuleList(
            nn.Conv2d(WIDTH, WIDTH // 4, 3, padding=1, bias=False) for _ in widths
        )
        self.grow = nn.Upsample(scale_factor=2.0, mode="nearest")

    def forward(self, features: list[Tensor]) -> Tensor:
        levels: list[Tensor] = []
        for inner, feature in zip(reversed(self.inner), reversed(features), strict=True):
            own = inner(feature)
            levels.append(own + self.grow(levels[-1]) if levels else own)
        found = []
        for doublings, (outer, level) in enumerate(
            zip(reversed(self.outer), reversed(levels), strict=True)
        ):
            y = outer(level)
            for _ in range(doublings):
                y = self.grow(y)
            found.append(y)
        return torch.cat(found, 1)


class Detector(nn.Module):
    """Backbone, pyramid, and a head that doubles the size twice."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = Backbone()
        self.pyramid = Pyramid(self.backbone.widths)
        self.head = nn.Sequential(
            conv(WIDTH, WIDTH // 4, 3, nn.ReLU),
            nn.ConvTranspose2d(WIDTH // 4, WIDTH // 4, 2, 2),
            nn.BatchNorm2d(WIDTH // 4),
            nn.ReLU(),
            nn.ConvTranspose2d(WIDTH // 4, 1, 2, 2),
            nn.Sigmoid(),
        )

    def forward(self, image: Tensor) -> Tensor:
        y: Tensor = self.head(self.pyramid(self.backbone(image)))
        return y


def make() -> nn.Module:
    """The network."""
    return Detector()
