"""U-Net (Ronneberger et al. 2015, arXiv 1505.04597) of a quarter of the width, for any sides.

image float32[n, 3, h, w] -> classes float32[n, 21, h, w], 1.9 M parameters

Convolutions are padded and normalised; what comes up is resized to what it is joined with.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, max_pool2d

WIDTHS = (16, 32, 64, 128, 256)
CLASSES = 21


def stage(inputs: int, outputs: int) -> nn.Module:
    """Two convolutions of 3x3."""
    return nn.Sequential(
        *(
            part
            for channels in (inputs, outputs)
            for part in (
                nn.Conv2d(channels, outputs, 3, padding=1, bias=False),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
            )
        )
    )


class UNet(nn.Module):
    """Down by maxima, up by linear resizing."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList(map(stage, (3, *WIDTHS), WIDTHS))
        self.up = nn.ModuleList(stage(wide + narrow, narrow) for narrow, wide in pairwise(WIDTHS))
        self.last = nn.Conv2d(WIDTHS[0], CLASSES, 1)

    def forward(self, x: Tensor) -> Tensor:
        found = [self.down[0](x)]
        for part in self.down[1:]:
            found.append(part(max_pool2d(found[-1], 2)))
        y = found.pop()
        for part in reversed(self.up):
            beside = found.pop()
            y = interpolate(y, size=beside.shape[-2:], mode="bilinear", align_corners=False)
            y = part(torch.cat([beside, y], dim=1))
        z: Tensor = self.last(y)
        return z


def make() -> nn.Module:
    """The network."""
    return UNet()
