"""The encoder of BERT-base (Devlin et al. 2018, arXiv 1810.04805).

ids, mask, types int64[n, length] -> hidden float32[n, length, 768], 109 M parameters

The mask is 1 for tokens and 0 for padding, which nobody attends to.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

LAYERS, HEADS, WIDTH, INNER = 12, 12, 768, 3072
VOCABULARY, POSITIONS, TYPES = 30522, 512, 2
EPSILON = 1e-12
MASKED = -1e4  # added to the scores of padding


class Layer(nn.Module):
    """Self-attention and a feed-forward part, each followed by a layer norm."""

    def __init__(self, width: int = WIDTH, heads: int = HEADS, inner: int = INNER) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.norm1 = nn.LayerNorm(width, EPSILON)
        self.widen, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm2 = nn.LayerNorm(width, EPSILON)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        q, k, v = (self.split(part(x)) for part in (self.query, self.key, self.value))
        attended = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = self.norm1(x + self.out(attended.transpose(1, 2).flatten(2)))
        y: Tensor = self.norm2(x + self.narrow(functional.gelu(self.widen(x))))
        return y

    def split(self, x: Tensor) -> Tensor:
        """[n, length, width] -> [n, heads, length, width / heads]."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Bert(nn.Module):
    """Embeddings of tokens, places and types, then the layers."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.types = nn.Embedding(TYPES, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.tokens(ids) + self.types(types) + self.positions(places)
        x = self.norm(x)
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * MASKED
        for layer in self.layers:
            x = layer(x, bias)
        return x


def make() -> nn.Module:
    """The network."""
    return Bert()
