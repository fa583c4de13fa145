"""Winograd's form of a convolution, found and built from its expression alone.

    y[h, w, o] = Σ_{r, s, c} x[h + r, w + s, c] * k[r, s, c, o]

reads overlapping windows. F(m, 3) computes m neighbouring outputs of a window of 3 taps from m + 2
products instead of 3m (Lavin and Gray, 2015); nested over two windows, (m + 2)² instead of 9m²:

    find(compute)                  which axes are such windows; None for another expression
    rewrite(tensor, found, m)      the stages that compute the same

All tiles are one axis, so that a small image fills the rows of a product too; where extents vary
with sizes, a number of a tile would be divided by one, and they stay a grid.

Whatever else the expression has (a batch, groups, a third dimension with its own taps) stays as it
is: channels are summed in products of small matrices, one for each position of a transformed tile.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod

import numpy as np
from numpy.typing import NDArray

from tilewright.expr.index.extents import ceildiv, product
from tilewright.expr.index.simplify import Simplifier
from tilewright.expr.nodes import (
    Axis,
    Binary,
    Expr,
    Extent,
    Read,
    Reduce,
    Tensor,
    Var,
    as_expr,
    binary,
    const,
    select,
)
from tilewright.expr.reference import compute_of, sizes
from tilewright.expr.tensors import Compute, Placeholder, is_constant, table
from tilewright.expr.traversal import free_vars, substitute

TAPS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Matrices:
    """`data` is B [a, a], `kernel` is G [a, 3], `inverse` is A [a, m]; a = m + 2."""

    data: NDArray[np.float64]
    kernel: NDArray[np.float64]
    inverse: NDArray[np.float64]


# Interpolation points 0, ±1, ∞.
TILE_2 = Matrices(
    data=np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]], np.float64).T,
    kernel=np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], np.float64),
    inverse=np.array([[1, 1, 1, 0], [0, 1, -1, -1]], np.float64).T,
)

# Interpolation points 0, ±1, ±2, ∞.
TILE_4 = Matrices(
    data=np.array(
        [
            [4, 0, -5, 0, 1, 0],
            [0, -4, -4, 1, 1, 0],
            [0, 4, -4, -1, 1, 0],
            [0, -2, -1, 2, 1, 0],
            [0, 2, -1, -2, 1, 0],
            [0, 4, 0, -5, 0, 1],
        ],
        np.float64,
    ).T,
    kernel=np.array(
        [
            [1 / 4, 0, 0],
            [-1 / 6, -1 / 6, -1 / 6],
            [-1 / 6, 1 / 6, -1 / 6],
            [1 / 24, 1 / 12, 1 / 6],
            [1 / 24, -1 / 12, 1 / 6],
            [0, 0, 1],
        ],
        np.float64,
    ),
    inverse=np.array(
        [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]],
        np.float64,
    ).T,
)

MATRICES = {2: TILE_2, 4: TILE_4}
"""By the output tile's side. 4 needs fewer products and loses about two digits more."""


def rounding(m: int) -> float:
    """By how much rounding errors grow along one window, against those of direct sums.

    Of unrelated values of size 1, the size that A, G and B together give to what is rounded on the
    way, over that of an output, in the root mean square: 1.3 for m = 2, 3.3 for m = 4.
    """
    one = MATRICES[m]
    between = (one.kernel**2).sum(1) * (one.data**2).sum(0)
    energy = (one.inverse**2 * between[:, None]).sum(0) / TAPS
    return float(np.sqrt(energy.mean()))


@dataclass(frozen=True, slots=True)
class ConvolutionWindow:
    """Spatial axis `axis` and reduction axis `taps` read the data at `axis + taps + offset` in
    dimension `dimension`, and the weights at `taps` in dimension `tap_dimension`.
    """

    axis: str
    taps: str
    dimension: int
    tap_dimension: int
    offset: int


@dataclass(frozen=True, slots=True)
class Convolution:
    """A sum of products of `data` and constant `weights` with at least one window of 3 taps."""

    data: Read
    weights: Read
    windows: tuple[ConvolutionWindow, ...]


def find(source: Compute) -> Convolution | None:
    """The windows of an expression, None where it has none that `rewrite` can transform."""
    body = source.body
    if not (isinstance(body, Reduce) and body.op == "sum" and isinstance(body.body, Binary)):
        return None
    a, b = body.body.a, body.body.b
    if body.body.op != "mul" or not (isinstance(a, Read) and isinstance(b, Read)):
        return None
    if not (a.tensor.dtype == b.tensor.dtype and a.tensor.dtype.is_float):
        return None
    data, weights = (b, a) if is_constant(a.tensor) else (a, b)
    plain = all(isinstance(i, Var) for i in weights.indices)
    once = len(set(weights.indices)) == weights.tensor.rank
    if is_constant(data.tensor) or not (is_constant(weights.tensor) and plain and once):
        return None
    found = [_window(source, data, weights, d) for d in range(data.tensor.rank)]
    windows = tuple(w for w in found if w is not None)
    summed = len(source.reduce_axes) - len(windows)
    return Convolution(data, weights, windows) if windows and summed else None


def _window(source: Compute, data: Read, weights: Read, dimension: int) -> ConvolutionWindow | None:
    extents = {a.name: a.extent for a in (*source.axes, *source.reduce_axes)}
    form = Simplifier().form(data.indices[dimension], extents)
    if form is None or [k for _, k in form.terms] != [1, 1] or form.const < 0:
        return None
    spatial = [a.name for a in source.axes if form.coefficient(a.name)]
    taps = [a.name for a in source.reduce_axes if form.coefficient(a.name)]
    elsewhere = {n for d, i in enumerate(data.indices) if d != dimension for n in free_vars(i)}
    if len(spatial) != 1 or {*spatial, *taps} & elsewhere or extents[taps[0]] != TAPS:
        return None
    if Var(spatial[0]) in weights.indices or Var(taps[0]) not in weights.indices:
        return None
    at = weights.indices.index(Var(taps[0]))
    return ConvolutionWindow(spatial[0], taps[0], dimension, at, form.const)


@dataclass(frozen=True, slots=True)
class LinearMap:
    """`matrix` [new, old] applied along one dimension of an array."""

    dimension: int
    matrix: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The stages `data`, `products` and `inverse`, what is left to the convolution itself, and
    `weights`: a constant made from the convolution's by `maps`, known before anything runs.
    """

    data: Tensor
    products: Tensor
    inverse: Tensor
    result: Compute
    weights: Tensor
    maps: tuple[LinearMap, ...]
    tables: tuple[Tensor, Tensor]

    @property
    def stages(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.data, self.products, self.inverse


def rewrite(tensor: Tensor, found: Convolution, m: int, is_grid: bool = False) -> Rewritten:
    """The convolution `tensor` in tiles of m outputs along each of its windows, which are one axis,
    or a grid: an axis a window.

    `<name>.data` transforms the data of every tile, `<name>.products` sums over channels,
    `<name>.inverse` makes m outputs a window of them; the rest is a copy into place.
    """
    return _WinogradForm(tensor, found, m, is_grid).run()


def multiply_adds(new: Rewritten, windows: int, m: int) -> float:
    """Those of the form in tiles of m outputs along so many windows.

    The products, and the transforms of data and results, whose table products are written out, so
    that those with 0 vanish. Weights are transformed once, before anything runs.
    """
    matrices = MATRICES[m]
    count = float(prod(sizes(all_axes(new.products))))
    for part, matrix in ((new.data, matrices.data), (new.inverse, matrices.inverse)):
        dense = prod(sizes(all_axes(part)))
        count += dense * (np.count_nonzero(matrix) / matrix.size) ** windows
    return count


def all_axes(tensor: Tensor) -> tuple[Axis, ...]:
    """A stage's axes, those of its sum included."""
    source = compute_of(tensor)
    return (*source.axes, *source.reduce_axes)


class _WinogradForm:
    """Axes: `p` positions of a transformed tile, `q` of an output tile, `t` tiles, by the windows
    whose tiles they count.
    """

    def __init__(self, tensor: Tensor, found: Convolution, m: int, is_grid: bool) -> None:
        assert isinstance(tensor.source, Compute)
        self.tensor = tensor
        self.source = tensor.source
        self.windows = found.windows
        self.read = found.data
        self.kernel = found.weights
        self.m = m
        self.side = m + TAPS - 1
        self.matrices = MATRICES[m]
        extents = {a.name: a.extent for a in self.source.axes}
        self.counts = [ceildiv(extents[w.axis], m) for w in self.windows]
        first = min(self.windows, key=lambda w: w.dimension)
        counted: dict[ConvolutionWindow, Extent] = {first: product(self.counts)}
        if is_grid:
            counted = dict(zip(self.windows, self.counts, strict=True))
        self.tiles = {w: Axis(f"{w.axis}.t", count) for w, count in counted.items()}
        self.positions = [Axis(f"{w.axis}.p", self.side) for w in self.windows]
        dtype = tensor.dtype.compute.numpy
        self.b = table(self.matrices.data.astype(dtype), name=f"{tensor.name}.b")
        self.a = table(self.matrices.inverse.astype(dtype), name=f"{tensor.name}.a")

    def run(self) -> Rewritten:
        data = self._data()
        weights, maps = self._weights()
        products = self._products(data, weights)
        inverse = self._inverse(products)
        return Rewritten(
            data, products, inverse, self._result(inverse), weights, maps, (self.b, self.a)
        )

    def _data(self) -> Tensor:
        """Bᵀ d B of every tile; past the end of the data, which no output needs, it is 0."""
        taps = [Axis(f"{w.axis}.r", self.side, reduce=True) for w in self.windows]
        kept = {
            d: Axis(f"d{d}", n)
            for d, n in enumerate(self.read.tensor.shape)
            if d not in {w.dimension for w in self.windows}
        }
        at: dict[int, Expr] = {d: axis.var for d, axis in kept.items()}
        inside: list[Expr] = []
        for i, (w, tap) in enumerate(zip(self.windows, taps, strict=True)):
            at[w.dimension] = self._tile(i) * self.m + tap.var + w.offset
            extent, count = self.read.tensor.shape[w.dimension], self.counts[i]
            is_sure = isinstance(extent, int) and isinstance(count, int)
            if not is_sure or count * self.m + TAPS - 1 + w.offset > extent:
                inside.append(at[w.dimension] < extent)
        value: Expr = Read(self.read.tensor, tuple(at[d] for d in sorted(at)))
        if inside:
            zero = const(0, value.dtype)
            value = select(reduce(lambda x, y: binary("and", x, y), inside), value, zero)
        for tap, position in zip(taps, self.positions, strict=True):
            value = value * self.b[tap.var, position.var]
        kept |= {w.dimension: tiles for w, tiles in self.tiles.items()}
        axes = (*self.positions, *(kept[d] for d in sorted(kept)))
        return self._stage("data", axes, Reduce("sum", tuple(taps), value))

    def _tile(self, i: int) -> Expr:
        """The number of a tile along window i."""
        if len(self.tiles) == len(self.windows):
            return self.tiles[self.windows[i]].var
        (tiles,) = self.tiles.values()
        inner = product(self.counts[i + 1 :])
        number = tiles.var if inner == 1 else tiles.var // inner
        return number % self.counts[i] if i else number

    def _weights(self) -> tuple[Tensor, tuple[LinearMap, ...]]:
        given = self.kernel.tensor
        shape = list(given.shape)
        for w in self.windows:
            shape[w.tap_dimension] = self.side
        matrix = tuple(tuple(map(float, row)) for row in self.matrices.kernel)
        maps = tuple(LinearMap(w.tap_dimension, matrix) for w in self.windows)
        new = Tensor(f"{given.name}.winograd", tuple(shape), given.dtype, Placeholder(True))
        return new, maps

    def _spatial(self) -> list[Axis]:
        """The convolution's spatial axes, with those of tiles for its windows."""
        tiles = {w.axis: self.tiles.get(w) for w in self.windows}
        axes = (tiles.get(a.name, a) for a in self.source.axes)
        return [a for a in axes if a is not None]

    def _products(self, data: Tensor, weights: Tensor) -> Tensor:
        windows = {w.dimension for w in self.windows}
        at = {d: i for d, i in enumerate(self.read.indices) if d not in windows}
        at |= {w.dimension: tiles.var for w, tiles in self.tiles.items()}
        value = Read(data, (*(p.var for p in self.positions), *(at[d] for d in sorted(at))))
        taken: dict[str, Expr] = {
            w.taps: p.var for w, p in zip(self.windows, self.positions, strict=True)
        }
        kernel = Read(weights, tuple(substitute(i, taken) for i in self.kernel.indices))
        summed = tuple(a for a in self.source.reduce_axes if a.name not in taken)
        axes = (*self.positions, *self._spatial())
        return self._stage("products", axes, Reduce("sum", summed, value * kernel))

    def _inverse(self, products: Tensor) -> Tensor:
        """Aᵀ y A of every tile."""
        out = [Axis(f"{w.axis}.q", self.m) for w in self.windows]
        taps = [Axis(f"{w.axis}.r", self.side, reduce=True) for w in self.windows]
        spatial = self._spatial()
        value: Expr = Read(products, tuple(a.var for a in (*taps, *spatial)))
        for tap, q in zip(taps, out, strict=True):
            value = value * self.a[tap.var, q.var]
        return self._stage("inverse", (*out, *spatial), Reduce("sum", tuple(taps), value))

    def _result(self, inverse: Tensor) -> Compute:
        axes = {a.name: a.var for a in self.source.axes}
        number = {w: axes[w.axis] // self.m for w in self.windows}
        if len(self.tiles) < len(self.windows):
            tile: Expr = as_expr(0)
            for w, count in zip(self.windows, self.counts, strict=True):
                tile = tile * count + number[w]
            number = dict.fromkeys(self.tiles, tile)
        tiles = {self.tiles[w]: at for w, at in number.items()}
        at = [axes[w.axis] % self.m for w in self.windows]
        at += [tiles.get(a, a.var) for a in self._spatial()]
        return Compute(self.source.axes, Read(inverse, tuple(at)), self.source.hints)

    def _stage(self, part: str, axes: tuple[Axis, ...], body: Expr) -> Tensor:
        shape = tuple(a.extent for a in axes)
        return Tensor(f"{self.tensor.name}.{part}", shape, self.tensor.dtype, Compute(axes, body))
