"""Seeded random weights under which a network behaves like a trained one, numerically.

    module = initialised(make, (images,))
    module = folded(module)                       as it is deployed, where it is a sequence

Weights keep the variance of what flows through them, and batch norms take the statistics that
their inputs have on the given samples. So activations neither vanish nor overflow, and no error
hides behind outputs that are equal or zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import torch
from torch import Tensor, nn

from tilewright.contract.artifact import Array

CALIBRATION_BATCH = 2


def initialised(
    make: Callable[[], nn.Module], samples: Sequence[Array], seed: int = 0
) -> nn.Module:
    """The module that `make` builds, in inference mode, with weights of its own."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        module = make()
        for part in module.modules():
            _draw(part)
    _calibrate(module, samples)
    return module.eval().requires_grad_(False)


def folded(layers: nn.Sequential) -> nn.Sequential:
    """The same layers, each batch norm folded into the convolution before it, which gets a bias."""
    found: list[nn.Module] = []
    for layer in layers:
        if isinstance(layer, nn.BatchNorm2d) and found and isinstance(found[-1], nn.Conv2d):
            found[-1] = torch.nn.utils.fusion.fuse_conv_bn_eval(found[-1], layer)
        else:
            found.append(layer)
    return nn.Sequential(*found).eval().requires_grad_(False)


@torch.no_grad()
def _draw(part: nn.Module) -> None:
    """Fresh values for the parameters that `part` itself owns."""
    match part:
        case nn.modules.batchnorm._BatchNorm() | nn.LayerNorm():
            part.weight.uniform_(0.6, 1.2)
            part.bias.normal_(0, 0.1)
        case nn.Embedding():
            part.weight.normal_(0, 1 / sqrt(part.embedding_dim))
        case nn.modules.conv._ConvNd() | nn.Linear():
            # Where ReLU follows, a batch norm makes up for the half that it takes.
            part.weight.normal_(0, 1 / sqrt(_terms(part)))
            if part.bias is not None:
                part.bias.normal_(0, 0.02)


def _terms(part: nn.Module) -> float:
    """How many products an output of a contraction sums."""
    weight: Tensor = part.weight  # type: ignore[assignment]
    if isinstance(part, nn.modules.conv._ConvTransposeNd):
        steps = torch.tensor(part.stride).prod().item()
        return max(1.0, weight.shape[0] * weight[0, 0].numel() / steps)
    return weight[0].numel()


@torch.no_grad()
def _calibrate(module: nn.Module, samples: Sequence[Array]) -> None:
    """Give every batch norm the mean and variance of its input on `samples`."""
    norms = [m for m in module.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    usual = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 1.0
    module.train()(*(torch.from_numpy(sample) for sample in samples))
    for norm, momentum in zip(norms, usual, strict=True):
        norm.momentum = momentum
