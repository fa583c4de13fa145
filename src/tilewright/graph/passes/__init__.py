"""Graph passes: each takes a valid graph and returns a valid, equivalent one.

    graph = simplify(load("resnet50.onnx"))

Dead nodes vanish in every pass, since a builder keeps only what outputs depend on. Identities and
inference-time dropouts are never emitted by importers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tilewright.graph.ir import Graph, Node
from tilewright.graph.passes.channels_last import channels_last
from tilewright.graph.passes.fold_affine import fold_affine
from tilewright.graph.passes.fold_constants import fold_constants
from tilewright.graph.passes.merge import closed_forms, merge_equal, merge_pads, numbers_apart
from tilewright.graph.passes.permute_weights import permute_weights
from tilewright.graph.passes.row_windows import row_windows

Pass = Callable[[Graph], Graph]

# In this order: transposes are gone before patterns are looked for.
PASSES: tuple[Pass, ...] = (
    channels_last,
    fold_constants,
    merge_pads,
    fold_affine,
    closed_forms,
    permute_weights,
    row_windows,
    merge_equal,
    numbers_apart,
)


def simplify(graph: Graph) -> Graph:
    """`graph`, and the graphs within it, after all passes."""
    with np.errstate(all="ignore"):  # infinities and NaN among weights are the model's business
        for step in PASSES:
            graph = step(graph)
    return replace(graph, nodes=tuple(map(_with_simple_bodies, graph.nodes)))


def _with_simple_bodies(node: Node) -> Node:
    if node.control is None:
        return node
    bodies = [simplify(g) for g in node.control.bodies]
    return replace(node, control=node.control.with_bodies(bodies))
