"""Loop nests written by hand, for the tests of this folder."""

from __future__ import annotations

from tilewright.expr.dtypes import FLOAT32, dtype
from tilewright.expr.nodes import Expr, Tensor, Var, const, select
from tilewright.expr.tensors import placeholder
from tilewright.nest.marks import marks
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Program, Store, seq

ZERO = const(0, FLOAT32)


def loops(body: Node, *heads: tuple[Var, int] | tuple[Var, int, Kind]) -> Node:
    """`body` inside loops, outermost first."""
    for head in reversed(heads):
        body = For(head[0], head[1], body, head[2] if len(head) == 3 else Kind.SERIAL)
    return body


def variables(names: str) -> list[Var]:
    return [Var(n) for n in names.split()]


def gemm(m: int = 8, n: int = 12, k: int = 6, tile: int = 4) -> Program:
    """C = A · B with rows tiled by `tile` and a guard where the tile does not divide them."""
    a, b = placeholder((m, k), name="A"), placeholder((k, n), name="B", constant=True)
    c = Tensor("C", (m, n), FLOAT32)
    i0, i1, j, kk = variables("i.0 i.1 j k")
    row = i0 * tile + i1
    init: Node = Store(c, (row, j), ZERO)
    update: Node = Store(c, (row, j), a[row, kk] * b[kk, j], "sum")
    if m % tile:
        init, update = If(row < m, init), If(row < m, update)
    body = seq(
        loops(init, (i1, tile), (j, n, Kind.VECTOR)),
        loops(update, (kk, k), (i1, tile, Kind.UNROLLED), (j, n, Kind.VECTOR)),
    )
    body = For(i0, -(-m // tile), body, Kind.PARALLEL, marks=marks(unroll_step=16))
    return Program("gemm", (a,), (b,), (), (c,), body)


def stencil(n: int = 10, tile: int = 4) -> Program:
    """y[i] = Σ over r < 3 of padded x[i + r], the padding computed for each tile's window."""
    x, y = placeholder((n,), name="x"), Tensor("y", (n,), FLOAT32)
    window = Tensor("p", (tile + 2,), FLOAT32)
    t, u, v, r = variables("t u v r")
    at = t * tile + u
    source = at - 1
    padded: Expr = select((source >= 0) & (source < n), x[source], ZERO)
    out = t * tile + v
    fill = loops(Store(window, (at,), padded), (u, tile + 2))
    total = seq(
        If(out < n, Store(y, (out,), ZERO)),
        For(r, 3, If(out < n, Store(y, (out,), window[out + r], "sum"))),
    )
    body = Alloc(window, (t * tile,), seq(fill, For(v, tile, total)))
    return Program("stencil", (x,), (), (), (y,), For(t, -(-n // tile), body, Kind.PARALLEL))


def copy(index: Expr, *, extent: int = 4, kind: str = "float32") -> Program:
    """y[i] = x[index(i)] over `extent` elements."""
    x, y = placeholder((extent,), kind, name="x"), Tensor("y", (extent,), dtype(kind))
    body = Store(y, (Var("i"),), x[index])
    return Program("copy", (x,), (), (), (y,), For(Var("i"), extent, body))
