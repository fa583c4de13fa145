"""An operator's problem as a PyTorch module.

module = module_of(problem)            called with `problem.inputs` as tensors
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.peers.problems import Problem

CONVOLUTIONS = {
    "conv": (functional.conv1d, functional.conv2d, functional.conv3d),
    "conv_transpose": (
        functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d
    ),
}  # fmt: skip


class Convolution(nn.Module):
    """`conv` and `conv_transpose` of any rank, with bias and ReLU where the problem has them."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        assert problem.weight is not None
        self.weight = nn.Parameter(torch.from_numpy(problem.weight), requires_grad=False)
        bias = None if problem.bias is None else torch.from_numpy(problem.bias)
        self.bias = None if bias is None else nn.Parameter(bias, requires_grad=False)
        self.function = CONVOLUTIONS[problem.kind][problem.rank - 1]
        self.options = {
            "stride": problem.stride,
            "padding": problem.padding,
            "dilation": problem.dilation,
            "groups": problem.groups,
        }
        self.relu = problem.relu

    def forward(self, x: Tensor) -> Tensor:
        y = self.function(x, self.weight, self.bias, **self.options)
        return functional.relu(y) if self.relu else y


class Product(nn.Module):
    """`matmul`."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a @ b


class Norm(nn.Module):
    """`norm`: one figure a matrix."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.linalg.vector_norm(x, dim=(-2, -1))


class Scores(nn.Module):
    """`scores`: [n, length, heads, hidden] twice -> softmax of [n, heads, length, length]."""

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        return (q.transpose(1, 2) @ k.permute(0, 2, 3, 1)).softmax(-1)


KINDS: dict[str, Callable[[Problem], nn.Module]] = {
    "conv": Convolution,
    "conv_transpose": Convolution,
    "matmul": lambda _: Product(),
    "norm": lambda _: Norm(),
    "scores": lambda _: Scores(),
}


def module_of(problem: Problem) -> nn.Module:
    """The module in inference mode."""
    return KINDS[problem.kind](problem).eval()
