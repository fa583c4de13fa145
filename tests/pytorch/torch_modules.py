"""Small PyTorch modules for the tests, and what compiles and compares them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

import tilewright as tw
from tilewright.front.torch_backend import EagerFallback


class ConvNet(nn.Module):
    """Convolution, batch norm with statistics of its own, activation, pooling, a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 5)
        with torch.no_grad():
            self.norm.running_mean.normal_()
            self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu(self.norm(self.conv(x)), inplace=True)
        return self.head(y.mean((2, 3)))


class Mlp(nn.Module):
    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.first = nn.Linear(width, 16)
        self.second = nn.Linear(16, 4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.drop(functional.gelu(self.first(x))))


class Attention(nn.Module):
    """A pre-norm attention block; returns the sequence and its first position, a view of it."""

    def __init__(self, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        b, t, d = x.shape
        qkv = self.qkv(self.norm(x)).view(b, t, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        y = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return y, y[:, 0]


def compiled(
    function: Callable[..., Any], dynamic: bool | None = None, **options: Any
) -> tuple[Callable[..., Any], list[tw.Model]]:
    """The function by our backend, and the models that it compiles."""
    models: list[tw.Model] = []
    given = {"models": models, **options}
    return torch.compile(function, backend="tilewright", dynamic=dynamic, options=given), models


def same(ours: Any, theirs: Any) -> None:
    """Equal values to rounding, equal shapes, dtypes and strides."""
    if not isinstance(theirs, (tuple, list)):
        ours, theirs = [ours], [theirs]
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        if not isinstance(b, Tensor):
            assert a == b
            continue
        assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-5, equal_nan=True)


def captured(function: Callable[..., Any], *inputs: Any, **options: Any) -> list[tw.Model]:
    """Two calls agree with eager, which gets copies of the inputs, as do writes to them."""
    eager = copy.deepcopy(function)
    net, models = compiled(function, **options)
    ours = [x.clone() if isinstance(x, Tensor) else x for x in inputs]
    theirs = [x.clone() if isinstance(x, Tensor) else x for x in inputs]
    with torch.no_grad():
        for _ in range(2):
            same(net(*ours), eager(*theirs))
            same(ours, theirs)
    return models


def fallbacks(record: Any) -> list[str]:
    """The messages of our warnings."""
    return [str(w.message) for w in record if w.category is EagerFallback]
