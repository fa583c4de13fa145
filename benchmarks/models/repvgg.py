"""RepVGG as it is deployed (Ding et al. 2021, arXiv 2101.03697), the branches of training merged:
3x3 convolutions with a bias and an activation; deepened by 1x1 convolutions (Bolt, section 4.3).

image float32[n, 3, 224, 224] -> logits float32[n, 1000], A0 8.3 M parameters, A1 12.8, B0 14.3

The batch norms of `make` are folded into the convolutions before them once they have statistics
(`weights.folded`). Deepened, A0 has 8.9 M parameters: Bolt's table 5 tells 13.35, nine times the
difference, what as many 3x3 convolutions would have.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

# Blocks of the four stages after the first layer, and the widths of the first three and the last.
WIDTHS = {
    "A0": ((2, 4, 14, 1), 0.75, 2.5),
    "A1": ((2, 4, 14, 1), 1.0, 2.5),
    "B0": ((4, 6, 16, 1), 1.0, 2.5),
}
CHANNELS = (64, 128, 256, 512)
ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "hardswish": nn.Hardswish,
    "softplus": nn.Softplus,
}


def make(size: str = "A0", activation: str = "relu", deepened: float = 0) -> nn.Module:
    """The network. After each of the first `deepened` layers (inf: all but the last) comes a 1x1
    convolution with the same channels and an activation of its own.
    """
    blocks, narrow, wide = WIDTHS[size]
    widths = [int(c * (wide if c == CHANNELS[-1] else narrow)) for c in CHANNELS]
    plan = [(min(64, widths[0]), 2)]
    for number, channels in zip(blocks, widths, strict=True):
        plan += [(channels, 2 if block == 0 else 1) for block in range(number)]
    layers: list[nn.Module] = []
    inputs = 3
    for number, (channels, stride) in enumerate(plan):
        layers += _conv(inputs, channels, 3, stride, activation)
        if number < min(deepened, len(plan) - 1):
            layers += _conv(channels, channels, 1, 1, activation)
        inputs = channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


def _conv(inputs: int, outputs: int, kernel: int, stride: int, activation: str) -> list[nn.Module]:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    return [conv, nn.BatchNorm2d(outputs), ACTIVATIONS[activation]()]
