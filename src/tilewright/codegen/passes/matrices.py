"""Pass: take as many steps of a product of matrices together as one instruction does, where a CPU
has registers that hold whole tiles (AMX).

    for k (serial, 128): for i (unrolled, 32): for j (vector, 32): for q (dot, 4):
        C[i, j] += int32(A[i, 4 k + q]) * int32(B[k, j, q])
      ->  for k:o < 8: for k (tile, 16): for i, j, q: C[i, j] += A[i, 64 k:o + 4 k + q] * ...

    four tiles of C, 16 rows of 16 columns; a step takes 16 iterations of k: two tiles of A, rows of
    64 bytes, two of B, and four instructions

`matrix_of` recognises such loops by what their indices are; what they compute stays what they say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from tilewright.codegen.passes.tiles import iterations
from tilewright.codegen.rewrite import rebuilt, substituted
from tilewright.expr.contraction.groups import narrow_factors
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.nodes import Expr, Read, Tensor, Var
from tilewright.expr.reference import static_shape
from tilewright.nest.nodes import For, Kind, Node, Store, bodies
from tilewright.target import CpuTarget
from tilewright.target.dots import TileRegisters, tiles_of

BITS = 32
"""Of a sum, and of the terms that one dot adds to it."""


@dataclass(frozen=True, slots=True)
class TileProduct:
    """`rows`, the unrolled loops, the last of which runs along a tile's rows; `lanes` along its
    columns; a step of the `depth` loop takes one dot of each element. `left` and `right` are read.
    """

    depth: For
    rows: tuple[For, ...]
    lanes: For
    terms: For
    store: Store
    left: Read
    right: Read
    registers: TileRegisters

    @property
    def steps(self) -> int:
        """Iterations of the depth that one instruction takes."""
        return int(self.registers.part(np.array(iterations(self.depth))))

    @property
    def height(self) -> int:
        """Rows of a tile."""
        return int(self.registers.part(np.array(iterations(self.rows[-1]))))

    @property
    def width(self) -> int:
        """Columns of a tile."""
        return min(iterations(self.lanes), self.registers.columns)

    @property
    def down(self) -> int:
        """Tiles from the first row to the last."""
        return prod(map(iterations, self.rows)) // self.height

    @property
    def across(self) -> int:
        """Tiles side by side."""
        return iterations(self.lanes) // self.width

    @property
    def pays(self) -> bool:
        """Whether tiles fit the registers, and are large enough."""
        sizes = map(np.array, (self.height, self.steps, self.down, self.across))
        return iterations(self.lanes) % self.width == 0 and bool(self.registers.multiply(*sizes))


def matrix_of(node: For, target: CpuTarget, forms: AffineForms) -> TileProduct | None:
    """The product that a loop over the depth computes; None where it is another loop."""
    if not isinstance(node.body, For):
        return None
    loops: list[For] = []
    body: object = node.body
    while isinstance(body, For):
        loops.append(body)
        body = body.body
    kinds = [loop.kind for loop in loops]
    if not isinstance(body, Store) or kinds[-2:] != [Kind.VECTOR, Kind.DOT] or body.reduce != "sum":
        return None
    *rows, lanes, terms = loops
    if not rows or any(loop.kind is not Kind.UNROLLED for loop in rows):
        return None
    if not all(isinstance(loop.extent, int) for loop in (node, *loops)):
        return None
    factors = narrow_factors(body.value)
    if factors is None:
        return None
    registers = tiles_of(target, factors[0].tensor.dtype.name)
    if registers is None or terms.extent != BITS // factors[0].tensor.dtype.bits:
        return None
    for left, right in (factors, factors[::-1]):
        found = TileProduct(node, tuple(rows), lanes, terms, body, left, right, registers)
        if _fits(found, forms) and found.pays:
            return found
    return None


def _fits(m: TileProduct, forms: AffineForms) -> bool:
    """Whether every access moves as a tile's does."""
    k, j, q = m.depth.var.name, m.lanes.var.name, m.terms.var.name
    rows = [loop.var.name for loop in m.rows]
    sums, left, right = (
        flat(forms, tensor, indices)
        for tensor, indices in (
            (m.store.tensor, m.store.indices),
            (m.left.tensor, m.left.indices),
            (m.right.tensor, m.right.indices),
        )
    )
    inside = {k, j, q, *rows}
    named = {n for form in (sums, left, right) for n, _ in form.terms}
    if any(forms.inside.get(n, frozenset()) & inside for n in named):
        return False
    if m.left.tensor.dtype.bits != m.right.tensor.dtype.bits:
        return False
    length = m.terms.extent
    return (
        [sums.coefficient(n) for n in (k, q, j)] == [0, 0, 1]
        and [left.coefficient(n) for n in (q, k, j)] == [1, length, 0]
        and [right.coefficient(n) for n in (q, j)] == [1, length]
        and right.coefficient(k) > 0
        and left.coefficient(rows[-1]) > 0
        and sums.coefficient(rows[-1]) > 0
        and not any(right.coefficient(n) for n in rows)
    )


def flat(forms: AffineForms, tensor: Tensor, indices: tuple[Expr, ...]) -> Affine:
    """The element that an access names, up to where its window starts."""
    total, stride = Affine(0), 1
    for index, extent in zip(reversed(indices), reversed(static_shape(tensor)), strict=True):
        total = total.plus(forms.of(index), stride)
        stride *= extent
    return total


def with_tiles(node: Node, target: CpuTarget) -> Node:
    """The nest with loops of kind TILE around what tiles multiply at once."""
    return _visited(node, target, AffineForms())


def _visited(node: Node, target: CpuTarget, forms: AffineForms) -> Node:
    if isinstance(node, For) and node.kind in (Kind.SERIAL, Kind.UNROLLED):
        found = matrix_of(node, target, forms)
        if found is not None:
            count = iterations(node) // found.steps
            if count == 1:
                return replace(node, kind=Kind.TILE)
            outer = Var(f"{node.var.name}:o")
            body = substituted(node.body, {node.var.name: outer * found.steps + node.var})
            return For(outer, count, replace(node, extent=found.steps, kind=Kind.TILE, body=body))
    return rebuilt(node, tuple(_visited(b, target, forms) for b in bodies(node)))
