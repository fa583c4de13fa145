"""The matrix product of Triton's tutorial (03, "Matrix Multiplication"), with its choice of tiles.

y = product(x, w)            of halves on a GPU, rows x depth and depth x columns; needs Triton
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

TILES = (
    (128, 256, 64, 3, 8), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4),
    (64, 128, 32, 4, 4), (128, 32, 32, 4, 4), (64, 32, 32, 5, 2), (128, 256, 64, 4, 8),
    (128, 128, 64, 4, 4), (64, 64, 64, 5, 4), (16, 128, 64, 5, 4),
)  # fmt: skip
CONFIGS = [
    triton.Config(
        {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8}, num_stages=stages, num_warps=warps
    )
    for m, n, k, stages, warps in TILES
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def _kernel(
    a, b, c, M, N, K, stride_a, stride_b, stride_c,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
) -> None:  # fmt: skip
    number = tl.program_id(axis=0)
    down, across = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * across
    first = number // in_group * GROUP_M
    size = min(down - first, GROUP_M)
    row = first + (number % in_group) % size
    column = (number % in_group) // size
    rows = (row * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (column * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    depth = tl.arange(0, BLOCK_K)
    left = a + (rows[:, None] * stride_a + depth[None, :])
    right = b + (depth[:, None] * stride_b + columns[None, :])
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        x = tl.load(left, mask=depth[None, :] < K - k * BLOCK_K, other=0.0)
        y = tl.load(right, mask=depth[:, None] < K - k * BLOCK_K, other=0.0)
        sums = tl.dot(x, y, sums)
        left += BLOCK_K
        right += BLOCK_K * stride_b
    rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
    out = c + stride_c * rows[:, None] + columns[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out, sums.to(c.dtype.element_ty), mask=inside)


def product(x: Any, w: Any) -> Any:
    """`x @ w`, both with rows that follow each other."""
    (m, k), (_, n) = x.shape, w.shape
    y = torch.empty((m, n), device=x.device, dtype=x.dtype)

    def grid(numbers: Any) -> tuple[int]:
        return (triton.cdiv(m, numbers["BLOCK_M"]) * triton.cdiv(n, numbers["BLOCK_N"]),)

    _kernel[grid](x, w, y, m, n, k, x.stride(0), w.stride(0), y.stride(0))
    return y
