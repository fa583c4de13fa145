"""Operators that are written as others compute what PyTorch's own do."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_modules import captured

import tilewright as tw
from tilewright.graph.torch.decompositions import DECOMPOSITIONS

pytestmark = [pytest.mark.cpu, pytest.mark.torch]
aten = torch.ops.aten


def agree(target: Any, *args: Any, **kwargs: Any) -> None:
    """The decomposition gives what the operator gives, of the same dtype."""
    found, wanted = DECOMPOSITIONS[str(target)](*args, **kwargs), target(*args, **kwargs)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_log_sigmoid_far_out(dtype: torch.dtype) -> None:
    agree(
        aten.log_sigmoid.default, torch.tensor([-1e30, -90.0, -1, 0, 1e-3, 90, 1e30], dtype=dtype)
    )


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("ceil", [True, False])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding"), [((3,), (), (0,)), ((3,), (2,), (1,)), ((2,), (3,), (1,))]
)
def test_average_pools_with_a_divisor(
    rank: int,
    counted: bool,
    ceil: bool,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
) -> None:
    target = aten.avg_pool2d.default if rank == 2 else aten.avg_pool3d.default
    x = torch.randn(2, 3, 7, 6, 5)[:, :, : 7 if rank == 3 else 1].squeeze(2)
    for given in (x, x[0]):
        agree(target, given, kernel, stride, padding, ceil, counted, 5)
    uneven = [3, 2, 1][:rank]
    agree(target, x, uneven, uneven, [1, 1, 0][:rank], ceil, counted, 3)
    assert DECOMPOSITIONS[str(target)](x, kernel) is NotImplemented


def masks() -> dict[str, Tensor]:
    seen = torch.rand(4, 6) > 0.5
    seen[2], seen[1, 0] = False, True
    weights = torch.randn(4, 6).masked_fill(~seen, -torch.inf)
    return {
        "bool": seen,
        "float": weights,
        "of a batch": weights.repeat(2, 2, 1, 1),
        "one row": seen[2:3],
    }


@pytest.mark.parametrize("name", masks())
def test_queries_without_keys(name: str) -> None:
    mask = masks()[name]
    q, k, v = (torch.randn(2, 2, n, 8) for n in (4, 6, 6))
    target = aten.scaled_dot_product_attention.default
    agree(target, q, k, v, mask)
    agree(target, q, k, v, mask, scale=0.3)
    agree(target, q, k[:, :1], v[:, :1], mask, enable_gqa=True)
    if mask.dim() < 4:
        agree(target, q[0], k[0], v[0], mask)
    assert DECOMPOSITIONS[str(target)](q, k, v) is NotImplemented


@pytest.mark.parametrize("mask_type", [None, 0, 1, 2])
def test_fused_operators_of_transformers(mask_type: int | None) -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 12).requires_grad_(False)
    attention, x = layer.self_attn, torch.randn(2, 5, 8)
    mask = None
    if mask_type is not None:
        mask = torch.rand(((5, 5), (2, 5), (2, 2, 5, 5))[mask_type]) > 0.7
        mask.view(-1)[0] = True
    own = (attention.in_proj_weight, attention.in_proj_bias, *attention.out_proj.parameters())
    for average in (True, False):
        target = aten._native_multi_head_attention.default
        agree(target, x, x, x, 8, 2, *own, mask, True, average, mask_type)
    parts = (layer.norm1, layer.norm2, layer.linear1, layer.linear2)
    rest = [p for part in parts for p in part.parameters()]
    for gelu, first in ((True, False), (False, True)):
        target = aten._transformer_encoder_layer_fwd.default
        agree(target, x, 8, 2, *own, gelu, first, 1e-5, *rest, mask, mask_type)


def test_norms_of_narrow_values_with_wide_weights() -> None:
    x, weight = torch.randn(3, 8, dtype=torch.bfloat16), torch.randn(8)
    agree(aten.layer_norm.default, x, [8], weight, weight)
    assert DECOMPOSITIONS["aten.layer_norm.default"](x, [8]) is NotImplemented


class Faults(nn.Module):
    """What torch's ONNX exporter has wrong."""

    def forward(self, x: Tensor, seen: Tensor) -> tuple[Tensor, ...]:
        biases = torch.zeros(4, 4).masked_fill(~seen, -torch.inf)
        attention = functional.scaled_dot_product_attention
        return (
            functional.logsigmoid(x * 100),
            functional.avg_pool2d(x, 2, divisor_override=3),
            functional.avg_pool3d(x, 2, divisor_override=3),
            attention(x, x, x, seen),
            attention(x, x, x, biases),
        )


@pytest.mark.filterwarnings("error::tilewright.front.torch_backend.EagerFallback")
def test_faults_of_the_exporter_are_none_of_ours() -> None:
    x, seen = torch.randn(2, 2, 4, 4), torch.rand(4, 4) > 0.5
    seen[2] = False
    assert len(captured(Faults(), x, seen)) == 1
    outputs = tw.compile(tw.load(Faults(), (x, seen)))(x, seen)
    for ours, theirs in zip(outputs, Faults()(x, seen), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
