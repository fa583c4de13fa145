"""The generator of DCGAN (Radford et al. 2015, arXiv 1511.06434).

noise float32[n, 100, 1, 1] -> image float32[n, 3, 64, 64] in [-1, 1], 3.6 M parameters
"""

from __future__ import annotations

from itertools import pairwise

from torch import nn

CHANNELS = (100, 512, 256, 128, 64)


def make() -> nn.Module:
    """The network: five transposed convolutions, from 1x1 to 4x4 and then doubling."""
    layers: list[nn.Module] = []
    for number, (inputs, outputs) in enumerate(pairwise(CHANNELS)):
        stride, padding = (1, 0) if number == 0 else (2, 1)
        layers += [
            nn.ConvTranspose2d(inputs, outputs, 4, stride, padding, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        ]
    last = nn.ConvTranspose2d(CHANNELS[-1], 3, 4, 2, 1, bias=False)
    return nn.Sequential(*layers, last, nn.Tanh())
