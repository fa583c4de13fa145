"""Hand-built nests with sizes, as a scheduler would write them: tiles are never clipped."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from kernel_nests import P, S, U, V

from tilewright.contract.sizes import Size
from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.index.extents import ceildiv
from tilewright.expr.nodes import Binary, Call, Const, Expr, Extent, Read, Tensor, Var, as_expr
from tilewright.nest.nodes import For, If, Kind, Node, Program, Store, allocated, seq

ZERO = Const(0.0, FLOAT32)
LOWEST = Const(float("-inf"), FLOAT32)
Level = tuple[str, Extent, Kind]


class Axis:
    """`extent` in tiles of `lengths`, outermost first; the number of the outermost follows."""

    def __init__(self, name: str, extent: Extent, lengths: Sequence[int], kinds: str) -> None:
        self.extent = extent
        self.lengths: list[Extent] = [ceildiv(extent, prod(lengths)), *lengths]
        self.levels: list[Level] = [
            (f"{name}.{i}", n, {"s": S, "p": P, "u": U, "v": V}[kind])
            for i, (n, kind) in enumerate(zip(self.lengths, kinds, strict=True))
        ]
        self.index: Expr = as_expr(0)
        for var, n, _ in self.levels:
            self.index = self.index * as_expr(n) + (Var(var) if n != 1 else 0)

    def __getitem__(self, level: int) -> Level:
        return self.levels[level]

    @property
    def guard(self) -> Expr:
        return self.index < self.extent

    @property
    def is_whole(self) -> bool:
        """Whether the tiles make up the axis."""
        return self.extent == prod(n for n in self.lengths if isinstance(n, int))


def nest(levels: Sequence[Level], body: Node) -> Node:
    """The loops around a body; those of extent 1 vanish."""
    for name, extent, kind in reversed(levels):
        if extent != 1:
            body = For(Var(name), extent, body, kind)
    return body


def under(conds: Sequence[Expr], body: Node) -> Node:
    for cond in conds:
        body = If(cond, body)
    return body


def product(i: Axis, j: Axis, k: Axis, sizes: Sequence[Size], order: str) -> Program:
    """max(A·B, 0). `order` are the loops, outermost first, those of each axis in their order; all
    that stands before the first `,` is around the whole tile.
    """
    axes = {"i": i, "j": j, "k": k}
    left = {name: iter(axis.levels) for name, axis in axes.items()}
    outside, *rest = ([next(left[name]) for name in group] for group in order.split(","))
    inside = [level for group in rest for level in group]
    spatial = [level for level in inside if level not in k.levels]
    a = Tensor("A", (i.extent, k.extent), FLOAT32)
    b = Tensor("B", (k.extent, j.extent), FLOAT32)
    y = Tensor("Y", (i.extent, j.extent), FLOAT32)
    at = (i.index, j.index)
    guards = [x.guard for x in (i, j) if not x.is_whole]
    term = Read(a, (i.index, k.index)) * Read(b, (k.index, j.index))
    parts = (
        nest(spatial, under(guards, Store(y, at, ZERO, initial=True))),
        nest(
            inside,
            under([*guards, *([] if k.is_whole else [k.guard])], Store(y, at, term, "sum")),
        ),
        nest(spatial, under(guards, Store(y, at, Binary("max", Read(y, at), ZERO)))),
    )
    return Program("product", (a, b), (), (), (y,), nest(outside, seq(*parts)), tuple(sizes))


def softmax(size: Size, rows: int, width: int) -> Program:
    """exp(x - max) / sum along rows of a size."""
    s = Var(size.name)
    x, y = Tensor("X", (rows, s), FLOAT32), Tensor("Y", (rows, s), FLOAT32)
    m, t = Tensor("m", (1,), FLOAT32), Tensor("t", (1,), FLOAT32)
    i, zero = Var("i"), as_expr(0)
    f = Axis("f", s, (width,), "sv")

    def along(store: Store) -> Node:
        return nest(f.levels, If(f.guard, store))

    e = Call("exp", (Read(x, (i, f.index)) - Read(m, (zero,)),))
    body = seq(
        Store(m, (zero,), LOWEST, initial=True),
        along(Store(m, (zero,), Read(x, (i, f.index)), "max")),
        Store(t, (zero,), ZERO, initial=True),
        along(Store(t, (zero,), e, "sum")),
        along(Store(y, (i, f.index), e / Read(t, (zero,)))),
    )
    body = For(i, rows, allocated(m, allocated(t, body)), P)
    return Program("softmax", (x,), (), (), (y,), body, (size,))
