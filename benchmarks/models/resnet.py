"""ResNet-50 v1.5 (He et al. 2015, arXiv 1512.03385), the stride on each block's 3x3 convolution.

image float32[n, 3, 224, 224] -> logits float32[n, 1000], 25.6 M parameters
"""

from __future__ import annotations

from torch import Tensor, nn

# (blocks, channels inside a block, stride of the first block)
STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))
EXPANSION = 4


def conv_norm(inputs: int, outputs: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    """A padded convolution and its batch norm."""
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    return [conv, nn.BatchNorm2d(outputs)]


class Bottleneck(nn.Module):
    """1x1, 3x3 and 1x1 convolutions beside a shortcut."""

    def __init__(self, inputs: int, channels: int, stride: int) -> None:
        super().__init__()
        outputs = channels * EXPANSION
        self.body = nn.Sequential(
            *conv_norm(inputs, channels, 1),
            nn.ReLU(),
            *conv_norm(channels, channels, 3, stride),
            nn.ReLU(),
            *conv_norm(channels, outputs, 1),
        )
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Sequential(*([] if same else conv_norm(inputs, outputs, 1, stride)))

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.relu(self.body(x) + self.shortcut(x))


def make() -> nn.Module:
    """The network."""
    layers: list[nn.Module] = [*conv_norm(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for blocks, channels, stride in STAGES:
        for number in range(blocks):
            layers.append(Bottleneck(inputs, channels, stride if number == 0 else 1))
            inputs = channels * EXPANSION
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))
