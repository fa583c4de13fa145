"""3D-ResNet-18 (Hara et al. 2018, arXiv 1711.09577; R3D-18 of Tran et al., arXiv 1711.11248).

clip float32[n, 3, 16, 112, 112] -> logits float32[n, 400], 33.4 M parameters
"""

from __future__ import annotations

from torch import Tensor, nn

# (channels, stride of the first block); two blocks each
STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))


def conv_norm(inputs: int, outputs: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    """A padded convolution and its batch norm."""
    conv = nn.Conv3d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    return [conv, nn.BatchNorm3d(outputs)]


class Block(nn.Module):
    """Two 3x3x3 convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *conv_norm(inputs, outputs, 3, stride), nn.ReLU(), *conv_norm(outputs, outputs, 3)
        )
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Sequential(*([] if same else conv_norm(inputs, outputs, 1, stride)))

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.relu(self.body(x) + self.shortcut(x))


def make() -> nn.Module:
    """The network."""
    stem = nn.Conv3d(3, 64, (3, 7, 7), (1, 2, 2), (1, 3, 3), bias=False)
    layers: list[nn.Module] = [stem, nn.BatchNorm3d(64), nn.ReLU()]
    inputs = 64
    for channels, stride in STAGES:
        layers += [Block(inputs, channels, stride), Block(channels, channels, 1)]
        inputs = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(inputs, 400))
