"""Hand-built nests, as a scheduler would write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tilewright.codegen.rewrite import rebuilt
from tilewright.expr.dtypes import FLOAT32, DType
from tilewright.expr.nodes import Axis, Const, Expr, Select, Tensor, Var, as_expr, binary
from tilewright.expr.tensors import placeholder
from tilewright.nest.marks import marks
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Program, Store, bodies, seq

S, P, V, U = Kind.SERIAL, Kind.PARALLEL, Kind.VECTOR, Kind.UNROLLED
Loop = tuple[str, int, Kind]


@dataclass(frozen=True)
class Tiled:
    """An axis cut into loops, outermost first; `guard` is needed where they overrun the extent."""

    name: str
    extent: int
    lengths: tuple[int, ...]

    @property
    def index(self) -> Expr:
        total: Expr = as_expr(0)
        for i, n in enumerate(self.lengths):
            part = Var(self.var(i)) if n != 1 else as_expr(0)
            total = total * n + part
        return total

    def start(self, levels: int) -> Expr:
        """The index at the first iteration of the loops after the first `levels`."""
        total: Expr = as_expr(0)
        for i, n in enumerate(self.lengths):
            part = Var(self.var(i)) if n != 1 and i < levels else as_expr(0)
            total = total * n + part
        return total

    def var(self, level: int) -> str:
        return f"{self.name}.{level}"

    def loop(self, level: int, kind: Kind = S) -> Loop:
        return (self.var(level), self.lengths[level], kind)

    @property
    def guards(self) -> list[Expr]:
        total = 1
        for n in self.lengths:
            total *= n
        return [self.index < self.extent] if total > self.extent else []


def streamed(program: Program, output: str) -> Program:
    """The program with stores to an output that pass the caches by."""

    def on(node: Node) -> Node:
        if isinstance(node, Store):
            return replace(node, marks=marks(streamed=int(node.tensor.name == output)))
        return rebuilt(node, tuple(map(on, bodies(node))))

    return replace(program, body=on(program.body))


def tile(name: str, extent: int, *inner: int) -> Tiled:
    """`extent` in loops: the outermost takes as many iterations as the inner ones leave."""
    block = 1
    for n in inner:
        block *= n
    return Tiled(name, extent, (-(-extent // block), *inner))


def nest(loops: Sequence[Loop], body: Node) -> Node:
    """The loops around a body; those of extent 1 vanish."""
    for name, extent, kind in reversed(loops):
        if extent != 1:
            body = For(Var(name), extent, body, kind)
    return body


def under(guards: Sequence[Expr], body: Node) -> Node:
    """The body under all guards."""
    if not guards:
        return body
    cond = guards[0]
    for g in guards[1:]:
        cond = binary("and", cond, g)
    return If(cond, body)


def gemm(
    m: int,
    n: int,
    k: int,
    rows: int,
    columns: int,
    *,
    k_inner: int = 1,
    packed: bool = False,
    local: bool = True,
    dtype: DType = FLOAT32,
) -> Program:
    """C = relu(A @ B) with a register tile of rows x columns (`packed`: B in panels of columns)."""
    i, j, r = tile("i", m, rows), tile("j", n, columns), tile("k", k, k_inner)
    a = placeholder((m, k), dtype, name="A")
    panels = j.lengths[0]
    shape = (panels, k, columns) if packed else (k, n)
    b = placeholder(shape, dtype, name="B", constant=packed)
    c = Tensor("C", (m, n), dtype)
    inner_j = Var("j.1") if columns != 1 else as_expr(0)
    outer_j = Var("j.0") if panels != 1 else as_expr(0)
    item = b[outer_j, r.index, inner_j] if packed else b[r.index, j.index]
    zero = Const(0.0, dtype.compute)
    acc = Tensor("C.local", (rows, columns), dtype.accumulator) if local else c
    at = (i.index, j.index)
    spatial = [i.loop(1, U), j.loop(1, V)]
    guards = [*i.guards, *j.guards]
    init = nest(spatial, under(guards, Store(acc, at, zero)))
    update = under([*guards, *r.guards], Store(acc, at, a[i.index, r.index] * item, "sum"))
    reduction = nest([r.loop(0), r.loop(1, U if k_inner <= 8 else S), *spatial], update)
    relu = binary("max", acc[at], zero)
    final = nest(spatial, under(guards, Store(c, at, relu)))
    body = seq(init, reduction, final)
    if local:
        body = Alloc(acc, (i.start(1), j.start(1)), body)
    body = nest([j.loop(0, P), i.loop(0, P)], body)
    constants = (b,) if packed else ()
    return Program("gemm", (a,) if packed else (a, b), constants, (), (c,), body)


@dataclass(frozen=True)
class Conv:
    """Sizes of a conv2d (NHWC, batch 1), its padding and stride."""

    h: int
    w: int
    c: int
    f: int
    kernel: int = 3
    stride: int = 1
    pad: int = 1

    @property
    def out(self) -> tuple[int, int]:
        reach = 2 * self.pad - self.kernel
        return (self.h + reach) // self.stride + 1, (self.w + reach) // self.stride + 1


def conv2d(
    s: Conv,
    y_tile: int,
    x_tile: int,
    f_tile: int,
    *,
    attach_pad: bool = False,
    f_panels: int = 1,
    c_inner: int = 1,
) -> Program:
    """relu(conv2d(pad(X), W) + bias); W is [f panels, ry, rx, c, f_tile].

    Padding is inlined as a select, or (`attach_pad`) computed into a window for each tile.
    """
    oh, ow = s.out
    y, x, f = tile("y", oh, y_tile), tile("x", ow, x_tile), tile("f", s.f, f_panels, f_tile)
    c = tile("c", s.c, c_inner)
    ry, rx = (
        (Var("ry") if s.kernel > 1 else as_expr(0)),
        (Var("rx") if s.kernel > 1 else as_expr(0)),
    )
    data = placeholder((s.h, s.w, s.c), name="X")
    panels = f.lengths[0] * f.lengths[1]
    weights = placeholder((panels, s.kernel, s.kernel, s.c, f_tile), name="W", constant=True)
    bias = placeholder((s.f,), name="bias", constant=True)
    out = Tensor("Y", (oh, ow, s.f), FLOAT32)
    acc = Tensor("Y.local", (y_tile, x_tile, f_tile), FLOAT32)
    zero = Const(0.0, FLOAT32)
    at = (y.index, x.index, f.index)

    def padded(iy: Expr, ix: Expr, ic: Expr) -> Expr:
        inside = [iy >= s.pad, iy < s.h + s.pad, ix >= s.pad, ix < s.w + s.pad]
        if s.pad == 0:
            return data[iy, ix, ic]
        cond = inside[0]
        for e in inside[1:]:
            cond = binary("and", cond, e)
        return Select(cond, data[iy - s.pad, ix - s.pad, ic], zero)

    iy, ix = y.index * s.stride + ry, x.index * s.stride + rx
    panel = f.start(2) // as_expr(f_tile) if panels > 1 else as_expr(0)
    lane = Var("f.2") if f_tile > 1 else as_expr(0)
    weight = weights[panel, ry, rx, c.index, lane]
    spatial = [y.loop(1, U), x.loop(1, U), f.loop(2, V)]
    guards = [*y.guards, *x.guards, *f.guards]
    window = Tensor(
        "pad",
        ((y_tile - 1) * s.stride + s.kernel, (x_tile - 1) * s.stride + s.kernel, s.c),
        FLOAT32,
    )
    source = window[iy, ix, c.index] if attach_pad else padded(iy, ix, c.index)
    init = nest(spatial, under(guards, Store(acc, at, zero)))
    reduction = nest(
        [("ry", s.kernel, S), ("rx", s.kernel, S), c.loop(0), c.loop(1, U), *spatial],
        under([*guards, *c.guards], Store(acc, at, source * weight, "sum")),
    )
    final = nest(
        spatial, under(guards, Store(out, at, binary("max", acc[at] + bias[f.index], zero)))
    )
    body: Node = Alloc(acc, (y.start(1), x.start(1), f.start(2)), seq(init, reduction, final))
    body = nest([f.loop(1)], body)
    if attach_pad:
        body = with_window(s, window, y, x, padded, body)
    body = nest([f.loop(0, P), y.loop(0, P), x.loop(0, P)], body)
    return Program("conv2d", (data,), (weights, bias), (), (out,), body)


def with_window(s: Conv, window: Tensor, y: Tiled, x: Tiled, padded, body: Node) -> Node:
    """Fill the padding window of a tile, then run the body."""
    top, left = y.start(1) * s.stride, x.start(1) * s.stride
    py, px, pc = Var("pad.y"), Var("pad.x"), Var("pad.c")
    heights, widths, channels = window.shape
    at = (top + py, left + px, pc if channels > 1 else as_expr(0))
    full = (s.h + 2 * s.pad, s.w + 2 * s.pad)
    guards = []
    if (y.lengths[0] * y.lengths[1] - 1) * s.stride + s.kernel > full[0]:
        guards.append(at[0] < full[0])
    if (x.lengths[0] * x.lengths[1] - 1) * s.stride + s.kernel > full[1]:
        guards.append(at[1] < full[1])
    fill = nest(
        [("pad.y", heights, S), ("pad.x", widths, S), ("pad.c", channels, V)],
        under(guards, Store(window, at, padded(*at))),
    )
    return Alloc(window, (top, left, as_expr(0)), seq(fill, body))


def axis(name: str, extent: int) -> Axis:
    return Axis(name, extent)
