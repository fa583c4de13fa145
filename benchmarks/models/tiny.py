"""A network of two convolutions: what a benchmark does, in seconds.

image float32[n, 3, 8, 8] -> logits float32[n, 5]
"""

from __future__ import annotations

from torch import nn


def make() -> nn.Module:
    """The network."""
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 16, 3, 1, 1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5),
    )  # fmt: skip
