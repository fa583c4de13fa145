"""MobileNet-V2 (Sandler et al. 2018, arXiv 1801.04381).

image float32[n, 3, 224, 224] -> logits float32[n, 1000], 3.5 M parameters
"""

from __future__ import annotations

from torch import Tensor, nn

# (expansion, channels, blocks, stride of the first block)
STAGES = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
    (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)  # fmt: skip
LAST = 1280


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Module:
    """A padded convolution, its batch norm and ReLU6."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(),
    )


class InvertedResidual(nn.Module):
    """Expansion, depthwise convolution, linear projection; a shortcut where shapes allow it."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.adds = stride == 1 and inputs == outputs
        self.body = nn.Sequential(
            *([] if expansion == 1 else [conv(inputs, wide, 1)]),
            conv(wide, wide, 3, stride, groups=wide),
            nn.Conv2d(wide, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.body(x)
        return x + y if self.adds else y


def make() -> nn.Module:
    """The network."""
    layers = [conv(3, 32, 3, 2)]
    inputs = 32
    for expansion, channels, blocks, stride in STAGES:
        for number in range(blocks):
            step = stride if number == 0 else 1
            layers.append(InvertedResidual(inputs, channels, step, expansion))
            inputs = channels
    layers.append(conv(inputs, LAST, 1))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(LAST, 1000))
