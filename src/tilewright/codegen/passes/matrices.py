"""Pass: take as many steps of a product of matrices together as one instruction on tiles does.

for k < 128: for i, j, q: C[i, j] += A[i, 4 k + q] * B[k, j, q]
  ->  for k:o < 8: for k (tile, 16): for i, j, q: C[i, j] += A[i, 64 k:o + 4 k + q] * ...
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.codegen.matrices import matrix_of
from tilewright.codegen.rewrite import rebuilt, substituted
from tilewright.expr.index.affine import AffineForms
from tilewright.expr.nodes import Var
from tilewright.nest.nodes import For, Kind, Node, bodies
from tilewright.target import CpuTarget


def with_tiles(node: Node, target: CpuTarget) -> Node:
    """The nest with loops of kind TILE around what tiles multiply at once."""
    return _visited(node, target, AffineForms())


def _visited(node: Node, target: CpuTarget, forms: AffineForms) -> Node:
    if isinstance(node, For) and node.kind in (Kind.SERIAL, Kind.UNROLLED):
        found = matrix_of(node, target, forms)
        if found is not None:
            assert isinstance(node.extent, int)
            count = node.extent // found.steps
            if count == 1:
                return replace(node, kind=Kind.TILE)
            outer = Var(f"{node.var.name}:o")
            body = substituted(node.body, {node.var.name: outer * found.steps + node.var})
            return For(outer, count, replace(node, extent=found.steps, kind=Kind.TILE, body=body))
    return rebuilt(node, tuple(_visited(b, target, forms) for b in bodies(node)))
