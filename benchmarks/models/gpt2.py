"""GPT-2 small (Radford et al. 2019) with its language-model head.

ids int64[n, length] -> logits float32[n, length, 50257], 124 M parameters; the head's weights are
the embedding's.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

LAYERS, HEADS, WIDTH = 12, 12, 768
VOCABULARY, POSITIONS = 50257, 1024


class Block(nn.Module):
    """Causal self-attention and a feed-forward part, each after a layer norm."""

    def __init__(self, width: int = WIDTH, heads: int = HEADS) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        wide = functional.gelu(self.widen(self.norm2(x)), approximate="tanh")
        y: Tensor = x + self.narrow(wide)
        return y


class Gpt2(nn.Module):
    """Embeddings of tokens and places, the blocks, a norm and the head."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.blocks(self.tokens(ids) + self.positions(places))
        return functional.linear(self.norm(x), self.tokens.weight)


def make() -> nn.Module:
    """The network."""
    return Gpt2()
