"""Matrix products by groups of warps that only multiply, beside a warp that only copies (Hopper).

    a warp, of which one thread works         four or eight warps
    for k:                                    for k:
      wait until stage k % n is empty           wait until it is full
      begin the copies of tile k                begin the products of tile k
                                                wait for those of tile k - 1; its stage is empty

Copies are of boxes of rows: one instruction each, by the hardware, which swizzles and fills with
zeros. They want factors that lie in memory in rows (`Operand.view`); all others are products of
`warpgroups`, whose tiles these are.
"""

from __future__ import annotations

from tilewright.nest.nodes import For, Kind, Node, allocated, seq
from tilewright.schedule.templates import tensor_cores, warpgroups
from tilewright.schedule.templates.anchor import Anchor
from tilewright.schedule.templates.product import in_blocks, vector
from tilewright.schedule.templates.ring import Ring
from tilewright.schedule.templates.template import Numbers
from tilewright.schedule.templates.tiles import THREAD


def misfit(anchor: Anchor) -> str:
    """Why it is no product of rows."""
    for operand in (anchor.left, anchor.right):
        if operand.view is None:
            return f"its {operand.tensor.name} factor is not in rows that are aligned to 16 bytes"
    return vector(anchor)


def body(anchor: Anchor, n: Numbers) -> Node:
    """See the module."""
    product, sums = warpgroups.product_of(anchor, n), warpgroups.GroupSums(n)
    left, right, grid = product.left, product.right, product.grid
    ring = Ring((left, right), product.stages, product.threads)
    steps = ring.nest(
        grid.steps,
        grid.first_step,
        lambda stage: sums.multiplied(stage, left, right),
        sums.stored(grid),
    )
    thread = allocated(sums.tensor, seq(sums.cleared(), steps))
    work: Node = For(THREAD, ring.threads, thread, Kind.THREAD_X)
    return grid.nest(left.alloc(right.alloc(ring.alloc(work))))


WARP_SPECIALIZED, SPLIT_WARP_SPECIALIZED = in_blocks(
    "warp_specialized",
    warpgroups.OPTIONS,
    warpgroups.legal,
    warpgroups.promising,
    body,
    tensor_cores.FACTORS,
    misfit,
)
