"""Small PyTorch modules for the tests."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


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
