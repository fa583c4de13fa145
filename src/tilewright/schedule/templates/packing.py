"""How the right factor of a product is packed when a function is made.

    w[rh, rw, rc, f]  ->  [batch, tile of columns, depth, column of the tile]

Only a constant that is read as it is, once: each of its dimensions is an axis of the contraction.
"""

from __future__ import annotations

from tilewright.expr.contraction.factors import NoMatch, read_of
from tilewright.expr.index.extents import ceildiv
from tilewright.expr.nodes import Extent, Read, Tensor
from tilewright.expr.tensors import is_constant
from tilewright.expr.traversal import reads
from tilewright.schedule.lower import Layout
from tilewright.schedule.templates.anchor import Anchor


def constant_layout(anchor: Anchor, columns: Extent) -> Layout | None:
    """The layout in tiles of so many columns; None where there is none."""
    read, groups = anchor.right.value, anchor.groups
    if not isinstance(read, Read) or not is_constant(read.tensor) or len(groups.columns) != 1:
        return None
    others = (*reads(anchor.left.value), *reads(anchor.follows.value))
    if any(r.tensor.name == read.tensor.name for r in others):
        return None
    lies = read_of(read, groups.extents)
    if isinstance(lies, NoMatch) or not (lies.is_plain and lies.is_whole):
        return None
    order = [*groups.batch, "tile", *groups.depth, *groups.columns]
    splits: list[tuple[Extent, ...]] = []
    names: list[str] = []
    for index, extent in zip(lies.indices, lies.counts, strict=True):
        is_column = index.axis in groups.columns
        splits.append((ceildiv(extent, columns), columns) if is_column else (extent,))
        names += ["tile"] * is_column + [index.axis or ""]
    if len(set(names) - {""}) < len([n for n in names if n]) or set(order) - set(names):
        return None
    permutation = tuple(sorted(range(len(names)), key=lambda i: _place(order, names[i])))
    tiles = ceildiv(anchor.columns, columns)
    return Layout(
        read.tensor, tuple(splits), permutation, (anchor.batch, tiles, anchor.depth, columns)
    )


def _place(order: list[str], name: str) -> int:
    return order.index(name) if name else -1


def packed(layout: Layout) -> Tensor:
    """The tensor that a program reads."""
    return Tensor(
        layout.source.name, layout.packed_shape, layout.source.dtype, layout.source.source
    )
